//! An attempt of a group, with what it came to.

use crate::{
    domain::{Trajectory, Verdict},
    report::AttemptReport,
};

/// One attempt with what it came to.
#[derive(Debug)]
pub(crate) struct Rollout<'a> {
    pub(crate) report: AttemptReport,
    pub(crate) trajectory: Option<&'a Trajectory>,
    pub(crate) verdict: Option<&'a Verdict>,
}

impl Rollout<'_> {
    /// How many actions the environment refused.
    pub(crate) fn refused(&self) -> u32 {
        let steps = self
            .trajectory
            .iter()
            .flat_map(|trajectory| &trajectory.steps);
        let refused = steps.filter(|step| step.result.is_error).count();
        u32::try_from(refused).unwrap_or(u32::MAX)
    }
}
