//! The room that a model's context has for a prompt and for the answer.

use crate::{
    contract::{TokenCount, Tokenizer},
    domain::{Injection, LeftOut},
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
/// use journeyman::{contract::TokenCount, stations::inject::Room};
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

// The token budget of injected skills.

/// Splits an injection at a budget of `most` tokens. Skills are taken in order, each whole, while they fit into the room
/// that is left; the others are returned with their size and with the room that was left, both in tokens. Tokens that a
/// prompt format or a chat template adds around a text are not counted.
///
/// ```
/// use journeyman::{
///     stations::inject::fit,
///     testing::{WordTokenizer, sample},
/// };
///
/// let mut long = sample::skill("brew");
/// long.body = "word ".repeat(50);
/// let injection = sample::injection(&[long, sample::skill("grind")]);
/// let (fits, left_out) = fit(injection, &WordTokenizer, 20);
/// assert_eq!(fits.skills[0].skill.id.as_str(), "grind");
/// assert_eq!(left_out[0].skill.id.as_str(), "brew");
/// assert_eq!(left_out[0].room, 20);
/// ```
pub fn fit(
    injection: Injection,
    tokenizer: &dyn Tokenizer,
    most: usize,
) -> (Injection, Vec<LeftOut>) {
    let mut room = most;
    let mut left_out = Vec::new();
    let mut skills = Vec::new();
    for injected in injection.skills {
        let tokens = tokenizer.count(&injected.text).tokens;
        if tokens <= room {
            room -= tokens;
            skills.push(injected);
        } else {
            left_out.push(LeftOut {
                skill: injected.skill,
                tokens,
                room,
            });
        }
    }
    (Injection { skills }, left_out)
}

#[cfg(test)]
mod budget_tests {
    use super::*;
    use crate::testing::{WordTokenizer, sample};

    fn check(sizes: &[usize], most: usize, fits: &[usize], rooms: &[usize]) {
        let skills = sizes.iter().enumerate().map(|(at, words)| {
            let mut skill = sample::skill(&format!("s{at}"));
            skill.body = "word ".repeat(*words);
            skill
        });
        let all = sample::injection(&skills.collect::<Vec<_>>());
        let (given, left_out) = fit(all.clone(), &WordTokenizer, most);
        let due: Vec<_> = fits.iter().map(|at| all.skills[*at].clone()).collect();
        assert_eq!(given.skills, due, "{sizes:?} in {most}");
        let found: Vec<_> = left_out.iter().map(|one| one.room).collect();
        assert_eq!(found, rooms, "{sizes:?} in {most}");
        assert_eq!(given.skills.len() + left_out.len(), sizes.len());
    }

    #[test]
    fn what_does_not_fit_is_left_out_whole() {
        check(&[], 5, &[], &[]);
        check(&[3, 4, 2], 9, &[0, 1, 2], &[]);
        check(&[3, 4, 2], 5, &[0, 2], &[2]);
        check(&[6], 5, &[], &[5]);
        check(&[1], 0, &[], &[0]);
        check(&[5_000; 10_000], 12_000, &[0, 1], &[2_000; 9_998]);
    }
}
