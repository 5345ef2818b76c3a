//! The errors of requests to a server.

use std::{fmt, time::Duration};

use journeyman::{Error, ErrorKind};

use crate::context_limit::{self, TooLong};

/// A limit on a request's duration.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlineKind {
    /// Until the first byte of the answer.
    FirstByte,
    /// Between two pieces of the answer.
    Idle,
    /// For the whole call.
    Total,
}

impl fmt::Display for DeadlineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstByte => "the time to the first byte",
            Self::Idle => "the time between two pieces",
            Self::Total => "the time of the whole call",
        })
    }
}

/// Why a request failed. No variant holds a key.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpenAiError {
    /// No connection, or no encrypted one.
    #[error("no connection to the server: {said}")]
    Connect {
        /// The cause.
        said: String,
    },
    /// The connection broke before the answer was whole.
    #[error("the connection broke before the answer was whole: {said}")]
    Broken {
        /// The cause.
        said: String,
    },
    /// A deadline passed.
    #[error("not finished within {} s ({kind})", .limit.as_secs_f64())]
    Deadline {
        /// Which one.
        kind: DeadlineKind,
        /// Its length.
        limit: Duration,
    },
    /// The server refused the request.
    #[error("the server answered {status}: {said}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The code of the server's error, such as `insufficient_quota`; empty without one.
        code: String,
        /// The server's text, cut to 500 characters, without the key.
        said: String,
        /// The least wait that the server asks for.
        retry_after: Option<Duration>,
    },
    /// The answer is longer than the limit.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer has another shape than the endpoint documents, or values that cannot be.
    #[error("the answer cannot be used: {what}")]
    Shape {
        /// What is wrong with it.
        what: String,
    },
    /// The server embeds into another space than when the embedder connected.
    #[error("an embedding has {found} dimensions, and the space {space}")]
    Dimensions {
        /// Dimensions of the answer's embeddings.
        found: usize,
        /// Dimensions when the embedder connected.
        space: usize,
    },
    /// The budget is used up.
    #[error("the budget does not cover the request: {what}")]
    Budget {
        /// Which budget, and what is left.
        what: String,
    },
    /// The request itself cannot be sent to this server.
    #[error("{what}")]
    Request {
        /// The kind of the error.
        kind: ErrorKind,
        /// What is wrong with it.
        what: String,
        /// What to do.
        hint: &'static str,
    },
}

impl OpenAiError {
    pub(crate) fn shape(what: impl Into<String>) -> Self {
        Self::Shape { what: what.into() }
    }

    /// Whether the same request may go through when it is sent again.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Broken { .. } => true,
            _ if self.too_long().is_some() => false,
            Self::Status {
                status, code, said, ..
            } => {
                // A quota that is used up answers 429 as a limit on the rate does.
                let used_up = [code, said].iter().any(|text| {
                    text.contains("insufficient_quota") || text.contains("billing_hard_limit")
                });
                matches!(status, 408 | 429 | 500 | 502..=504 | 529) && !used_up
            }
            _ => false,
        }
    }

    /// The least wait before the same request is sent again.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Connect { .. } | Self::Broken { .. } => ErrorKind::Unavailable,
            Self::Deadline { .. } => ErrorKind::Timeout,
            Self::TooLong { .. } | Self::Shape { .. } | Self::Dimensions { .. } => ErrorKind::Model,
            Self::Budget { .. } => ErrorKind::RateLimited,
            Self::Request { kind, .. } => *kind,
            Self::Status { .. } if self.too_long().is_some() => ErrorKind::Invalid,
            Self::Status { status, .. } => match status {
                404 => ErrorKind::NotFound,
                408 | 504 => ErrorKind::Timeout,
                429 => ErrorKind::RateLimited,
                500.. => ErrorKind::Unavailable,
                300..=399 => ErrorKind::Unsupported,
                _ => ErrorKind::Invalid,
            },
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "start the server, and check base_url and the proxy",
            Self::Broken { .. } => "look at the server's log for the reason; then try again",
            Self::Deadline { kind, .. } => match kind {
                DeadlineKind::FirstByte => {
                    "raise deadlines.first_byte, or give the server less to do at once"
                }
                DeadlineKind::Idle => "raise deadlines.idle, or look at the server's log",
                DeadlineKind::Total => {
                    "raise the request's time_limit and deadlines.total, or ask for fewer tokens"
                }
            },
            Self::TooLong { .. } => "ask for fewer tokens, or raise largest_response",
            Self::Shape { .. } => {
                "check that base_url leads to an OpenAI-compatible server (it usually ends in /v1)"
            }
            Self::Dimensions { .. } => {
                "the server's embedding model changed: connect again and rebuild the index"
            }
            Self::Budget { .. } => "raise Config::budget, or connect again to begin with a new one",
            Self::Request { hint, .. } => hint,
            Self::Status { .. } if self.too_long().is_some() => {
                "shorten the prompt, or serve the model with a larger context"
            }
            Self::Status { status, .. } => match status {
                401 | 403 => "check Config::key: the server does not accept it for this model",
                404 => "check base_url (it usually ends in /v1) and the model's name",
                429 if self.may_pass() => {
                    "send fewer requests at once (Config::concurrency), or try again later"
                }
                429 => "the account's quota is used up: raise it with the server's owner",
                300..=399 => {
                    "redirects are not followed: give the address that the server redirects to"
                }
                500.. => "look at the server's log; then try again",
                _ => "put right what the server names",
            },
        }
    }

    /// Whether it refuses a request because the model's context is shorter, and what it says of the lengths.
    pub(crate) fn too_long(&self) -> Option<TooLong> {
        match self {
            Self::Status {
                status: 400 | 413 | 422 | 500,
                code,
                said,
                ..
            } => context_limit::read(code, said),
            Self::Request {
                kind: ErrorKind::Invalid,
                what,
                ..
            } => context_limit::read("", what),
            _ => None,
        }
    }

    /// As an error of the SDK.
    pub(crate) fn at(self, operation: &'static str, endpoint: &str, attempts: u32) -> Error {
        let mut error = Error::new(self.kind(), operation, self.to_string())
            .with("endpoint", endpoint)
            .hint(self.hint());
        if let Self::Status { status, .. } = &self {
            error = error.with("status", status);
        }
        if let Some(TooLong { prompt, context }) = self.too_long() {
            error = error.with("too_long", true);
            if let Some(prompt) = prompt {
                error = error.with("prompt_tokens", prompt);
            }
            if let Some(context) = context {
                error = error.with("context", context);
            }
        }
        if attempts > 1 {
            error = error.with("attempts", attempts);
        }
        if self.may_pass() || matches!(self, Self::Deadline { .. }) {
            error = error.temporary();
        }
        error.source_from(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_said_in_words() {
        let late = OpenAiError::Deadline {
            kind: DeadlineKind::Idle,
            limit: Duration::from_millis(1500),
        };
        assert_eq!(
            late.to_string(),
            "not finished within 1.5 s (the time between two pieces)"
        );
    }

    #[test]
    fn a_prompt_that_is_too_long_is_invalid_and_not_sent_again() {
        for status in [400, 413, 422, 500] {
            let refused = OpenAiError::Status {
                status,
                code: String::new(),
                said: "maximum context length is 4096 tokens, and your messages have 9001 tokens"
                    .to_owned(),
                retry_after: None,
            };
            assert!(!refused.may_pass(), "{status}");
            let error = refused.at("OpenAi::generate", "http://localhost/v1", 1);
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert_eq!(error.fact("prompt_tokens"), Some("9001"));
            assert_eq!(error.fact("context"), Some("4096"));
        }
    }
}
