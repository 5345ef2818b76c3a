//! Archives: a whole library in one file. [`DiskStore::write_archive`](crate::DiskStore::write_archive) describes the
//! format.
//!
//! An archive is read in two ways. [`DiskStore::restore`](crate::DiskStore::restore) recreates the library of one's own
//! archive byte for byte. [`read_offer`] reads only the offered skills of an untrusted archive, as imported skills.

mod lines;
mod offer;
mod restore;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    Error, ErrorKind, Result, RunId,
    contract::JournalEntry,
    domain::{CommitKey, Committed, FileRef, LibraryChange, Revision},
    library::SkillLibrary,
};
use serde::{Deserialize, Serialize};

pub use offer::{Offer, read_offer};

/// The format name in the first line.
const FORMAT: &str = "journeyman-library";
/// The format version that this release writes.
const FORM: u64 = 1;

/// Limits on the size of an archive that is read.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Maximum length of a line in bytes. Default: 16 MiB.
    pub line: u64,
    /// Maximum length of the archive in bytes. Default: 1 GiB.
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

/// The counts of an archive's records.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The library's last revision, which equals the number of commits.
    pub revision: Revision,
    /// The number of journal entries.
    pub entries: u64,
    /// The number of skills' files.
    pub files: u64,
    /// The number of files that skills name and the library has lost. A restored library lacks them too.
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

/// The kinds of records, in their order in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Commit,
    Entry,
    File,
    Missing,
}

/// The state of an archive's records so far: the library that its commits build, the files that they name, and the runs
/// of its journal.
#[derive(Debug, Default)]
struct Replay {
    library: SkillLibrary,
    keys: BTreeSet<CommitKey>,
    files: BTreeSet<FileRef>,
    /// The next expected sequence number of each run.
    due: BTreeMap<RunId, u64>,
}

impl Replay {
    /// Applies the next commit; a missing or repeated revision is `Corrupt`.
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

    /// Reads the next entry of its run.
    fn entry(&mut self, operation: &'static str, body: &str) -> Result<JournalEntry> {
        let entry: JournalEntry = parsed(operation, body)?;
        let due = self.due.entry(entry.run.clone()).or_default();
        if entry.sequence != *due || entry.schema != JournalEntry::SCHEMA {
            let message = "a journal entry is missing, repeated or of another schema";
            return Err(corrupt(operation, message));
        }
        *due += 1;
        Ok(entry)
    }
}

/// serde's message may repeat content (S11), so it is left out.
fn parsed<'a, T: Deserialize<'a>>(operation: &'static str, json: &'a str) -> Result<T> {
    serde_json::from_str(json).map_err(|_| corrupt(operation, "a record cannot be parsed"))
}

fn corrupt(operation: &'static str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, operation, message)
        .hint("nothing was imported; use another copy of the archive")
}

fn file_is_missing(operation: &'static str, file: &FileRef) -> Error {
    corrupt(operation, "a file that a skill names is not in the archive")
        .with("sha256", &file.sha256)
}
