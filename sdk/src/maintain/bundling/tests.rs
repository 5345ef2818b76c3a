//! Cases that judgements add to a bundle.

use super::*;
use crate::{
    domain::{Attribution, TierPolicy},
    testing::sample,
};

/// The attempts of the cases that judgements add, each at a task of its own, in the order in which they were judged.
fn added(judgements: &[(&str, Judgement, bool)]) -> Vec<(String, CaseKind)> {
    let skill = sample::skill("one");
    let mut changes = vec![
        LibraryChange::Configure(TierPolicy {
            traces: 100,
            ..TierPolicy::default()
        }),
        LibraryChange::Add(Box::new(skill.clone())),
    ];
    for (name, judgement, success) in judgements {
        let task = sample::task(name, &["one"]);
        let trace = sample::trace(name, &task, &["one"], *success);
        let judgement = Attribution {
            skill: skill.reference(),
            attempt: trace.trajectory.attempt.clone(),
            task: task.id.clone(),
            judgement: *judgement,
            scope: String::new(),
            reason: "a test".to_owned(),
        };
        changes.push(LibraryChange::Observe(Box::new(trace)));
        changes.push(LibraryChange::Attribute(judgement));
    }
    let mut library = SkillLibrary::new();
    library
        .apply(&sample::committed(1, changes))
        .expect("it is taken");
    let entry = library.get(&skill.id).expect("it is there");
    let cases = cases_of_judgements(&library, entry, &[]).into_iter();
    cases
        .map(|case| (case.attempt.to_string(), case.kind))
        .collect()
}

#[test]
fn attempts_that_it_helped_with_and_harmed_become_cases() {
    let judgements = [
        ("helped", Judgement::Helpful, true),
        ("not done", Judgement::Helpful, false),
        ("harmed", Judgement::Harmful, true),
        ("alike", Judgement::Neutral, true),
        ("unclear", Judgement::Uncertain, true),
    ];
    let expect = [
        ("helped".to_owned(), CaseKind::Integration),
        ("harmed".to_owned(), CaseKind::Negative),
    ];
    assert_eq!(added(&judgements), expect);
}

#[test]
fn of_what_it_harmed_the_latest_four_become_cases_and_of_what_it_helped_the_first_four() {
    let of = |judgement| {
        let judgements = ["1", "2", "3", "4", "5", "6"].map(|name| (name, judgement, true));
        let added = added(&judgements).into_iter();
        added.map(|(attempt, _)| attempt).collect::<Vec<_>>()
    };
    assert_eq!(of(Judgement::Harmful), ["3", "4", "5", "6"]);
    assert_eq!(of(Judgement::Helpful), ["1", "2", "3", "4"]);
}
