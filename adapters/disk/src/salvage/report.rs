//! The report of a salvage.

use journeyman::{Error, domain::Revision};

/// The report of [`salvage`](crate::salvage).
#[non_exhaustive]
#[derive(Debug, Default)]
pub struct Salvaged {
    /// The last revision that was saved.
    pub revision: Revision,
    /// Number of journal entries saved.
    pub entries: u64,
    /// Number of skill files saved.
    pub files: u64,
    /// Records that could not be saved, each with its position. Commits after a lost revision and entries after a lost
    /// entry of their run are lost with it.
    pub lost: Vec<Error>,
}
