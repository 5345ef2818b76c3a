//! The options of the bank.

use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use crate::{
    domain::Trace,
    error::{Error, Result},
    policy::PolicyOptions,
};

/// What counts as a failed attempt.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// One that the verdict calls failed (SkillRL 3.1).
    #[default]
    Verdict,
    /// Also one in which the environment refused an action, even if the task was done in the end. Ours, for agents that recover:
    /// their attempts rarely fail, and what was refused is refused again the next time. Each of the first three refusals with
    /// different texts gives a lesson: the role is shown the attempt up to that refusal, as one that failed there.
    Refusal,
}

impl Failure {
    /// Whether a judged attempt failed; `None` for an attempt without a verdict.
    pub(crate) fn has_failed(self, attempt: &Trace) -> Option<bool> {
        let success = attempt.verdict.as_ref()?.success()?;
        let mut steps = attempt.trajectory.steps.iter();
        let refused = self == Self::Refusal && steps.any(|step| step.result.is_error);
        Some(!success || refused)
    }
}

/// How a bank of general and category skills is distilled and grown (SkillRL 3.1 to 3.3, 4.1). The maintenance program `bank`.
///
/// ```
/// use journeyman::{policy::Policies, recipe, papers::skillrl::{BankPolicy, Failure}};
///
/// let mut recipe = recipe::skillrl();
/// recipe.maintenance.edit(|bank: &mut BankPolicy| bank.failure = Failure::Refusal);
/// recipe.resolve(&Policies::new())?;
/// // The ablation without evolution: no category is below a rate of 0.
/// recipe.maintenance.edit(|bank: &mut BankPolicy| bank.success = 0.0);
/// recipe.resolve(&Policies::new())?;
/// // The bank is made of kept attempts: a round of 80 tasks with 8 attempts each needs 640.
/// recipe.tiers.traces = 600;
/// assert!(recipe.resolve(&Policies::new()).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BankPolicy {
    /// Number of tasks of a validation round: the round is the attempts at the latest so many tasks. Tasks of one id count as one.
    /// The bank is looked after when so many tasks were learned from, unless the recipe schedules it otherwise
    /// ([`ScheduledProgram::every`](crate::recipe::ScheduledProgram::every)). The paper does not say how often it validates.
    pub round: NonZeroU64,
    /// Whether the first bank is distilled from all kept attempts after a round, while the library has no skill at all. A
    /// library whose skills are all disabled has a bank, and is not given another one.
    pub first: bool,
    /// The success rate, in [0, 1], below which a category's failures are distilled. The paper: 0.4. 0 switches the evolution off.
    pub success: f64,
    /// Greatest number of failed attempts that are distilled after a round, drawn over the weak categories. The paper does not
    /// publish its number.
    pub failures: NonZeroU32,
    /// What counts as a failed attempt, for success rates and lessons.
    pub failure: Failure,
    /// Greatest number of attempts whose patterns and lessons are in one request to `distil-bank`. More of them make several
    /// requests, and each shows the skills that the requests before it gave.
    pub shown: NonZeroU32,
    /// The similarity of wording ([`Wording`](crate::stations::admit::Wording)), in (0, 1], from which a new skill is a duplicate of one
    /// that the bank has.
    pub near: f64,
}

impl Default for BankPolicy {
    /// The paper's threshold; rounds of 80 tasks, at most 16 failures, 20 attempts a request, duplicates from 0.9.
    fn default() -> Self {
        Self {
            round: const { NonZeroU64::new(80).expect("not 0") },
            first: true,
            success: 0.4,
            failures: const { NonZeroU32::new(16).expect("not 0") },
            failure: Failure::default(),
            shown: const { NonZeroU32::new(20).expect("not 0") },
            near: 0.9,
        }
    }
}

impl PolicyOptions for BankPolicy {
    const NAME: &'static str = "bank";

    fn validate(&self) -> Result<()> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("BankPolicy::validate", rule).with("field", field))
        };
        if !(0.0..=1.0).contains(&self.success) {
            return invalid("success", "a success rate is in [0, 1]");
        }
        if !(self.near > 0.0 && self.near <= 1.0) {
            return invalid("near", "the similarity must be in (0, 1]");
        }
        Ok(())
    }
}
