//! The one error type of the SDK.

use std::{borrow::Cow, error::Error as StdError, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// `Result` with the SDK's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, for a host to act on.
///
/// ```
/// use journeyman::{Error, ErrorKind};
///
/// let error = Error::invalid("Desk::close", "the ticket has no number");
/// let advice = match error.kind() {
///     ErrorKind::Invalid => "correct the request",
///     ErrorKind::RateLimited | ErrorKind::Timeout => "wait, and try again",
///     _ => "look at the hint",
/// };
/// assert_eq!(advice, "correct the request");
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ErrorKind {
    /// The caller's input breaks a documented rule.
    Invalid,
    /// The thing with this id, name or path does not exist.
    NotFound,
    /// Somebody else changed the same thing first.
    Conflict,
    /// The part lacks the capability.
    Unsupported,
    /// A service limits the rate of calls.
    RateLimited,
    /// A deadline passed.
    Timeout,
    /// A part does not work at the moment, such as a worker that died or a full disk.
    Unavailable,
    /// Stored data is damaged.
    Corrupt,
    /// A model's answer could not be used.
    Model,
    /// A part of the host panicked; the panic was contained.
    Panicked,
    /// The work was stopped on request.
    Cancelled,
    /// A rule of the SDK itself was broken; please report it.
    Internal,
}

/// Whether a retry can succeed.
///
/// ```
/// use journeyman::{Error, ErrorKind, Retry};
///
/// let full = Error::new(ErrorKind::Unavailable, "SkillStore::commit", "the disk is full");
/// assert_eq!(full.retry(), Retry::Permanent);
/// assert_eq!(full.temporary().retry(), Retry::Temporary);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Retry {
    /// The same call will fail again.
    Permanent,
    /// The same call may go through later.
    Temporary,
}

/// An error: kind, retry status, operation, context, and a hint.
///
/// ```
/// use journeyman::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::RateLimited, "Judge::judge", "the service answered 429")
///     .temporary()
///     .with("adapter", "openai")
///     .hint("lower the number of attempts in flight");
/// assert_eq!(
///     error.to_string(),
///     "RateLimited (temporary) at Judge::judge { adapter: openai }: the service answered 429; \
///      hint: lower the number of attempts in flight"
/// );
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct Error {
    kind: ErrorKind,
    retry: Retry,
    operation: Cow<'static, str>,
    message: String,
    context: Vec<(Cow<'static, str>, String)>,
    hint: Option<String>,
    #[serde(skip)]
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// A permanent error; [`Error::temporary`] makes it a temporary one.
    pub fn new(
        kind: ErrorKind,
        operation: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            retry: Retry::Permanent,
            operation: operation.into(),
            message: message.into(),
            context: Vec::new(),
            hint: None,
            source: None,
        }
    }

    /// Shorthand for [`ErrorKind::Invalid`].
    pub fn invalid(operation: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, operation, message)
    }

    /// Shorthand for [`ErrorKind::Unsupported`].
    pub fn unsupported(
        operation: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Unsupported, operation, message)
    }

    /// Shorthand for [`ErrorKind::NotFound`].
    pub fn not_found(operation: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, operation, message)
    }

    /// Shorthand for [`ErrorKind::Unavailable`].
    pub fn unavailable(
        operation: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Unavailable, operation, message)
    }

    /// Shorthand for [`ErrorKind::Corrupt`].
    pub fn corrupt(operation: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, operation, message)
    }

    /// Shorthand for [`ErrorKind::Internal`].
    pub fn internal(operation: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, operation, message)
    }

    /// Marks the error as temporary.
    #[must_use]
    pub fn temporary(mut self) -> Self {
        self.retry = Retry::Temporary;
        self
    }

    /// Adds a fact to the context.
    #[must_use]
    pub fn with(mut self, key: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        self.context.push((key.into(), value.to_string()));
        self
    }

    /// Sets the hint: what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Keeps the underlying error as the source.
    #[must_use]
    pub fn source_from(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The same with `change` applied to every text. A source whose text `change` would change is dropped.
    pub(crate) fn map_text(mut self, change: impl Fn(&mut String)) -> Self {
        change(&mut self.message);
        self.context.iter_mut().for_each(|(_, value)| change(value));
        self.hint.iter_mut().for_each(&change);
        let kept = self.source.take();
        self.source = kept.filter(|source| {
            let said = format!("{source} {source:?}");
            let mut changed = said.clone();
            change(&mut changed);
            changed == said
        });
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether a retry can succeed.
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// The operation, such as `Judge::judge`.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// The message without operation, context and hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A fact of the context by its name, such as `line`.
    pub fn fact(&self, key: &str) -> Option<&str> {
        let found = self.context.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The facts of the context, in the order in which they were added.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &str)> {
        let facts = self.context.iter();
        facts.map(|(key, value)| (key.as_ref(), value.as_str()))
    }

    /// The hint: what to do next.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)?;
        if self.retry == Retry::Temporary {
            f.write_str(" (temporary)")?;
        }
        write!(f, " at {}", self.operation)?;
        if !self.context.is_empty() {
            f.write_str(" { ")?;
            for (i, (key, value)) in self.context.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(f, "{comma}{key}: {value}")?;
            }
            f.write_str(" }")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; hint: {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        if let Some(source) = &self.source {
            write!(f, "; source: {source:?}")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_ref()
            .map(|source| source.as_ref() as &(dyn StdError + 'static))
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.retry == other.retry
            && self.operation == other.operation
            && self.message == other.message
            && self.context == other.context
            && self.hint == other.hint
    }
}
