//! Every fault of a generation, counted for the figures of `tests/`. Alone in its process: it measures the most memory that the
//! process ever had, which other tests beside it would raise.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod support;

use std::time::Duration;

use journeyman_openai::OpenAiError;
use serde_json::json;

use crate::support::{
    Play, Script, answer, done, event, events_head,
    failing::{ask, failing, good, text},
};

/// The most memory that this process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let (_, peak) = status.split_once("VmHWM:").unwrap();
    peak.split_whitespace().next().unwrap().parse().unwrap()
}

#[cfg(not(target_os = "linux"))]
fn peak() -> usize {
    0
}

/// What the figures of `tests/` count: calls that end later than their deadline and 1 s, effects that happened twice, calls
/// without a typed error, and the KiB by which an answer without an end raised the peak of this process' memory.
#[test]
fn every_fault_is_counted() {
    let limit = Duration::from_millis(1_200);
    let (mut late, mut twice, mut untyped, mut memory) = (0, 0, 0, 0);
    let all = every_fault();
    for (name, script, may_end_well) in &all {
        let (_server, model) = failing(vec![script.clone(), good()]);
        let before = peak();
        let (answer, pieces, took) = ask(&model, limit);
        // Some kernels let the peak sink.
        memory = memory.max(peak().saturating_sub(before));
        println!("{name}: {took:?} {answer:?} {pieces:?}");
        late += usize::from(took > limit + Duration::from_secs(1));
        let text = pieces.concat();
        let once = match &answer {
            Ok(answer) => {
                // A call that cannot be taken is given as a text.
                let is_call =
                    text.starts_with("\n<tool_call>") && text.matches("swim").count() == 1;
                text == *answer && (is_call || "all well".starts_with(&text))
            }
            Err(_) => text.matches("all ").count() <= 1 && text.len() <= "all ".len(),
        };
        twice += usize::from(!once);
        let is_typed = match &answer {
            Ok(_) => *may_end_well,
            Err(error) => {
                let source = std::error::Error::source(error);
                let is_ours = source.is_some_and(|source| source.is::<OpenAiError>());
                is_ours && error.hint_text().is_some() && error.fact("endpoint").is_some()
            }
        };
        untyped += usize::from(!is_typed);
    }
    println!(
        "faults: calls={} late={late} twice={twice} untyped={untyped} memory={memory}",
        all.len()
    );
    assert_eq!((late, twice, untyped), (0, 0, 0));
    // An answer has at most 8 MiB, and a buffer that grows holds its old half and its new one for a moment.
    assert!(memory <= 32 << 10, "{memory} KiB");
}

/// Each fault of a server, and whether a call may end well in spite of it: the second answer is a good one.
fn every_fault() -> Vec<(String, Script, bool)> {
    let forever = Play::Wait(Duration::from_secs(8));
    let raw = |bytes: &[u8]| vec![Play::Send(bytes.to_vec())];
    let stream = |body: &[u8]| vec![events_head(), Play::Send(body.to_vec())];
    let mut slow = vec![events_head()];
    let drops = (0..80).flat_map(|_| {
        [
            Play::Send(b": wait\n".to_vec()),
            Play::Wait(Duration::from_millis(100)),
        ]
    });
    slow.extend(drops);
    let long = |bytes| {
        vec![
            events_head(),
            Play::Send(b"data: ".to_vec()),
            Play::Flood(bytes),
        ]
    };
    let half = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"choices\":";
    let call = |arguments: &str| {
        let calls =
            json!([{"index": 0, "id": "a", "function": {"name": "swim", "arguments": arguments}}]);
        event(
            &json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}),
        )
    };
    let mut all: Vec<(String, Script, bool)> = [
        ("garbage", answer(200, "", "\u{1}\u{2}garbage"), false),
        ("an empty body", answer(200, "", ""), false),
        ("another schema", answer(200, "", r#"{"answer":"well"}"#), false),
        ("choices of another type", answer(200, "", r#"{"choices":"well"}"#), false),
        ("NaN", stream(b"data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"logprobs\":{\"content\":[{\"logprob\":NaN}]}}]}\n\n"), false),
        ("a positive log-probability", stream(b"data: {\"choices\":[{\"delta\":{},\"logprobs\":{\"content\":[{\"logprob\":3.0}]}}]}\n\n"), false),
        ("garbage in a stream", stream(b"data: nothing\n\n"), false),
        ("bytes that are no text", stream(b"data: \xff\xfe\n\n"), false),
        ("a line of 10 MiB", long(10 << 20), false),
        ("a line of 200 MiB", long(200 << 20), false),
        ("a call that nobody asked for", vec![events_head(), call("{}"), done()], true),
        ("a call cut to garbage", vec![events_head(), call("{\"a"), done()], true),
        ("garbage after text", vec![events_head(), text("all "), Play::Send(b"data: ]\n\n".to_vec())], false),
        ("an error after text", vec![events_head(), text("all "), event(&json!({"error": {"message": "later", "code": 503}}))], false),
        ("a reset after text", vec![events_head(), text("all "), Play::Reset], false),
        ("half an event after text", vec![events_head(), text("all "), Play::Send(b"data: {\"cho".to_vec())], false),
        ("never after text", vec![events_head(), text("all "), forever.clone()], false),
        ("never", vec![forever.clone()], false),
        ("never after the head", vec![events_head(), forever], false),
        ("a byte at a time", slow, false),
        ("reset", vec![Play::Reset], true),
        ("half a head", raw(b"HTTP/1.1 200 OK\r\nContent-"), true),
        ("half a body", raw(half), true),
        ("half a body, then reset", [raw(half), vec![Play::Reset]].concat(), true),
        ("a stream that ends before its text", vec![events_head(), Play::Reset], true),
        ("a wait beyond the limit", answer(429, "Retry-After: 30\r\n", "{}"), false),
        ("a redirect", answer(302, "Location: http://127.0.0.1:9/\r\n", ""), false),
    ]
    .map(|(name, script, may_end_well)| (name.to_owned(), script, may_end_well))
    .to_vec();
    for status in [
        400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504, 529,
    ] {
        let passes = matches!(status, 408 | 429 | 500 | 502..=504 | 529);
        all.push((status.to_string(), answer(status, "", "{}"), passes));
    }
    all
}
