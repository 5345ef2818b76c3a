//! Server-sent events (the WHATWG HTML standard, 9.2.6), as much of them as model servers send.

use crate::error::OpenAiError;

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
                let data = String::from_utf8(std::mem::take(&mut self.data));
                return match data {
                    Ok(data) => Ok(Some(data)),
                    Err(_) => Err(OpenAiError::shape("an event is not UTF-8")),
                };
            }
            let (field, value) = match line.iter().position(|byte| *byte == b':') {
                Some(colon) => (&line[..colon], &line[colon + 1..]),
                None => (&line[..], &[][..]),
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match field {
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

    fn line(&mut self) -> Option<Vec<u8>> {
        let Some(at) = self.pending[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n')
        else {
            self.searched = self.pending.len();
            return None;
        };
        let end = self.searched + at;
        let line = &self.pending[self.taken..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        self.searched = end + 1;
        self.taken = end + 1;
        Some(line)
    }
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
        check(
            ": comment\n\nevent: x\nid: 3\ndata: a\ndata: b\n\n",
            &["a\nb"],
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
