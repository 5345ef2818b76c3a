//! Which prefixes are kept.

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel};
use journeyman_llama_cpp::LlamaCpp;

use crate::{
    sharing::{greedy, text},
    support::{Lora, TestFile, Tiny, load},
};

/// How many tokens of a request memory held already.
fn reused(model: &LlamaCpp, request: &GenerateRequest) -> u64 {
    let before = model.stats().reused_tokens;
    block_on(model.generate(request)).unwrap();
    model.stats().reused_tokens - before
}

#[test]
fn the_least_recently_used_goes_first() {
    let model = Tiny::default().load_with(|config| {
        config.n_ctx = Some(256);
        config.shared_cells = Some(256);
    });
    let request = |n| greedy(&text(n, 100), 1);
    let [older, newer] = [request(1), request(2)];
    reused(&model, &older);
    reused(&model, &newer);
    assert!(reused(&model, &older) > 90);
    for n in 3.. {
        assert!(n < 20, "nothing went");
        reused(&model, &request(n));
        if model.stats().evicted > 0 {
            break;
        }
    }
    assert_eq!(model.stats().evicted, 1);
    assert!(reused(&model, &older) > 90);
    // The markers in front are all that it has in common with the others.
    assert!(reused(&model, &newer) < 10);
}

#[test]
fn what_an_adapter_computed_is_restored_for_that_adapter() {
    let tiny = Tiny::default();
    let file = tiny.file();
    let folder = file.0.with_extension("prefixes");
    let lora = |seed| {
        let lora = Lora {
            seed,
            ..Lora::default()
        };
        TestFile::new("lora.gguf", &lora.bytes())
    };
    let (own, other) = (lora(3), lora(4));
    let with = |lora: &TestFile| {
        load(&file, |config| {
            config.adapters.insert("one".to_owned(), lora.0.clone());
        })
    };
    let mut request = greedy(&text(1, 200), 1);
    request.adapter = Some("one".to_owned());
    let model = with(&own);
    reused(&model, &request);
    let saved = block_on(model.save_prefixes(&folder)).unwrap();
    assert!(saved > 190);

    let restored = |model: &LlamaCpp| block_on(model.restore_prefixes(&folder)).unwrap();
    let model = with(&own);
    assert_eq!(restored(&model), saved);
    assert!(reused(&model, &request) > 190);
    // Another one of the same name, none, and a memory that holds one request alone.
    assert_eq!(restored(&with(&other)), 0);
    assert_eq!(restored(&load(&file, |_| ())), 0);
    let deterministic = load(&file, |config| {
        config.adapters.insert("one".to_owned(), own.0.clone());
        config.deterministic = true;
    });
    assert_eq!(restored(&deterministic), 0);
    std::fs::remove_dir_all(&folder).unwrap();
}
