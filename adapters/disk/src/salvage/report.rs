//! The report of a salvage.

use journeyman::{Error, Revision};

/// What was saved of a damaged library, and what was not.
#[non_exhaustive]
#[derive(Debug, Default)]
pub struct Salvaged {
    /// Up to which revision the commits were saved.
    pub revision: Revision,
    /// How many entries of the journal were saved.
    pub entries: u64,
    /// How many files of skills were saved.
    pub files: u64,
    /// What could not be saved, each with where it stood. A revision after one that is lost does not hold without it, nor
    /// does an entry of a run, so these are lost with it.
    pub lost: Vec<Error>,
}
