//! An assessor: an attempt whose calls were refused is worth less.

use std::sync::Arc;

use journeyman::{
    Result, async_trait,
    domain::{AssessedSubgoal, Assessment, Subgoal, Trace, Verdict},
    policy::{Ask, AssessProgram, Assessed, Policies, PolicyOptions, View},
};
use serde::{Deserialize, Serialize};

/// Takes an attempt as one subgoal, whose process score is the share of calls that the desk took.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusals;

impl PolicyOptions for Refusals {
    const NAME: &'static str = "refusals";
}

pub(crate) fn register(policies: Policies) -> Policies {
    policies.with_assessor(Refusals::NAME, |options| {
        Ok(Arc::new(crate::options::<Refusals>(options)?))
    })
}

#[async_trait]
impl AssessProgram for Refusals {
    /// No assessment of an attempt without a step.
    async fn assess(&self, _: &mut Ask, _: &View, attempt: &Trace) -> Result<Option<Assessed>> {
        let (task, trajectory) = (&attempt.task, &attempt.trajectory);
        let Some(last) = trajectory.steps.len().checked_sub(1) else {
            return Ok(None);
        };
        let subgoal = Subgoal::new(task.instruction.as_str(), "", 0, last);
        let mut assessment = Assessment::new(trajectory.attempt.clone(), task.id.clone())
            .with_success(attempt.verdict.as_ref().and_then(Verdict::success))
            .with_subgoals(vec![AssessedSubgoal::new(subgoal)]);
        assessment.category = task.category.clone();
        let taken = trajectory.steps.iter().filter(|step| !step.result.is_error);
        let share = taken.count() as f64 / trajectory.steps.len() as f64;
        Ok(Some(Assessed::new(assessment, Some(share))))
    }
}
