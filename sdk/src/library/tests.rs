mod fork;
mod history;
mod life;
mod random;
mod tiers;

use std::collections::BTreeMap;

use super::*;
use crate::{
    domain::{
        Cause, Committed, Kind, LibraryChange, Origin, Provenance, Scope, Skill, SkillName,
        SkillRef, State, Taint, Tier, TierPolicy,
    },
    error::ErrorKind,
    id::{Revision, Version},
};

fn skill(id: &str, name: &str) -> Skill {
    Skill {
        id: id.into(),
        version: Version(1),
        name: SkillName::new(name).unwrap(),
        original_name: None,
        description: "what it is for".into(),
        kind: Kind::Workflow,
        scope: Scope::General,
        state: State::Active,
        trigger: None,
        body: "what to do".into(),
        allowed_tools: Vec::new(),
        license: None,
        compatibility: None,
        metadata: BTreeMap::new(),
        files: BTreeMap::new(),
        parents: Vec::new(),
        provenance: Provenance {
            origin: Origin::Summary,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Clean,
    }
}

fn committed(revision: u64, changes: Vec<LibraryChange>) -> Committed {
    Committed {
        revision: Revision(revision),
        key: format!("key-{revision}").as_str().into(),
        cause: Cause {
            run: None,
            task: None,
            reason: "a test".into(),
            at: None,
        },
        changes,
    }
}

fn add(id: &str) -> LibraryChange {
    LibraryChange::Add(Box::new(skill(id, id)))
}

fn add_in(id: &str, state: State) -> LibraryChange {
    LibraryChange::Add(Box::new(Skill {
        state,
        ..skill(id, id)
    }))
}

fn revise(id: &str, name: &str, version: u64) -> LibraryChange {
    LibraryChange::Revise(Box::new(Skill {
        version: Version(version),
        ..skill(id, name)
    }))
}

fn reference(id: &str, version: u64) -> SkillRef {
    SkillRef {
        id: id.into(),
        version: Version(version),
    }
}

/// A credit of version 1 by an attempt of its own.
fn credit(id: &str, attempt: &str, reward: f64) -> LibraryChange {
    LibraryChange::Credit {
        skill: reference(id, 1),
        attempt: attempt.into(),
        reward,
        uses: 1,
    }
}

fn set_state(id: &str, state: State) -> LibraryChange {
    LibraryChange::SetState {
        skill: id.into(),
        state,
        reason: "a test".into(),
    }
}

fn small(cache: usize, reservoir: usize) -> TierPolicy {
    TierPolicy {
        cache,
        reservoir,
        ..TierPolicy::default()
    }
}

/// One commit on top of another library.
fn then(library: &SkillLibrary, changes: Vec<LibraryChange>) -> (SkillLibrary, Applied) {
    let mut library = library.clone();
    let applied = library
        .apply(&committed(library.revision().next().0, changes))
        .unwrap();
    (library, applied)
}

fn start(policy: TierPolicy, changes: Vec<LibraryChange>) -> SkillLibrary {
    let (library, _) = then(&SkillLibrary::new(), vec![LibraryChange::Configure(policy)]);
    then(&library, changes).0
}

fn ids(entries: impl Iterator<Item = impl std::borrow::Borrow<Entry>>) -> String {
    entries
        .map(|entry| entry.borrow().skill.id.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The ids of the cache and of the reservoir.
fn check_tiers(library: &SkillLibrary, cache: &str, reservoir: &str) {
    assert_eq!(ids(library.cache().cloned()), cache, "cache");
    assert_eq!(ids(library.reservoir().cloned()), reservoir, "reservoir");
}

/// What a commit did, such as `evicted a`, and what it passed over.
fn check_applied(applied: &Applied, moves: &str, passed_over: &[(usize, PassReason)]) {
    let found = applied
        .moves
        .iter()
        .map(|m| format!("{:?} {}", m.operation, m.skill.id).to_lowercase())
        .collect::<Vec<_>>()
        .join(", ");
    assert_eq!(found, moves);
    let found: Vec<_> = applied
        .passed_over
        .iter()
        .map(|p| (p.change, p.reason))
        .collect();
    assert_eq!(found, passed_over);
}

#[test]
fn revisions_are_folded_in_order() {
    let mut library = SkillLibrary::new();
    let check = |library: &mut SkillLibrary, revision, accepted: bool| {
        let before = library.clone();
        match library.apply(&committed(revision, vec![add("a")])) {
            Ok(_) => assert!(accepted),
            Err(error) => {
                assert!(!accepted);
                assert_eq!(error.kind(), ErrorKind::Invalid);
                assert_eq!(*library, before);
            }
        }
    };
    check(&mut library, 2, false);
    check(&mut library, 1, true);
    check(&mut library, 1, false);
    check(&mut library, 3, false);
    check(&mut library, 2, true);
}

#[test]
fn what_is_wrong_in_any_library_changes_nothing() {
    let library = start(small(2, 2), vec![add("a")]);
    let check = |change: LibraryChange, message: &str| {
        let mut after = library.clone();
        let error = after
            .apply(&committed(3, vec![credit("a", "t1", 1.0), change]))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.message(), message);
        assert_eq!(after, library);
    };
    check(
        credit("a", "t2", f64::NAN),
        "reward must be finite, and is NaN",
    );
    check(
        LibraryChange::Credit {
            skill: reference("a", 1),
            attempt: "t2".into(),
            reward: 1.0,
            uses: 0,
        },
        "uses must be at least 1, and is 0",
    );
    check(revise("a", "a", 0), "version must be at least 1, and is 0");
    check(
        LibraryChange::Configure(small(0, 1)),
        "cache must be at least 1, and is 0",
    );
    let policy = TierPolicy::default;
    check(
        LibraryChange::Configure(TierPolicy {
            beta: 1.0,
            ..policy()
        }),
        "beta must be in [0, 1), and is 1",
    );
    check(
        LibraryChange::Configure(TierPolicy {
            beta: f64::NAN,
            ..policy()
        }),
        "beta must be in [0, 1), and is NaN",
    );
    check(
        LibraryChange::Configure(TierPolicy {
            initial_utility: f64::INFINITY,
            ..policy()
        }),
        "initial_utility must be finite, and is inf",
    );
    check(
        LibraryChange::Configure(TierPolicy {
            delete_percentile: 100.5,
            ..policy()
        }),
        "delete_percentile must be in [0, 100], and is 100.5",
    );
}

#[test]
fn update_is_a_moving_average_and_counts_an_attempt_once() {
    let library = start(small(2, 2), vec![add("a")]);
    let (library, applied) = then(
        &library,
        vec![
            credit("a", "t1", 2.0),
            credit("a", "t2", 1.0),
            credit("a", "t1", 2.0),
        ],
    );
    check_applied(&applied, "", &[(2, PassReason::SeenBefore)]);
    let entry = library.get(&"a".into()).unwrap();
    let first = 0.9 * 0.0 + (1.0 - 0.9) * 2.0;
    assert_eq!(entry.utility, 0.9 * first + (1.0 - 0.9) * 1.0);
    assert_eq!((entry.uses, entry.credits), (2, 2));
    assert_eq!(library.passed_over()[&PassReason::SeenBefore], 1);
}

#[test]
fn what_comes_too_late_is_passed_over() {
    let policy = TierPolicy {
        cache: 1,
        reservoir: 0,
        ..TierPolicy::default()
    };
    // `a` is evicted and goes at once: the reservoir has no room.
    let library = start(policy, vec![add("a"), add("b"), LibraryChange::Maintain]);
    check_tiers(&library, "b", "");
    let (library, _) = then(&library, vec![revise("b", "b", 2)]);
    let check = |change: LibraryChange, reason| {
        let (after, applied) = then(&library, vec![change]);
        check_applied(&applied, "", &[(0, reason)]);
        assert!(after.entries().eq(library.entries()));
        assert_eq!(after.passed_over()[&reason], 1);
    };
    check(credit("a", "t1", 1.0), PassReason::Deleted);
    check(credit("z", "t1", 1.0), PassReason::Unknown);
    check(credit("b", "t1", 1.0), PassReason::OtherVersion);
    check(set_state("z", State::Disabled), PassReason::Unknown);
    check(set_state("a", State::Disabled), PassReason::Deleted);
    check(revise("z", "z", 2), PassReason::Unknown);
    check(revise("b", "b", 2), PassReason::NotLater);
    check(add("b"), PassReason::IdTaken);
    check(add("a"), PassReason::Deleted);
    let later = Skill {
        version: Version(2),
        ..skill("a", "a")
    };
    let (_, applied) = then(&library, vec![LibraryChange::Add(Box::new(later))]);
    check_applied(&applied, "added a", &[]);
}

#[test]
fn a_taken_name_gets_the_next_free_suffix() {
    let check = |names: &[&str], expect: &[&str]| {
        let changes = names
            .iter()
            .enumerate()
            .map(|(i, name)| LibraryChange::Add(Box::new(skill(&format!("s{i}"), name))))
            .collect();
        let library = start(TierPolicy::default(), changes);
        let found: Vec<_> = library.entries().map(|e| e.skill.name.as_str()).collect();
        assert_eq!(found, expect);
        for entry in library.entries() {
            let named = library.by_name(&entry.skill.name).unwrap();
            assert_eq!(named.skill.id, entry.skill.id);
        }
    };
    check(
        &["trace-abstract"; 3],
        &["trace-abstract", "trace-abstract-2", "trace-abstract-3"],
    );
    check(&["a-2", "a", "a"], &["a-2", "a", "a-3"]);
    check(&["a-2", "a-2"], &["a-2", "a-2-2"]);
    let long = "x".repeat(64);
    check(
        &[&long, &long],
        &[long.as_str(), &format!("{}-2", "x".repeat(62))],
    );
    let hyphen = format!("{}-y", "x".repeat(61));
    let hyphen = format!("{hyphen}y");
    check(
        &[&hyphen, &hyphen],
        &[hyphen.as_str(), &format!("{}-2", "x".repeat(61))],
    );
}

#[test]
fn a_revision_keeps_tier_utility_and_uses_and_begins_anew_otherwise() {
    let library = start(
        small(2, 2),
        vec![add("a"), add("b"), credit("a", "t1", 2.0)],
    );
    let (library, applied) = then(&library, vec![revise("a", "b", 2)]);
    check_applied(&applied, "revised a", &[]);
    let entry = library.get(&"a".into()).unwrap();
    assert_eq!(entry.skill.parents, [reference("a", 1)]);
    assert_eq!(entry.skill.name.as_str(), "b-2");
    assert_eq!(entry.history.len(), 1);
    assert_eq!((entry.uses, entry.credits), (1, 0));
    assert!(entry.utility > 0.0);
    assert_eq!(
        library.version(&reference("a", 1)).unwrap().name.as_str(),
        "a"
    );
    assert_eq!(library.version(&reference("a", 2)), Some(&entry.skill));
    assert_eq!(library.version(&reference("a", 3)), None);
    // An attempt that was credited stays so in the new version.
    let (_, applied) = then(
        &library,
        vec![LibraryChange::Credit {
            skill: reference("a", 2),
            attempt: "t1".into(),
            reward: 2.0,
            uses: 1,
        }],
    );
    check_applied(&applied, "", &[(0, PassReason::SeenBefore)]);
}

#[test]
fn parents_that_the_author_names_stay() {
    let library = start(small(2, 2), vec![add("a"), revise("a", "a", 2)]);
    let rollback = Skill {
        version: Version(3),
        parents: vec![reference("a", 1)],
        ..skill("a", "a")
    };
    let (library, _) = then(&library, vec![LibraryChange::Revise(Box::new(rollback))]);
    let entry = library.get(&"a".into()).unwrap();
    assert_eq!(entry.skill.parents, [reference("a", 1)]);
    assert_eq!(entry.history.len(), 2);
}

#[test]
fn json_is_read_back_and_checked() {
    let library = start(
        small(1, 2),
        vec![
            add("a"),
            add_in("q", State::Draft),
            credit("a", "t1", 0.1),
            credit("z", "t1", 0.1),
            revise("a", "a", 2),
        ],
    );
    let json = library.to_json().unwrap();
    let read = SkillLibrary::from_json(&json).unwrap();
    assert_eq!(read, library);
    assert_eq!(read.to_json().unwrap(), json);
    let check = |from: &str, to: &str, kind| {
        let bad = json.replacen(from, to, 1);
        assert_ne!(bad, json);
        assert_eq!(SkillLibrary::from_json(&bad).unwrap_err().kind(), kind);
    };
    check("\"schema\":6", "\"schema\":5", ErrorKind::Unsupported);
    check("\"cache\":1", "\"cache\":0", ErrorKind::Corrupt);
    check("{", "[", ErrorKind::Corrupt);
    check(
        "\"entries\":{\"a\"",
        "\"entries\":{\"b\"",
        ErrorKind::Corrupt,
    );
}
