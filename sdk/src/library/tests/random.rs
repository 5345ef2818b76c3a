//! The library against a second implementation of its rules, over random changes.

mod events;
mod plain;

use std::collections::BTreeMap;

use self::{
    events::Events,
    plain::{Reference, Row},
};
use super::{SkillLibrary, committed};
use crate::{
    domain::{Cause, Committed, LibraryChange},
    id::Seed,
};

#[test]
fn a_hundred_thousand_events() {
    let mut events = Events::new(Seed(20_260_316));
    let mut library = SkillLibrary::new();
    let mut plain = Reference::default();
    let mut log = Vec::new();
    let mut count = 0;
    while count < 100_000 {
        let changes: Vec<_> = (0..=events.below(6))
            .map(|_| events.change(&library))
            .collect();
        let cause = Cause {
            run: Some(events.run()),
            task: None,
            reason: "a test".into(),
            at: None,
        };
        let commit = Committed {
            cause,
            ..committed(library.revision().next().0, changes)
        };
        count += commit.changes.len();
        library.apply(&commit).unwrap();
        plain.apply(&commit);
        let mut pairs = plain.rows.iter().zip(library.entries());
        if let Some((row, entry)) = pairs.find(|(row, entry)| !row.is_of(entry)) {
            let found = Row::of(entry);
            panic!("after {count} events, {commit:?}: {found:?} where it should be {row:?}");
        }
        assert_eq!(library.entries().count(), plain.rows.len(), "{commit:?}");
        if commit.changes.last() == Some(&LibraryChange::Maintain) {
            assert!(library.cache().count() <= library.policy().cache);
            assert!(library.reservoir().count() <= library.policy().reservoir);
        }
        log.push(commit);
    }
    // Saved in the middle and read back, or folded again from the start: the same bytes.
    let (first, rest) = log.split_at(log.len() / 2);
    let half = SkillLibrary::replay(first).unwrap().to_json().unwrap();
    let mut resumed = SkillLibrary::from_json(&half).unwrap();
    for commit in rest {
        resumed.apply(commit).unwrap();
    }
    assert_eq!(resumed.to_json().unwrap(), library.to_json().unwrap());
    // The events reached every corner.
    let passed_over = library.passed_over();
    assert_eq!(passed_over.len(), 10, "{passed_over:?}");
    assert!(
        passed_over.values().sum::<u64>() < 50_000,
        "{passed_over:?}"
    );
    let mut operations = BTreeMap::new();
    let mut again = SkillLibrary::new();
    for moved in log.iter().flat_map(|c| again.apply(c).unwrap().moves) {
        *operations.entry(moved.operation).or_insert(0) += 1;
    }
    assert_eq!(operations.len(), 13, "{operations:?}");
    assert!(operations.values().all(|&n| n > 20), "{operations:?}");
}
