//! The room that a model's context has for a prompt and for the answer.

use crate::{
    contract::TokenCount,
    error::{Error, ErrorKind},
};

/// The answer's share of a context is at least one in so many, where it is asked to be longer.
const ANSWER_PART: usize = 4;
/// A prompt whose tokens are estimated must leave one in so many of its room free.
const MARGIN_PART: usize = 8;

/// The room that a model's context has for a prompt and for the answer.
///
/// The answer has the tokens that it is asked to have at most, but no more than a quarter of the context is kept free for it; the
/// prompt has the rest. A prompt whose tokens are only estimated must be an eighth shorter.
///
/// ```
/// use journeyman::{contract::TokenCount, inject::Room};
///
/// let room = Room::of(2_048);
/// let counted = |tokens| TokenCount { tokens, estimated: false };
/// assert_eq!(room.for_prompt(512, counted(0)), 1_536);
/// assert_eq!(room.for_prompt(1_024, counted(0)), 1_536);
/// assert!(room.fits(1_024, counted(1_536)) && !room.fits(1_024, counted(1_537)));
/// assert_eq!(room.for_answer(1_024, 1_536), 512);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    context: usize,
}

impl Room {
    /// The room of a context of so many tokens, for prompt and answer together.
    pub fn of(context: usize) -> Self {
        Self { context }
    }

    /// The greatest number of tokens of a prompt before an answer of at most `answer` tokens.
    pub fn for_prompt(self, answer: usize, counted: TokenCount) -> usize {
        let kept_free = answer.min(self.context / ANSWER_PART);
        let room = self.context - kept_free;
        match counted.estimated {
            true => room - room / MARGIN_PART,
            false => room,
        }
    }

    /// Whether a prompt of so many tokens leaves room for an answer of at most `answer` tokens.
    pub fn fits(self, answer: usize, counted: TokenCount) -> bool {
        counted.tokens <= self.for_prompt(answer, counted)
    }

    /// The greatest number of tokens of an answer that is asked to have at most `answer`, behind a prompt of so many tokens.
    pub fn for_answer(self, answer: usize, prompt: usize) -> usize {
        answer.min(self.context.saturating_sub(prompt)).max(1)
    }
}

/// A model's refusal of a prompt because its context is shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooLong {
    /// The prompt's tokens, where the model says them.
    pub(crate) prompt: Option<TokenCount>,
}

impl TooLong {
    /// The prompt's tokens, to be shortened by. A count that did not fall since the last refusal is no count of that prompt.
    pub(crate) fn since(self, last: Option<TokenCount>) -> Option<TokenCount> {
        match (self.prompt, last) {
            (Some(now), Some(last)) if now.tokens >= last.tokens => Some(TokenCount {
                tokens: last.tokens + last.tokens / 4,
                ..last
            }),
            (now, _) => now,
        }
    }
}

/// Whether a model refused a prompt because its context is shorter; `None` for any other error.
pub(crate) fn too_long(error: &Error) -> Option<TooLong> {
    let fact = |key| {
        error
            .fact(key)
            .and_then(|value| value.parse::<usize>().ok())
    };
    let (prompt, context) = (fact("prompt_tokens"), fact("context"));
    let is_longer = prompt
        .zip(context)
        .is_some_and(|(prompt, context)| prompt > context);
    let is_it =
        error.kind() == ErrorKind::Invalid && (is_longer || error.fact("too_long") == Some("true"));
    let count = |tokens| TokenCount {
        tokens,
        estimated: false,
    };
    is_it.then_some(TooLong {
        prompt: prompt.map(count),
    })
}
