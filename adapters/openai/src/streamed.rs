//! Reads the body of an answer: a stream of events, or one JSON object.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{
    answer::{Answer, Chunk, refused},
    error::OpenAiError,
    events::{BOM, Events},
    http::{Body, parsed},
};

/// How the reading of an answer ended.
pub(crate) enum Read {
    /// At a stop text, or at the end of one JSON object: the text is whole.
    Whole,
    /// At the mark that ends a stream.
    Done,
    /// The connection ended first.
    Cut,
}

impl Read {
    fn uncut(self) -> Option<Self> {
        (!matches!(self, Self::Cut)).then_some(self)
    }
}

pub(crate) async fn read_events(mut body: Body, answer: &mut Answer) -> Result<Read, OpenAiError> {
    let mut events = Events::default();
    loop {
        match body.piece().await {
            Ok(Some(piece)) => events.push(&piece),
            Ok(None) => return ended(events, answer),
            // The end may have come before the connection broke.
            Err(error) => return ended(events, answer)?.uncut().ok_or(error),
        }
        if let Some(read) = absorbed(&mut events, answer)? {
            return Ok(read);
        }
    }
}

/// Takes in the events that are complete, up to the end of the answer.
fn absorbed(events: &mut Events, answer: &mut Answer) -> Result<Option<Read>, OpenAiError> {
    while let Some(event) = events.next()? {
        if let Some(read) = absorb(&event, answer)? {
            return Ok(Some(read));
        }
    }
    Ok(None)
}

/// Takes in what stands behind the last complete event: one without its empty line, or one that was cut.
fn ended(mut events: Events, answer: &mut Answer) -> Result<Read, OpenAiError> {
    events.push(b"\n\n");
    while let Ok(Some(event)) = events.next() {
        let is_cut = !is_end(&event) && serde_json::from_str::<IgnoredAny>(&event).is_err();
        if !is_cut && let Some(read) = absorb(&event, answer)? {
            return Ok(read);
        }
    }
    Ok(Read::Cut)
}

fn is_end(event: &str) -> bool {
    event.trim() == "[DONE]"
}

/// Takes in an event, which may be the end of the answer.
fn absorb(event: &str, answer: &mut Answer) -> Result<Option<Read>, OpenAiError> {
    if is_end(event) {
        return Ok(Some(Read::Done));
    }
    let chunk: Chunk = parsed(event.as_bytes())?;
    if chunk.is_answer() {
        return Ok(answer.absorb(chunk)?.then_some(Read::Whole));
    }
    failed(event.as_bytes()).map(|()| None)
}

/// An event that is no part of an answer: an error where it says so, and else nothing.
fn failed(event: &[u8]) -> Result<(), OpenAiError> {
    let event: Value = parsed(event)?;
    let says = |key: &str| event.get(key).and_then(Value::as_str) == Some("error");
    match says("object") || says("type") || event.get("error_code").is_some() {
        true => Err(refused(&event)),
        false => Ok(()),
    }
}

pub(crate) fn read_whole(body: &[u8], answer: &mut Answer) -> Result<Read, OpenAiError> {
    let fields = [&b"data:"[..], b"event:", b"id:", b"retry:", b":"];
    let begin = body.strip_prefix(BOM).unwrap_or(body).trim_ascii_start();
    if fields.iter().any(|field| begin.starts_with(field)) {
        let mut events = Events::default();
        events.push(begin);
        return match absorbed(&mut events, answer)? {
            Some(read) => Ok(read),
            None => ended(events, answer),
        };
    }
    let chunk: Chunk = parsed(begin)?;
    if !chunk.is_answer() {
        return Err(OpenAiError::shape("it has no choices"));
    }
    answer.absorb(chunk).map(|_| Read::Whole)
}
