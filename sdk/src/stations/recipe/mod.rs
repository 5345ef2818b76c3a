//! The recipe: a policy for each station, and the maintenance programs, as data that a run's journal holds. It names policies and knows
//! none of a paper: [`recipe`](crate::recipe), which builds them, stands above the papers.

mod maintenance;
mod standard;

use std::{
    collections::BTreeSet,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    time::Duration,
};

use serde::{Deserialize, Serialize};

pub use self::{maintenance::Maintenance, standard::standard};
pub use crate::policy::named::ScheduledProgram;
use crate::{
    contract::Components,
    domain::TierPolicy,
    error::{Error, Result},
    policy::Policy,
    stations::{
        admit::AdmitPolicy, credit::CreditPolicy, propose::WritePolicy, reward::RewardPolicy,
        select::SelectPolicy,
    },
};

/// Time limits of calls to the host's parts, and the length of the scored text. A session gives attempts, scoring and writing more time
/// than this where the model's measured speed asks for it ([`ModelSpeed`](crate::contract::ModelSpeed)).
///
/// ```
/// use std::time::Duration;
/// use journeyman::recipe;
///
/// let mut recipe = recipe::standard();
/// recipe.limits.attempt = Duration::from_secs(900);
/// assert_eq!(recipe.limits.scored_tokens.get(), 128);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// The number of attempts at a task, and how they are made. Each recipe has one, which a host changes.
///
/// ```
/// use std::num::NonZeroU32;
/// use journeyman::recipe;
///
/// let mut recipe = recipe::standard();
/// recipe.attempts.group = NonZeroU32::new(8).expect("not 0");
/// recipe.attempts.temperature = -1.0;
/// assert!(recipe.validate().is_err());
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptPolicy {
    /// Number of attempts at a task in learning. ARISE: 8. Evaluation makes one.
    pub group: NonZeroU32,
    /// Sampling temperature in learning, finite and not negative; evaluation is greedy.
    pub temperature: f32,
    /// Number of steps at the start without selection and with the binary reward (ARISE 3.2). A step is
    /// [`Recipe::batch`] tasks. ARISE: 500.
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

/// A policy for each station, in the order in which a task passes them, and the maintenance between tasks.
///
/// A host begins with one of the recipes of [`recipe`](crate::recipe) and changes its fields.
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
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The recipe's name.
    pub name: String,
    /// How skills are found for a query and chosen.
    pub select: SelectPolicy,
    /// The number of attempts at a task, and how they are made.
    pub attempts: AttemptPolicy,
    /// How attempts are rewarded.
    pub reward: RewardPolicy,
    /// How attempts are assessed beside their verdict: ours (`papers::scribe::AssessPolicy`, with the feature `scribe`), or a host's own by the
    /// name under which it is registered ([`AssessProgram`](crate::policy::AssessProgram)); `None` for verdicts alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assess: Option<Policy>,
    /// How attempts become credit for skills.
    pub credit: CreditPolicy,
    /// How skills are written from single tasks.
    pub write: WritePolicy,
    /// How drafts enter the library.
    pub admit: AdmitPolicy,
    /// The library's tiers.
    pub tiers: TierPolicy,
    /// Number of tasks that run at once in learning: they select from the library as it was before the first of them, and
    /// their results are committed in order. HiSME runs all tasks between two meta updates so (4.1): 5. In ARISE a batch is
    /// a step (A.1, A.2): 64. In a host's own loop
    /// ([`Journeyman::begin`](crate::run::Journeyman::begin)) the host decides how many tasks run at once; `batch` then only
    /// sets how many tasks count as one step.
    #[serde(default = "one_by_one")]
    pub batch: NonZeroU64,
    /// The maintenance between tasks: its programs, trials in quarantine, and what a round may cost.
    #[serde(default)]
    pub maintenance: Maintenance,
    /// Time limits of the host's parts, and the length of the scored text.
    pub limits: Limits,
}

const fn one_by_one() -> NonZeroU64 {
    NonZeroU64::MIN
}

impl Recipe {
    /// Adds a maintenance program, ours or a host's own, which runs after each `every` tasks and after the programs so far.
    #[must_use]
    pub fn with_program(mut self, every: NonZeroU64, program: impl Into<Policy>) -> Self {
        let scheduled = ScheduledProgram::new(every, program);
        self.maintenance.programs.push(scheduled);
        self
    }

    pub(crate) fn warm_up_tasks(&self) -> u64 {
        self.attempts.warm_up.saturating_mul(self.batch.get())
    }

    /// Checks the ranges of the stations' own policies, and that they go together. [`resolve`](Self::resolve) checks those of the
    /// papers, of maintenance and of a host.
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
        if let Some(assess) = &self.assess {
            assess.usable()?;
        }
        let mut names = BTreeSet::new();
        let programs = self.maintenance.programs.iter();
        let mut programs = programs.map(|one| one.program.name.as_str());
        if let Some(twice) = programs.find(|name| !names.insert(*name)) {
            let message = "two maintenance programs have the same name: keep one of them";
            return Err(Error::invalid("Recipe::validate", message)
                .with("field", "maintenance.programs")
                .with("program", twice));
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
