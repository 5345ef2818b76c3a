//! A credit rule: credit for the attempts that followed the skill.

use std::sync::Arc;

use journeyman::{
    Result,
    policy::{CreditRule, GroupAttempt, Policies, PolicyOptions, SkillCredit},
};
use serde::{Deserialize, Serialize};

/// Credits a skill with the reward of each attempt that followed it. An attempt that had it in the prompt and did something else
/// says nothing about it. At most one skill is in a prompt here, so an attempt that followed a skill followed that one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Followers;

impl PolicyOptions for Followers {
    const NAME: &'static str = "followers";
}

pub(crate) fn register(policies: Policies) -> Policies {
    policies.with_credit(Followers::NAME, |options| {
        Ok(Arc::new(crate::options::<Followers>(options)?))
    })
}

impl CreditRule for Followers {
    fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
        let mut credits = Vec::new();
        for GroupAttempt { report, .. } in group {
            let Some(reward) = report.reward.filter(|_| report.used.is_followed()) else {
                continue;
            };
            let injected = report.injected.iter().cloned();
            credits.extend(
                injected.map(|skill| SkillCredit::new(skill, report.attempt.clone(), reward)),
            );
        }
        Ok(credits)
    }
}
