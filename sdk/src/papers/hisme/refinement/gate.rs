//! The gate of a refined version: whether its test cases let it be released (HiSME Eq. 13, algorithm 4; row H6).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::{BundleCase, CaseOutcome},
    id::AttemptId,
    papers::hisme::{Gate, bundles::failure},
};

const NOT_PLAYED: &str = "not released: none of the cases that it was refined for could be played";

/// The reason why a version is not released; `None` if it is. `before` are the outcomes of the version before, by case;
/// `triggers` are the cases that triggered the refinement, `tried` all cases with their outcomes.
pub(crate) fn rejection(
    gate: Gate,
    before: &BTreeMap<String, CaseOutcome>,
    triggers: &[BundleCase],
    tried: &[(BundleCase, CaseOutcome)],
) -> Option<String> {
    let failure = |(_, outcome): &(BundleCase, CaseOutcome)| failure(outcome);
    let failed = |(_, outcome): &&(BundleCase, CaseOutcome)| !outcome.has_passed();
    let is_trigger = |case: &BundleCase| triggers.iter().any(|one| one.name == case.name);
    let of_trigger = |(case, _): &&(BundleCase, CaseOutcome)| is_trigger(case);
    // A version that was refined for failed cases of its bundle alone has no trigger beside the bundle.
    let mut decides = tried
        .iter()
        .filter(|one| triggers.is_empty() || of_trigger(one));
    if !decides.any(|(_, outcome)| outcome.was_played()) {
        return Some(NOT_PLAYED.to_owned());
    }
    let first = match gate {
        // A case that could not be played decides nothing, except a trigger, which has to pass.
        Gate::All => (tried.iter().filter(failed))
            .find(|(case, outcome)| outcome.was_played() || is_trigger(case)),
        // One trigger has to pass; another may need something that no other attempt needs.
        Gate::Better if tried.iter().filter(of_trigger).all(|one| failed(&one)) => {
            tried.iter().filter(of_trigger).find(failed)
        }
        Gate::Better => None,
    };
    if let Some(first) = first {
        return failure(first);
    }
    if gate == Gate::All {
        return None;
    }
    // A case allows refusals, up to the number that its attempt had. An instruction that only one attempt needed costs a
    // refusal in every other attempt and may stay within that number, so refusals are compared with those of the version
    // before. A case without an outcome of the version before compares nothing.
    let is_kept = |case: &BundleCase, outcome: &CaseOutcome| {
        let no_costlier = match before.get(&case.name) {
            Some(then) if then.has_passed() => outcome.refusals() <= then.refusals(),
            Some(then) => then.was_played() || is_trigger(case),
            None => is_trigger(case),
        };
        outcome.has_passed() && no_costlier
    };
    // A trigger allows no refusals, whatever the case of the same name in the bundle allows.
    let passed = |case: &BundleCase| {
        let then = before.get(&case.name);
        let then = then.filter(|then| then.has_passed());
        let cost = then.and_then(CaseOutcome::refusals);
        cost.is_some_and(|cost| cost <= case.refusals)
    };
    let attempts = |holds: &dyn Fn(&BundleCase, &CaseOutcome) -> bool| {
        let whole = tried.iter().filter(|(case, _)| case.is_whole());
        let cases = whole.filter(|(case, outcome)| holds(case, outcome));
        let attempts: BTreeSet<&AttemptId> = cases.map(|(case, _)| &case.attempt).collect();
        attempts.len()
    };
    let now = attempts(&is_kept);
    let then = attempts(&|case, _| passed(case));
    // An equal number is not enough: a version that trades one attempt's need for another's reaches it too.
    (now <= then).then(|| {
        let mut played = tried.iter().filter(|(_, outcome)| outcome.was_played());
        let fails = played.find_map(failure);
        let fails = fails.unwrap_or_else(|| "not released".to_owned());
        format!(
            "{fails}; it passes the cases of {now} attempts as well as the version before or better, and that one those \
             of {then}"
        )
    })
}

#[cfg(test)]
mod tests;
