//! A world of tools with hidden contracts: the tasks that are learned from and those that are held out, and sessions in it.

use std::{collections::BTreeSet, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed, TaskId,
    agent::{FrozenStore, MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{Journal, Roles, SkillStore},
    domain::Task,
    recipe::Recipe,
    run::{Journeyman, report::RunReport},
};
use journeyman_toolworld::stream::StreamTask;
use quickstart::{Parts, Summaries, spoken};
use serde::{Deserialize, Serialize};

use super::{meter::Meter, rule_agent::RuleAgent};
use crate::{figures::attempted, recipes::noisy::universe_of};

/// Tasks that are attempted with the frozen library: two of each tool.
const HELD_OUT: usize = 12;
/// Tools with a hidden contract; two more have none.
const HIDDEN: usize = 4;
/// The same in worlds with many skills to tell apart.
pub(super) const MANY_HIDDEN: usize = 16;
const MANY_HELD_OUT: usize = 40;
/// The longest stream.
const STREAM: usize = 600;

/// A world's tasks. Each has its tool's verb as its category, which its instruction names; no task has tags.
pub(super) struct World {
    pub(super) seed: Seed,
    pub(super) stream: Vec<Task>,
    pub(super) held_out: Vec<Task>,
    /// The tasks of the stream that a service demands something for this once only.
    pub(super) passing: BTreeSet<TaskId>,
}

impl World {
    /// World `number` of the figures' seed: the same for all arms.
    pub(super) fn new(seed: Seed, number: u64) -> Result<Self> {
        Self::sized((HIDDEN, HELD_OUT), seed, number)
    }

    /// The same with so many tools with a hidden contract, and more held-out tasks.
    pub(super) fn of(hidden: usize, seed: Seed, number: u64) -> Result<Self> {
        Self::sized((hidden, MANY_HELD_OUT), seed, number)
    }

    fn sized((hidden, held_out): (usize, usize), seed: Seed, number: u64) -> Result<Self> {
        let seed = seed.derive("world", number);
        let universe = universe_of(hidden, seed, number)?;
        let stream = universe.stream(STREAM);
        let held_out = universe.held_out(&stream, held_out);
        let passing = stream.iter().filter(|one| one.passing);
        let tasks = |all: &[StreamTask]| -> Result<Vec<Task>> {
            all.iter().map(|one| task(seed, one)).collect()
        };
        Ok(Self {
            seed,
            passing: passing.map(|one| one.id.as_str().into()).collect(),
            stream: tasks(&stream)?,
            held_out: tasks(&held_out)?,
        })
    }
}

fn task(seed: Seed, one: &StreamTask) -> Result<Task> {
    let mut task = spoken::task(one.task()?, seed)?;
    task.tags.clear();
    Ok(task.with_category(one.world.goal.target.verb.clone()))
}

/// Who acts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Agent {
    /// The model.
    Learner,
    /// An agent without a model.
    Rule,
}

/// A host in a world: the model that is metered, and who acts.
#[derive(Clone)]
pub(super) struct Host<'a> {
    pub(super) parts: &'a Parts,
    pub(super) meter: Arc<Meter>,
    pub(super) agent: Agent,
    /// How the model acts.
    pub(super) acting: ModelExecutorOptions,
    pub(super) roles: Arc<dyn Roles>,
    pub(super) seed: Seed,
}

impl<'a> Host<'a> {
    pub(super) fn new(parts: &'a Parts, seed: Seed) -> Self {
        Self {
            parts,
            meter: Arc::new(Meter::new(parts)),
            agent: Agent::Learner,
            acting: ModelExecutorOptions::default(),
            roles: parts.roles(),
            seed,
        }
    }

    /// A session over a store.
    pub(super) fn open(
        &self,
        recipe: Recipe,
        store: Arc<dyn SkillStore>,
        journal: Option<Arc<dyn Journal>>,
    ) -> Result<Journeyman> {
        let mut components = self.parts.components(store, journal)?;
        match self.agent {
            Agent::Rule => components.executor = Some(Arc::new(RuleAgent)),
            Agent::Learner => {
                let (model, prompt_format) = (self.meter.clone(), self.parts.prompt_format());
                let agent = ModelExecutor::new(model, prompt_format, self.acting.clone())?;
                components.executor = Some(Arc::new(agent));
            }
        }
        components.model = Some(self.meter.clone());
        components.scorer = Some(self.meter.clone());
        components.roles = Some(self.roles.clone());
        let options = self.parts.options("papers", self.seed);
        block_on(Journeyman::open(components, recipe, options))
    }

    /// The held-out tasks with a library that stays as it is.
    pub(super) fn evaluate(
        &self,
        recipe: Recipe,
        store: &MemoryStore,
        tasks: &[Task],
    ) -> Result<Held> {
        Held::of(&self.report(recipe, store, tasks)?)
    }

    /// The report of the same.
    pub(super) fn report(
        &self,
        recipe: Recipe,
        store: &MemoryStore,
        tasks: &[Task],
    ) -> Result<RunReport> {
        let frozen = FrozenStore::new(block_on(store.load())?);
        let session = self.open(recipe, Arc::new(frozen), None)?;
        block_on(session.evaluate(tasks.to_vec()))
    }
}

/// What came of held-out tasks.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Held {
    /// The share of tasks done with no call refused and none in vain.
    pub(super) first: f64,
    /// The share of tasks done.
    pub(super) success: f64,
    /// The agent's steps and tokens a task.
    pub(super) steps: f64,
    pub(super) tokens: f64,
}

impl Held {
    fn of(report: &RunReport) -> Result<Self> {
        let all = Summaries::of(attempted(report)?).all;
        Ok(Self {
            first: all.first_attempt_success,
            success: all.success,
            steps: all.steps,
            tokens: all.tokens,
        })
    }
}
