//! A bound on the model's thoughts.

use std::collections::VecDeque;

use llama_cpp_2::token::LlamaToken;

const OPEN: &[u8] = b"<think>";
const CLOSE: &[u8] = b"</think>";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but blanks and the beginning of a mark is written.
    Before,
    Within,
    Past,
}

/// Follows an answer's thoughts, and ends them where they become too long.
#[derive(Debug)]
pub(super) struct Thoughts {
    state: State,
    /// The last bytes of the text, as many as a mark has.
    tail: Vec<u8>,
    /// Tokens of thoughts so far.
    spent: usize,
    most: usize,
    end: Vec<LlamaToken>,
    /// The tokens that end the thoughts and are not written yet.
    forced: VecDeque<LlamaToken>,
}

impl Thoughts {
    /// At most `most` tokens, then these ones.
    pub(super) fn new(is_open: bool, most: usize, end: Vec<LlamaToken>) -> Self {
        Self {
            state: match is_open {
                true => State::Within,
                false => State::Before,
            },
            tail: Vec::new(),
            spent: 0,
            most,
            end,
            forced: VecDeque::new(),
        }
    }

    /// The token that must come next.
    pub(super) fn forced(&mut self) -> Option<LlamaToken> {
        self.forced.pop_front()
    }

    /// Ends thoughts that are still open; false where none are.
    pub(super) fn end(&mut self) -> bool {
        let open = self.state == State::Within && self.forced.is_empty();
        if open {
            self.most = self.spent;
            self.forced.extend(&self.end);
        }
        open
    }

    /// Takes in a token's bytes.
    pub(super) fn push(&mut self, piece: &[u8]) {
        if self.state == State::Past {
            return;
        }
        self.tail.extend_from_slice(piece);
        if self.state == State::Before {
            let begun = self.tail.trim_ascii_start();
            if begun.starts_with(OPEN) {
                self.state = State::Within;
                self.tail.clear();
            } else if !OPEN.starts_with(begun) {
                self.state = State::Past;
            }
            return;
        }
        self.spent += 1;
        if self.tail.windows(CLOSE.len()).any(|window| window == CLOSE) {
            self.state = State::Past;
            return;
        }
        let kept = self.tail.len().saturating_sub(CLOSE.len() - 1);
        self.tail.drain(..kept);
        if self.spent == self.most.max(1) {
            self.forced.extend(&self.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many forced tokens there are after these pieces.
    fn check(is_open: bool, most: usize, pieces: &[&str], expect: usize) {
        let mut thoughts = Thoughts::new(is_open, most, vec![LlamaToken(1), LlamaToken(2)]);
        pieces
            .iter()
            .for_each(|piece| thoughts.push(piece.as_bytes()));
        let forced = std::iter::from_fn(|| thoughts.forced()).count();
        assert_eq!(forced, expect, "{pieces:?}");
    }

    #[test]
    fn thoughts_without_end_are_ended() {
        check(true, 3, &["a", "b"], 0);
        check(true, 3, &["a", "b", "c"], 2);
        check(true, 3, &["a", "b", "c", "d"], 2);
        check(false, 2, &["\n<thi", "nk>", "a", "b"], 2);
        check(true, 0, &["a"], 2);
    }

    #[test]
    fn thoughts_that_repeat_themselves_are_ended_once() {
        let mut thoughts = Thoughts::new(true, 100, vec![LlamaToken(1), LlamaToken(2)]);
        thoughts.push(b"a");
        assert!(thoughts.end() && !thoughts.end());
        assert_eq!(thoughts.forced(), Some(LlamaToken(1)));
        thoughts.push(b"</thi");
        assert_eq!(thoughts.forced(), Some(LlamaToken(2)));
        thoughts.push(b"nk>");
        // The answer is behind them.
        assert!(!thoughts.end());
        assert!(!Thoughts::new(false, 100, vec![LlamaToken(1)]).end());
    }

    #[test]
    fn an_answer_without_thoughts_is_left_alone() {
        check(false, 1, &["a", "<think>", "b", "c"], 0);
        check(false, 1, &["", " ", "\n"], 0);
        check(true, 3, &["a", "</th", "ink>", "b", "c"], 0);
        check(true, 2, &["</think>", "<think>", "a", "b", "c"], 0);
    }
}
