//! A library in one file; [`DiskStore::write_archive`](crate::DiskStore::write_archive) tells its form.
//!
//! There are two ways in. [`DiskStore::restore`](crate::DiskStore::restore) makes of one's own archive the same library,
//! byte for byte. [`read_offer`] takes of a stranger's no more than its offered skills, as imported ones.

mod lines;
mod offer;
mod restore;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    CommitKey, Error, ErrorKind, Result, Revision, RunId,
    contract::JournalEntry,
    domain::{Committed, FileRef, LibraryChange},
    library::SkillLibrary,
};
use serde::{Deserialize, Serialize};

pub use offer::{Offer, read_offer};

/// What the first line says a file is.
const FORMAT: &str = "journeyman-library";
/// The form that this version writes.
const FORM: u64 = 1;

/// The greatest archive that is read.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// One line in bytes. Default 16 MiB.
    pub line: u64,
    /// The whole in bytes. Default 1 GiB.
    pub total: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self {
            line: 16 * 1024 * 1024,
            total: 1024 * 1024 * 1024,
        }
    }
}

/// What an archive holds.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The library's last revision, and so the number of commits.
    pub revision: Revision,
    /// The number of journal entries.
    pub entries: u64,
    /// The number of skills' files.
    pub files: u64,
    /// The number of files that skills name and the library has lost; it is restored without them.
    pub missing: u64,
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    form: u64,
    revision: Revision,
    records: u64,
}

/// What a record is, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Commit,
    Entry,
    File,
    Missing,
}

/// The library that the commits of an archive add up to, the files that they name, and the runs of its journal.
#[derive(Debug, Default)]
struct Folded {
    library: SkillLibrary,
    keys: BTreeSet<CommitKey>,
    files: BTreeSet<FileRef>,
    /// The next entry of each run.
    due: BTreeMap<RunId, u64>,
}

impl Folded {
    /// Folds the next commit; a revision that is missing or doubled does not fold.
    fn commit(&mut self, operation: &'static str, body: &str) -> Result<Committed> {
        let committed: Committed = parsed(operation, body)?;
        self.library
            .apply(&committed)
            .map_err(|error| corrupt(operation, error.message().to_owned()))?;
        if !self.keys.insert(committed.key.clone()) {
            return Err(corrupt(operation, "two commits have the same key"));
        }
        let skills = committed.changes.iter().filter_map(LibraryChange::skill);
        self.files
            .extend(skills.flat_map(|skill| skill.files.values().cloned()));
        Ok(committed)
    }

    /// The next entry of its run.
    fn entry(&mut self, operation: &'static str, body: &str) -> Result<JournalEntry> {
        let entry: JournalEntry = parsed(operation, body)?;
        let due = self.due.entry(entry.run.clone()).or_default();
        if entry.sequence != *due || entry.schema != JournalEntry::SCHEMA {
            let message = "an entry of the journal is missing, doubled or of another schema";
            return Err(corrupt(operation, message));
        }
        *due += 1;
        Ok(entry)
    }
}

/// serde's own message may repeat content (S11), so it is left out.
fn parsed<'a, T: Deserialize<'a>>(operation: &'static str, json: &'a str) -> Result<T> {
    serde_json::from_str(json).map_err(|_| {
        corrupt(
            operation,
            "a record is not of the form that this version writes",
        )
    })
}

fn corrupt(operation: &'static str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, operation, message)
        .hint("nothing was taken in; use another copy of the archive")
}

fn file_is_missing(operation: &'static str, file: &FileRef) -> Error {
    corrupt(operation, "a file that a skill names is not in the archive")
        .with("sha256", &file.sha256)
}
