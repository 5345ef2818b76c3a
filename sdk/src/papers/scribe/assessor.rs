//! The assessor `subgoals`: an attempt's assessment, and the process score that follows from it (SCRIBE 3.2, A.2).

use std::num::NonZeroU64;

use crate::{
    domain::{Role, Trace},
    error::Result,
    papers::scribe::{
        AssessBy, AssessPolicy, Calibration, RouteBy, assessing::assess, prototypes::PROTOTYPES,
    },
    policy::{Ask, AssessProgram, Assessed, Policy, View, named::ScheduledProgram},
};
use async_trait::async_trait;

#[async_trait]
impl AssessProgram for AssessPolicy {
    async fn assess(
        &self,
        ask: &mut Ask,
        view: &View,
        attempt: &Trace,
    ) -> Result<Option<Assessed>> {
        let library = view.library();
        let Some(assessment) = assess(ask, library, self, attempt).await else {
            return Ok(None);
        };
        // Anew for each attempt of a group: the library is the same, and a policy keeps nothing between calls.
        let table = Calibration::of(library, self.calibrate);
        let process = table.process(&assessment.subgoals, self.weights);
        Ok(Some(Assessed::new(assessment, process)))
    }

    fn roles(&self) -> Vec<Role> {
        let mut roles = Vec::new();
        if let AssessBy::Subgoals(_) = self.by {
            roles.push(Role::Segment);
            roles.extend((self.route == RouteBy::Role).then_some(Role::Route));
        }
        roles.push(Role::Score);
        roles
    }

    /// By steps too: whatever is assessed is clustered.
    fn needs_embeddings(&self) -> bool {
        true
    }

    /// The refresh of the prototypes.
    fn upkeep(&self, batch: NonZeroU64) -> Option<ScheduledProgram> {
        Some(ScheduledProgram {
            every: Some(self.refresh.saturating_mul(batch)),
            first: Some(self.first),
            program: Policy::new(PROTOTYPES).with_options(self),
        })
    }

    /// Prototypes are distilled from attempts that are kept.
    fn kept_attempts(&self) -> u64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::named::checked_options;

    #[test]
    fn the_prototypes_are_refreshed_after_steps_of_a_batch_and_once_before() {
        let batch = NonZeroU64::new(8).unwrap();
        let upkeep = AssessPolicy::default().upkeep(batch).unwrap();
        assert_eq!(
            (upkeep.every.map(NonZeroU64::get), upkeep.first),
            (Some(8_000), NonZeroU64::new(20))
        );
        let options: AssessPolicy = checked_options(&upkeep.program.options).unwrap();
        assert_eq!(options, AssessPolicy::default());
    }
}
