//! A judge that reads the environment's own outcome.

use async_trait::async_trait;

use crate::{
    contract::{Judge, JudgeRequest},
    domain::{EndReason, Outcome, Verdict},
    error::{Error, Result},
};

/// A [`Judge`] that reads the environment's outcome of the last transition.
///
/// An attempt without an outcome did not reach its end. Its verdict is a failure where the agent was the cause: the agent
/// gave up, used all of its steps or its time, or wrote an unreadable action. The verdict's success is `None` where a part
/// failed, where the model's context was too short, or where the episode ended without an outcome, since none of these says
/// anything about a skill.
///
/// ```
/// use journeyman::{
///     agent::EnvironmentJudge,
///     contract::{Judge, JudgeRequest},
///     domain::EndReason,
///     testing::sample,
/// };
///
/// # futures::executor::block_on(async {
/// let task = sample::task("t", &["one"]);
/// let mut trajectory = sample::trajectory("a", &task, &["one"], true);
/// let request = JudgeRequest::new(&task, &trajectory);
/// assert_eq!(EnvironmentJudge.judge(&request).await?.success(), Some(true));
///
/// (trajectory.outcome, trajectory.end) = (None, EndReason::StepBudget);
/// let request = JudgeRequest::new(&task, &trajectory);
/// assert_eq!(EnvironmentJudge.judge(&request).await?.success(), Some(false));
/// # Ok::<(), journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EnvironmentJudge;

#[async_trait]
impl Judge for EnvironmentJudge {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        let trajectory = request.trajectory;
        match &trajectory.outcome {
            Some(outcome) => read(outcome),
            None => Ok(without_outcome(&trajectory.end)),
        }
    }
}

fn read(outcome: &Outcome) -> Result<Verdict> {
    let verdict = Verdict::of(outcome).map_err(|_| {
        Error::invalid(
            "Judge::judge",
            "the environment's outcome has a score outside [0, 1] or a part that is not finite",
        )
        .hint("give a score in [0, 1] and finite parts in the last transition")
    })?;
    Ok(verdict.with_evidence("the environment's outcome"))
}

fn without_outcome(end: &EndReason) -> Verdict {
    let (success, evidence) = match end {
        EndReason::GaveUp => (Some(false), "the agent gave up before the end"),
        EndReason::StepBudget => (Some(false), "the steps were used up before the end"),
        EndReason::Deadline => (Some(false), "the time was used up before the end"),
        EndReason::Unreadable => (
            Some(false),
            "the agent wrote what cannot be read as an action",
        ),
        EndReason::ContextLength { .. } => (None, "the context was too short for the attempt"),
        EndReason::Failed(_) => (None, "a part failed in mid-attempt"),
        EndReason::Finished => (None, "the environment gave no outcome"),
    };
    let verdict = match success {
        Some(success) => Verdict::binary(success),
        None => Verdict::undecided(),
    };
    verdict.with_evidence(evidence)
}
