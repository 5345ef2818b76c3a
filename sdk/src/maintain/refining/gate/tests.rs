//! What holds a mended version back.

use super::*;
use crate::{domain::CaseKind, maintain::bundling::whole, testing::sample};

/// A case of an attempt, by its name.
fn case(name: &str) -> BundleCase {
    let task = sample::task(name, &["one"]);
    BundleCase {
        name: name.to_owned(),
        refusals: u32::from(!name.starts_with("call")),
        ..whole(
            &sample::trace(name, &task, &["one"], true),
            CaseKind::Integration,
        )
    }
}

/// What each case came to: its refusals, or that it failed.
fn tried(outcomes: &[(&str, Option<u32>)]) -> Vec<(BundleCase, CaseOutcome)> {
    let tried = outcomes.iter().map(|(name, refusals)| {
        let outcome = CaseOutcome {
            name: (*name).to_owned(),
            failed: refusals.is_none().then(|| "it was refused".to_owned()),
            refusals: Some(refusals.unwrap_or(2)),
        };
        (case(name), outcome)
    });
    tried.collect()
}

/// What the version before came to.
fn before(outcomes: &[(&str, Option<u32>)]) -> BTreeMap<String, CaseOutcome> {
    let outcomes = tried(outcomes).into_iter();
    outcomes
        .map(|(_, outcome)| (outcome.name.clone(), outcome))
        .collect()
}

type Outcomes<'a> = &'a [(&'a str, Option<u32>)];

fn holds_back(gate: Gate, then: Outcomes<'_>, now: Outcomes<'_>) -> bool {
    let calls = [case("call"), case("call 2"), case("call 3")];
    held_back(gate, &before(then), &calls, &tried(now)).is_some()
}

#[test]
fn more_attempts_speak_for_a_mended_version_than_for_the_one_before() {
    let better = |then: Outcomes<'_>, now: Outcomes<'_>| !holds_back(Gate::Better, then, now);
    let call = ("call", Some(0));
    assert!(better(&[("a", Some(0))], &[call, ("a", Some(0))]));
    // What called for it has to pass.
    assert!(!better(
        &[("a", Some(0))],
        &[("call", None), ("a", Some(0))]
    ));
    // One attempt for another is what every day's own wish comes to.
    assert!(!better(&[("a", Some(0))], &[call, ("a", None)]));
    let two = [("a", Some(0)), ("b", Some(0))];
    assert!(!better(&two, &[call, ("a", None), ("b", Some(0))]));
    assert!(better(&two, &[call, ("a", Some(0)), ("b", Some(0))]));
    // A case that costs more than before does not speak for it, though it passes.
    assert!(!better(&two, &[call, ("a", Some(1)), ("b", Some(0))]));
    let one = [("a", Some(1)), ("b", Some(1))];
    assert!(better(&one, &[call, ("a", Some(1)), ("b", Some(0))]));
    // What the version before failed holds nothing back.
    assert!(better(&[("a", None)], &[call, ("a", None)]));
    assert!(better(&[], &[call]));
    // What it was never played on compares nothing.
    let new = [call, ("a", None), ("b", Some(0))];
    assert!(!better(&[("a", Some(0))], &new));
    assert!(better(&[("a", Some(0)), ("b", None)], &new));
    // An attempt that is in the bundle, and called for it: there the version before cost one refusal.
    assert!(better(&[("call", Some(1))], &[call]));
    // Of several attempts that called for it, one may have been odd.
    let calls = [call, ("call 2", Some(0)), ("call 3", None)];
    assert!(better(
        &[("a", Some(0))],
        &[&calls[..], &[("a", None)]].concat()
    ));
    assert!(!better(
        &two,
        &[&calls[..], &[("a", None), ("b", None)]].concat()
    ));
}

#[test]
fn a_fragment_speaks_for_nothing() {
    let mut tried = tried(&[("call", Some(0)), ("a", None), ("b", Some(0))]);
    let before = before(&[("a", Some(0)), ("b", None)]);
    let holds_back = |tried: &[(BundleCase, CaseOutcome)]| {
        held_back(Gate::Better, &before, &[case("call")], tried).is_some()
    };
    assert!(!holds_back(&tried));
    let played = sample::trajectory("x", &sample::task("b", &["one"]), &["one"], true);
    tried[2].0.prefix = played.steps.into_iter().map(|step| step.action).collect();
    assert!(holds_back(&tried));
}

#[test]
fn to_the_letter_every_case_has_to_pass() {
    let now = [("call", Some(0)), ("a", None)];
    assert!(holds_back(Gate::All, &[], &now));
    assert!(!holds_back(Gate::All, &[], &[("call", Some(0))]));
}

#[test]
fn a_case_that_could_not_be_played_says_nothing() {
    let calls = [case("call")];
    let with = |gate, unplayed: &str| {
        let mut tried = tried(&[("call", Some(0)), ("a", Some(0)), ("b", Some(0))]);
        for (case, outcome) in &mut tried {
            if case.name == unplayed {
                outcome.failed = Some("the judge gave no verdict".to_owned());
                outcome.refusals = None;
            }
        }
        held_back(gate, &before(&[("a", Some(0))]), &calls, &tried)
    };
    for gate in [Gate::All, Gate::Better] {
        assert_eq!(with(gate, "b"), None, "{gate:?}");
        let reason = with(gate, "call").expect("it is held back");
        assert!(reason.contains("could be played"), "{reason}");
    }
    // What is not counted may be what spoke for it.
    assert!(with(Gate::Better, "a").is_some());
}

#[test]
fn a_release_is_refused_with_the_case_that_fails() {
    let calls = [case("call")];
    let now = tried(&[("call", Some(0)), ("a", None)]);
    for gate in [Gate::All, Gate::Better] {
        let reason = held_back(gate, &before(&[("a", Some(0))]), &calls, &now);
        let reason = reason.expect("it is held back");
        assert!(
            reason.contains("the case a fails: it was refused"),
            "{reason}"
        );
    }
}
