use std::num::NonZeroU32;

use super::*;
use crate::{
    domain::{Assessment, Cause, Committed, LibraryChange, Route, Subgoal},
    id::{AttemptId, CommitKey, Revision},
};

fn assessed(prototype: Option<&str>, score: u8, steps: (usize, usize)) -> AssessedSubgoal {
    AssessedSubgoal {
        subgoal: Subgoal {
            subgoal: "brew".to_owned(),
            skill: "brewing".to_owned(),
            first: steps.0,
            last: steps.1,
        },
        route: prototype.map(|prototype| Route {
            prototype: PrototypeId::new(prototype),
            confidence: 1.0,
        }),
        score: SubgoalScore::new(score).ok(),
    }
}

/// A library in which subgoals of these types had these scores, each at tasks of which so many of so many were done.
fn library(cells: &[(Option<&str>, u8, u32, u32)]) -> SkillLibrary {
    let mut changes = Vec::new();
    for (prototype, score, done, count) in cells {
        for number in 0..*count {
            let attempt = format!("{prototype:?}/{score}/{number}");
            changes.push(LibraryChange::Assess(Box::new(Assessment {
                attempt: AttemptId::new(attempt),
                task: "t".into(),
                category: None,
                success: Some(number < *done),
                repaired: false,
                subgoals: vec![assessed(*prototype, *score, (0, 0))],
            })));
        }
    }
    let commit = Committed {
        revision: Revision(1),
        key: CommitKey::new("k"),
        cause: Cause {
            run: None,
            task: None,
            reason: "a test".to_owned(),
            at: None,
        },
        changes,
    };
    SkillLibrary::replay(&[commit]).unwrap()
}

fn check(cells: &[(Option<&str>, u8, u32, u32)], of: Option<&str>, expect: [f64; SCORES]) {
    let policy = CalibrationPolicy {
        least: NonZeroU32::new(4).unwrap(),
    };
    let table = Calibration::of(&library(cells), Some(policy));
    let of = of.map(PrototypeId::new);
    let values: Vec<f64> = (0..=SubgoalScore::MAX)
        .map(|score| table.value(of.as_ref(), SubgoalScore::new(score).unwrap()))
        .collect();
    for (value, expect) in values.iter().zip(expect) {
        assert!((value - expect).abs() < 1e-9, "{values:?}");
    }
}

#[test]
fn a_score_has_the_rate_of_success_of_its_type() {
    let third = 1.0 / 3.0;
    // Nothing is known.
    check(&[], None, [0.0, third, 2.0 * third, 1.0]);
    // A 2 is as good as a 3 here: it is calibrated upward; a 1 is worse than it says: downward.
    let cells = [
        (Some("a"), 0, 0, 10),
        (Some("a"), 1, 1, 10),
        (Some("a"), 2, 10, 10),
        (Some("a"), 3, 10, 10),
    ];
    check(&cells, Some("a"), [0.0, 0.1, 1.0, 1.0]);
    // A type with too few observations has the rates of all types; one that is unknown too.
    let few = [cells.as_slice(), &[(Some("b"), 2, 0, 1)]].concat();
    let all = [0.0, 0.1, 10.0 / 11.0, 1.0];
    check(&few, Some("b"), all);
    check(&few, Some("c"), all);
    check(&few, None, all);
}

#[test]
fn the_order_of_scores_is_kept() {
    // A 1 went better than a 2 and a 3: the three are pooled.
    let cells = [
        (Some("a"), 0, 0, 10),
        (Some("a"), 1, 9, 10),
        (Some("a"), 2, 3, 10),
        (Some("a"), 3, 6, 10),
    ];
    check(&cells, Some("a"), [0.0, 0.6, 0.6, 0.6]);
}

#[test]
fn subgoals_without_a_verdict_say_nothing() {
    let policy = CalibrationPolicy {
        least: NonZeroU32::MIN,
    };
    let mut untold = library(&[]);
    let commit = Committed {
        revision: untold.revision().next(),
        key: CommitKey::new("more"),
        cause: Cause {
            run: None,
            task: None,
            reason: "a test".to_owned(),
            at: None,
        },
        changes: vec![LibraryChange::Assess(Box::new(Assessment {
            attempt: AttemptId::new("a"),
            task: "t".into(),
            category: None,
            success: None,
            repaired: false,
            subgoals: vec![assessed(None, 3, (0, 0))],
        }))],
    };
    untold.apply(&commit).unwrap();
    let table = Calibration::of(&untold, Some(policy));
    assert_eq!(table.value(None, SubgoalScore::new(3).unwrap()), 1.0);
}

#[test]
fn the_process_score_is_the_weighted_mean_of_what_was_scored() {
    let table = Calibration::default();
    let mut subgoals = vec![
        assessed(Some("a"), 3, (0, 2)),
        assessed(Some("a"), 0, (3, 3)),
    ];
    let process = |subgoals: &[AssessedSubgoal], weights| table.process(subgoals, weights);
    assert_eq!(process(&subgoals, SubgoalWeights::Equal), Some(0.5));
    assert_eq!(process(&subgoals, SubgoalWeights::Steps), Some(0.75));
    subgoals[1].score = None;
    assert_eq!(process(&subgoals, SubgoalWeights::Equal), Some(1.0));
    subgoals[0].score = None;
    assert_eq!(process(&subgoals, SubgoalWeights::Equal), None);
}
