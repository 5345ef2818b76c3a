//! What holds a mended version back.

use super::*;
use crate::testing::sample;

/// A case of an attempt, by its name.
fn case(name: &str) -> BundleCase {
    let task = sample::task(name, &["one"]);
    BundleCase {
        name: name.to_owned(),
        refusals: 1,
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
            refusals: refusals.unwrap_or(2),
        };
        (case(name), outcome)
    });
    tried.collect()
}

fn holds_back(gate: Gate, before: &[(&str, u32)], now: &[(&str, Option<u32>)]) -> bool {
    let before = before.iter().map(|(name, n)| ((*name).to_owned(), *n));
    let calls = [case("call"), case("call 2"), case("call 3")];
    held_back(gate, &before.collect(), &calls, &tried(now)).is_some()
}

#[test]
fn more_attempts_speak_for_a_mended_version_than_for_the_one_before() {
    let better = |before: &[(&str, u32)], now: &[(&str, Option<u32>)]| {
        !holds_back(Gate::Better, before, now)
    };
    let call = ("call", Some(0));
    assert!(better(&[("a", 0)], &[call, ("a", Some(0))]));
    // What called for it has to pass.
    assert!(!better(&[("a", 0)], &[("call", None), ("a", Some(0))]));
    // One attempt for another is what every day's own wish comes to.
    assert!(!better(&[("a", 0)], &[call, ("a", None)]));
    let two = [("a", 0), ("b", 0)];
    assert!(!better(&two, &[call, ("a", None), ("b", Some(0))]));
    assert!(better(&two, &[call, ("a", Some(0)), ("b", Some(0))]));
    // A case that costs more than before does not speak for it, though it passes.
    assert!(!better(&two, &[call, ("a", Some(1)), ("b", Some(0))]));
    let one = [("a", 1), ("b", 1)];
    assert!(better(&one, &[call, ("a", Some(1)), ("b", Some(0))]));
    // What the version before failed holds nothing back.
    assert!(better(&[], &[call, ("a", None)]));
    // Of several attempts that called for it, one may have been odd.
    let calls = [call, ("call 2", Some(0)), ("call 3", None)];
    assert!(better(&[("a", 0)], &[&calls[..], &[("a", None)]].concat()));
    assert!(!better(
        &two,
        &[&calls[..], &[("a", None), ("b", None)]].concat()
    ));
}

#[test]
fn a_fragment_speaks_for_nothing() {
    let mut tried = tried(&[("call", Some(0)), ("a", None), ("b", Some(0))]);
    let before: BTreeMap<String, u32> = [("a".to_owned(), 0)].into();
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
