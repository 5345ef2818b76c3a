//! Random histories on disk and in memory, side by side: the same answers, whoever asks and however often it is reopened.

use futures::executor::block_on;
use journeyman::{
    Error, Result, RunId,
    agent::{MemoryJournal, MemoryStore},
    contract::{Journal, JournalEntry, SkillStore},
    domain::{Cause, Commit, CommitKey, LibraryChange, Revision, State},
};
use journeyman_disk::{DiskOptions, DiskStore, Durability};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    /// On a base so far behind the last revision (or, when negative, ahead of it), with one of few keys.
    Commit {
        behind: i64,
        key: u8,
        reason: String,
    },
    Since(u64),
    Load,
    Append(Vec<(u8, u64, u8)>),
    Read(u8),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (-1..3_i64, any::<u8>(), ".{0,20}").prop_map(|(behind, key, reason)| Step::Commit {
            behind: if behind == 1 { 0 } else { behind },
            key: key % 40,
            reason,
        }),
        2 => (0..20_u64).prop_map(Step::Since),
        1 => Just(Step::Load),
        4 => prop::collection::vec((0..3_u8, 0..8_u64, 0..2_u8), 0..5).prop_map(Step::Append),
        2 => (0..4_u8).prop_map(Step::Read),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

/// What was answered, the same words where both fail alike.
fn told<T: PartialEq + std::fmt::Debug>(answer: Result<T>) -> Result<T, String> {
    answer.map_err(|error: Error| format!("{:?} {}", error.kind(), error.operation()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn disk_answers_as_memory_does(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let mut options = DiskOptions::default();
        options.durability = Durability::Relaxed;
        let open = || DiskStore::open(folder.path(), &options).unwrap();
        let mut disk = open();
        let (store, journal) = (MemoryStore::new(), MemoryJournal::new());
        for step in steps {
            match step {
                Step::Commit { behind, key, reason } => {
                    let last = block_on(store.load()).unwrap().revision.0;
                    let base = last.saturating_add_signed(-behind);
                    let change = LibraryChange::SetState {
                        skill: reason.as_str().into(),
                        state: State::Active,
                        reason: reason.clone(),
                    };
                    let key = CommitKey::new(format!("key {key}"));
                    let commit = Commit::new(Revision(base), key, Cause::new(reason), vec![change]);
                    prop_assert_eq!(
                        told(block_on(disk.commit(&commit))),
                        told(block_on(store.commit(&commit)))
                    );
                }
                Step::Since(from) => prop_assert_eq!(
                    told(block_on(disk.since(Revision(from)))),
                    told(block_on(store.since(Revision(from))))
                ),
                Step::Load => prop_assert_eq!(
                    told(block_on(disk.load())),
                    told(block_on(store.load()))
                ),
                Step::Append(entries) => {
                    let entries: Vec<_> = entries
                        .into_iter()
                        .map(|(run, sequence, text)| {
                            JournalEntry::new(RunId::new(format!("run {run}")), sequence, text)
                        })
                        .collect();
                    prop_assert_eq!(
                        told(block_on(disk.append(&entries))),
                        told(block_on(journal.append(&entries)))
                    );
                }
                Step::Read(run) => {
                    let run = RunId::new(format!("run {run}"));
                    prop_assert_eq!(
                        told(block_on(disk.read(&run))),
                        told(block_on(journal.read(&run)))
                    );
                }
                Step::Reopen => {
                    drop(disk);
                    disk = open();
                }
            }
        }
    }
}
