use super::*;
use crate::{domain::Route, id::AttemptId};

/// A subgoal: first step, last step, skill, prototype (none if empty), score (none over 3).
type Row<'a> = (usize, usize, &'a str, &'a str, u8);

fn assessment(attempt: &str, rows: &[Row<'_>]) -> Assessment {
    let subgoal = |(first, last, skill, prototype, score): &Row<'_>| AssessedSubgoal {
        subgoal: Subgoal {
            subgoal: format!("from {first}"),
            skill: (*skill).to_owned(),
            first: *first,
            last: *last,
        },
        route: (!prototype.is_empty()).then(|| Route {
            prototype: (*prototype).into(),
            confidence: 0.9,
        }),
        score: SubgoalScore::new(*score).ok(),
    };
    Assessment {
        attempt: AttemptId::new(attempt),
        task: "t".into(),
        category: None,
        success: None,
        repaired: false,
        subgoals: rows.iter().map(subgoal).collect(),
    }
}

fn accuracy(predicted: &[Row<'_>], annotated: &[Row<'_>]) -> RouterAccuracy {
    let (predicted, annotated) = (assessment("a", predicted), assessment("a", annotated));
    let pair = AssessedPair {
        predicted: &predicted,
        annotated: &annotated,
    };
    RouterAccuracy::of(&[pair]).unwrap()
}

#[test]
fn appendix_b_is_counted_by_predicted_subgoals() {
    let annotated: [Row<'_>; 3] = [
        (0, 1, "heating water", "p-1", 3),
        (2, 2, "pouring", "p-2", 2),
        (3, 5, "stirring", "", 1),
    ];
    let check =
        |predicted: &[Row<'_>], spans: [usize; 2], skills: [usize; 2], prototypes: [usize; 2]| {
            let found = accuracy(predicted, &annotated);
            let shares = [found.spans, found.skills, found.prototypes];
            let shares = shares.map(|share| [share.hits, share.of]);
            assert_eq!(shares, [spans, skills, prototypes], "{predicted:?}");
            assert_eq!((found.found.hits, found.found.of), (spans[0], 3));
        };
    check(&annotated, [3, 3], [3, 3], [2, 2]);
    // A label in another case is the same; a route where none is annotated is not counted; a missing one is wrong.
    check(
        &[
            (0, 1, " Heating  Water", "", 0),
            (2, 2, "pouring", "p-1", 0),
            (3, 5, "stirring", "p-2", 0),
        ],
        [3, 3],
        [3, 3],
        [0, 2],
    );
    // Two spans in one: it is compared with the one that it shares most with.
    check(
        &[(0, 2, "heating water", "p-1", 0), (3, 5, "pouring", "", 0)],
        [1, 2],
        [1, 2],
        [1, 1],
    );
    // A span that shares as much with two is compared with the first.
    check(
        &[
            (0, 0, "heating water", "p-1", 0),
            (1, 2, "pouring", "p-2", 0),
            (3, 5, "stirring", "", 0),
        ],
        [1, 3],
        [2, 3],
        [1, 2],
    );
}

#[test]
fn assessments_of_two_attempts_are_not_compared() {
    let one = assessment("a", &[(0, 1, "s", "", 9)]);
    let check = |other: &Assessment, rule: &str| {
        let pair = AssessedPair {
            predicted: &one,
            annotated: other,
        };
        for error in [
            RouterAccuracy::of(&[pair]).unwrap_err(),
            VariantAgreement::of(&[pair]).unwrap_err(),
        ] {
            assert_eq!(error.message(), rule);
            assert!(error.hint_text().is_some());
        }
    };
    check(
        &assessment("b", &[(0, 1, "s", "", 9)]),
        "the assessments are of two attempts",
    );
    check(
        &assessment("a", &[(0, 2, "s", "", 9)]),
        "the assessments do not end at the same step",
    );
    let none = RouterAccuracy::of(&[]).unwrap();
    assert_eq!((none.attempts, none.spans.rate()), (0, None));
}

#[test]
fn variants_agree_by_spans_and_by_the_ranks_of_scores() {
    let check = |one: &[Row<'_>],
                 other: &[Row<'_>],
                 spans: [usize; 2],
                 scores: [usize; 2],
                 rank: Option<f64>| {
        let (one, other) = (assessment("a", one), assessment("a", other));
        for (predicted, annotated) in [(&one, &other), (&other, &one)] {
            let pair = AssessedPair {
                predicted,
                annotated,
            };
            let found = VariantAgreement::of(&[pair]).unwrap();
            assert_eq!([found.spans.hits, found.spans.of], spans);
            assert_eq!([found.scores.hits, found.scores.of], scores);
            match (found.rank, rank) {
                (Some(found), Some(rank)) => assert!((found - rank).abs() < 1e-12, "{found}"),
                (found, rank) => assert_eq!(found, rank),
            }
        }
    };
    let rows = |scores: [u8; 4]| -> [Row<'static>; 4] {
        std::array::from_fn(|place| (place, place, "s", "", scores[place]))
    };
    check(
        &rows([0, 1, 2, 3]),
        &rows([0, 1, 2, 3]),
        [8, 8],
        [4, 4],
        Some(1.0),
    );
    check(
        &rows([0, 1, 2, 3]),
        &rows([3, 2, 1, 0]),
        [8, 8],
        [0, 4],
        Some(-1.0),
    );
    // Five pairs of six are in order, one is reversed.
    check(
        &rows([0, 1, 2, 3]),
        &rows([0, 2, 1, 3]),
        [8, 8],
        [2, 4],
        Some(4.0 / 6.0),
    );
    // With ties: 5 pairs are untied in the first, all 6 in the second, and 5 of them agree.
    check(
        &rows([0, 1, 1, 3]),
        &rows([0, 1, 2, 3]),
        [8, 8],
        [3, 4],
        Some(5.0 / 30.0_f64.sqrt()),
    );
    // A single score has no ranks, and what is not scored is not compared.
    check(
        &rows([3, 3, 3, 3]),
        &rows([3, 3, 3, 3]),
        [8, 8],
        [4, 4],
        None,
    );
    check(
        &rows([0, 1, 9, 3]),
        &rows([0, 9, 2, 3]),
        [8, 8],
        [2, 2],
        Some(1.0),
    );
    // Other boundaries: only the spans that both have count.
    check(
        &[(0, 1, "s", "", 2), (2, 3, "s", "", 1)],
        &rows([0, 0, 0, 0]),
        [0, 6],
        [0, 0],
        None,
    );
    check(
        &[(0, 0, "s", "", 2), (1, 3, "s", "", 1)],
        &[(0, 0, "s", "", 2), (1, 2, "s", "", 1), (3, 3, "s", "", 1)],
        [2, 5],
        [1, 1],
        None,
    );
}
