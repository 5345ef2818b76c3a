//! The two tiers (ARISE C.3): what comes in, what goes out, and what stays.

use super::*;

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
