//! Which prefixes are kept.

use std::time::Duration;

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer};
use journeyman_llama_cpp::{LlamaCpp, Precision};

use super::sharing::{greedy, text};
use crate::support::{Lora, TestFile, Tiny, load, prompt};

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
fn a_request_alone_begins_with_whole_blocks_of_the_last_prompt_and_gives_the_same_bytes() {
    for precision in [Precision::Half, Precision::Full] {
        begins_with_whole_blocks(precision);
    }
}

fn begins_with_whole_blocks(precision: Precision) {
    let alone = || {
        Tiny::default().load_with(|config| {
            config.deterministic = true;
            config.precision = precision;
        })
    };
    let opening = text(1, 300);
    let requests: Vec<GenerateRequest> = ["", " and more", " and more of it, to the end"]
        .iter()
        .map(|end| greedy(&format!("{opening}{end}"), 24))
        .chain([greedy(&text(2, 150), 8), greedy(&opening, 24)])
        .collect();
    let scored = ScoreRequest::new(
        prompt(&format!("{opening} and")),
        vec![text(8, 40), text(9, 90)],
    );
    let model = alone();
    // The least that two prompts have in common here, in whole blocks, and none where the prompt is another.
    let least = [0, 256, 256, 0, 0];
    for (request, least) in requests.iter().zip(least) {
        let before = model.stats().reused_tokens;
        let got = block_on(model.generate(request)).unwrap();
        let reused = model.stats().reused_tokens - before;
        assert!(reused >= least && reused % 64 == 0, "{reused}, not {least}");
        assert_eq!(got, block_on(alone().generate(request)).unwrap());
    }
    for _ in 0..2 {
        let before = model.stats().reused_tokens;
        let got = block_on(model.score(&scored)).unwrap();
        assert!(model.stats().reused_tokens - before >= 256);
        assert_eq!(got, block_on(alone().score(&scored)).unwrap());
    }
    assert!(block_on(model.forget_prefixes()).unwrap() >= 256);
    assert_eq!(model.stats().used_cells, 0);
}

#[test]
fn kept_blocks_are_those_of_the_adapter_and_end_before_the_last_token_whatever_the_batch() {
    let (tiny, lora) = (Tiny::default(), Lora::default());
    let (file, lora) = (tiny.file(), TestFile::new("lora.gguf", &lora.bytes()));
    let loaded = |batch| {
        load(&file, |config| {
            *config = config.clone().exact();
            config.n_batch = batch;
            config.adapters.insert("one".to_owned(), lora.0.clone());
        })
    };
    let opening = text(1, 200);
    for batch in [24, 512] {
        let model = loaded(batch);
        // Lengths about the end of a block, a request of the adapter between two of the model alone, and one that gives up at once.
        for length in (118..140).chain([118, 140]) {
            let mut request = greedy(&opening[..length], 4);
            request.adapter = length.is_multiple_of(3).then(|| "one".to_owned());
            let mut late = greedy(&opening, 4);
            late.time_limit = Duration::ZERO;
            assert!(block_on(model.generate(&late)).is_err());
            let got = block_on(model.generate(&request)).unwrap();
            assert_eq!(got, block_on(loaded(batch).generate(&request)).unwrap());
        }
        assert!(model.stats().reused_tokens > 64, "{:?}", model.stats());
    }
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
