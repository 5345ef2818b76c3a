//! Commits: changes that are made together or not at all.

use serde::{Deserialize, Serialize};

use super::{FileRef, LibraryChange};
use crate::{
    error::{Error, ErrorKind, Result},
    id::{CommitKey, Revision, RunId, SkillId, TaskId, Timestamp},
};

/// Why a commit was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The run that made it, if one did.
    pub run: Option<RunId>,
    /// The task it came from, if one did.
    pub task: Option<TaskId>,
    /// In words.
    pub reason: String,
    /// When, by the host's clock; `None` where it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// Changes to be made together or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The revision that the changes were decided on.
    pub base: Revision,
    /// The commit's identity: a key is committed once.
    pub key: CommitKey,
    /// Why.
    pub cause: Cause,
    /// The changes, in order.
    pub changes: Vec<LibraryChange>,
}

impl Commit {
    /// The files of the commit's skills; a writer puts them before the commit.
    pub fn files(&self) -> impl Iterator<Item = &FileRef> {
        let skills = self.changes.iter().filter_map(LibraryChange::skill);
        skills.flat_map(|skill| skill.files.values())
    }

    /// Refuses the commit where one of its files is missing.
    ///
    /// # Errors
    /// `Invalid`, with the file's hash.
    pub fn check_files(&self, is_there: impl Fn(&FileRef) -> Result<bool>) -> Result<()> {
        for file in self.files() {
            if !is_there(file)? {
                return Err(Error::invalid(
                    "SkillStore::commit",
                    "the commit names a file that was not put",
                )
                .with("sha256", &file.sha256)
                .hint("put the skill's files with `SkillFiles::put` before the commit"));
            }
        }
        Ok(())
    }

    /// The commit on top of a store's last revision.
    ///
    /// # Errors
    /// `Conflict` where that is not the revision that its changes were decided on; `Invalid` for a change that no library
    /// takes ([`LibraryChange::validate`]).
    pub fn made_on(&self, last: Revision) -> Result<Committed> {
        for (index, change) in self.changes.iter().enumerate() {
            change
                .validate()
                .map_err(|error| error.with("change", index))?;
        }
        if self.base != last {
            return Err(Error::new(
                ErrorKind::Conflict,
                "SkillStore::commit",
                "the base is not the last revision",
            )
            .with("base", self.base)
            .with("last", last)
            .hint("read what came since and commit on the last revision"));
        }
        Ok(Committed {
            revision: last.next(),
            key: self.key.clone(),
            cause: self.cause.clone(),
            changes: self.changes.clone(),
        })
    }
}

/// A commit as a store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Committed {
    /// The library's revision after them.
    pub revision: Revision,
    /// The commit's key.
    pub key: CommitKey,
    /// Why.
    pub cause: Cause,
    /// The changes, in order.
    pub changes: Vec<LibraryChange>,
}

impl Committed {
    /// Whether earlier commits were changed by an erasure. A reader that folds commit by commit then has to fold all commits
    /// anew.
    pub fn erases(&self) -> bool {
        let erases = |change| matches!(change, &LibraryChange::Erased { .. });
        self.changes.iter().any(erases)
    }

    /// The skills about whose text or state the host, or a person, decided; none where a run made it.
    pub(crate) fn decided_by_host(&self) -> Vec<&SkillId> {
        match self.cause.run.as_ref().is_none_or(RunId::is_by_host) {
            true => self
                .changes
                .iter()
                .filter_map(LibraryChange::decides_about)
                .collect(),
            false => Vec::new(),
        }
    }
}
