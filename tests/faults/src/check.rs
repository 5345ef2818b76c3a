//! Opens a library again and says what is lost, doubled or not as it was written.

use std::{
    collections::HashMap,
    path::Path,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Result,
    contract::{Journal, JournalEntry, SkillFiles, SkillStore},
    domain::{Commit, Committed, FileRef, Revision},
};
use journeyman_disk::{DiskOptions, DiskStore};

use crate::history::{Write, Writer};

/// How far a writer got: its writes before this number were acknowledged, the one of this number may have been made, and
/// later ones were not begun.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Who.
    pub writer: Writer,
    /// Acknowledged writes.
    pub acknowledged: u64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Acknowledged writes that are not there.
    pub lost: u64,
    /// Writes that are there more than once.
    pub doubled: u64,
    /// Writes that are there in part, otherwise than written, out of order, after a gap, or that nobody made.
    pub wrong: u64,
    /// Writes that are there, over all writers.
    pub there: u64,
    /// Folders that are not as the library has it.
    pub folders: u64,
    /// Folders that were found in part.
    pub parts: u64,
}

impl Found {
    /// Whether there is nothing to find fault with; what may be lost is for the caller to say.
    pub(crate) fn is_sound(&self) -> bool {
        (self.doubled, self.wrong, self.folders, self.parts) == (0, 0, 0, 0)
    }

    /// Sums up.
    pub(crate) fn add(&mut self, other: &Self) {
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.wrong += other.wrong;
        self.there += other.there;
        self.folders += other.folders;
        self.parts += other.parts;
    }
}

/// Opens a library with these options, reads all of it and brings its folders up to date; also the time that this took.
///
/// # Errors
/// Those of the store.
pub(crate) fn reopen(root: &Path, options: &DiskOptions) -> Result<(DiskStore, Duration)> {
    let start = Instant::now();
    let store = DiskStore::open(root, options)?;
    block_on(store.load())?;
    if options.folders {
        block_on(store.sync_folders())?;
    }
    Ok((store, start.elapsed()))
}

/// Compares a library with what was written to it.
///
/// # Errors
/// Those of the store.
pub(crate) fn compare(store: &DiskStore, all: &[Progress]) -> Result<Found> {
    let snapshot = block_on(store.load())?;
    let mut found = Found::default();
    let mut commits: HashMap<&str, Vec<&Committed>> = HashMap::new();
    for (committed, due) in snapshot.committed.iter().zip(1..) {
        found.wrong += u64::from(committed.revision != Revision(due));
        let key = committed.key.as_str();
        commits.entry(key).or_default().push(committed);
    }
    for progress in all {
        let entries = block_on(store.read(&progress.writer.run()))?;
        let is_there = |bytes: &[u8]| {
            Ok(block_on(store.get(&FileRef::of(bytes)?.sha256))?
                .is_some_and(|found| found == bytes))
        };
        one(progress, &mut commits, &entries, is_there, &mut found)?;
    }
    found.wrong += commits.values().map(|left| left.len() as u64).sum::<u64>();
    Ok(found)
}

fn one(
    progress: &Progress,
    commits: &mut HashMap<&str, Vec<&Committed>>,
    mut entries: &[JournalEntry],
    is_there: impl Fn(&[u8]) -> Result<bool>,
    found: &mut Found,
) -> Result<()> {
    let (mut gap, mut last) = (false, Revision(0));
    for number in 0..=progress.acknowledged {
        let there = match progress.writer.nth(number) {
            Write::Commit(commit) => {
                let made = commits.remove(commit.key.as_str()).unwrap_or_default();
                found.doubled += (made.len() as u64).saturating_sub(1);
                if let Some(made) = made.first() {
                    found.wrong += u64::from(!is(made, &commit) || made.revision <= last);
                    last = made.revision;
                }
                !made.is_empty()
            }
            Write::File(bytes) => is_there(&bytes)?,
            Write::Entries(due) => {
                let known = due.len().min(entries.len());
                let (made, rest) = entries.split_at(known);
                found.wrong += u64::from(!made.is_empty() && made != due);
                entries = rest;
                !made.is_empty()
            }
        };
        found.there += u64::from(there);
        found.wrong += u64::from(there && gap);
        gap |= !there;
        found.lost += u64::from(!there && number < progress.acknowledged);
    }
    found.wrong += entries.len() as u64;
    Ok(())
}

fn is(made: &Committed, commit: &Commit) -> bool {
    (&made.key, &made.cause, &made.changes) == (&commit.key, &commit.cause, &commit.changes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use journeyman::Seed;

    use super::*;
    use crate::history::Session;

    /// What is found of ten acknowledged writes, of which these were made, in this order.
    fn check(made: &[u64], acknowledged: u64, lost: u64, wrong: u64) {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new("w", Seed(1));
        let (store, _) = reopen(folder.path(), &DiskOptions::default()).unwrap();
        let mut session = Session::new(store).unwrap();
        for number in made {
            session.perform(&writer.nth(*number)).unwrap();
        }
        let progress = Progress {
            writer,
            acknowledged,
        };
        let found = compare(&session.store, &[progress]).unwrap();
        assert_eq!((found.lost, found.doubled, found.wrong), (lost, 0, wrong));
    }

    #[test]
    fn what_is_lost_or_wrong_is_found() {
        check(&[0, 1, 2, 3, 4], 5, 0, 0);
        // One was under way.
        check(&[0, 1, 2, 3, 4], 4, 0, 0);
        check(&[0, 1, 2, 3], 2, 0, 1);
        check(&[0, 1, 2, 3], 5, 1, 0);
        check(&[0, 1], 3, 1, 0);
        // After a gap.
        check(&[0, 2, 3, 4], 5, 1, 3);
        // In another order.
        check(&[1, 0, 2], 3, 0, 1);
    }

    #[test]
    fn what_is_doubled_or_of_nobody_is_found() {
        let writer = Writer::new("w", Seed(1));
        let Write::Commit(commit) = writer.nth(0) else {
            unreachable!()
        };
        let made = commit.made_on(Revision(0)).unwrap();
        let progress = Progress {
            writer,
            acknowledged: 1,
        };
        let mut found = Found::default();
        let mut commits = HashMap::from([("w/0", vec![&made, &made])]);
        one(&progress, &mut commits, &[], |_| Ok(false), &mut found).unwrap();
        assert_eq!((found.lost, found.doubled, found.wrong), (0, 1, 0));
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = reopen(folder.path(), &DiskOptions::default()).unwrap();
        block_on(store.commit(&commit)).unwrap();
        assert_eq!(compare(&store, &[]).unwrap().wrong, 1);
    }
}
