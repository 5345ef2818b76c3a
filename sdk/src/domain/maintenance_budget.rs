//! The budget of maintenance, in tokens and attempts.

use serde::{Deserialize, Serialize};

use super::Usage;

/// The greatest cost of one round of maintenance, that is, of all its parts that run after the same task. The default is
/// unlimited.
///
/// Deciding from evidence that is there (a release, a filter, a rollback) costs nothing and always happens. What costs runs in
/// the order of the parts: test cases are made and played, skills are refined, attempts are refactored, roles learn rules, the
/// bank and the prototypes are distilled. What comes last is left out first. It stays due, so that a later round does it.
///
/// `attempts` are never exceeded: a bundle of test cases is played as a whole or not at all, and no skill is refined or
/// refactored whose trial would not fit. `tokens` are counted as they are used, so that the last call may exceed them; calls are
/// made one after the other then. The host's own programs are told what is left
/// ([`View::budget_left`](crate::policy::View::budget_left)), and keep to it by themselves.
///
/// ```
/// use journeyman::{domain::MaintenanceBudget, recipe};
///
/// let mut recipe = recipe::hisme();
/// let mut budget = MaintenanceBudget::default();
/// budget.tokens = Some(20_000);
/// budget.attempts = Some(24);
/// recipe.maintenance.budget = budget;
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceBudget {
    /// Greatest number of tokens that roles and test cases use, prompts included; `None` for no limit.
    pub tokens: Option<u64>,
    /// Greatest number of attempts at test cases; `None` for no limit. A bundle has at most 12 cases: with less than that, a skill
    /// with a larger bundle is never tested.
    pub attempts: Option<u64>,
}

impl MaintenanceBudget {
    /// Whether nothing more may be asked of a model.
    pub(crate) fn is_spent(&self) -> bool {
        self.tokens == Some(0)
    }

    /// Whether so many attempts may still be made.
    pub(crate) fn allows(&self, attempts: u64) -> bool {
        self.attempts.is_none_or(|left| attempts <= left)
    }

    pub(crate) fn pay(&mut self, tokens: Usage, attempts: u64) {
        let used = tokens.prompt_tokens + tokens.output_tokens;
        self.tokens = self.tokens.map(|left| left.saturating_sub(used));
        self.attempts = self.attempts.map(|left| left.saturating_sub(attempts));
    }
}
