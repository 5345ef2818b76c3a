//! The behavior of a scripted part at one call.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// The behavior of a scripted part at one call.
///
/// ```
/// use journeyman::testing::{Play, ScriptedModel};
///
/// let model = ScriptedModel::by(|_, call| match call {
///     0 => Play::Give("first".to_owned()),
///     _ => Play::Hang,
/// });
/// assert_eq!(model.calls(), 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Play<T> {
    /// Answers.
    Give(T),
    /// Fails.
    Fail(Error),
    /// Never answers.
    Hang,
}

impl<T> Play<T> {
    /// Answers, fails or hangs.
    ///
    /// # Errors
    /// The scripted error.
    pub async fn perform(self) -> Result<T> {
        match self {
            Self::Give(answer) => Ok(answer),
            Self::Fail(error) => Err(error),
            Self::Hang => futures::future::pending().await,
        }
    }

    /// Changes the answer, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Play<U> {
        match self {
            Self::Give(answer) => Play::Give(change(answer)),
            Self::Fail(error) => Play::Fail(error),
            Self::Hang => Play::Hang,
        }
    }
}

/// Counts calls.
#[derive(Debug, Default)]
pub(super) struct Calls(AtomicUsize);

impl Calls {
    /// The number of this call, from 0.
    pub(super) fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// The number of calls so far.
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// The words of a text, each with the white space after it: the tokens of the doubles.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut in_space = false;
    for (at, c) in text.char_indices() {
        if in_space && !c.is_whitespace() {
            words.push(&text[start..at]);
            start = at;
        }
        in_space = c.is_whitespace();
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// The token id of a word, the same on every machine.
pub(super) fn word_id(word: &str) -> i32 {
    let hash = word.trim_end().bytes().fold(2_166_136_261_u32, |hash, b| {
        (hash ^ u32::from(b)).wrapping_mul(16_777_619)
    });
    (hash >> 1) as i32
}
