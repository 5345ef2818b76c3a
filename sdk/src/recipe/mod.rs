//! Recipes: a policy for each station and a schedule. A recipe is data, so a run's journal can hold it.

mod arise;
mod hisme;
mod schedule;
mod standard;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::{
    arise::arise,
    hisme::hisme,
    schedule::{
        BundlePolicy, EvolvePolicy, FilterPolicy, Gate, Maintenance, RefactorPolicy, RefinePolicy,
        Schedule,
    },
    standard::standard,
};
use crate::{
    credit::CreditPer,
    domain::{State, TierPolicy},
    error::{Error, Result},
    retrieve::RankWeights,
    reward::HierarchicalReward,
    select::Selector,
};

/// Which skills go to selection.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidates {
    /// Every skill of the cache (ARISE).
    Cache,
    /// Those of the cache that the retriever ranks first.
    Search {
        /// How many at most.
        limit: usize,
    },
}

/// How often selection is made.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectPer {
    /// Once a query (ARISE A.2).
    Query,
    /// Once a rollout (Algorithm 1's z_i): exploration then differs within a group.
    Rollout,
    /// Once a turn of the agent (HiSME appendix B): for the first turn from the task, for each later one from what is asked
    /// for then: the current request, what was refused lately, what the agent said last, the tools in force. A turn that
    /// asks for the same has the same skills.
    Turn,
}

/// What counts as a skill's use in the reward.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillUse {
    /// It was injected (ARISE).
    Injected,
    /// The executor reported its use.
    Reported,
}

/// When a skill is written from a group.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteWhen {
    /// Never: the library stays as it is (Table 2's ablation c).
    Never,
    /// Whenever there are traces to write from (ARISE).
    Always,
    /// When the mean verdict score is below this bound, in (0, 1]: where the agent, with what it was given, already does
    /// well, there is nothing to learn. Ours.
    ///
    /// A group of [`WINDOW`](crate::propose::WINDOW) attempts or more is judged by itself. A smaller one, such as a single
    /// attempt in a host's own loop, is judged together with the latest attempts at like tasks; there an attempt with a
    /// refused action counts as 0, and one that was done with a skill and no refusal gives nothing to write.
    Below(f64),
}

/// Who writes skills from single tasks.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    /// One skill from the successful attempts of the group (ARISE D.1).
    #[default]
    Summarize,
    /// Several candidates from the best successful attempt (HiSME 3.2).
    Extract {
        /// How many, at least 1. The paper: 3.
        candidates: u32,
    },
}

/// What happens to a draft whose title the library already has.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// It is added beside the other (ARISE).
    Add,
    /// It is added beside the other, unless a skill that is there says the same.
    Distinct,
    /// The same content is refused; other content becomes a new version. Ours.
    Revise,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// One attempt.
    pub attempt: Duration,
    /// One verdict.
    pub judge: Duration,
    /// One scoring of all candidates.
    pub score: Duration,
    /// One skill's writing, its repair included.
    pub write: Duration,
    /// One commit, and one refresh of the index.
    pub commit: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            attempt: Duration::from_secs(300),
            judge: Duration::from_secs(60),
            score: Duration::from_secs(60),
            write: Duration::from_secs(120),
            commit: Duration::from_secs(60),
        }
    }
}

/// A policy for each station and a schedule.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The recipe's name.
    pub name: String,
    /// Which skills go to selection.
    pub candidates: Candidates,
    /// How what was found is ranked anew, by meaning, tools and trust beside words (HiSME Eq. 20); as the retriever did where
    /// it is not given.
    #[serde(default)]
    pub rank: Option<RankWeights>,
    /// Which of them is injected, if any.
    pub selector: Selector,
    /// How often that is decided.
    pub select_per: SelectPer,
    /// Number of attempts at a task in learning, at least 1. ARISE: 8.
    pub group: u32,
    /// Their sampling temperature; evaluation is greedy.
    pub temperature: f32,
    /// r0 < r1 < r2 (ARISE 3.1).
    pub reward: HierarchicalReward,
    /// Whether the reward is always that of the task alone, r0 or r1 (ARISE Table 2 (a)).
    #[serde(default)]
    pub binary: bool,
    /// How many tokens of a prompt the texts of injected skills may take together, by the host's tokenizer; a skill
    /// that does not fit whole is left out. `None` sets no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_tokens: Option<usize>,
    /// What counts as use.
    pub skill_use: SkillUse,
    /// How rewards become credit.
    pub credit: CreditPer,
    /// When a skill is written.
    pub write: WriteWhen,
    /// By which role.
    #[serde(default)]
    pub writer: Writer,
    /// The state in which what a run writes begins: active, or on trial until its bundle and its attempts speak for it.
    #[serde(default)]
    pub newcomers: State,
    /// Whether a model says what each skill did to each attempt that was given it (HiSME 3.3).
    #[serde(default)]
    pub attribute: bool,
    /// What happens to a draft whose title is taken.
    pub duplicates: Duplicates,
    /// The library's tiers.
    pub tiers: TierPolicy,
    /// When tasks are put together and when the library is looked after.
    #[serde(default)]
    pub schedule: Schedule,
    /// What is done for the library then.
    #[serde(default)]
    pub maintenance: Maintenance,
    /// Number of tasks at the start without selection and with the binary reward (ARISE 3.2).
    pub warm_up: u64,
    /// How long things may take.
    pub limits: Limits,
}

impl Recipe {
    /// Checks every number.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub fn validate(&self) -> Result<()> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("Recipe::validate", rule).with("field", field))
        };
        if self.group == 0 {
            return invalid("group", "a group needs at least one attempt");
        }
        if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            return invalid(
                "temperature",
                "the temperature must be finite and not negative",
            );
        }
        if let WriteWhen::Below(bound) = self.write
            && !(bound > 0.0 && bound <= 1.0)
        {
            return invalid("write", "the bound must be in (0, 1]");
        }
        if self.skill_tokens == Some(0) {
            return invalid(
                "skill_tokens",
                "the budget must be at least 1 token; `Selector::Nothing` injects nothing",
            );
        }
        if let Candidates::Search { limit: 0 } = self.candidates {
            return invalid("candidates", "the limit must be at least 1");
        }
        if let Some(weights) = &self.rank {
            weights.validate()?;
        }
        match &self.selector {
            Selector::Gate(policy) => policy.validate()?,
            Selector::Top { limit: 0 } => {
                return invalid("selector", "the limit must be at least 1");
            }
            _ => {}
        }
        if let Writer::Extract { candidates: 0 } = self.writer {
            return invalid("writer", "there must be at least 1 candidate");
        }
        if !self.newcomers.is_offered() {
            return invalid("newcomers", "newcomers begin active or on trial");
        }
        self.schedule.validate()?;
        if self.maintenance.bundles.is_some() && self.tiers.traces == 0 {
            return invalid(
                "tiers.traces",
                "bundles are cut from attempts that are kept: keep some, or have no bundles",
            );
        }
        self.maintenance.validate()?;
        self.tiers.validate()
    }
}
