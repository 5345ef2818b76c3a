//! The reply of a world that is a function.

use crate::{domain::Outcome, error::Error};

/// The reply of an [`FnEnvironment`](super::FnEnvironment)'s function: a text that the agent reads, a refusal, or the end of the episode.
///
/// A text becomes the reply that lets the episode go on, and the error of a `Result` becomes a refusal: a text as it is, and of an
/// [`Error`] the message and the hint. A refusal says that the agent did something wrong, and teaches. A world that can fail
/// through no fault of the agent, such as a service, is an [`Environment`](crate::contract::Environment) of its own: its `Err` ends
/// the attempt without a verdict.
///
/// ```
/// use journeyman::agent::Reply;
///
/// assert_eq!(Reply::from("It is open."), Reply::next("It is open."));
/// let tried: Result<&str, &str> = Err("It is locked.");
/// assert_eq!(Reply::from(tried), Reply::refused("It is locked."));
/// assert_eq!(Reply::end("It is over.", true), Reply::done("It is over."));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) outcome: Option<Outcome>,
}

impl Reply {
    /// The episode goes on, and the agent reads this text.
    pub fn next(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
            outcome: None,
        }
    }

    /// The world refuses the call; the text says why, in words that the agent can act on. The function changes nothing of its state for
    /// a call that it refuses.
    pub fn refused(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::next(text)
        }
    }

    /// The episode is over, and the task is done.
    pub fn done(text: impl Into<String>) -> Self {
        Self::end(text, Outcome::success())
    }

    /// The episode is over, and the task is not done.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::end(text, Outcome::failure())
    }

    /// The episode is over with this outcome: whether the task is done, or an [`Outcome`] with a score.
    pub fn end(text: impl Into<String>, outcome: impl Into<Outcome>) -> Self {
        Self {
            outcome: Some(outcome.into()),
            ..Self::next(text)
        }
    }

    /// Whether it neither refuses nor ends.
    pub(super) fn goes_on(&self) -> bool {
        !self.is_error && self.outcome.is_none()
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::next(text)
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::next(text)
    }
}

impl<T: Into<Reply>> From<Result<T, &str>> for Reply {
    fn from(tried: Result<T, &str>) -> Self {
        tried.map_or_else(Self::refused, Into::into)
    }
}

impl<T: Into<Reply>> From<Result<T, String>> for Reply {
    fn from(tried: Result<T, String>) -> Self {
        tried.map_or_else(Self::refused, Into::into)
    }
}

/// The agent reads the message and the hint: the place and the facts of an error are the host's.
impl<T: Into<Reply>> From<Result<T, Error>> for Reply {
    fn from(tried: Result<T, Error>) -> Self {
        match tried {
            Ok(reply) => reply.into(),
            Err(error) => Self::refused(match error.hint_text() {
                Some(hint) => format!("{}; {hint}", error.message()),
                None => error.message().to_owned(),
            }),
        }
    }
}
