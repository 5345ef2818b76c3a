//! The options of selection from a bank of general and category skills (SkillRL 3.2, Eq. 4).

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::{
    domain::gate_policy::GatePolicy,
    error::{Error, Result},
    policy::PolicyOptions,
};

/// How skills are chosen from a bank: general skills ([`Scope::General`](crate::domain::Scope)) always, and of the skills of the
/// task's category those that are similar enough to the task, at most [`limit`](Self::limit) (SkillRL Eq. 4; row R3). A task of a
/// category that the bank does not know gets the general skills alone.
///
/// The similarity is the cosine of the embeddings of the query and of the skill's view
/// ([`view_text`](crate::retrieve::view_text)), in [-1, 1]. Without an embedder, or where it fails, it is the retriever's score
/// divided by the greatest score among the category's skills, in [0, 1]: the best skill that the retriever finds then always has
/// similarity 1, so the threshold only compares skills with each other. A skill that the retriever does not find is left out.
/// Without a retriever too, nothing is compared, and each skill of the category has similarity 1.
///
/// It is the selector `bank`. General skills stand first in the prompt, by id; then the category's, the most similar first. A token budget
/// ([`SelectPolicy::skill_tokens`](super::SelectPolicy::skill_tokens)) therefore leaves out the least similar first.
///
/// ```
/// use journeyman::{
///     recipe,
///     select::{BankGate, BankSelector, GatePolicy},
/// };
///
/// let mut recipe = recipe::skillrl();
/// let absolute = GatePolicy { epsilon: 0.0, ..GatePolicy::default() };
/// let bank = BankSelector {
///     threshold: 0.3,
///     gate: Some(BankGate { policy: absolute, exempt_general: true }),
///     ..BankSelector::default()
/// };
/// recipe.select.selector = bank.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BankSelector {
    /// Greatest number of skills of the category (K). The paper: 6.
    pub limit: NonZeroUsize,
    /// The similarity that a skill of the category has to exceed (the delta of Eq. 4), in [-1, 1]. The paper publishes no value.
    /// Here 0: with an embedder, a skill that has nothing in common with the task stays out. A host fits it to its embedder.
    pub threshold: f64,
    /// The skills that a task without a category chooses from.
    pub without_category: WithoutCategory,
    /// A gate that the chosen skills have to pass. The paper: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<BankGate>,
}

/// The skills that a task without a category chooses from, beside the general ones.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithoutCategory {
    /// None: Eq. 4 chooses from the skills of the task's category, and there is none.
    #[default]
    GeneralAlone,
    /// Those of all categories. Ours, for hosts that do not group their tasks.
    AllCategories,
}

/// A gate behind a bank's choice. Ours: the paper has none.
///
/// Each skill is tested by itself: it stays if its probability among the tested skills reaches [`GatePolicy::relative`] and its
/// score exceeds [`GatePolicy::absolute`]. In the absolute test 'nothing' competes with each skill, so it is the one to use for
/// more than one skill. The gate needs a scorer and a prompt format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankGate {
    /// The tests. [`GatePolicy::epsilon`] is 0: a bank's choice has no exploration.
    pub policy: GatePolicy,
    /// Whether general skills need not pass: the paper always includes them. Without a value they have to.
    #[serde(default)]
    pub exempt_general: bool,
}

impl Default for BankSelector {
    /// Six skills of the category, no gate.
    fn default() -> Self {
        Self {
            limit: const { NonZeroUsize::new(6).expect("not 0") },
            threshold: 0.0,
            without_category: WithoutCategory::default(),
            gate: None,
        }
    }
}

impl PolicyOptions for BankSelector {
    const NAME: &'static str = "bank";

    fn validate(&self) -> Result<()> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("BankSelector::validate", rule).with("field", field))
        };
        if !(-1.0..=1.0).contains(&self.threshold) {
            return invalid("threshold", "the threshold must be in [-1, 1]");
        }
        let Some(gate) = &self.gate else {
            return Ok(());
        };
        if gate.policy.epsilon != 0.0 {
            return invalid(
                "gate.policy.epsilon",
                "a gate behind a bank does not explore: set epsilon to 0",
            );
        }
        gate.policy.in_range()
    }
}
