//! Reads the body of an answer: a stream of events, or one JSON object.

use serde_json::Value;

use crate::{
    answer::{Answer, Chunk, refused},
    error::OpenAiError,
    events::Events,
    http::{Body, parsed},
};

/// How the reading of an answer ended.
pub(crate) enum Read {
    /// At the mark that ends a stream, at a stop text, or at the end of one JSON object: the text is whole.
    Whole,
    /// The connection ended first.
    Cut,
}

pub(crate) async fn read_events(mut body: Body, answer: &mut Answer) -> Result<Read, OpenAiError> {
    let mut events = Events::default();
    while let Some(piece) = body.piece().await? {
        events.push(&piece);
        if absorbed(&mut events, answer)? {
            return Ok(Read::Whole);
        }
    }
    Ok(Read::Cut)
}

/// Takes in the events that are complete; true at the end of the answer.
fn absorbed(events: &mut Events, answer: &mut Answer) -> Result<bool, OpenAiError> {
    while let Some(event) = events.next()? {
        if event.trim() == "[DONE]" {
            return Ok(true);
        }
        let chunk: Chunk = parsed(event.as_bytes())?;
        if !chunk.is_answer() {
            failed(event.as_bytes())?;
        } else if answer.absorb(chunk)? {
            return Ok(true);
        }
    }
    Ok(false)
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
    let is_stream = [&b"data:"[..], b"event:", b":"];
    let is_stream = is_stream
        .iter()
        .any(|begin| body.trim_ascii_start().starts_with(begin));
    if is_stream {
        let mut events = Events::default();
        events.push(body);
        events.push(b"\n\n");
        let is_whole = absorbed(&mut events, answer)?;
        return Ok(if is_whole { Read::Whole } else { Read::Cut });
    }
    let chunk: Chunk = parsed(body)?;
    if !chunk.is_answer() {
        return Err(OpenAiError::shape("it has no choices"));
    }
    answer.absorb(chunk).map(|_| Read::Whole)
}
