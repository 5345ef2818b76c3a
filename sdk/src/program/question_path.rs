//! [`QuestionPath`], the identity of a question within a program.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The place of a question in a program: the counters of its scopes, the outermost first. Places sort in program order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct QuestionPath(Vec<u32>);

impl QuestionPath {
    /// The place of a question in the outermost scope.
    pub fn at(number: u32) -> Self {
        Self(vec![number])
    }

    /// The place with this number in the scope that this place opens.
    #[must_use]
    pub fn within(&self, number: u32) -> Self {
        let mut path = self.0.clone();
        path.push(number);
        Self(path)
    }

    /// The place `inner`, which is relative to this place's scope, as seen from the outermost scope.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self([self.path(), inner.path()].concat())
    }

    /// This place relative to `scope`; none where it is not inside `scope`. The inverse of [`join`](Self::join).
    pub fn behind(&self, scope: &Self) -> Option<Self> {
        let inner = self.0.strip_prefix(scope.path())?;
        (!inner.is_empty()).then(|| Self(inner.to_vec()))
    }

    /// The next place in the same scope.
    #[must_use]
    pub fn next(&self) -> Self {
        let mut path = self.0.clone();
        if let Some(last) = path.last_mut() {
            *last = last.saturating_add(1);
        }
        Self(path)
    }

    /// The number in the outermost scope.
    pub fn number(&self) -> u32 {
        self.0.first().copied().unwrap_or_default()
    }

    /// The counters, the outermost first.
    pub fn path(&self) -> &[u32] {
        &self.0
    }
}

/// The counters with dots between them, such as `3` or `3.0.1`.
impl fmt::Display for QuestionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, number) in self.0.iter().enumerate() {
            let dot = if depth > 0 { "." } else { "" };
            write!(f, "{dot}{number}")?;
        }
        Ok(())
    }
}

impl From<QuestionPath> for String {
    fn from(place: QuestionPath) -> Self {
        place.to_string()
    }
}

/// # Errors
/// `Invalid` for a text that is not a list of numbers with dots between them.
impl TryFrom<String> for QuestionPath {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let numbers = text.split('.').map(str::parse);
        let path = numbers.collect::<std::result::Result<_, _>>();
        path.map(Self).map_err(|_| {
            Error::invalid(
                "QuestionPath::try_from",
                "a place is numbers with dots between them, such as 3.0.1",
            )
            .with("place", text)
        })
    }
}
