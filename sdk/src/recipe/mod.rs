//! Recipes: a policy for each station and a schedule, as data that a run's journal holds. Stations with several policies name
//! theirs ([`Policy`]), ours like a host's own. [`standard`] is the default,
//! [`arise`], [`hisme`], [`scribe`], [`skillos`] and [`skillrl`] have the papers' numbers, [`hisme_robust`] is HiSME with options
//! of our own. [`Grouping`] puts tasks into the groups that SkillOS runs in sequence.

mod arise;
mod gate;
mod grouping;
mod hisme;
pub(crate) mod programs;
mod resolved;
mod schedule;
mod scribe;
mod skillos;
mod skillrl;
mod standard;

use std::{
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    time::Duration,
};

use serde::{Deserialize, Serialize};

pub use self::{
    arise::arise,
    grouping::Grouping,
    hisme::{hisme, hisme_robust},
    schedule::Schedule,
    scribe::scribe,
    skillos::skillos,
    skillrl::skillrl,
    standard::standard,
};
pub use crate::policy::named::ScheduledProgram;
pub(crate) use crate::recipe::resolved::with_ours;
use crate::{
    contract::Components,
    domain::TierPolicy,
    error::{Error, Result},
    policy::{Context, Policy},
    stations::{
        admit::AdmitPolicy,
        assess::AssessPolicy,
        credit::CreditPolicy,
        maintain::{Maintenance, MaintenanceContext},
        propose::WritePolicy,
        reward::RewardPolicy,
        select::SelectPolicy,
    },
};

/// Time limits of calls to the host's parts, and the length of the scored text. A session gives attempts, scoring and writing more time
/// than this where the model's measured speed asks for it ([`ModelSpeed`](crate::contract::ModelSpeed)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// One attempt.
    pub attempt: Duration,
    /// One verdict.
    pub judge: Duration,
    /// One scoring of all candidates, one retrieval, and one embedding.
    pub score: Duration,
    /// One skill's writing, its repair included.
    pub write: Duration,
    /// One commit, and one refresh of the index.
    pub commit: Duration,
    /// The fit of the gate's threshold to a model, before its first decision ([`GatePolicy::most_wrong`](crate::stations::select::GatePolicy::most_wrong)).
    /// A model that would need longer by its measured speed is not fitted, and nothing is injected.
    #[serde(default = "longest_fit")]
    pub fit: Duration,
    /// Greatest number of tokens of a skill's text that are scored; the rest is cut off. ARISE C.4: 128.
    pub scored_tokens: NonZeroUsize,
}

/// ARISE C.4.
const SCORED_TOKENS: NonZeroUsize = NonZeroUsize::new(128).expect("128 is not 0");

const fn longest_fit() -> Duration {
    Duration::from_secs(300)
}

/// Tokens of a long answer of a role.
const ANSWER_TOKENS: usize = 2_048;
/// Tokens that a decision of the gate reads: ten candidates of 128 tokens behind a long task and without it, and room for more.
const DECISION_TOKENS: usize = 8_192;
/// Generations of an attempt for which a slow model has time.
const GENERATIONS: u32 = 8;

impl Limits {
    /// The same limits, and more time for attempts where the agent's model was measured to need it, for scoring where the scorer was,
    /// and for writing where one of the roles' models was: a default that suits a fast model ends every call of a slow one. An agent that does not say its model is
    /// taken to be that of the roles.
    pub(crate) fn for_models(mut self, components: &Components, in_flight: NonZeroUsize) -> Self {
        // An answer and its repair.
        let half = self.write / 2;
        for model in components.models() {
            let answer = model.capabilities().time_limit(half, ANSWER_TOKENS);
            self.write = self.write.max(answer.saturating_mul(2));
        }
        if let Some(speed) = components.scorer.as_ref().and_then(|scorer| scorer.speed()) {
            // Decisions that are made at once share the machine.
            let tokens = DECISION_TOKENS.saturating_mul(in_flight.get());
            self.score = self.score.max(speed.limit(tokens, 0));
        }
        let agent = components.executor.as_ref();
        let agent = agent.and_then(|agent| agent.capabilities());
        let of_roles = components.model.as_ref().map(|model| model.capabilities());
        if let Some(capabilities) = agent.or(of_roles) {
            let generation = capabilities.time_limit(self.attempt / GENERATIONS, ANSWER_TOKENS / 4);
            self.attempt = self.attempt.max(generation.saturating_mul(GENERATIONS));
        }
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            attempt: Duration::from_secs(300),
            judge: Duration::from_secs(60),
            score: Duration::from_secs(60),
            write: Duration::from_secs(120),
            commit: Duration::from_secs(60),
            fit: longest_fit(),
            scored_tokens: SCORED_TOKENS,
        }
    }
}

/// The number of attempts at a task, and how they are made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptPolicy {
    /// Number of attempts at a task in learning. ARISE: 8. Evaluation makes one.
    pub group: NonZeroU32,
    /// Sampling temperature in learning, finite and not negative; evaluation is greedy.
    pub temperature: f32,
    /// Number of steps at the start without selection and with the binary reward (ARISE 3.2). A step is
    /// [`Schedule::batch`] tasks. ARISE: 500.
    pub warm_up: u64,
}

impl AttemptPolicy {
    /// # Errors
    /// `Invalid`, naming the field.
    fn validate(&self) -> Result<()> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("Recipe::validate", rule).with("field", field))
        };
        if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            return invalid(
                "attempts.temperature",
                "the temperature must be finite and not negative",
            );
        }
        Ok(())
    }
}

/// A policy for each station, in the order in which a task passes them, and a schedule.
///
/// A host begins with one of this module's recipes and changes its fields.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{recipe, recipe::Recipe, stations::select::Nothing};
///
/// let mut recipe = recipe::standard();
/// recipe.name = "standard, two attempts, no skills".to_owned();
/// recipe.attempts.group = NonZeroU32::new(2).expect("not 0");
/// recipe.select.selector = Nothing.into();
/// recipe.validate()?;
///
/// let json = serde_json::to_string(&recipe)?;
/// assert_eq!(serde_json::from_str::<Recipe>(&json)?, recipe);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The recipe's name.
    pub name: String,
    /// How skills are found for a query and chosen.
    pub select: SelectPolicy,
    /// The number of attempts at a task, and how they are made.
    pub attempts: AttemptPolicy,
    /// How attempts are rewarded.
    pub reward: RewardPolicy,
    /// How attempts are assessed beside their verdict, with the feature `clustering`; `None` for verdicts alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assess: Option<AssessPolicy>,
    /// How attempts become credit for skills.
    pub credit: CreditPolicy,
    /// How skills are written from single tasks.
    pub write: WritePolicy,
    /// How drafts enter the library.
    pub admit: AdmitPolicy,
    /// The library's tiers.
    pub tiers: TierPolicy,
    /// When tasks run in batches, and when maintenance runs.
    #[serde(default)]
    pub schedule: Schedule,
    /// The parts of maintenance.
    #[serde(default)]
    pub maintenance: Maintenance,
    /// Maintenance programs of the host's own; they run in this order, after `maintenance`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ScheduledProgram>,
    /// Time limits of the host's parts, and the length of the scored text.
    pub limits: Limits,
}

impl Recipe {
    /// Adds a maintenance program of the host's own, which runs after each `every` tasks and after the programs so far.
    #[must_use]
    pub fn with_program(mut self, every: NonZeroU64, program: Policy) -> Self {
        self.programs.push(ScheduledProgram {
            every,
            first: None,
            program,
        });
        self
    }

    /// The input of maintenance.
    pub(crate) fn maintenance_context<'a>(
        &'a self,
        context: Context<'a>,
    ) -> MaintenanceContext<'a> {
        MaintenanceContext {
            context,
            policy: &self.maintenance,
            admit: &self.admit,
            skill_use: self.reward.skill_use,
        }
    }

    /// Checks the ranges of all policies, and that they go together. [`resolve`](Self::resolve) checks what only the named
    /// policies know.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub fn validate(&self) -> Result<()> {
        self.select.validate()?;
        self.attempts.validate()?;
        self.reward.validate()?;
        self.credit.validate()?;
        self.write.validate()?;
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("Recipe::validate", rule).with("field", field))
        };
        self.admit.identity.validate()?;
        for (field, state) in [
            ("admit.initial_state", self.admit.initial_state),
            ("admit.fallback_state", self.admit.fallback_state),
        ] {
            if !state.is_offered() {
                return invalid(field, "a skill begins active or on trial");
            }
        }
        if self.maintenance.bundles.is_some() && self.tiers.traces == 0 {
            return invalid(
                "tiers.traces",
                "bundles are cut from attempts that are kept: keep some, or have no bundles",
            );
        }
        if let Some(assess) = &self.assess {
            assess.validate()?;
            if self.tiers.traces == 0 {
                return invalid(
                    "tiers.traces",
                    "prototypes are distilled from attempts that are kept: keep some, or have no assessment",
                );
            }
        }
        self.maintenance.validate()?;
        if let Some(bank) = &self.maintenance.bank {
            let attempts = u64::from(self.attempts.group.get()).saturating_mul(bank.round.get());
            if (self.tiers.traces as u64) < attempts {
                return invalid(
                    "tiers.traces",
                    "a bank is distilled from attempts that are kept: keep those of a whole round, `maintenance.bank.round` times `attempts.group`",
                );
            }
        }
        self.tiers.validate()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        agent::{ChatFormat, ModelExecutor, ModelExecutorOptions},
        contract::ModelSpeed,
        domain::Role,
        testing::ScriptedModel,
    };

    /// A model that writes a token in so many milliseconds.
    fn model(milliseconds: u64) -> Arc<ScriptedModel> {
        Arc::new(ScriptedModel::always("").with_speed(ModelSpeed {
            read_token: Duration::ZERO,
            write_token: Duration::from_millis(milliseconds),
        }))
    }

    #[test]
    fn each_limit_follows_from_the_speed_of_the_model_that_it_bounds() {
        let agent = |milliseconds| {
            let prompt_format = Arc::new(ChatFormat::default());
            let options = ModelExecutorOptions::default();
            let agent = ModelExecutor::new(model(milliseconds), prompt_format, options).unwrap();
            Components::own_loop().with_executor(Arc::new(agent))
        };
        let limits = |components: &Components| {
            let limits = Limits::default().for_models(components, NonZeroUsize::MIN);
            (limits.attempt, limits.write)
        };
        let (attempt, write) = (Limits::default().attempt, Limits::default().write);
        assert_eq!(limits(&Components::own_loop()), (attempt, write));
        let fast = agent(1).with_model(model(1));
        assert_eq!(limits(&fast), (attempt, write));
        // 8 generations of 512 tokens, and an answer of 2,048 with its repair, each four times over.
        let slow_attempt = Duration::from_millis(8 * 4 * 512 * 500);
        let slow_write = Duration::from_millis(2 * 4 * 2_048 * 500);
        let slow_agent = agent(500).with_model(model(1));
        assert_eq!(limits(&slow_agent), (slow_attempt, write));
        let slow_roles = agent(1).with_model(model(500));
        assert_eq!(limits(&slow_roles), (attempt, slow_write));
        let slow_judge = agent(1).with_model(model(1));
        let slow_judge = slow_judge.with_model_for(Role::JUDGE, model(500));
        assert_eq!(limits(&slow_judge), (attempt, slow_write));
        // An agent of the host's own loop is taken to be the model of the roles.
        let own = Components::own_loop().with_model(model(500));
        assert_eq!(limits(&own), (slow_attempt, slow_write));
    }
}
