//! Refined versions at the gate.

use super::*;
use crate::{
    domain::{CaseKind, CaseResult},
    library::SkillLibrary,
    stations::maintain::cases::whole_attempt,
    testing::sample,
};

/// A case of an attempt, by its name.
fn case(name: &str) -> BundleCase {
    let task = sample::task(name, &["one"]);
    BundleCase {
        name: name.to_owned(),
        refusals: u32::from(!name.starts_with("trigger")),
        ..whole_attempt(
            &SkillLibrary::new(),
            &sample::trace(name, &task, &["one"], true),
            CaseKind::Integration,
        )
    }
}

/// Each case with its outcome: its refusals, or `None` for a failed case.
fn tried(outcomes: &[(&str, Option<u32>)]) -> Vec<(BundleCase, CaseOutcome)> {
    let tried = outcomes.iter().map(|(name, refusals)| {
        let outcome = CaseOutcome {
            name: (*name).to_owned(),
            result: match *refusals {
                Some(refusals) => CaseResult::Passed { refusals },
                None => CaseResult::Failed {
                    reason: "it was refused".to_owned(),
                    refusals: 2,
                },
            },
        };
        (case(name), outcome)
    });
    tried.collect()
}

/// The outcomes of the version before.
fn before(outcomes: &[(&str, Option<u32>)]) -> BTreeMap<String, CaseOutcome> {
    let outcomes = tried(outcomes).into_iter();
    outcomes
        .map(|(_, outcome)| (outcome.name.clone(), outcome))
        .collect()
}

type Outcomes<'a> = &'a [(&'a str, Option<u32>)];

fn is_rejected(gate: Gate, then: Outcomes<'_>, now: Outcomes<'_>) -> bool {
    let triggers = [case("trigger"), case("trigger 2"), case("trigger 3")];
    rejection(gate, &before(then), &triggers, &tried(now)).is_some()
}

#[test]
fn a_refined_version_needs_more_passing_attempts_than_the_one_before() {
    let better = |then: Outcomes<'_>, now: Outcomes<'_>| !is_rejected(Gate::Better, then, now);
    let trigger = ("trigger", Some(0));
    assert!(better(&[("a", Some(0))], &[trigger, ("a", Some(0))]));
    // A trigger has to pass.
    assert!(!better(
        &[("a", Some(0))],
        &[("trigger", None), ("a", Some(0))]
    ));
    // One attempt in exchange for another is no improvement.
    assert!(!better(&[("a", Some(0))], &[trigger, ("a", None)]));
    let two = [("a", Some(0)), ("b", Some(0))];
    assert!(!better(&two, &[trigger, ("a", None), ("b", Some(0))]));
    assert!(better(&two, &[trigger, ("a", Some(0)), ("b", Some(0))]));
    // A passing case that costs more refusals than before does not count.
    assert!(!better(&two, &[trigger, ("a", Some(1)), ("b", Some(0))]));
    let one = [("a", Some(1)), ("b", Some(1))];
    assert!(better(&one, &[trigger, ("a", Some(1)), ("b", Some(0))]));
    // A case that the version before failed may fail again.
    assert!(better(&[("a", None)], &[trigger, ("a", None)]));
    assert!(better(&[], &[trigger]));
    // A case on which the version before was never played does not count.
    let new = [trigger, ("a", None), ("b", Some(0))];
    assert!(!better(&[("a", Some(0))], &new));
    assert!(better(&[("a", Some(0)), ("b", None)], &new));
    // A trigger that is in the bundle: there the version before cost one refusal.
    assert!(better(&[("trigger", Some(1))], &[trigger]));
    // Of several triggers, one may fail.
    let triggers = [trigger, ("trigger 2", Some(0)), ("trigger 3", None)];
    assert!(better(
        &[("a", Some(0))],
        &[&triggers[..], &[("a", None)]].concat()
    ));
    assert!(!better(
        &two,
        &[&triggers[..], &[("a", None), ("b", None)]].concat()
    ));
}

#[test]
fn a_passed_fragment_does_not_count() {
    let mut tried = tried(&[("trigger", Some(0)), ("a", None), ("b", Some(0))]);
    let before = before(&[("a", Some(0)), ("b", None)]);
    let is_rejected = |tried: &[(BundleCase, CaseOutcome)]| {
        rejection(Gate::Better, &before, &[case("trigger")], tried).is_some()
    };
    assert!(!is_rejected(&tried));
    let played = sample::trajectory("x", &sample::task("b", &["one"]), &["one"], true);
    tried[2].0.prefix = played.steps.into_iter().map(|step| step.action).collect();
    assert!(is_rejected(&tried));
}

#[test]
fn with_gate_all_every_case_has_to_pass() {
    let now = [("trigger", Some(0)), ("a", None)];
    assert!(is_rejected(Gate::All, &[], &now));
    assert!(!is_rejected(Gate::All, &[], &[("trigger", Some(0))]));
}

#[test]
fn a_case_that_could_not_be_played_says_nothing() {
    let triggers = [case("trigger")];
    let with = |gate, unplayed: &str| {
        let mut tried = tried(&[("trigger", Some(0)), ("a", Some(0)), ("b", Some(0))]);
        for (case, outcome) in &mut tried {
            if case.name == unplayed {
                outcome.result = CaseResult::NotPlayed {
                    reason: "the judge gave no verdict".to_owned(),
                };
            }
        }
        rejection(gate, &before(&[("a", Some(0))]), &triggers, &tried)
    };
    for gate in [Gate::All, Gate::Better] {
        assert_eq!(with(gate, "b"), None, "{gate:?}");
        let reason = with(gate, "trigger").expect("it is rejected");
        assert!(reason.contains("could be played"), "{reason}");
    }
    // Without the attempt that could not be played there are too few.
    assert!(with(Gate::Better, "a").is_some());
}

#[test]
fn a_release_is_refused_with_the_case_that_fails() {
    let triggers = [case("trigger")];
    let now = tried(&[("trigger", Some(0)), ("a", None)]);
    for gate in [Gate::All, Gate::Better] {
        let reason = rejection(gate, &before(&[("a", Some(0))]), &triggers, &now);
        let reason = reason.expect("it is rejected");
        assert!(
            reason.contains("the case a fails: it was refused"),
            "{reason}"
        );
    }
}
