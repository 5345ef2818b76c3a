//! What holds a mended version back (Eq. 13, algorithm 4; H6).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::{BundleCase, CaseOutcome},
    id::AttemptId,
    maintain::{Gate, bundling::failing},
};

/// Why a version is not released; none when it is. `before` is what the version before came to.
pub(crate) fn held_back(
    gate: Gate,
    before: &BTreeMap<String, CaseOutcome>,
    calls: &[BundleCase],
    tried: &[(BundleCase, CaseOutcome)],
) -> Option<String> {
    let failure = |(_, outcome): &(BundleCase, CaseOutcome)| failing(outcome);
    let failed = |(_, outcome): &&(BundleCase, CaseOutcome)| outcome.failed.is_some();
    let is_call = |case: &BundleCase| calls.iter().any(|call| call.name == case.name);
    let called = |(case, _): &&(BundleCase, CaseOutcome)| is_call(case);
    let mut calling = tried.iter().filter(called);
    if !calling.any(|(_, outcome)| outcome.was_played()) {
        return Some(
            "not released: none of the cases that called for it could be played".to_owned(),
        );
    }
    let first = match gate {
        // What could not be played says nothing, but what called for it has to pass.
        Gate::All => (tried.iter().filter(failed))
            .find(|(case, outcome)| outcome.was_played() || is_call(case)),
        // Of the days that called for it, one may have wanted something that day alone.
        Gate::Better if tried.iter().filter(called).all(|one| failed(&one)) => {
            tried.iter().filter(called).find(failed)
        }
        Gate::Better => None,
    };
    if let Some(first) = first {
        return failure(first);
    }
    if gate == Gate::All {
        return None;
    }
    // A case allows as many refusals as an attempt without the skill cost. What a day wanted once costs one more on every
    // other day, and may stay under that. A case on which the version before was never played compares nothing.
    let keeps = |case: &BundleCase, outcome: &CaseOutcome| {
        let no_costlier = match before.get(&case.name) {
            Some(then) if then.failed.is_none() => {
                (then.refusals).is_none_or(|cost| outcome.refusals <= Some(cost))
            }
            Some(then) => then.refusals.is_some() || is_call(case),
            None => is_call(case),
        };
        outcome.failed.is_none() && no_costlier
    };
    // What called for it allows no refusals, whatever the bundle does.
    let passed = |case: &BundleCase| {
        let then = before.get(&case.name);
        let then = then.filter(|then| then.failed.is_none());
        then.is_some_and(|then| then.refusals.is_none_or(|cost| cost <= case.refusals))
    };
    let attempts = |holds: &dyn Fn(&BundleCase, &CaseOutcome) -> bool| {
        let whole = tried.iter().filter(|(case, _)| case.is_whole());
        let cases = whole.filter(|(case, outcome)| holds(case, outcome));
        let attempts: BTreeSet<&AttemptId> = cases.map(|(case, _)| &case.attempt).collect();
        attempts.len()
    };
    let now = attempts(&keeps);
    let then = attempts(&|case, _| passed(case));
    // As many speak for a version that does what its own day wanted.
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
