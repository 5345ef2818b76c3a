//! Text from the bytes of tokens: joins characters that are split across tokens, and finds stop texts.

use std::{fmt, sync::Arc};

use crate::contract::TokenSink;

/// A text that is being written, for adapters of models. Text that went to the sink is never taken back: the beginning of a
/// character or of a stop text is held back until it is complete or cannot become one.
///
/// ```
/// use journeyman::text::TextStream;
///
/// let mut stream = TextStream::new(vec!["\n\n".to_owned()], None);
/// assert!(!stream.push(b"unseal the tin\n"));
/// assert!(stream.push(b"\nthen"));
/// assert_eq!(stream.finish().0, "unseal the tin");
/// ```
pub struct TextStream {
    stops: Vec<String>,
    sink: Option<Arc<dyn TokenSink>>,
    text: String,
    /// Bytes of an incomplete character.
    pending: Vec<u8>,
    /// Length of the part of `text` that the sink has, in bytes.
    sent: usize,
    /// Length of the part of `text` that certainly has no stop text, in bytes.
    searched: usize,
}

impl fmt::Debug for TextStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream")
            .field("text", &self.text)
            .field("sent", &self.sent)
            .finish_non_exhaustive()
    }
}

impl TextStream {
    /// An empty text that ends before the first of `stops`.
    pub fn new(stops: Vec<String>, sink: Option<Arc<dyn TokenSink>>) -> Self {
        Self {
            stops,
            sink,
            text: String::new(),
            pending: Vec::new(),
            sent: 0,
            searched: 0,
        }
    }

    /// Adds a token's bytes; true when a stop text is complete.
    pub fn push(&mut self, piece: &[u8]) -> bool {
        self.pending.extend_from_slice(piece);
        self.take_characters();
        self.settle()
    }

    /// Returns the whole text, held-back parts included, and whether a stop text was found in those.
    pub fn finish(mut self) -> (String, bool) {
        let mut stopped = false;
        if !self.pending.is_empty() {
            self.pending.clear();
            self.text.push(char::REPLACEMENT_CHARACTER);
            stopped = self.settle();
        }
        let end = self.text.len();
        self.send(end);
        (self.text, stopped)
    }

    /// Number of bytes that the sink has, or would have.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Moves complete characters from `pending` to `text`; invalid bytes become U+FFFD.
    fn take_characters(&mut self) {
        let mut rest = self.pending.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    self.text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, broken) = rest.split_at(error.valid_up_to());
                    self.text.push_str(&String::from_utf8_lossy(valid));
                    match error.error_len() {
                        Some(length) => {
                            self.text.push(char::REPLACEMENT_CHARACTER);
                            rest = &broken[length..];
                        }
                        None => {
                            rest = broken;
                            break;
                        }
                    }
                }
            }
        }
        self.pending = rest.to_vec();
    }

    /// Searches for stop texts and sends the text that is certain.
    fn settle(&mut self) -> bool {
        let from = self.searched;
        let found = self
            .stops
            .iter()
            .filter_map(|stop| self.text[from..].find(stop.as_str()))
            .min();
        if let Some(at) = found {
            self.text.truncate(from + at);
            self.pending.clear();
            let end = self.text.len();
            self.send(end);
            return true;
        }
        let held = self.held_back();
        let certain = self.text.len() - held;
        self.searched = certain;
        self.send(certain);
        false
    }

    /// The length of the longest end of the text that is the beginning of a stop text.
    fn held_back(&self) -> usize {
        let begins = |stop: &String| {
            (1..stop.len())
                .rev()
                .filter(|&length| stop.is_char_boundary(length))
                .find(|&length| self.text.ends_with(&stop[..length]))
                .unwrap_or(0)
        };
        self.stops.iter().map(begins).max().unwrap_or(0)
    }

    fn send(&mut self, end: usize) {
        if end > self.sent {
            if let Some(sink) = &self.sink {
                sink.token(&self.text[self.sent..end]);
            }
            self.sent = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Pieces(Mutex<Vec<String>>);

    impl TokenSink for Pieces {
        fn token(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    fn check(stops: &[&str], pieces: &[&[u8]], text: &str, stopped: bool, sent: &[&str]) {
        let sink = Arc::new(Pieces::default());
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        let mut stream = TextStream::new(stops, Some(sink.clone()));
        let mut stop = pieces.iter().any(|piece| stream.push(piece));
        let (got, late) = stream.finish();
        stop |= late;
        assert_eq!((got.as_str(), stop), (text, stopped));
        assert_eq!(*sink.0.lock().unwrap(), sent);
    }

    #[test]
    fn a_character_split_across_tokens_is_one() {
        check(&[], &[b"a\xc3", b"\xa9b"], "aéb", false, &["a", "éb"]);
    }

    #[test]
    fn bytes_that_are_no_character_are_replaced() {
        check(
            &[],
            &[b"a\xffb", b"\xe2\x82"],
            "a\u{fffd}b\u{fffd}",
            false,
            &["a\u{fffd}b", "\u{fffd}"],
        );
    }

    #[test]
    fn a_stop_text_across_tokens_ends_it_and_is_never_sent() {
        check(
            &["</end>"],
            &[b"go </", b"en", b"d> on"],
            "go ",
            true,
            &["go "],
        );
    }

    #[test]
    fn what_looked_like_a_stop_text_is_sent_later() {
        check(
            &["</end>"],
            &[b"go </", b"x"],
            "go </x",
            false,
            &["go ", "</x"],
        );
        check(&["ab"], &[b"xa"], "xa", false, &["x", "a"]);
    }

    #[test]
    fn the_first_of_several_stop_texts_counts() {
        check(&["c", "bc"], &[b"abcd"], "a", true, &["a"]);
    }

    #[test]
    fn overlapping_beginnings_are_found() {
        check(&["aab"], &[b"a", b"a", b"a", b"b"], "a", true, &["a"]);
    }
}
