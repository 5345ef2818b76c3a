//! Cases that judgements add to a bundle.

use super::*;
use crate::{
    domain::{Attribution, Exposure, SkillUse, TierPolicy},
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

/// The test case that is made of an attempt with a skill in its prompt and one refused action. `used` says whether the agent
/// followed the skill.
fn case_by_use(used: SkillUse, judgement: Option<Judgement>) -> BundleCase {
    let skill = sample::skill("one");
    let task = sample::task("t", &["one"]);
    let mut trace = sample::trace("a", &task, &["one"], true);
    trace.trajectory.steps[0].result.is_error = true;
    trace.trajectory.exposures.push(Exposure {
        skill: skill.reference(),
        used,
        since: 0,
    });
    let judgement = judgement.map(|judgement| {
        LibraryChange::Attribute(Attribution {
            skill: skill.reference(),
            attempt: trace.trajectory.attempt.clone(),
            task: task.id.clone(),
            judgement,
            scope: String::new(),
            reason: "a test".to_owned(),
        })
    });
    let changes = [LibraryChange::Add(Box::new(skill))].into_iter();
    let mut library = SkillLibrary::new();
    library
        .apply(&sample::committed(1, changes.chain(judgement).collect()))
        .expect("it is taken");
    whole_attempt(&library, &trace, CaseKind::Integration)
}

#[test]
fn only_an_attempt_that_is_known_to_have_had_help_keeps_its_refusals() {
    let allowed = |used, judgement| case_by_use(used, judgement).refusals;
    assert_eq!(allowed(SkillUse::Followed, None), 1);
    assert_eq!(allowed(SkillUse::Followed, Some(Judgement::Neutral)), 1);
    assert_eq!(allowed(SkillUse::NotFollowed, None), 0);
    assert_eq!(allowed(SkillUse::NotFollowed, Some(Judgement::Helpful)), 0);
    assert_eq!(allowed(SkillUse::Unknown, None), 0);
    assert_eq!(allowed(SkillUse::Unknown, Some(Judgement::Uncertain)), 0);
    assert_eq!(allowed(SkillUse::Unknown, Some(Judgement::Helpful)), 1);
    assert_eq!(allowed(SkillUse::Unknown, Some(Judgement::Harmful)), 1);
    assert_eq!(allowed(SkillUse::Unknown, Some(Judgement::Neutral)), 0);
}
