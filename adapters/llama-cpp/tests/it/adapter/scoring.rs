//! Scoring.

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind,
    contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer, TokenScores},
};
use journeyman_llama_cpp::LlamaCpp;

use crate::support::{Tiny, bare::Bare, load, prompt};

fn request(continuations: &[&str]) -> ScoreRequest {
    ScoreRequest::new(
        prompt("find the coffee by the mast"),
        continuations.iter().map(|&text| text.to_owned()).collect(),
    )
}

fn score(model: &LlamaCpp, request: &ScoreRequest) -> Vec<TokenScores> {
    block_on(model.score(request)).unwrap()
}

fn assert_close(got: &[TokenScores], want: &[TokenScores]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert_eq!((&got.ids, got.truncated), (&want.ids, want.truncated));
        assert_eq!(got.logprobs.len(), got.ids.len());
        for (a, b) in got.logprobs.iter().zip(&want.logprobs) {
            // The contract asks for 1e-3; keys and values in full precision give this.
            assert!((a - b).abs() < 1e-4, "{a} against {b}");
        }
    }
}

const TEXTS: [&str; 7] = [
    "unseal bell; unseal coffee tone off power $",
    "x",
    "",
    "rotate oar # and then the other one, which is a much longer text than all the rest",
    "<call></s><task>",
    "the",
    "unseal bell; unseal coffee tone off power $",
];

#[test]
fn a_shared_prefix_equals_separate_passes() {
    let tiny = Tiny::default();
    let file = tiny.file();
    let model = load(&file, |_| ());
    let request = request(&TEXTS);
    let got = score(&model, &request);
    let prompt = GenerateRequest::greedy(request.prompt.clone(), 0);
    let prompt = block_on(model.generate(&prompt)).unwrap().prompt_ids;
    let bare = Bare::load(&file.0);
    let want: Vec<TokenScores> = got
        .iter()
        .map(|got| {
            got.clone()
                .edited(|it| it.logprobs = bare.score(&prompt, &got.ids))
        })
        .collect();
    assert_close(&got, &want);
    assert!(want[0].sum() < -1.0);
    assert_eq!(want[2].ids.len(), 0);
    assert_eq!(want[4].ids.len(), TEXTS[4].len());
}

#[test]
fn small_limits_mean_more_rounds_and_the_same_scores() {
    let request = request(&TEXTS);
    let want = score(&Tiny::default().load(), &request);
    let two_sequences = Tiny::default().load_with(|config| config.n_seq_max = 2);
    assert_close(&score(&two_sequences, &request), &want);
    let few_cells = Tiny::default().load_with(|config| {
        config.n_ctx = Some(120);
        config.shared_cells = Some(0);
    });
    assert_close(&score(&few_cells, &request), &want);
    let small_batches = Tiny::default().load_with(|config| config.n_batch = 5);
    assert_close(&score(&small_batches, &request), &want);
}

#[test]
fn scores_are_what_generation_reports() {
    let model = Tiny::default().load();
    let written = GenerateRequest::greedy(prompt("find the coffee by the mast"), 30);
    let written = block_on(model.generate(&written)).unwrap();
    let scores = score(&model, &request(&[&written.text]));
    assert_eq!(scores[0].ids, written.ids);
    for (a, b) in scores[0].logprobs.iter().zip(&written.logprobs) {
        assert!((a - f64::from(*b)).abs() < 1e-3, "{a} against {b}");
    }
}

#[test]
fn a_long_text_is_cut_at_the_same_tokens() {
    let model = Tiny::default().load();
    let mut request = request(&[&("x".to_owned() + &"the".repeat(300))]);
    request.max_continuation_tokens = 400;
    let whole = &score(&model, &request)[0];
    assert_eq!((whole.ids.len(), whole.truncated), (301, false));
    for cap in 0..40 {
        request.max_continuation_tokens = cap;
        let cut = &score(&model, &request)[0];
        assert!(cut.truncated);
        assert_eq!(cut.ids, whole.ids[..cap]);
    }
}

#[test]
fn the_cut_is_exact() {
    let model = Tiny::default().load();
    let mut request = request(&["abcdef", "abc", "the the"]);
    let whole = score(&model, &request);
    request.max_continuation_tokens = 3;
    let cut = score(&model, &request);
    let lengths: Vec<_> = cut.iter().map(|s| (s.ids.len(), s.truncated)).collect();
    assert_eq!(lengths, [(3, true), (3, false), (3, false)]);
    for (cut, whole) in cut.iter().zip(&whole) {
        assert_eq!(cut.ids, whole.ids[..3]);
        assert!((cut.sum() - whole.logprobs[..3].iter().sum::<f64>()).abs() < 3e-3);
    }
    request.max_continuation_tokens = 0;
    assert!(
        score(&model, &request)
            .iter()
            .all(|s| s.ids.is_empty() && s.truncated)
    );
}

#[test]
fn nothing_and_too_much() {
    let model = Tiny::default().load_with(|config| config.n_ctx = Some(64));
    assert_eq!(score(&model, &request(&[])), []);
    let long = "y".repeat(64);
    let error = block_on(model.score(&request(&["x", &long]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.to_string().contains("continuation_tokens: 64"),
        "{error}"
    );
    let mut full = request(&["x"]);
    full.prompt = prompt(&long);
    let error = block_on(model.score(&full)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let broken = Tiny {
        not_a_number: true,
        ..Tiny::default()
    };
    let error = block_on(broken.load().score(&request(&["x"]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model, "{error}");
}
