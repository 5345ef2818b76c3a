//! What test cases came to.

use crate::{
    domain::{BundleCase, CaseOutcome, CaseResult, Skill, SkillRef},
    error::{Error, Result, Retry},
    policy::{CaseRun, PlayedCase},
};

/// What a case came to.
pub(crate) fn outcome(case: &BundleCase, run: &Result<CaseRun>) -> CaseOutcome {
    let result = match run {
        Err(error) => CaseResult::NotPlayed {
            reason: cannot(error),
        },
        Ok(run) if run.verdict.success.is_none() => CaseResult::NotPlayed {
            reason: UNTOLD.to_owned(),
        },
        Ok(run) => {
            let refusals = run.refusals;
            match failed(case, run) {
                None => CaseResult::Passed { refusals },
                Some(reason) => CaseResult::Failed { reason, refusals },
            }
        }
    };
    CaseOutcome {
        name: case.name.clone(),
        result,
    }
}

/// Why a case decides nothing: it could not be played, or nobody could judge it.
pub(crate) fn undecided(run: &Result<CaseRun>) -> Option<String> {
    match run {
        Err(error) => Some(cannot(error)),
        Ok(run) if run.verdict.success.is_none() => Some(UNTOLD.to_owned()),
        Ok(_) => None,
    }
}

/// Why a case says nothing whose attempt nobody could judge.
pub(crate) const UNTOLD: &str = "nobody could tell whether the task was done";

/// Why a case fails; none where it passes.
pub(crate) fn failed(case: &BundleCase, run: &CaseRun) -> Option<String> {
    let (score, least) = (run.verdict.score, case.least_score);
    if run.verdict.success != Some(true) {
        Some("the task was not done".to_owned())
    } else if run.refusals > case.refusals {
        let (refusals, most) = (run.refusals, case.refusals);
        Some(format!(
            "{refusals} actions were refused, of {most} allowed"
        ))
    } else if score < least {
        Some(format!("the score is {score}, and has to be {least}"))
    } else {
        None
    }
}

/// What came of a version's cases.
pub(crate) struct Ran {
    pub(crate) skill: SkillRef,
    pub(crate) cases: Vec<(BundleCase, CaseOutcome)>,
    /// Whether a case failed with a temporary error. The other outcomes then decide nothing, and the whole bundle is due
    /// again.
    pub(crate) for_now: bool,
}

/// The outcomes by skill, in order.
pub(crate) fn outcomes(runs: &[PlayedCase]) -> Vec<Ran> {
    let mut outcomes: Vec<Ran> = Vec::new();
    for PlayedCase { case, run } in runs {
        let Some(skill) = case.skill.as_deref().map(Skill::reference) else {
            continue;
        };
        let for_now = run.as_ref().is_err_and(is_for_now);
        let ran = (BundleCase::clone(&case.case), outcome(&case.case, run));
        match outcomes.last_mut() {
            Some(last) if last.skill == skill => {
                last.cases.push(ran);
                last.for_now |= for_now;
            }
            _ => outcomes.push(Ran {
                skill,
                cases: vec![ran],
                for_now,
            }),
        }
    }
    outcomes
}

/// Whether what failed may go well another time.
pub(crate) fn is_for_now(error: &Error) -> bool {
    error.retry() == Retry::Temporary
}

pub(crate) fn cannot(error: &Error) -> String {
    format!("the case could not be played: {error}")
}
