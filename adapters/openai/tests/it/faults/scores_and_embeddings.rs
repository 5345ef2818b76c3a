//! Faults while a text is scored or embedded.

use std::time::{Duration, Instant};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind,
    contract::{Embedder, LanguageModel, ScoreRequest, Scorer},
};
use journeyman_openai::{OpenAi, OpenAiEmbedder};

use super::failing_at;
use crate::support::{Play, Script, Server, answer, prompt, toy::Like};

/// A whole answer, half of it, and a head without a body.
fn broken(body: &str) -> Vec<(&'static str, Script, ErrorKind)> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let half = format!("{head}{}", &body[..body.len() / 2]);
    let forever = Play::Wait(Duration::from_secs(8));
    let send = |text: &str| Play::Send(text.as_bytes().to_vec());
    vec![
        ("half a body", vec![send(&half)], ErrorKind::Unavailable),
        (
            "half a body, then reset",
            vec![send(&half), Play::Reset],
            ErrorKind::Unavailable,
        ),
        ("429", answer(429, "", "{}"), ErrorKind::RateLimited),
        ("500", answer(500, "", "{}"), ErrorKind::Unavailable),
        ("reset", vec![Play::Reset], ErrorKind::Unavailable),
        ("garbage", answer(200, "", "\u{1}garbage"), ErrorKind::Model),
        (
            "another schema",
            answer(200, "", r#"{"answer":"well"}"#),
            ErrorKind::Model,
        ),
        ("401", answer(401, "", "{}"), ErrorKind::Invalid),
        ("never", vec![forever.clone()], ErrorKind::Timeout),
        (
            "never after the head",
            vec![send(&head), forever],
            ErrorKind::Timeout,
        ),
        (
            "10 MiB",
            vec![
                send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
                Play::Flood(10 << 20),
            ],
            ErrorKind::Model,
        ),
    ]
}

/// Checks a fault of an endpoint that answers at once: its kind, its time, and how often the request was sent.
fn check_fault(
    (name, path, kind): (&str, &str, ErrorKind),
    server: &Server,
    ask: impl FnOnce() -> Error,
) -> Error {
    let began = Instant::now();
    let error = ask();
    let took = began.elapsed();
    assert_eq!(error.kind(), kind, "{name}: {error}");
    assert!(took < LIMIT + Duration::from_secs(1), "{name}: {took:?}");
    let passes = matches!(kind, ErrorKind::Unavailable | ErrorKind::RateLimited);
    assert_eq!(server.count(path), if passes { 4 } else { 1 }, "{name}");
    assert!(
        error.fact("endpoint").unwrap().ends_with(path),
        "{name}: {error}"
    );
    assert!(error.hint_text().is_some(), "{name}: {error}");
    error
}

/// The time of a call to a scorer and an embedder.
const LIMIT: Duration = Duration::from_secs(3);

#[test]
fn a_fault_while_a_text_is_scored_is_typed_and_in_time() {
    let path = "/v1/completions";
    let echo = |logprobs: &str| {
        format!(
            r#"{{"choices":[{{"logprobs":{{"token_logprobs":{logprobs}}}}}],"usage":{{"prompt_tokens":6}}}}"#
        )
    };
    // `find` and `it` are six tokens of the toy behind a BOS token.
    let each = |value: &str| echo(&format!("[null{}]", format!(",{value}").repeat(6)));
    let mut faults = broken(&each("-1"));
    for (name, body) in [
        ("NaN", each("NaN")),
        ("an infinite log-probability", each("-1e999")),
        ("a positive log-probability", each("0.5")),
        ("a missing log-probability", each("null")),
        ("a text", each("\"-1\"")),
        ("too few", echo("[null,-1]")),
    ] {
        faults.push((name, answer(200, "", &body), ErrorKind::Model));
    }
    let request = ScoreRequest::new(prompt("find"), vec!["it".to_owned()])
        .with_max_continuation_tokens(8)
        .with_time_limit(LIMIT);
    for (name, script, kind) in faults {
        let (server, model) = failing_at(path, Like::Vllm, vec![script], |config| {
            block_on(OpenAi::connect(config)).unwrap()
        });
        assert!(model.capabilities().score, "{}", model.support());
        check_fault((name, path, kind), &server, || {
            block_on(model.score(&request)).unwrap_err()
        });
    }
}

#[test]
fn a_fault_while_a_text_is_embedded_is_typed_and_in_time() {
    let path = "/v1/embeddings";
    let of = |vectors: &str| format!(r#"{{"data":[{vectors}]}}"#);
    let one = |vector: &str| of(&format!(r#"{{"index":0,"embedding":{vector}}}"#));
    let mut faults = broken(&one("[1,0,0,0,0,0,0,0]"));
    for (name, body) in [
        ("NaN", one("[NaN,0,0,0,0,0,0,0]")),
        ("an infinite number", one("[1e999,0,0,0,0,0,0,0]")),
        ("no direction", one("[0,0,0,0,0,0,0,0]")),
        ("no vector", of("")),
        ("a text", one("\"AACAPw==\"")),
        (
            "another place",
            of(r#"{"index":1,"embedding":[1,0,0,0,0,0,0,0]}"#),
        ),
    ] {
        faults.push((name, answer(200, "", &body), ErrorKind::Model));
    }
    for (name, script, kind) in faults {
        let (server, model) = failing_at(path, Like::OpenAi, vec![script], |mut config| {
            config.deadlines.total = LIMIT;
            block_on(OpenAiEmbedder::connect(config)).unwrap()
        });
        let error = check_fault((name, path, kind), &server, || {
            block_on(model.embed(&["x"])).unwrap_err()
        });
        let attempts = (server.count(path) == 4).then_some("4");
        assert_eq!(error.fact("attempts"), attempts, "{name}: {error}");
    }
}
