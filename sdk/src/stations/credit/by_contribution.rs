//! Credit by what a skill brought: attempts are made again without it (Shapley 1953; row J3).

use std::{collections::BTreeMap, num::NonZeroU32};

use serde::{Deserialize, Serialize};

use crate::{
    domain::SkillRef,
    error::{Error, Result},
    policy::{CreditRule, GroupAttempt, PolicyOptions, SkillCredit},
};

/// Gives each skill of a group one credit: what it brought to the score of the task, from -1 to 1. The credit rule `contribution`.
///
/// The task is attempted again with the skills that were injected and without some of them, greedily and by one seed. One skill
/// brings the difference of both scores. Of several each brings its Shapley value: the mean, over orders in which they might have been
/// added, of the difference that it made when its turn came. With up to three skills all orders are looked at, with more as many as
/// `orders` says, drawn by the step's seed. So a skill that was retrieved beside a good one and does nothing earns 0.
///
/// The whole set is attempted twice: where the two scores differ, the world is not as deterministic as it says, and no skill is
/// credited for the task; noise in the smaller sets alone is not found out. Where nothing can be attempted again, a skill is credited with its lift in the ledger, as far as it is known
/// ([`SelectPolicy::withhold`](crate::stations::select::SelectPolicy::withhold)).
///
/// It costs one attempt more than there are sets of skills to look at: with one skill three attempts, with two five.
///
/// ```
/// use journeyman::{recipe, stations::credit::ByContribution};
///
/// let mut recipe = recipe::standard();
/// recipe.credit.by = ByContribution::default().into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ByContribution {
    /// Number of orders that are drawn where more than three skills were injected together.
    pub orders: NonZeroU32,
}

impl Default for ByContribution {
    /// Eight orders.
    fn default() -> Self {
        Self {
            orders: NonZeroU32::new(8).unwrap_or(NonZeroU32::MIN),
        }
    }
}

impl PolicyOptions for ByContribution {
    const NAME: &'static str = "contribution";
}

impl CreditRule for ByContribution {
    fn orders(&self) -> Option<NonZeroU32> {
        Some(self.orders)
    }

    /// # Errors
    /// `Invalid` if a contribution is not finite.
    fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
        let Some(first) = group.first() else {
            return Ok(Vec::new());
        };
        let mut totals: BTreeMap<&SkillRef, (f64, u64)> = BTreeMap::new();
        for member in group {
            for (skill, brought) in &member.contributed {
                if !brought.is_finite() {
                    let message = "the contribution is not a finite number";
                    return Err(Error::invalid("CreditRule::credits", message)
                        .with("attempt", &member.report.attempt));
                }
                if member.credited.contains(skill) {
                    let (mean, count) = totals.entry(skill).or_default();
                    *count += 1;
                    *mean += (brought - *mean) / *count as f64;
                }
            }
        }
        let credit = |(skill, (reward, uses)): (&SkillRef, (f64, u64))| SkillCredit {
            skill: skill.clone(),
            attempt: first.report.attempt.clone(),
            reward,
            uses,
        };
        Ok(totals.into_iter().map(credit).collect())
    }
}
