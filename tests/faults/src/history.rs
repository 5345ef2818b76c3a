//! What a writer writes: a function of its name, its seed and the number of the write, so that a checker knows it too.

use journeyman::testing::Edited as _;
use journeyman::{
    Result, RunId, Seed, SkillId, Version,
    contract::{Journal, JournalEntry, SkillFiles, SkillStore, SkillStoreExt},
    domain::{
        Cause, Commit, CommitKey, FilePath, FileRef, LibraryChange, Origin, Revision, Skill,
        SkillName, State, TierPolicy,
    },
    testing::sample,
};
use journeyman_disk::DiskStore;

use futures::executor::block_on;

/// Every third write is of the journal.
const JOURNAL_EVERY: u64 = 3;
/// Entries in one of them.
const ENTRIES: u64 = 2;
/// So many writes make a round.
const ROUND: u64 = 9;
/// This one of a round puts a file.
const FILE: u64 = 4;

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
    /// A skill's file.
    File(Vec<u8>),
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

    /// Whether it has the folders brought up to date after a write; a store does it by itself only when nothing else is
    /// asked of it.
    pub(crate) fn brings_folders(&self, number: u64) -> bool {
        self.seed.derive("folders", number).unit() < 0.3
    }

    /// The n-th write, from 0.
    pub(crate) fn nth(&self, number: u64) -> Write {
        let text = self.text(number);
        if number % JOURNAL_EVERY == JOURNAL_EVERY - 1 {
            let first = number / JOURNAL_EVERY * ENTRIES;
            let entry = |sequence| {
                JournalEntry::new(
                    self.run(),
                    sequence,
                    serde_json::json!({ "write": number, "text": text }),
                )
            };
            return Write::Entries((first..first + ENTRIES).map(entry).collect());
        }
        if number % ROUND == FILE {
            return Write::File(text.into_bytes());
        }
        let mut changes = vec![self.change(number)];
        // In some libraries there is little room, so that skills are deleted.
        if number == 0 && self.seed.derive("small", 0).unit() < 0.3 {
            let mut policy = TierPolicy::default();
            (policy.cache, policy.reservoir) = (3, 2);
            changes.push(LibraryChange::Configure(policy));
        }
        if self.seed.derive("maintain", number).unit() < 0.3 {
            changes.push(LibraryChange::Maintain);
        }
        Write::Commit(Commit::new(
            Revision(0),
            CommitKey::new(format!("{}/{number}", self.name)),
            Cause::new(format!("write {number}")).edited(|it| it.run = Some(self.run())),
            changes,
        ))
    }

    /// In each round two skills come and are revised, one of them with a file; then one of several things becomes of them.
    fn change(&self, number: u64) -> LibraryChange {
        let seed = self.seed.derive("change", number);
        let reason = || "a round's end".to_owned();
        let (first, second) = (number / ROUND * ROUND, number / ROUND * ROUND + 1);
        match number % ROUND {
            0 | 1 => LibraryChange::Add(Box::new(self.skill(number, 1, number))),
            3 => {
                let mut skill = self.skill(first, 2, number);
                if seed.unit() < 0.4 {
                    let name = format!("{} {number} renamed", self.name);
                    skill.name = SkillName::slug(&name).unwrap_or_default();
                }
                LibraryChange::Revise(Box::new(skill))
            }
            6 => {
                let mut skill = self.skill(second, 2, number);
                let file = FileRef::of(self.text(number / ROUND * ROUND + FILE).as_bytes());
                let path = FilePath::new("scripts/run.sh");
                skill.files.extend(path.into_iter().zip(file));
                LibraryChange::Revise(Box::new(skill))
            }
            _ => match seed.index(6) {
                Some(0) => LibraryChange::Merge {
                    skill: Box::new(self.skill(number, 1, number)),
                    sources: vec![self.id(first), self.id(second)],
                    beside: false,
                },
                Some(1) => LibraryChange::RollBack {
                    skill: self.id(second),
                    to: Version(1),
                    reason: reason(),
                },
                Some(2) => LibraryChange::Revise(Box::new(self.skill(first, 3, number))),
                drawn => LibraryChange::SetState {
                    skill: self.id(second),
                    state: match drawn {
                        Some(3) => State::Disabled,
                        Some(4) => State::Archived,
                        _ => State::Quarantined,
                    },
                    reason: reason(),
                },
            },
        }
    }

    fn id(&self, added: u64) -> SkillId {
        SkillId::new(format!("{} {added}", self.name))
    }

    /// A version of the skill that came with one write, with the text of another one. None is a person's.
    fn skill(&self, added: u64, version: u64, number: u64) -> Skill {
        let mut skill = sample::skill(self.id(added).as_str());
        skill.version = Version(version);
        skill.body = self.text(number);
        skill.provenance.origin = Origin::Summary;
        skill
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
            Write::File(bytes) => block_on(self.store.put(bytes)).map(drop),
            Write::Commit(commit) => {
                let mut commit = commit.clone();
                commit.base = self.last;
                let done = block_on(self.store.commit_rebased(&commit, u32::MAX))?;
                // A commit that was made before is older than what was seen last.
                let last = done
                    .committed
                    .last()
                    .map_or(self.last, |last| last.revision);
                self.last = self.last.max(last);
                Ok(())
            }
        }
    }

    /// Has the folders brought up to date, and says what was not as it should be where no person does anything.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn bring_folders(&self) -> Result<Vec<String>> {
        let report = block_on(self.store.sync_folders())?;
        let taken = report
            .taken_in
            .iter()
            .map(|place| format!("{place} was taken in"));
        let faults = report.faults.iter();
        let faults = faults.map(|fault| format!("{}: {}", fault.folder, fault.error));
        Ok(taken.chain(faults).collect())
    }
}
