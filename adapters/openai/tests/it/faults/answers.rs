//! Answers that break their schema, and answers without an end.

use std::{num::NonZeroUsize, time::Duration};

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::{GenerateRequest, LanguageModel},
};
use serde_json::json;

use super::{CHAT, ask, failing, failing_with, good, text};
use crate::support::{Play, done, event, events_head, prompt};

/// A server may promise JSON by a schema and not keep to it.
#[test]
fn a_text_that_breaks_its_schema_is_for_its_reader_to_judge() {
    let schema = json!({
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": false,
    });
    let finish = |reason: &str| {
        event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    };
    let written = |said: &str, reason| vec![events_head(), text(said), finish(reason), done()];
    let ask = |script| {
        let (server, model) = failing(vec![script, good()]);
        assert!(model.support().json_schema, "{}", model.support());
        let mut request = GenerateRequest::greedy(prompt("go"), 16);
        request.json_schema = Some(schema.clone());
        let answer = block_on(model.generate(&request)).map(|answer| answer.text);
        assert_eq!(server.count(CHAT), 1);
        answer
    };
    for said in [
        "it is ready",
        "```json\n{\"ready\":true}\n```",
        "{}",
        "{\"ready\":\"yes\"}",
        "{\"ready\":false}",
    ] {
        assert_eq!(ask(written(said, "stop")).unwrap(), said);
    }
    // A text that the limit of tokens cut is the host's to judge.
    assert_eq!(ask(written("{\"rea", "length")).unwrap(), "{\"rea");
}

#[test]
fn a_long_line_is_refused_while_it_is_read() {
    let line = |head: &str| {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {head}\r\nConnection: close\r\n\r\ndata: ");
        vec![Play::Send(head.into_bytes()), Play::Flood(10 << 20)]
    };
    for kind in ["text/event-stream", "application/json"] {
        let (server, model) = failing(vec![line(kind)]);
        let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model, "{error}");
        assert!(
            error.message().contains("longer than 8388608 bytes"),
            "{error}"
        );
        assert_eq!(server.count(CHAT), 1);
    }
    // An endless stream of small events too.
    let many = std::iter::repeat_n(text("word "), 4_000);
    let (_server, model) = failing_with(
        vec![[events_head()].into_iter().chain(many).collect()],
        |config| {
            config.largest_response = NonZeroUsize::new(64 << 10).unwrap();
        },
    );
    let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
    assert!(
        error.message().contains("longer than 65536 bytes"),
        "{error}"
    );
}
