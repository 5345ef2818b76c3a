//! Embeddings.

use std::time::Duration;

use futures::{executor::block_on, future::join_all};
use journeyman::{ErrorKind, contract::Embedder};
use journeyman_llama_cpp::{EmbedderConfig, LlamaEmbedder, Pooling};

use crate::support::{TestFile, Tiny};

fn tiny(pooling: Option<u32>) -> TestFile {
    Tiny {
        pooling,
        context: 64,
        ..Tiny::default()
    }
    .file()
}

fn embed(model: &LlamaEmbedder, texts: &[&str]) -> Vec<Vec<f32>> {
    let embeddings = block_on(model.embed(texts)).unwrap();
    embeddings
        .into_iter()
        .map(|embedding| embedding.0)
        .collect()
}

#[test]
fn tokens_are_pooled_as_the_file_says() {
    let texts = ["open the vault", "open the door", "a lamp"];
    let by_file: Vec<_> = (1..=3)
        .map(|number| {
            let model = LlamaEmbedder::load(EmbedderConfig::new(&tiny(Some(number)).0)).unwrap();
            (model.space().name.clone(), embed(&model, &texts))
        })
        .collect();
    let chosen = [Pooling::Mean, Pooling::Cls, Pooling::Last];
    for ((name, vectors), pooling) in by_file.iter().zip(chosen) {
        let mut config = EmbedderConfig::new(&tiny(None).0);
        let file = tiny(None);
        config.path = file.0.clone();
        config.pooling = Some(pooling);
        let model = LlamaEmbedder::load(config).unwrap();
        assert_eq!(&embed(&model, &texts), vectors, "{name}");
        assert!(
            name.ends_with(&format!("{pooling:?}").to_lowercase()),
            "{name}"
        );
    }
    assert_ne!(by_file[0].1, by_file[1].1);
    assert_ne!(by_file[0].1, by_file[2].1);
    // A causal model's first token knows nothing of what follows.
    assert_eq!(by_file[1].1[0], by_file[1].1[1]);
    assert_ne!(by_file[2].1[0], by_file[2].1[1]);
}

#[test]
fn a_file_that_says_nothing_and_a_reranker_are_refused() {
    for pooling in [None, Some(0), Some(4)] {
        let file = tiny(pooling);
        let error = LlamaEmbedder::load(EmbedderConfig::new(&file.0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.hint_text().is_some());
    }
    let missing = LlamaEmbedder::load(EmbedderConfig::new("/no/such/model.gguf")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn long_texts_are_cut_and_many_callers_get_what_one_gets() {
    let file = tiny(Some(1));
    let model = LlamaEmbedder::load(EmbedderConfig::new(&file.0)).unwrap();
    let long = "walk to the sea ".repeat(100);
    let head: String = long.chars().take(200).collect();
    // Both fill the 64 tokens that the model reads.
    assert_eq!(embed(&model, &[&long]), embed(&model, &[&head]));
    let texts: Vec<String> = (0..40).map(|n| format!("text {n}")).collect();
    let calls: Vec<Vec<&str>> = texts
        .chunks(4)
        .map(|some| some.iter().map(String::as_str).collect())
        .collect();
    let together = block_on(join_all(calls.iter().map(|call| model.embed(call))));
    for (call, got) in calls.iter().zip(together) {
        let got: Vec<_> = got
            .unwrap()
            .into_iter()
            .map(|embedding| embedding.0)
            .collect();
        assert_eq!(got, embed(&model, call));
    }
}

#[test]
fn limits_hold_and_numbers_that_are_none_are_an_error() {
    let file = tiny(Some(1));
    let mut config = EmbedderConfig::new(&file.0);
    config.time_limit = Duration::ZERO;
    let model = LlamaEmbedder::load(config).unwrap();
    let error = block_on(model.embed(&["x"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let broken = Tiny {
        pooling: Some(1),
        not_a_number: true,
        ..Tiny::default()
    };
    let file = broken.file();
    let model = LlamaEmbedder::load(EmbedderConfig::new(&file.0)).unwrap();
    let error = block_on(model.embed(&["x"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
}
