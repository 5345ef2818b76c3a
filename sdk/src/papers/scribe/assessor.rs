//! The assessor `subgoals`: an attempt's assessment, and the process score that follows from it (SCRIBE 3.2, A.2).

use std::num::NonZeroU64;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    domain::{Role, Trace},
    error::{Error, Result},
    papers::scribe::{
        AssessBy, AssessPolicy, Calibration, RouteBy, assessing::assess, prototypes::PROTOTYPES,
    },
    policy::{
        Ask, AssessProgram, Assessed, Policy, View,
        named::{ScheduledProgram, checked_options},
    },
};

/// Reads the options of the assessor, which its upkeep has too.
///
/// # Errors
/// `Unsupported` without the feature `clustering`; `Invalid` for options of another policy, and for a value out of range.
pub(crate) fn supported_options(options: &Value) -> Result<AssessPolicy> {
    options_of(options, cfg!(feature = "clustering"))
}

/// The options in a build that clusters subgoals, or in one that cannot.
fn options_of(options: &Value, clusters: bool) -> Result<AssessPolicy> {
    if clusters {
        return checked_options(options);
    }
    let message = "the recipe assesses attempts, and this build cannot cluster what is assessed";
    Err(Error::unsupported("Recipe::resolve", message).hint(
        "switch on the feature `clustering` of `journeyman`, or take a recipe without `assess`",
    ))
}

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
    use crate::{error::ErrorKind, policy::PolicyOptions};

    #[test]
    fn a_build_that_cannot_cluster_refuses_what_assesses_by_steps_too() {
        let by_steps = AssessPolicy {
            by: AssessBy::Steps,
            ..AssessPolicy::default()
        };
        for assess in [AssessPolicy::default(), by_steps] {
            let named = Policy::from(assess.clone());
            assert!(named.is::<AssessPolicy>() && AssessPolicy::NAME == "subgoals");
            assert_eq!(options_of(&named.options, true).unwrap(), assess);
            let refused = options_of(&named.options, false).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Unsupported);
        }
    }

    #[test]
    fn the_prototypes_are_refreshed_after_steps_of_a_batch_and_once_before() {
        let batch = NonZeroU64::new(8).unwrap();
        let upkeep = AssessPolicy::default().upkeep(batch).unwrap();
        assert_eq!(
            (upkeep.every.map(NonZeroU64::get), upkeep.first),
            (Some(8_000), NonZeroU64::new(20))
        );
        let options = options_of(&upkeep.program.options, true).unwrap();
        assert_eq!(options, AssessPolicy::default());
    }
}
