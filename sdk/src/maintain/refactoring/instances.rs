//! True instances of a group, and what each says of a skill.

use crate::{
    domain::{BundleCase, CaseKind, CaseOutcome, Trace},
    error::Result,
    maintain::{
        bundling::whole,
        outcomes::{UNTOLD, cannot, failed, is_for_now, outcome},
    },
    policy::CaseRun,
};

/// A true instance of a group.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) case: BundleCase,
    /// Whether it is played without any skill as well, to be compared.
    pub(crate) paired: bool,
}

impl Instance {
    /// An instance; with `counterfactual` an attempt that followed a skill is compared with one without.
    pub(crate) fn of(attempt: &Trace, counterfactual: bool) -> Self {
        let mut exposures = attempt.trajectory.exposures.iter();
        Self {
            case: whole(attempt, CaseKind::Integration),
            paired: counterfactual && exposures.any(|seen| seen.used),
        }
    }
}

/// What an instance says of a skill.
pub(crate) enum Says {
    /// It goes well with it: the case, as hard as it has to be.
    Passes(BundleCase),
    /// It does not, and why.
    Fails(BundleCase, String),
    /// Nothing, and why.
    Nothing(String),
}

impl Says {
    /// Why it does not bear the skill out.
    fn against(&self) -> Option<&str> {
        match self {
            Self::Passes(_) => None,
            Self::Fails(_, why) | Self::Nothing(why) => Some(why),
        }
    }
}

/// What the instances of a group came to.
pub(crate) struct Tried {
    pub(crate) says: Vec<Says>,
    pub(crate) outcomes: Vec<CaseOutcome>,
    /// Why the first of those that do not bear the skill out does not.
    pub(crate) against: Option<String>,
    /// Whether one of them could not be played for now.
    pub(crate) for_now: bool,
}

impl Tried {
    /// Takes the runs of the instances, in the order in which they were asked: without a skill where it is paired, then
    /// with it.
    pub(crate) fn of<'a>(
        cases: Vec<Instance>,
        runs: &mut impl Iterator<Item = &'a Result<CaseRun>>,
    ) -> Self {
        let mut tried = Self {
            says: Vec::new(),
            outcomes: Vec::new(),
            against: None,
            for_now: false,
        };
        for Instance { case, paired } in cases {
            let unaided = paired.then(|| runs.next()).flatten();
            let Some(aided) = runs.next() else { continue };
            let failed = |run: &Result<CaseRun>| run.as_ref().is_err_and(is_for_now);
            tried.for_now |= failed(aided) || unaided.is_some_and(failed);
            let attempt = case.attempt.clone();
            tried.outcomes.push(outcome(&case, aided));
            let says = compare(case, aided, unaided);
            if let (None, Some(why)) = (&tried.against, says.against()) {
                let why = format!("its instance {attempt} does not bear it out: {why}");
                tried.against = Some(why);
            }
            tried.says.push(says);
        }
        tried
    }
}

/// What an instance says of a skill that it was played with, and without any where `unaided` is given. Refusals count first,
/// as in every case; of as many the score.
fn compare(
    mut case: BundleCase,
    aided: &Result<CaseRun>,
    unaided: Option<&Result<CaseRun>>,
) -> Says {
    let (aided, unaided) = match (aided, unaided.map(Result::as_ref).transpose()) {
        (Ok(aided), Ok(unaided)) => (aided, unaided),
        (Err(error), _) | (_, Err(error)) => {
            return Says::Nothing(cannot(error));
        }
    };
    if aided.verdict.success.is_none() {
        return Says::Nothing(UNTOLD.to_owned());
    }
    if let Some(why) = failed(&case, aided) {
        // Where it fails without any skill too, and no better, another one carried the attempt, and this one is not to blame.
        let as_badly = unaided.is_some_and(|unaided| {
            let done = |run: &CaseRun| run.verdict.success == Some(true);
            let no_worse = (done(aided), unaided.refusals) >= (done(unaided), aided.refusals);
            failed(&case, unaided).is_some() && no_worse
        });
        return match as_badly {
            true => Says::Nothing(why),
            false => Says::Fails(case, why),
        };
    }
    let Some(unaided) = unaided else {
        return Says::Passes(case);
    };
    let (with, without) = (&aided.verdict, &unaided.verdict);
    if without.success == Some(false) {
        // It gets there with the skill alone.
    } else if aided.refusals < unaided.refusals {
        case.refusals = case.refusals.min(unaided.refusals - 1);
    } else if aided.refusals == unaided.refusals && with.score > without.score {
        case.refusals = case.refusals.min(unaided.refusals);
        case.least_score = without.score.next_up();
    } else {
        return Says::Nothing("without any skill it goes as well".to_owned());
    }
    Says::Passes(case)
}

#[cfg(test)]
mod tests;
