//! A journal in memory.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    contract::{Journal, JournalEntry},
    error::{Error, ErrorKind, Result},
    id::RunId,
};

/// A [`Journal`] in memory. It keeps every rule of the contract; its entries are lost when it is dropped.
///
/// ```
/// use journeyman::{
///     ErrorKind, RunId,
///     agent::MemoryJournal,
///     contract::{Journal, JournalEntry},
/// };
///
/// # futures::executor::block_on(async {
/// let journal = MemoryJournal::new();
/// let mut entry = JournalEntry::new(RunId::new("run"), 0, "began");
/// journal.append(&[entry.clone()]).await?;
/// assert_eq!(journal.runs().await?, [RunId::new("run")]);
///
/// entry.event = "something else".into();
/// let refused = journal.append(&[entry]).await.unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Conflict);
/// # Ok::<(), journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct MemoryJournal {
    runs: Mutex<Runs>,
}

/// The entries of each run, in order, with the rules for a new entry.
#[derive(Debug, Default)]
pub(super) struct Runs {
    entries: HashMap<RunId, Vec<JournalEntry>>,
}

impl Runs {
    /// Whether an entry is new; `false` where an equal entry is there already.
    ///
    /// # Errors
    /// `Conflict` where a different entry has the number, `Invalid` for an entry that would leave a gap or is of another
    /// schema.
    pub(super) fn is_new(&self, entry: &JournalEntry) -> Result<bool> {
        if entry.schema != JournalEntry::SCHEMA {
            return Err(refused(
                ErrorKind::Invalid,
                "the entry is of a schema that this version does not write",
                entry,
            )
            .with("schema", entry.schema));
        }
        let there = self.entries.get(&entry.run).map_or(&[][..], Vec::as_slice);
        let position = usize::try_from(entry.sequence).unwrap_or(usize::MAX);
        match there.get(position) {
            Some(before) if before == entry => Ok(false),
            Some(_) => Err(refused(
                ErrorKind::Conflict,
                "another entry has this sequence number",
                entry,
            )),
            None if position == there.len() => Ok(true),
            None => Err(
                refused(ErrorKind::Invalid, "the entry would leave a gap", entry)
                    .with("expected", there.len()),
            ),
        }
    }

    /// Adds an entry for which [`Runs::is_new`] returned `true`.
    pub(super) fn push(&mut self, entry: JournalEntry) {
        self.entries
            .entry(entry.run.clone())
            .or_default()
            .push(entry);
    }

    /// Removes a run's last entry.
    pub(super) fn pop(&mut self, run: &RunId) {
        if let Some(entries) = self.entries.get_mut(run) {
            entries.pop();
        }
    }

    /// The runs that have entries, by id.
    pub(super) fn ids(&self) -> Vec<RunId> {
        let some = self
            .entries
            .iter()
            .filter(|(_, entries)| !entries.is_empty());
        let mut ids: Vec<RunId> = some.map(|(run, _)| run.clone()).collect();
        ids.sort_unstable();
        ids
    }

    /// A run's entries.
    pub(super) fn of(&self, run: &RunId) -> Vec<JournalEntry> {
        self.entries.get(run).cloned().unwrap_or_default()
    }
}

fn refused(kind: ErrorKind, message: &str, entry: &JournalEntry) -> Error {
    Error::new(kind, "Journal::append", message)
        .with("run", &entry.run)
        .with("sequence", entry.sequence)
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        // An entry is pushed whole or not at all, so the state is valid even where a holder of the lock panicked.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, entries: &[JournalEntry]) -> Result<()> {
        let mut runs = self.lock();
        for entry in entries {
            if runs.is_new(entry)? {
                runs.push(entry.clone());
            }
        }
        Ok(())
    }

    async fn read(&self, run: &RunId) -> Result<Vec<JournalEntry>> {
        Ok(self.lock().of(run))
    }

    async fn runs(&self) -> Result<Vec<RunId>> {
        Ok(self.lock().ids())
    }
}
