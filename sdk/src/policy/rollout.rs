//! One attempt of a group, with its report, trajectory and verdict.

use crate::{
    domain::{Trajectory, Verdict},
    report::AttemptReport,
};

/// One attempt of a group. `trajectory` is none where the attempt could not be made or was ended by a part's fault;
/// `verdict` is none where it was not judged.
#[derive(Debug)]
pub(crate) struct Rollout<'a> {
    pub(crate) report: AttemptReport,
    pub(crate) trajectory: Option<&'a Trajectory>,
    pub(crate) verdict: Option<&'a Verdict>,
}

impl Rollout<'_> {
    /// Number of actions that the environment refused.
    pub(crate) fn refused(&self) -> u32 {
        let steps = self
            .trajectory
            .iter()
            .flat_map(|trajectory| &trajectory.steps);
        let refused = steps.filter(|step| step.result.is_error).count();
        u32::try_from(refused).unwrap_or(u32::MAX)
    }
}
