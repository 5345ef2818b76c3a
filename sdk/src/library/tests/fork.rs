//! Forks: apart while they are made, named conflicts when they come back.

use super::*;
use crate::domain::{Role, RoleRule};

fn cause() -> Cause {
    Cause {
        run: None,
        task: None,
        reason: "a test".into(),
        at: None,
    }
}

fn forked(library: &SkillLibrary, changes: Vec<LibraryChange>) -> Fork {
    let mut fork = library.fork();
    fork.apply(&cause(), changes).unwrap();
    fork
}

#[test]
fn forks_are_apart_from_each_other_and_from_their_library() {
    let library = start(small(4, 4), vec![add("a"), add("b")]);
    let before = library.to_json().unwrap();
    let forks: Vec<Fork> = (0..1000)
        .map(|n| {
            let reward = f64::from(n);
            forked(&library, vec![credit("a", "t", reward), add("c")])
        })
        .collect();
    for (n, fork) in (0..).zip(&forks) {
        assert_eq!(fork.base(), library.revision());
        let utility = fork.library().get(&"a".into()).unwrap().utility;
        assert!((utility - 0.1 * f64::from(n)).abs() < 1e-9);
    }
    assert_eq!(library.to_json().unwrap(), before);
}

#[test]
fn a_fork_of_a_fork_goes_on_from_it() {
    let library = start(small(4, 4), vec![add("a")]);
    let fork = forked(&library, vec![add("b")]);
    let mut other = fork.clone();
    other.apply(&cause(), vec![add("c")]).unwrap();
    assert_eq!(ids(fork.library().entries().cloned()), "a b");
    assert_eq!(ids(other.library().entries().cloned()), "a b c");
    assert_eq!(other.changes(), [add("b"), add("c")]);
    let bad = Skill {
        version: Version(0),
        ..skill("d", "d")
    };
    let refused = other.apply(&cause(), vec![LibraryChange::Add(Box::new(bad))]);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(other.changes().len(), 2);
}

#[test]
fn what_was_changed_elsewhere_too_is_a_named_conflict() {
    let library = start(small(1, 9), ["a", "b", "c", "d", "e"].map(add).to_vec());
    let fork = forked(
        &library,
        vec![
            credit("a", "t1", 1.0),
            revise("b", "b", 2),
            set_state("c", State::Disabled),
            add("n"),
            credit("n", "t2", 1.0),
            LibraryChange::Merge {
                skill: Box::new(skill("m", "m")),
                sources: vec!["d".into(), "e".into()],
                beside: false,
            },
            credit("m", "t3", 1.0),
            LibraryChange::Configure(small(2, 2)),
            LibraryChange::Maintain,
        ],
    );
    let check = |elsewhere: Vec<LibraryChange>, expect: &[(usize, &str, ConflictReason)]| {
        let (head, _) = then(&library, elsewhere);
        let rebased = fork.rebase(&head);
        let found: Vec<_> = rebased
            .conflicts
            .iter()
            .map(|c| {
                let skill = c.skill.as_ref().map_or("", |id| id.as_str());
                (c.change, skill, c.reason)
            })
            .collect();
        assert_eq!(found, expect);
        assert_eq!(rebased.changes.len() + expect.len(), fork.changes().len());
        // What is left has an effect there: nothing comes too late.
        let (_, applied) = then(&head, rebased.changes);
        check_applied_fully(&applied);
    };
    check(vec![], &[]);
    check(vec![credit("a", "other", 1.0), add("z")], &[]);
    check(
        vec![revise("a", "a", 2)],
        &[(0, "a", ConflictReason::Revised)],
    );
    check(
        vec![set_state("b", State::Trial)],
        &[(1, "b", ConflictReason::StateChanged)],
    );
    check(
        vec![add("n")],
        &[
            (3, "n", ConflictReason::Added),
            (4, "n", ConflictReason::Added),
        ],
    );
    // A merge whose source changed is refused whole, and so is what is about the merged one.
    check(
        vec![revise("e", "e", 2)],
        &[
            (5, "e", ConflictReason::Revised),
            (6, "m", ConflictReason::Revised),
        ],
    );
    check(
        vec![LibraryChange::Configure(small(3, 3))],
        &[(7, "", ConflictReason::PolicyChanged)],
    );
    let gone = vec![
        LibraryChange::Configure(small(1, 3)),
        LibraryChange::Maintain,
    ];
    check(
        gone,
        &[
            (0, "a", ConflictReason::Deleted),
            (7, "", ConflictReason::PolicyChanged),
        ],
    );
}

fn check_applied_fully(applied: &Applied) {
    assert_eq!(applied.passed_over, []);
}

#[test]
fn what_is_replaced_as_a_whole_is_not_overwritten() {
    let rules = |text: &str| LibraryChange::SetRules {
        role: Role::Extract,
        rules: vec![RoleRule::new(text).unwrap()],
    };
    let check = |meanwhile: Vec<LibraryChange>, own: LibraryChange, expect: usize| {
        let base = start(small(4, 4), Vec::new());
        let fork = forked(&base, vec![own]);
        let (head, _) = then(&base, meanwhile);
        let conflicts = fork.rebase(&head).conflicts;
        assert_eq!(conflicts.len(), expect, "{conflicts:?}");
        let is_replaced =
            |one: &Conflict| one.skill.is_none() && one.reason == ConflictReason::Replaced;
        assert!(conflicts.iter().all(is_replaced), "{conflicts:?}");
    };
    check(vec![rules("theirs")], rules("own"), 1);
    check(vec![add("a")], rules("own"), 0);
    check(vec![rules("theirs")], add("a"), 0);
    let none = || LibraryChange::SetPrototypes(Vec::new());
    check(vec![none()], none(), 0);
}
