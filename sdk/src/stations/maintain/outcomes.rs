//! Outcomes of test cases.

use crate::{
    domain::{BundleCase, CaseOutcome, CaseResult, Skill, SkillRef},
    error::{Error, Result, Retry},
    policy::{CaseRun, PlayedCase},
};

pub(crate) fn outcome(case: &BundleCase, run: &Result<CaseRun>) -> CaseOutcome {
    let result = match run {
        Err(error) => CaseResult::NotPlayed {
            reason: unplayed(error),
        },
        Ok(run) if run.verdict.success().is_none() => CaseResult::NotPlayed {
            reason: NO_VERDICT.to_owned(),
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

/// The reason why a case decides nothing: it could not be played, or the judge gave no verdict. `None` for a decided case.
pub(crate) fn undecided(run: &Result<CaseRun>) -> Option<String> {
    match run {
        Err(error) => Some(unplayed(error)),
        Ok(run) if run.verdict.success().is_none() => Some(NO_VERDICT.to_owned()),
        Ok(_) => None,
    }
}

/// The reason for a case whose run has no verdict. Stored in outcomes.
pub(crate) const NO_VERDICT: &str = "nobody could tell whether the task was done";

/// The reason why a case fails; `None` if it passes.
pub(crate) fn failed(case: &BundleCase, run: &CaseRun) -> Option<String> {
    let (score, least) = (run.verdict.score(), case.least_score);
    if run.verdict.success() != Some(true) {
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

/// The outcomes of a version's cases.
pub(crate) struct VersionOutcomes {
    pub(crate) skill: SkillRef,
    pub(crate) cases: Vec<(BundleCase, CaseOutcome)>,
    /// Whether a case failed with a temporary error. The other outcomes then decide nothing, and the whole bundle is due
    /// again.
    pub(crate) temporary: bool,
}

/// The outcomes by version, in the order of the runs.
pub(crate) fn outcomes(runs: &[PlayedCase]) -> Vec<VersionOutcomes> {
    let mut outcomes: Vec<VersionOutcomes> = Vec::new();
    for PlayedCase { case, run } in runs {
        let Some(skill) = case.skill.as_deref().map(Skill::reference) else {
            continue;
        };
        let temporary = run.as_ref().is_err_and(is_temporary);
        let ran = (BundleCase::clone(&case.case), outcome(&case.case, run));
        match outcomes.last_mut() {
            Some(last) if last.skill == skill => {
                last.cases.push(ran);
                last.temporary |= temporary;
            }
            _ => outcomes.push(VersionOutcomes {
                skill,
                cases: vec![ran],
                temporary,
            }),
        }
    }
    outcomes
}

/// Whether a failed call may succeed another time.
pub(crate) fn is_temporary(error: &Error) -> bool {
    error.retry() == Retry::Temporary
}

/// The reason for a case that could not be played.
pub(crate) fn unplayed(error: &Error) -> String {
    format!("the case could not be played: {error}")
}
