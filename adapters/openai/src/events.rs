//! Server-sent events (the WHATWG HTML standard, 9.2.6), as much of them as model servers send.

use serde::de::IgnoredAny;

use crate::error::OpenAiError;

pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Splits bytes into events. What is kept is bounded by the limit on the answer's length.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pending: Vec<u8>,
    /// Length of the part of `pending` that was given out. It is dropped once a piece, so that many short lines cost no
    /// more than one long one.
    taken: usize,
    /// Length of the part of `pending` that was searched for line breaks.
    searched: usize,
    /// The data lines of the event that is not complete.
    data: Vec<u8>,
    /// Whether the last line ended with a carriage return: a line feed behind it ends no line of its own.
    returned: bool,
}

impl Events {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.pending.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        self.pending.extend_from_slice(bytes);
    }

    /// The data of the next complete event. An event without data is left out.
    pub(crate) fn next(&mut self) -> Result<Option<String>, OpenAiError> {
        while let Some(line) = self.line() {
            if line.is_empty() {
                if self.data.is_empty() {
                    continue;
                }
                return self.take(Vec::new()).map(Some);
            }
            let (field, value) = match line.iter().position(|byte| *byte == b':') {
                Some(colon) => (&line[..colon], &line[colon + 1..]),
                None => (&line[..], &[][..]),
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            // A stream may begin with a byte order mark.
            let field = field.strip_prefix(BOM).unwrap_or(field);
            match field {
                // Some servers leave out the empty line. No JSON goes on behind its end.
                b"data" if is_next(value) && is_whole(&self.data) => {
                    return self.take(value.to_vec()).map(Some);
                }
                b"data" => {
                    if !self.data.is_empty() {
                        self.data.push(b'\n');
                    }
                    self.data.extend_from_slice(value);
                }
                // Older builds of llama-server report errors in a field of their own.
                b"error" => {
                    self.data = [br#"{"error":"#, value, b"}"].concat();
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The event so far; `next` begins another one.
    fn take(&mut self, next: Vec<u8>) -> Result<String, OpenAiError> {
        String::from_utf8(std::mem::replace(&mut self.data, next))
            .map_err(|_| OpenAiError::shape("an event is not UTF-8"))
    }

    /// The next line, which ends with a line feed, a carriage return or both.
    fn line(&mut self) -> Option<Vec<u8>> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        loop {
            let Some(at) = self.pending[self.searched..].iter().position(is_end) else {
                self.searched = self.pending.len();
                return None;
            };
            let end = self.searched + at;
            let line = self.taken..end;
            (self.searched, self.taken) = (end + 1, end + 1);
            let is_return = self.pending[end] == b'\r';
            let is_rest = self.returned && !is_return && line.is_empty();
            self.returned = is_return;
            if !is_rest {
                return Some(self.pending[line].to_vec());
            }
        }
    }
}

/// Whether a line of data begins an event of its own.
fn is_next(data: &[u8]) -> bool {
    data.starts_with(b"{") || data.trim_ascii() == b"[DONE]"
}

fn is_whole(data: &[u8]) -> bool {
    let is_object = data.starts_with(b"{") && data.trim_ascii_end().ends_with(b"}");
    is_object && serde_json::from_slice::<IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream, however it is cut into pieces.
    fn check(stream: &str, expect: &[&str]) {
        for size in [1, 2, 3, 7, stream.len().max(1)] {
            let mut events = Events::default();
            let mut found = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                events.push(piece);
                while let Some(event) = events.next().unwrap() {
                    found.push(event);
                }
            }
            assert_eq!(found, expect, "in pieces of {size}");
        }
    }

    #[test]
    fn events_end_with_an_empty_line() {
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata:b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\rdata: c\r\r", &["a", "b\nc"]);
        check("\u{feff}data: a\n\ndata: b\n\n", &["a", "b"]);
        check(
            ": comment\n\nevent: x\nid: 3\ndata: a\ndata: b\n\n",
            &["a\nb"],
        );
        check(
            "data: {\"a\":1}\ndata: {\"b\":\ndata: 2}\ndata: [DONE]\n\n",
            &["{\"a\":1}", "{\"b\":\n2}", "[DONE]"],
        );
        check("error: {\"code\":500}\n\n", &[r#"{"error":{"code":500}}"#]);
    }

    #[test]
    fn an_event_that_is_not_complete_is_not_given() {
        check("data: a\n", &[]);
        check("data: a", &[]);
        check("\n\n", &[]);
    }

    #[test]
    fn a_flood_of_line_breaks_is_read_in_one_pass() {
        let mut events = Events::default();
        for _ in 0..4 {
            events.push(&vec![b'\n'; 8 << 20]);
            assert_eq!(events.next().unwrap(), None);
            assert_eq!(events.taken, events.pending.len());
        }
        assert_eq!(events.pending.len(), 8 << 20, "what was read is dropped");
        events.push(b"data: a\n\n");
        assert_eq!(events.next().unwrap().as_deref(), Some("a"));
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        let mut events = Events::default();
        events.push(b"data: \xff\n\n");
        assert!(events.next().is_err());
    }
}
