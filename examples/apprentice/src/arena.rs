//! One agent in one world, through the SDK's own executor.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use journeyman::builtin::{ModelExecutor, ModelExecutorOptions};
use journeyman::contract::{
    Attempt, Dialect, Environment, Executor, FixedGuidance, LanguageModel, RoleAnswer, RoleRequest,
    RoleTask, Roles, ScoreRequest, Scorer,
};
use journeyman::domain::{InjectedSkill, Injection, Skill, SkillRef, Task, ToolCall, Trace};
use journeyman::{AttemptId, Result, Seed, SkillId, Version};
use journeyman_toolworld::dialect::{ApprenticeDialect, Mode};
use journeyman_toolworld::environment::{Setup, Toolworld};
use journeyman_toolworld::roles::Role;
use journeyman_toolworld::skill_form::read_body;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::World;
use journeyman_toolworld::writer::{ApprenticeRoles, role_request};

/// How many refusals an attempt may meet and still count as recovered.
const RETRIES: f64 = 2.0;

/// The parts that every measurement needs.
#[derive(Debug)]
pub struct Arena {
    pub(crate) model: Arc<dyn LanguageModel>,
    scorer: Arc<dyn Scorer>,
    executor: ModelExecutor,
    dialect: ApprenticeDialect,
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

impl Tried {
    /// For each skill of the prompt, whether the agent said that it follows it.
    pub(crate) fn used(&self) -> Vec<bool> {
        let exposures = self.trace.trajectory.exposures.iter();
        exposures
            .map(|exposure| exposure.used.is_followed())
            .collect()
    }
}

/// How well a query calls for a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Score {
    pub(crate) sum: f64,
    pub(crate) mean: f64,
    pub(crate) pmi: f64,
}

impl Arena {
    /// The parts of a model in one of the three modes.
    ///
    /// # Errors
    /// What the executor gives.
    pub fn new(model: Arc<dyn LanguageModel>, scorer: Arc<dyn Scorer>, mode: Mode) -> Result<Self> {
        let dialect = ApprenticeDialect::new(mode);
        let executor = ModelExecutor::new(
            model.clone(),
            Arc::new(dialect),
            ModelExecutorOptions {
                record: true,
                ..ModelExecutorOptions::default()
            },
        )?;
        Ok(Self {
            model,
            scorer,
            executor,
            dialect,
            environment: Toolworld::default(),
        })
    }

    /// One greedy attempt with these skills in the prompt.
    pub(crate) fn attempt(&self, world: &World, skills: &[&SkillText], seed: u64) -> Result<Tried> {
        let mut task = Task::new("evaluation", world.query.as_str());
        task.payload = Setup::new(world.clone()).to_json()?;
        let injected = skills
            .iter()
            .enumerate()
            .map(|(number, skill)| InjectedSkill {
                skill: SkillRef {
                    id: SkillId::new(format!("skill-{number}")),
                    version: Version(1),
                },
                text: format!(" {skill}"),
                sha256: String::new(),
            });
        let injection = Injection {
            skills: injected.collect(),
        };
        let guidance = FixedGuidance::new(injection.clone());
        let attempt = Attempt {
            id: AttemptId::new("evaluation"),
            task: &task,
            seed: Seed(seed),
            temperature: 0.0,
            injection: &injection,
            guidance: &guidance,
            time_limit: Duration::from_secs(60),
            prefix: &[],
        };
        let mut trajectory = block_on(async {
            let mut episode = self.environment.reset(&task, Seed(seed)).await?;
            let trajectory = self.executor.execute(attempt, episode.as_mut()).await?;
            episode.close().await?;
            Ok::<_, journeyman::Error>(trajectory)
        })?;
        let part = |name: &str| {
            trajectory
                .outcome
                .as_ref()
                .and_then(|outcome| outcome.parts.get(name).copied())
        };
        let success = trajectory
            .outcome
            .as_ref()
            .is_some_and(|outcome| outcome.success);
        let first = part("first_attempt") == Some(1.0);
        let recovered = success && part("refusals").is_some_and(|refusals| refusals <= RETRIES);
        trajectory.injection = injection;
        let trace = Trace {
            task,
            trajectory,
            verdict: None,
            world_seed: Seed(seed),
        };
        Ok(Tried {
            trace,
            first,
            success,
            recovered,
        })
    }

    /// The skill that the model writes from an attempt; none when it cannot be read.
    pub(crate) fn write(&self, tried: &Tried) -> Result<Option<SkillText>> {
        let task = RoleTask::Extract {
            attempt: Box::new(tried.trace.clone()),
            candidate: 0,
            rules: Vec::new(),
        };
        let request = RoleRequest::new(&task, Seed(0));
        let generation = block_on(self.model.generate(&ApprenticeRoles.prompt(&request)?))?;
        Ok(match ApprenticeRoles.read(&request, &generation.text) {
            Ok(RoleAnswer::Draft(draft)) => read_body(&draft.body),
            _ => None,
        })
    }

    /// The first skill of an attempt's prompt as the model repairs it; none when it cannot be read.
    pub(crate) fn repair(&self, tried: &Tried) -> Result<Option<SkillText>> {
        let request = role_request(Role::Repair, Some(0), &tried.trace, &[]);
        let generation = block_on(self.model.generate(&request))?;
        Ok(SkillText::parse(&generation.text))
    }

    /// The calls of the curator after an attempt, with these retrieved skills; none when its answer cannot be read.
    pub(crate) fn curate(&self, tried: &Tried, retrieved: Vec<Skill>) -> Result<Vec<ToolCall>> {
        let task = RoleTask::Curate {
            attempt: Box::new(tried.trace.clone()),
            correct: Some(tried.success),
            skills: retrieved,
        };
        let request = RoleRequest::new(&task, Seed(0));
        let generation = block_on(self.model.generate(&ApprenticeRoles.prompt(&request)?))?;
        Ok(match ApprenticeRoles.read(&request, &generation.text) {
            Ok(RoleAnswer::Calls(calls)) => calls,
            _ => Vec::new(),
        })
    }

    /// What the model says that the skill at this place of an attempt's prompt did to it.
    pub(crate) fn credit(&self, tried: &Tried, asked: usize) -> Result<String> {
        let request = role_request(Role::Credit, Some(asked), &tried.trace, &[]);
        let generation = block_on(self.model.generate(&request))?;
        Ok(generation.text.trim().to_owned())
    }

    /// The log-probabilities of skills behind a query.
    pub(crate) fn score(&self, query: &str, skills: &[SkillText]) -> Result<Vec<Score>> {
        let request = |query: &str| ScoreRequest {
            prompt: self.dialect.score_prompt(query),
            continuations: skills.iter().map(|skill| format!(" {skill}")).collect(),
            max_continuation_tokens: 128,
            time_limit: Duration::from_secs(60),
            adapter: None,
            repeatable: false,
        };
        let with = block_on(self.scorer.score(&request(query)))?;
        let without = block_on(self.scorer.score(&request("")))?;
        let both = with.iter().zip(&without);
        Ok(both
            .map(|(with, without)| Score {
                sum: with.sum(),
                mean: with.mean(),
                pmi: with.sum() - without.sum(),
            })
            .collect())
    }
}
