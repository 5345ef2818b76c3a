mod fork;
mod history;
mod life;
mod random;

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
        proven_on: None,
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
fn a_newcomer_evicts_the_lowest_and_of_equals_the_smaller_id() {
    let library = start(
        small(2, 9),
        vec![add("a"), add("b"), credit("b", "t1", 2.0)],
    );
    let (library, applied) = then(&library, vec![add("c"), LibraryChange::Maintain]);
    check_applied(&applied, "added c, evicted a", &[]);
    check_tiers(&library, "b c", "a");
    // The evicted keeps its evidence.
    let (library, _) = then(
        &library,
        vec![credit("c", "t2", 1.0), add("d"), LibraryChange::Maintain],
    );
    check_tiers(&library, "b c", "a d");
    assert_eq!(library.get(&"b".into()).unwrap().uses, 1);
}

#[test]
fn loading_swaps_once_or_until_stable() {
    let check = |load_until_stable, cache: &str, moves: &str| {
        let policy = TierPolicy {
            load_until_stable,
            delete_percentile: 0.0,
            ..small(2, 9)
        };
        let changes = ["a", "b", "c", "d"].map(add).to_vec();
        let library = start(policy, [changes, vec![LibraryChange::Maintain]].concat());
        check_tiers(&library, "c d", "a b");
        // Late credit raises both in the reservoir above both in the cache.
        let (library, applied) = then(
            &library,
            vec![
                credit("a", "t1", 1.0),
                credit("b", "t2", 2.0),
                LibraryChange::Maintain,
            ],
        );
        check_applied(&applied, moves, &[]);
        assert_eq!(ids(library.cache().cloned()), cache);
    };
    check(false, "b d", "swappedout c, loaded b");
    check(
        true,
        "a b",
        "swappedout c, loaded b, swappedout d, loaded a",
    );
}

#[test]
fn the_just_evicted_does_not_come_back() {
    for load_until_stable in [false, true] {
        for protected_credits in [0, 1] {
            let policy = TierPolicy {
                load_until_stable,
                protected_credits,
                ..small(2, 9)
            };
            let library = start(
                policy,
                vec![
                    add("a"),
                    add("b"),
                    credit("a", "t1", 1.0),
                    credit("b", "t2", 2.0),
                ],
            );
            let (_, applied) = then(&library, vec![add("c"), LibraryChange::Maintain]);
            let evicted = if protected_credits == 0 { "c" } else { "a" };
            check_applied(&applied, &format!("added c, evicted {evicted}"), &[]);
        }
    }
}

#[test]
fn protection_covers_the_newest_half_until_they_are_credited() {
    let policy = TierPolicy {
        protected_credits: 1,
        ..small(4, 9)
    };
    let mut library = start(policy, ["p", "q", "r", "s"].map(add).to_vec());
    let credits = ["p", "q", "r", "s"].map(|id| credit(id, id, 2.0)).to_vec();
    library = then(&library, credits).0;
    for (id, cache) in [
        ("a", "a q r s"),
        ("b", "a b r s"),
        // Two may be protected, so the eldest newcomer goes, and not a proven skill.
        ("c", "b c r s"),
    ] {
        library = then(&library, vec![add(id), LibraryChange::Maintain]).0;
        assert_eq!(ids(library.cache().cloned()), cache);
    }
    // `b` was tried and failed: it is protected no more, and `q` comes back for it.
    let (library, applied) = then(
        &library,
        vec![credit("b", "t1", 0.0), LibraryChange::Maintain],
    );
    check_applied(&applied, "swappedout b, loaded q", &[]);
    check_tiers(&library, "c q r s", "b p");
}

#[test]
fn a_cache_of_one_protects_nobody() {
    let policy = TierPolicy {
        protected_credits: 5,
        ..small(1, 9)
    };
    let library = start(policy, vec![add("a"), credit("a", "t1", 2.0)]);
    let (library, _) = then(&library, vec![add("b"), LibraryChange::Maintain]);
    check_tiers(&library, "a", "b");
}

#[test]
fn delete_takes_the_unused_strictly_below_the_percentile() {
    // Utilities 0 to 4 in the reservoir: the 10th percentile by linear interpolation is 0.4.
    let check = |percentile: f64, used: bool, reservoir: &str| {
        let policy = TierPolicy {
            beta: 0.0,
            delete_percentile: percentile,
            initial_utility: 0.5,
            ..small(1, 9)
        };
        let mut changes = vec![add("z"), credit("z", "z", 9.0)];
        for (id, utility) in [("a", 0.0), ("b", 1.0), ("c", 2.0), ("d", 3.0), ("e", 4.0)] {
            if id == "a" && !used {
                changes.push(LibraryChange::Configure(TierPolicy {
                    initial_utility: 0.0,
                    ..policy.clone()
                }));
                changes.push(add(id));
            } else {
                changes.extend([add(id), credit(id, id, utility)]);
            }
        }
        changes.push(LibraryChange::Maintain);
        let library = start(policy, changes);
        check_tiers(&library, "z", reservoir);
    };
    check(10.0, false, "b c d e");
    check(10.0, true, "a b c d e");
    // The least is not strictly below the 0th percentile, which it is.
    check(0.0, false, "a b c d e");
    check(100.0, false, "b c d e");
}

#[test]
fn equal_utilities_are_none_below_the_percentile() {
    let policy = TierPolicy {
        initial_utility: 0.3,
        ..small(1, 9)
    };
    let changes = ["a", "b", "c", "d", "e", "f"].map(add).to_vec();
    let library = start(policy, [changes, vec![LibraryChange::Maintain]].concat());
    check_tiers(&library, "f", "a b c d e");
}

#[test]
fn a_reservoir_over_its_size_loses_its_lowest_used_or_not() {
    let library = start(
        small(1, 2),
        vec![
            add("a"),
            add("b"),
            add("c"),
            add("d"),
            credit("a", "t1", 1.0),
            credit("b", "t2", 1.0),
            credit("c", "t3", 0.5),
            credit("d", "t4", 2.0),
        ],
    );
    let (library, applied) = then(&library, vec![LibraryChange::Maintain]);
    check_applied(
        &applied,
        "evicted c, evicted a, evicted b, overflowed c",
        &[],
    );
    check_tiers(&library, "d", "a b");
}

#[test]
fn maintaining_what_is_empty_or_small_does_nothing() {
    let check = |changes: Vec<LibraryChange>| {
        let library = start(small(3, 3), changes);
        let (_, applied) = then(&library, vec![LibraryChange::Maintain]);
        check_applied(&applied, "", &[]);
    };
    check(vec![]);
    check(vec![add("a")]);
    check(vec![add("a"), add("b"), add("c")]);
}

#[test]
fn a_skill_that_is_not_offered_is_aside_and_untouched() {
    let library = start(
        small(1, 0),
        vec![
            add_in("q", State::Quarantined),
            add_in("t", State::Trial),
            LibraryChange::Maintain,
        ],
    );
    check_tiers(&library, "t", "");
    assert_eq!(ids(library.tier(Tier::Aside).cloned()), "q");
    let (library, applied) = then(
        &library,
        vec![
            set_state("t", State::Disabled),
            set_state("q", State::Trial),
        ],
    );
    check_applied(&applied, "setaside t, released q", &[]);
    check_tiers(&library, "q", "");
    // From one offered state to another nothing moves.
    let (library, applied) = then(&library, vec![set_state("q", State::Active)]);
    check_applied(&applied, "", &[]);
    assert_eq!(library.get(&"q".into()).unwrap().skill.state, State::Active);
}

#[test]
fn a_revision_may_change_the_state() {
    let library = start(small(1, 1), vec![add("a")]);
    let held = Skill {
        state: State::Quarantined,
        version: Version(2),
        ..skill("a", "a")
    };
    let (library, applied) = then(&library, vec![LibraryChange::Revise(Box::new(held))]);
    check_applied(&applied, "revised a, setaside a", &[]);
    check_tiers(&library, "", "");
}

#[test]
fn free_room_in_the_cache_is_filled_from_the_reservoir() {
    let library = start(
        small(1, 9),
        vec![
            add("a"),
            add("b"),
            add("c"),
            credit("a", "t1", 1.0),
            credit("b", "t2", 2.0),
            LibraryChange::Maintain,
        ],
    );
    // `c` was never used and is the lowest.
    check_tiers(&library, "b", "a");
    let (disabled, applied) = then(
        &library,
        vec![set_state("b", State::Disabled), LibraryChange::Maintain],
    );
    check_applied(&applied, "setaside b, loaded a", &[]);
    check_tiers(&disabled, "a", "");
    let (larger, _) = then(
        &library,
        vec![
            LibraryChange::Configure(small(5, 9)),
            LibraryChange::Maintain,
        ],
    );
    check_tiers(&larger, "a b", "");
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
    check("\"schema\":5", "\"schema\":3", ErrorKind::Unsupported);
    check("\"cache\":1", "\"cache\":0", ErrorKind::Corrupt);
    check("{", "[", ErrorKind::Corrupt);
    check(
        "\"entries\":{\"a\"",
        "\"entries\":{\"b\"",
        ErrorKind::Corrupt,
    );
}
