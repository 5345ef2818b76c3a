//! The files load, and what they write and score is neither certain nor uniform.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{collections::HashSet, fs};

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer},
    domain::{Message, Prompt, Speaker},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};
use shapes::{Quantization, Shape};

fn prompt() -> Prompt {
    Prompt::new(vec![Message::data(Speaker::User, "Where is the lamp?")])
}

fn speaks(shape: Shape, quantization: Quantization, tokens: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = shapes::cached(folder.path(), shape, quantization, Seed(1)).unwrap();
    let mut config = LlamaConfig::new(path);
    config.n_ctx = Some(512);
    config.shared_cells = Some(128);
    config.template = Template::None;
    let model = LlamaCpp::load(config).unwrap();
    let greedy = block_on(model.generate(&GenerateRequest::greedy(prompt(), tokens))).unwrap();
    assert_eq!(greedy.ids.len(), tokens, "the text ended early");
    let different: HashSet<_> = greedy.ids.iter().collect();
    assert!(different.len() > 2, "{:?}", greedy.ids);

    // The mean surprise of a fair draw is the entropy.
    let mut drawn = GenerateRequest::greedy(prompt(), tokens);
    drawn.sampling.temperature = 1.0;
    let drawn = block_on(model.generate(&drawn)).unwrap();
    let surprise = -drawn.logprobs.iter().sum::<f32>() / drawn.logprobs.len() as f32;
    let uniform = (shape.vocabulary as f32).ln();
    assert!(
        1.0 < surprise && surprise < uniform - 1.0,
        "{surprise} of {uniform}"
    );

    let request = ScoreRequest::new(
        prompt(),
        vec!["On the desk.".to_owned(), "Nowhere.".to_owned()],
    )
    .with_max_continuation_tokens(32);
    let scores = block_on(model.score(&request)).unwrap();
    assert!(scores.iter().all(|score| score.sum().is_finite()));
    assert_ne!(scores[0].sum(), scores[1].sum());
}

#[test]
fn the_tiny_ones_speak() {
    for shape in [Shape::TINY, Shape::TINY_NORMED] {
        for quantization in Quantization::ALL {
            speaks(shape, quantization, 48);
        }
    }
}

#[test]
fn half_a_billion_parameters_speak() {
    speaks(Shape::B0_5, Quantization::Q4_K, 8);
}

#[test]
fn a_file_follows_from_its_parameters_and_is_taken_only_whole() {
    let folder = tempfile::tempdir().unwrap();
    let make = |seed| {
        let path = shapes::cached(folder.path(), Shape::TINY, Quantization::Q4_K, Seed(seed));
        let path = path.unwrap();
        (fs::read(&path).unwrap(), path)
    };
    let (bytes, path) = make(1);
    assert_eq!(
        bytes.len() as u64,
        shapes::length(Shape::TINY, Quantization::Q4_K)
    );
    assert_ne!(make(2).0, bytes);
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(make(1).0, bytes);
    // One that is whole is left as it is.
    let mut marked = bytes.clone();
    marked[0] = b'g';
    fs::write(&path, &marked).unwrap();
    assert_eq!(make(1).0, marked);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn where_it_cannot_be_written_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no such folder/model.gguf");
    let error = shapes::write(&path, Shape::TINY, Quantization::Q8_0, Seed(1)).unwrap_err();
    assert_eq!(error.kind(), journeyman::ErrorKind::Unavailable);
    assert!(error.hint_text().unwrap().contains("MiB"), "{error}");
}
