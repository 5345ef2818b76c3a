//! Why a document is refused.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// The stages of validation (ARISE D.1).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SchemaStage {
    /// Extraction of a JSON object from the answer.
    Extract,
    /// Parsing: the object has the five fields with their types.
    Parse,
    /// Clipping of fields to their limits; a document that is still too long is refused.
    Clip,
    /// The check that the document can enter a library.
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

/// The stage that refused a document, and the reason. The reason names fields and lengths, never content, so it can be put
/// into a repair prompt and a log.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaRefusal {
    /// The stage that refused.
    pub stage: SchemaStage,
    /// The reason in words.
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
