//! Writing.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, Seed,
    contract::{FinishReason, GenerateRequest, Generation, LanguageModel, TokenSink},
    domain::Sampling,
};
use journeyman_llama_cpp::LlamaCpp;

use crate::support::{Tiny, prompt};

#[derive(Default)]
struct Pieces(Mutex<String>);

impl TokenSink for Pieces {
    fn token(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

fn greedy(max_tokens: usize) -> GenerateRequest {
    GenerateRequest::greedy(prompt("turn on the lamp"), max_tokens)
}

fn generate(model: &LlamaCpp, request: &GenerateRequest) -> Generation {
    block_on(model.generate(request)).unwrap()
}

#[test]
fn records_are_whole() {
    let model = Tiny::default().load();
    let got = generate(&model, &greedy(40));
    assert_eq!(got.finish, FinishReason::Length);
    assert_eq!(got.ids.len(), 40);
    assert_eq!(got.logprobs.len(), 40);
    assert_eq!(got.output_tokens, 40);
    assert_eq!(got.prompt_ids.len() as u64, got.prompt_tokens);
    assert!(got.logprobs.iter().all(|&p| p.is_finite() && p <= 0.0));
    assert!(got.logprobs.iter().any(|&p| p < -0.5));
}

#[test]
fn a_text_that_says_the_same_again_and_again_is_ended() {
    let written = |seed: u64, most: Option<u32>| {
        let tiny = Tiny {
            seed,
            ..Tiny::default()
        };
        let model = tiny.load_with(|config| config.most_repeated = most);
        generate(&model, &greedy(400))
    };
    let ended = (1..10).map(|seed| (seed, written(seed, Some(32))));
    let mut ended = ended.filter(|(_, got)| got.finish == FinishReason::Repeats);
    let (seed, got) = ended.next().expect("random weights fall into a loop");
    let last = got.ids.len() - 32;
    let is_phrase =
        |length: usize| got.ids[last..] == got.ids[last - length..got.ids.len() - length];
    assert!((1..=8).any(is_phrase), "{got:?}");
    // It goes on where that is wanted, and up to there it is the same.
    let longer = written(seed, None);
    assert_eq!(longer.finish, FinishReason::Length);
    assert_eq!(longer.ids[..got.ids.len()], got.ids);
}

#[test]
fn nothing_depends_on_what_ran_before() {
    let load = || Tiny::default().load_with(|config| config.deterministic = true);
    let model = load();
    let first = generate(&model, &greedy(60));
    let mut other = GenerateRequest::greedy(prompt(&"other things ".repeat(30)), 50);
    other.sampling = Sampling::new(1.5, 0.9, Seed(5));
    generate(&model, &other);
    assert_eq!(generate(&model, &greedy(60)), first);
    assert_eq!(generate(&load(), &greedy(60)), first);
}

#[test]
fn the_batch_size_changes_records_by_next_to_nothing() {
    let long = GenerateRequest::greedy(prompt(&"walk to the sea ".repeat(20)), 20);
    let whole = generate(&Tiny::default().load(), &long);
    let parts = Tiny::default().load_with(|config| config.n_batch = 7);
    let parts = generate(&parts, &long);
    assert_eq!(parts.ids, whole.ids);
    for (a, b) in parts.logprobs.iter().zip(&whole.logprobs) {
        assert!((a - b).abs() < 1e-3, "{a} against {b}");
    }
}

#[test]
fn sampling_repeats_by_seed() {
    let model = Tiny::default().load();
    let draw = |seed| {
        let mut request = greedy(40);
        request.sampling = Sampling::new(1.0, 0.95, Seed(seed));
        generate(&model, &request).ids
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn stop_texts_end_it_and_are_not_in_the_text() {
    let model = Tiny::default().load();
    let whole = generate(&model, &greedy(40));
    let stop = whole.text.get(10..13).unwrap().to_owned();
    let sink = Arc::new(Pieces::default());
    let mut request = greedy(40);
    request.stop = vec!["never written".to_owned(), stop.clone()];
    request.sink = Some(sink.clone());
    let got = generate(&model, &request);
    let end = whole.text.find(&stop).unwrap();
    assert_eq!(got.finish, FinishReason::Stop);
    assert_eq!(got.text, whole.text[..end]);
    assert_eq!(*sink.0.lock().unwrap(), got.text);
    assert_eq!(got.ids, whole.ids[..got.ids.len()]);
    assert_eq!(got.logprobs.len(), got.ids.len());
}

#[test]
fn the_model_can_end_it() {
    // Random models seldom end by themselves: some draw of a hot distribution does.
    let model = Tiny::default().load();
    let ended = (0..40).find_map(|seed| {
        let mut request = greedy(200);
        request.sampling = Sampling::new(3.0, 1.0, Seed(seed));
        let got = generate(&model, &request);
        (got.finish == FinishReason::EndOfText).then_some(got)
    });
    let ended = ended.unwrap();
    assert_eq!(ended.ids.last(), Some(&crate::support::control("</s>")));
    assert!(!ended.text.ends_with("</s>"));
    assert_eq!(ended.ids.len(), ended.logprobs.len());
}

#[test]
fn the_context_ends_it() {
    let model = Tiny::default().load_with(|config| config.n_ctx = Some(64));
    let got = generate(&model, &greedy(usize::MAX));
    assert_eq!(got.prompt_tokens + got.output_tokens, 64);
    assert_eq!(got.finish, FinishReason::Length);
}

#[test]
fn bad_requests_are_invalid_and_bad_weights_a_model_error() {
    let model = Tiny::default().load();
    let check = |change: fn(&mut GenerateRequest)| {
        let mut request = greedy(4);
        change(&mut request);
        let error = block_on(model.generate(&request)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    };
    check(|request| request.stop = vec![String::new()]);
    check(|request| request.sampling.temperature = -1.0);
    check(|request| request.sampling.top_p = 1.5);
    let broken = Tiny {
        not_a_number: true,
        ..Tiny::default()
    };
    let error = block_on(broken.load().generate(&greedy(4))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model, "{error}");
}
