//! What is tried again, and what is sent once.

use std::time::Duration;

use futures::executor::block_on;
use journeyman::{
    ErrorKind, Retry,
    contract::{GenerateRequest, LanguageModel},
};
use serde_json::json;

use super::{CHAT, ask, failing, good, text};
use crate::support::{Play, Script, answer, event, events_head, prompt};

/// The text that arrives after a failure that passes.
#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let status =
        |status: u16, headers: &str| answer(status, headers, r#"{"error":{"message":"later"}}"#);
    for (name, script) in [
        ("408", status(408, "")),
        ("429", status(429, "")),
        ("429 with Retry-After", status(429, "Retry-After: 1\r\n")),
        ("500", status(500, "")),
        ("502", status(502, "")),
        ("503", answer(503, "", "<html>busy</html>")),
        ("504", status(504, "")),
        ("529", status(529, "")),
        ("reset", vec![Play::Reset]),
        ("half a head", vec![Play::Send(b"HTTP/1.1 200 OK\r\nContent-".to_vec()), Play::Reset]),
        (
            "half a body",
            vec![
                Play::Send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"choices\":".to_vec()),
                Play::Reset,
            ],
        ),
        ("a stream that ends before its text", vec![events_head(), Play::Reset]),
        (
            "an error in the stream",
            vec![events_head(), event(&json!({"error": {"message": "overloaded", "code": 503}}))],
        ),
    ] {
        let (server, model) = failing(vec![script, good()]);
        let (answer, pieces, took) = ask(&model, Duration::from_secs(20));
        assert_eq!(answer.unwrap(), "all well", "{name}");
        assert_eq!(pieces.concat(), "all well", "{name}");
        assert_eq!(server.count(CHAT), 2, "{name}");
        if name.contains("Retry-After") {
            assert!(took >= Duration::from_secs(1), "{name}: {took:?}");
        }
    }
}

#[test]
fn a_failure_that_stays_ends_after_the_retries() {
    for (name, script, kind) in [
        ("429", answer(429, "", "{}"), ErrorKind::RateLimited),
        ("500", answer(500, "", "{}"), ErrorKind::Unavailable),
        ("504", answer(504, "", "{}"), ErrorKind::Timeout),
        ("reset", vec![Play::Reset], ErrorKind::Unavailable),
        (
            "half a stream",
            vec![events_head(), Play::Send(b"data: {\"cho".to_vec())],
            ErrorKind::Unavailable,
        ),
    ] {
        let (server, model) = failing(vec![script]);
        let (answer, pieces, _) = ask(&model, Duration::from_secs(20));
        let error = answer.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (kind, Retry::Temporary),
            "{name}: {error}"
        );
        assert_eq!(error.fact("attempts"), Some("4"), "{name}: {error}");
        assert!(
            error.fact("endpoint").unwrap().ends_with(CHAT),
            "{name}: {error}"
        );
        assert!(
            error.hint_text().is_some() && pieces.is_empty(),
            "{name}: {error}"
        );
        assert_eq!(server.count(CHAT), 4, "{name}");
    }
}

#[test]
fn what_cannot_pass_is_sent_once() {
    let quota =
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
    let stream = |body: &[u8]| vec![events_head(), Play::Send(body.to_vec())];
    for (name, script, kind) in [
        ("400", answer(400, "", "{}"), ErrorKind::Invalid),
        ("401", answer(401, "", "{}"), ErrorKind::Invalid),
        ("403", answer(403, "", "{}"), ErrorKind::Invalid),
        ("404", answer(404, "", "{}"), ErrorKind::NotFound),
        ("a quota", answer(429, "", quota), ErrorKind::RateLimited),
        ("a redirect", answer(302, "Location: http://127.0.0.1:9/\r\n", ""), ErrorKind::Unsupported),
        ("garbage", answer(200, "", "\u{1}\u{2}garbage"), ErrorKind::Model),
        ("an empty body", answer(200, "", ""), ErrorKind::Model),
        ("another schema", answer(200, "", r#"{"answer":"well"}"#), ErrorKind::Model),
        ("choices of another type", answer(200, "", r#"{"choices":"well"}"#), ErrorKind::Model),
        ("NaN", stream(b"data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"logprobs\":{\"content\":[{\"logprob\":NaN}]}}]}\n\n"), ErrorKind::Model),
        ("a positive log-probability", stream(b"data: {\"choices\":[{\"delta\":{},\"logprobs\":{\"content\":[{\"logprob\":3.0}]}}]}\n\n"), ErrorKind::Model),
        ("garbage in a stream", stream(b"data: nothing\n\n"), ErrorKind::Model),
        ("bytes that are no text", stream(b"data: \xff\xfe\n\n"), ErrorKind::Model),
        ("a filter", stream(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n"), ErrorKind::Model),
        ("a stream's refusal", vec![events_head(), event(&json!({"error": {"message": "no", "code": 400}}))], ErrorKind::Invalid),
    ] {
        let (server, model) = failing(vec![script]);
        let (answer, pieces, _) = ask(&model, Duration::from_secs(20));
        let error = answer.unwrap_err();
        assert_eq!((error.kind(), error.retry()), (kind, Retry::Permanent), "{name}: {error}");
        assert!(error.hint_text().is_some() && pieces.is_empty(), "{name}: {error}");
        assert_eq!(server.count(CHAT), 1, "{name}");
    }
}

#[test]
fn nothing_that_reached_a_sink_is_repeated() {
    for (name, rest) in [
        ("reset", vec![Play::Reset]),
        ("half an event", vec![Play::Send(b"data: {\"cho".to_vec())]),
        (
            "an error",
            vec![event(&json!({"error": {"message": "later", "code": 503}}))],
        ),
        ("garbage", vec![Play::Send(b"data: ]\n\n".to_vec())]),
    ] {
        let script = [vec![events_head(), text("all ")], rest].concat();
        let (server, model) = failing(vec![script, good()]);
        let (answer, pieces, _) = ask(&model, Duration::from_secs(20));
        assert!(answer.is_err(), "{name}");
        assert_eq!(pieces, ["all "], "{name}");
        assert_eq!(server.count(CHAT), 1, "{name}");

        // Without a sink nothing was seen.
        if name != "garbage" {
            let script = server_script(name);
            let (server, model) = failing(vec![script, good()]);
            let answer = block_on(model.generate(&GenerateRequest::greedy(prompt("go"), 16)));
            assert_eq!(answer.unwrap().text, "all well", "{name}");
            assert_eq!(server.count(CHAT), 2, "{name}");
        }
    }
}

fn server_script(name: &str) -> Script {
    let rest = match name {
        "an error" => event(&json!({"error": {"message": "later", "code": 503}})),
        "half an event" => Play::Send(b"data: {\"cho".to_vec()),
        _ => Play::Reset,
    };
    vec![events_head(), text("all "), rest]
}
