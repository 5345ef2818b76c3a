//! One agent in one world, through the SDK's own executor and the model's own chat template.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use journeyman::agent::role::{GeneralRoles, RoleOptions};
use journeyman::agent::{ChatFormat, ModelExecutor, ModelExecutorOptions};
use journeyman::contract::{
    Attempt, Environment, Executor, FixedGuidance, LanguageModel, PromptFormat, RoleAnswer,
    RoleRequest, RoleTask, Roles, Scorer,
};
use journeyman::domain::{InjectedSkill, Injection, Skill, Task, Trace, Verdict};
use journeyman::{Result, Seed};
use journeyman_toolworld::environment::{Setup, Toolworld};
use journeyman_toolworld::general::manner::Manner;
use journeyman_toolworld::world::World;

use crate::variant::{Reworded, Variant};

/// How many refusals an attempt may meet and still count as recovered.
const RETRIES: f64 = 2.0;
/// The step budget: enough to try each helper of a world whose refusals are opaque.
const STEPS: usize = 14;

/// The parts that every measurement needs.
#[derive(Debug)]
pub struct Arena {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) scorer: Arc<dyn Scorer>,
    pub(crate) prompt_format: ChatFormat,
    executor: ModelExecutor,
    reworded: ModelExecutor,
    pub(crate) roles: GeneralRoles,
    /// Greatest number of tokens of a role's answer, where the role's own is not smaller.
    answer_tokens: usize,
    environment: Toolworld,
}

/// What an attempt came to.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) trace: Trace,
    /// Done with no call refused and none in vain.
    pub(crate) first: bool,
    /// Done within the step budget.
    pub(crate) success: bool,
    /// Done with at most two calls refused.
    pub(crate) recovered: bool,
}

/// What a role answered.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The model's text.
    pub(crate) text: String,
    /// What it says; `None` where it cannot be read.
    pub(crate) answer: Option<RoleAnswer>,
}

impl Arena {
    /// The parts of a model.
    ///
    /// # Errors
    /// What the executor gives.
    pub fn new(model: Arc<dyn LanguageModel>, scorer: Arc<dyn Scorer>) -> Result<Self> {
        let prompt_format = ChatFormat::of(model.capabilities());
        let executor = |prompt_format: Arc<dyn PromptFormat>| {
            ModelExecutor::new(
                model.clone(),
                prompt_format,
                ModelExecutorOptions::default(),
            )
        };
        // What is measured is the answer: another job on the machine is to change none.
        let mut options = RoleOptions::default();
        options.time_limit = Duration::from_secs(600);
        Ok(Self {
            executor: executor(Arc::new(prompt_format.clone()))?,
            reworded: executor(Arc::new(Reworded(prompt_format.clone())))?,
            roles: GeneralRoles::shipped()?.with_options(options),
            answer_tokens: usize::MAX,
            environment: Toolworld::new(STEPS)?,
            scorer,
            prompt_format,
            model,
        })
    }

    /// The same with answers of roles that end after so many tokens, whatever the role allows.
    #[must_use]
    pub fn with_answers_of(mut self, tokens: usize) -> Self {
        self.answer_tokens = tokens;
        self
    }

    /// One greedy attempt with these skills in the prompt.
    pub(crate) fn attempt(
        &self,
        world: &World,
        manner: &Manner,
        skills: &[Skill],
        variant: Variant,
        seed: u64,
    ) -> Result<Tried> {
        let mut world = world.clone();
        world.query = variant.task(&world.query);
        let mut task = Task::new("evaluation", world.query.as_str());
        task.payload = Setup::new(world).with_manner(manner.clone()).to_json()?;
        let injected = skills
            .iter()
            .map(|skill| InjectedSkill::new(skill, self.prompt_format.skill_text(skill)));
        let injection = Injection::new(injected.collect());
        let guidance = FixedGuidance::new(injection.clone());
        let mut attempt = Attempt::new("evaluation", &task, Seed(seed), &injection, &guidance);
        attempt.time_limit = Duration::from_secs(120);
        let executor = match variant {
            Variant::System => &self.reworded,
            _ => &self.executor,
        };
        let mut trajectory = block_on(async {
            let mut episode = self.environment.reset(&task, Seed(seed)).await?;
            let trajectory = executor.execute(attempt, episode.as_mut()).await?;
            episode.close().await?;
            Ok::<_, journeyman::Error>(trajectory)
        })?;
        let outcome = trajectory.outcome.clone();
        let part = |name: &str| outcome.as_ref()?.parts.get(name).copied();
        let success = outcome.as_ref().is_some_and(|outcome| outcome.success);
        let first = part("first_attempt") == Some(1.0);
        let recovered = success && part("refusals").is_some_and(|refusals| refusals <= RETRIES);
        trajectory.injection = injection;
        Ok(Tried {
            trace: Trace::new(task, trajectory, Some(Verdict::binary(success)), Seed(seed)),
            first,
            success,
            recovered,
        })
    }

    /// The first answer of a role, without a repair.
    pub(crate) fn ask(&self, task: &RoleTask, seed: u64) -> Result<Answered> {
        let request = RoleRequest::new(task, Seed(seed));
        let mut asked = self.roles.prompt(&request)?;
        asked.max_tokens = asked.max_tokens.min(self.answer_tokens);
        // As a run does: a build that holds no model to a schema reads what is written.
        if !self.model.capabilities().json_schema {
            asked.json_schema = None;
        }
        let generation = block_on(self.model.generate(&asked))?;
        let answer = self.roles.read(&request, &generation.text).ok();
        Ok(Answered {
            text: generation.text,
            answer,
        })
    }
}
