//! Embeddings.

use std::time::Duration;

use futures::{
    executor::block_on,
    future::{join, join_all},
};
use journeyman::{ErrorKind, contract::Embedder};
use journeyman_llama_cpp::{EmbedderConfig, LlamaConfig, LlamaCpp, LlamaEmbedder, Pooling};

use crate::support::{
    Noise, TestFile, Tiny,
    gguf::{gguf, pair, pair_list, pair_text, pair_texts, pair_u32},
};

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
    embeddings.into_iter().map(Vec::from).collect()
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
        let got: Vec<_> = got.unwrap().into_iter().map(Vec::from).collect();
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

/// An encoder of BERT's kind that reads words between `[CLS]` and `[SEP]`, with random weights.
fn encoder() -> TestFile {
    const WIDTH: usize = 32;
    const HIDDEN: usize = 64;
    const CONTEXT: usize = 16;
    let words = ["open", "the", "vault", "door", "a", "lamp"].map(|word| format!("\u{2581}{word}"));
    let own = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(str::to_owned);
    let tokens = [&own[..], &words[..]].concat();
    let kinds = (0..tokens.len()).map(|id| match id {
        1 => 2_u32,
        0..5 => 3,
        _ => 1,
    });
    let kinds: Vec<u8> = kinds.flat_map(u32::to_le_bytes).collect();
    let pairs = [
        pair_text("general.architecture", "bert"),
        pair_text("general.name", "encoder"),
        pair_u32("bert.context_length", CONTEXT as u32),
        pair_u32("bert.embedding_length", WIDTH as u32),
        pair_u32("bert.block_count", 1),
        pair_u32("bert.feed_forward_length", HIDDEN as u32),
        pair_u32("bert.attention.head_count", 2),
        pair(
            "bert.attention.layer_norm_epsilon",
            6,
            &1e-12_f32.to_le_bytes(),
        ),
        pair("bert.attention.causal", 7, &[0]),
        pair_u32("bert.pooling_type", 2),
        pair_text("tokenizer.ggml.model", "bert"),
        pair_texts("tokenizer.ggml.tokens", &tokens),
        pair_list("tokenizer.ggml.token_type", 5, &kinds, tokens.len()),
        pair_u32("tokenizer.ggml.token_type_count", 1),
        pair_u32("tokenizer.ggml.padding_token_id", 0),
        pair_u32("tokenizer.ggml.unknown_token_id", 1),
        pair_u32("tokenizer.ggml.bos_token_id", 2),
        pair_u32("tokenizer.ggml.seperator_token_id", 3),
        pair_u32("tokenizer.ggml.mask_token_id", 4),
    ];
    let square = vec![WIDTH, WIDTH];
    let tensors = [
        ("token_embd.weight", vec![WIDTH, tokens.len()]),
        ("position_embd.weight", vec![WIDTH, CONTEXT]),
        ("token_embd_norm.weight", vec![WIDTH]),
        ("token_embd_norm.bias", vec![WIDTH]),
        ("blk.0.attn_q.weight", square.clone()),
        ("blk.0.attn_k.weight", square.clone()),
        ("blk.0.attn_v.weight", square.clone()),
        ("blk.0.attn_output.weight", square),
        ("blk.0.attn_output_norm.weight", vec![WIDTH]),
        ("blk.0.attn_output_norm.bias", vec![WIDTH]),
        ("blk.0.ffn_up.weight", vec![WIDTH, HIDDEN]),
        ("blk.0.ffn_down.weight", vec![HIDDEN, WIDTH]),
        ("blk.0.layer_output_norm.weight", vec![WIDTH]),
        ("blk.0.layer_output_norm.bias", vec![WIDTH]),
    ]
    .map(|(name, shape)| (name.to_owned(), shape));
    let mut noise = Noise(5);
    let mut data = Vec::new();
    for (name, shape) in &tensors {
        let count = shape.iter().product();
        match name.rsplit_once("norm.") {
            Some((_, "weight")) => data.extend(std::iter::repeat_n(1.0, count)),
            Some(_) => data.extend(std::iter::repeat_n(0.0, count)),
            None => data.extend((0..count).map(|_| 0.3 * noise.normal())),
        }
    }
    TestFile::new("encoder.gguf", &gguf(&pairs, &tensors, &data))
}

#[test]
fn an_encoder_reads_a_text_as_a_whole() {
    let file = encoder();
    let model = LlamaEmbedder::load(EmbedderConfig::new(&file.0)).unwrap();
    assert_eq!(model.space().dimensions, 32);
    let [vault, door, again] =
        ["open the vault", "open the door", "Open the vault"].map(|text| embed(&model, &[text]));
    // The first token's state knows the last word, and small letters are all that it reads.
    assert_ne!(vault, door);
    assert_eq!(vault, again);
    let length: f32 = vault[0].iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-5, "{length}");
    // Sixteen tokens, of which the first and the last are its own.
    let words = |count| vec!["lamp"; count].join(" ");
    assert_eq!(embed(&model, &[&words(14)]), embed(&model, &[&words(40)]));
    assert_ne!(embed(&model, &[&words(13)]), embed(&model, &[&words(14)]));
    let error = LlamaCpp::load(LlamaConfig::new(&file.0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[test]
fn a_full_queue_says_so_and_a_dropped_call_stops_nobody() {
    let file = tiny(Some(1));
    let mut config = EmbedderConfig::new(&file.0);
    config.max_waiting = 1;
    let model = LlamaEmbedder::load(config).unwrap();
    let many = vec!["walk to the sea and back again"; 400];
    let (first, second) = block_on(join(model.embed(&many), model.embed(&["x"])));
    assert_eq!(first.unwrap().len(), 400);
    assert_eq!(second.unwrap_err().kind(), ErrorKind::RateLimited);
    let mut dropped = Box::pin(model.embed(&many));
    block_on(async {
        let _ = futures::poll!(&mut dropped);
    });
    drop(dropped);
    // Its place is free as soon as the worker notices.
    let next = (0..1000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        block_on(model.embed(&["x"])).ok()
    });
    assert!(next.is_some());
}
