//! What a writer writes: a function of its name, its seed and the number of the write, so that a checker knows it too.

use journeyman::{
    CommitKey, Result, Revision, RunId, Seed,
    contract::{Journal, JournalEntry, SkillStore, SkillStoreExt},
    domain::{Cause, Commit, LibraryChange},
    testing::sample,
};
use journeyman_disk::DiskStore;

use futures::executor::block_on;

/// Every third write is of the journal.
const JOURNAL_EVERY: u64 = 3;
/// Entries in one of them.
const ENTRIES: u64 = 2;

/// Someone who writes, in a fixed order.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    /// Its own among all that write to a library; also the run of its journal.
    pub name: String,
    /// What it writes follows from it.
    pub seed: Seed,
}

/// One write, acknowledged as one. What else a library can be told to keep gets a variant here, and its test of presence
/// in `check`.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// Changes of the library.
    Commit(Commit),
    /// Entries of the journal.
    Entries(Vec<JournalEntry>),
}

impl Writer {
    /// A writer whose seed follows from its name.
    pub(crate) fn new(name: impl Into<String>, seed: Seed) -> Self {
        let name = name.into();
        Self {
            seed: seed.derive(&name, 0),
            name,
        }
    }

    /// The run that it writes a journal of.
    pub(crate) fn run(&self) -> RunId {
        RunId::new(&self.name)
    }

    /// The n-th write, from 0.
    pub(crate) fn nth(&self, number: u64) -> Write {
        let text = self.text(number);
        if number % JOURNAL_EVERY == JOURNAL_EVERY - 1 {
            let first = number / JOURNAL_EVERY * ENTRIES;
            let entry = |sequence| JournalEntry {
                schema: JournalEntry::SCHEMA,
                run: self.run(),
                sequence,
                event: serde_json::json!({ "write": number, "text": text }),
            };
            return Write::Entries((first..first + ENTRIES).map(entry).collect());
        }
        let mut skill = sample::skill(&format!("{} {number}", self.name));
        skill.body = text;
        let mut changes = vec![LibraryChange::Add(Box::new(skill))];
        if self.seed.derive("maintain", number).unit() < 0.3 {
            changes.push(LibraryChange::Maintain);
        }
        Write::Commit(Commit {
            base: Revision(0),
            key: CommitKey::new(format!("{}/{number}", self.name)),
            cause: Cause {
                run: Some(self.run()),
                task: None,
                reason: format!("write {number}"),
            },
            changes,
        })
    }

    /// Mostly short; one in twenty fills many pages.
    fn text(&self, number: u64) -> String {
        let size = self.seed.derive("size", number).unit();
        let size = if size < 0.05 { 40_000.0 } else { size * 3000.0 };
        let words = format!("Step {number} of {}. ", self.name);
        words.repeat(1 + size as usize / words.len())
    }
}

/// A library that is written to.
#[derive(Debug)]
pub(crate) struct Session {
    /// The library.
    pub store: DiskStore,
    last: Revision,
}

impl Session {
    /// Goes on from what is there.
    ///
    /// # Errors
    /// Those of loading.
    pub(crate) fn new(store: DiskStore) -> Result<Self> {
        let last = block_on(store.load())?.revision;
        Ok(Self { store, last })
    }

    /// Writes, on whatever others have written meanwhile; gives back when it is acknowledged.
    ///
    /// # Errors
    /// Those of the store; other writers are none.
    pub(crate) fn perform(&mut self, write: &Write) -> Result<()> {
        match write {
            Write::Entries(entries) => block_on(self.store.append(entries)),
            Write::Commit(commit) => {
                let mut commit = commit.clone();
                commit.base = self.last;
                let (news, _) = block_on(self.store.commit_rebased(&commit, u32::MAX))?;
                // A commit that was made before is older than what was seen last.
                let last = news.last().map_or(self.last, |last| last.revision);
                self.last = self.last.max(last);
                Ok(())
            }
        }
    }
}
