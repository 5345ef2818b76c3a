//! Why a document is refused.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// The stages of validation (ARISE D.1).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SchemaStage {
    /// A JSON object is found in the answer.
    Extract,
    /// It is read, and its five fields are there and of their types.
    Parse,
    /// Fields are cut to their limits; what is still too long is discarded.
    Clip,
    /// What is left can enter a library.
    Insert,
}

impl fmt::Display for SchemaStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Extract => "extract",
            Self::Parse => "parse",
            Self::Clip => "clip",
            Self::Insert => "insert",
        })
    }
}

/// Which stage refused a document, and why. The reason names fields and lengths, never content, so it can stand in
/// a repair prompt and in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaRefusal {
    /// Which stage.
    pub stage: SchemaStage,
    /// Why, in words.
    pub reason: String,
}

impl SchemaRefusal {
    /// A refusal at a stage.
    pub fn new(stage: SchemaStage, reason: impl Into<String>) -> Self {
        Self {
            stage,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for SchemaRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (stage {})", self.reason, self.stage)
    }
}

impl std::error::Error for SchemaRefusal {}

impl From<SchemaRefusal> for Error {
    fn from(refusal: SchemaRefusal) -> Self {
        Self::new(ErrorKind::Model, "AriseSchema", refusal.reason).with("stage", refusal.stage)
    }
}
