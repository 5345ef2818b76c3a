//! The host of the command's experiments: toolworld, a llama.cpp model, and a BM25 index for each session.

use std::{
    collections::BTreeMap,
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use journeyman::{
    Result,
    builtin::{ChatDialect, EnvironmentJudge, ModelExecutor, ModelExecutorOptions, SystemClock},
    contract::{Backends, Dialect, LanguageModel, Roles, Scorer},
    domain::Task,
    role::GeneralRoles,
};
use journeyman_experiment::{Arm, Conditions, Host, Plan, Tasks};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use journeyman_tantivy::{Bm25Retriever, Config};
use journeyman_toolworld::{
    environment::{Setup, Toolworld},
    general::manner::Manner,
    seed::Draws,
    stream::{StreamTask, Universe, UniverseSpec},
};
use serde::Serialize;

use super::models::{JobModel, used};
use crate::{
    jobs::Job,
    model::load::{adapter_name, with_adapter},
    output::warn,
};

/// Toolworld and a model's file.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) model: PathBuf,
    /// The models of single jobs, by the arm's name.
    pub(super) models: BTreeMap<String, Vec<JobModel>>,
    /// Cells that run at once; as many as the cores can compute if not given.
    pub(super) jobs: Option<NonZero<usize>>,
    pub(super) world: WorldSettings,
}

/// The settings of toolworld. The order of the fields is part of each cell's key.
#[derive(Debug, Serialize)]
pub(super) struct WorldSettings {
    /// Calls that an attempt may make.
    pub(super) steps: usize,
    pub(super) universe: UniverseSpec,
}

impl WorldSettings {
    /// The world in words, for the report.
    pub(super) fn description(&self) -> String {
        format!(
            "toolworld with {} hidden contracts and {} plain tools, at most {} steps an attempt",
            self.universe.hidden, self.universe.plain, self.steps
        )
    }
}

/// The loaded models, and the world that they act in.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    model: Arc<LlamaCpp>,
    /// Those of single jobs, by their files.
    others: BTreeMap<PathBuf, Arc<LlamaCpp>>,
    world: Arc<Toolworld>,
    dialect: Arc<dyn Dialect>,
    roles: Arc<dyn Roles>,
}

impl Machine {
    fn load(&self, conditions: &Conditions) -> Result<Engine> {
        let mut used = used(self.models.values().flatten())?;
        let adapters = used.remove(&None).unwrap_or_default();
        let model = self.load_model(conditions, &self.model, adapters)?;
        let others = used.into_iter().filter_map(|(file, adapters)| {
            let file = file?;
            let loaded = self.load_model(conditions, &file, adapters);
            Some(loaded.map(|model| (file, model)))
        });
        Ok(Engine {
            others: others.collect::<Result<_>>()?,
            world: Arc::new(Toolworld::new(self.world.steps)?),
            dialect: Arc::new(ChatDialect::of(model.capabilities())),
            roles: Arc::new(GeneralRoles::shipped()?),
            model,
        })
    }

    fn load_model(
        &self,
        conditions: &Conditions,
        file: &Path,
        adapters: BTreeMap<String, PathBuf>,
    ) -> Result<Arc<LlamaCpp>> {
        let mut config = LlamaConfig::new(file);
        config.adapters = adapters;
        if conditions.deterministic {
            config = config.exact();
        }
        config.threads = Some(conditions.threads);
        LlamaCpp::load(config)
    }

    /// Cells that run at once, from 1 to `cells`.
    fn jobs(&self, threads: u32, cells: usize) -> usize {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let by_cores = cores / threads.max(1) as usize;
        let jobs = self.jobs.map_or(by_cores, NonZero::get);
        jobs.clamp(1, cells.max(1))
    }
}

impl Engine {
    /// The model of a job, with its adapter.
    fn model_of(&self, job: &JobModel) -> Result<(Arc<dyn LanguageModel>, Arc<dyn Scorer>)> {
        let other = job.gguf.as_ref().and_then(|file| self.others.get(file));
        let adapter = job.adapter.as_deref().map(adapter_name).transpose()?;
        Ok(with_adapter(other.unwrap_or(&self.model).clone(), adapter))
    }
}

impl Host for Machine {
    type World = WorldSettings;
    type Engine = Engine;

    fn world(&self) -> &WorldSettings {
        &self.world
    }

    /// One engine that all jobs share, which batches their requests. A deterministic engine answers one request at a
    /// time, so each job has an engine of its own then.
    fn engines(&self, plan: &Plan, cells: usize) -> Result<Vec<Engine>> {
        let conditions = &plan.conditions;
        let jobs = self.jobs(conditions.threads, cells);
        let first = self.load(conditions)?;
        if !conditions.deterministic {
            return Ok(vec![first; jobs]);
        }
        let mut engines = vec![first];
        while engines.len() < jobs {
            match self.load(conditions) {
                Ok(engine) => engines.push(engine),
                Err(error) => {
                    // The first engine loaded, so the machine is short of memory.
                    let error = error.with("cells_at_once", engines.len());
                    warn(&error.hint("fewer cells run at once; --jobs sets how many"));
                    break;
                }
            }
        }
        Ok(engines)
    }

    fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
        let universe = Universe::make(self.world.universe.clone(), seed)?;
        let stream = universe.stream(plan.stream);
        let held_out = universe.held_out(&stream, plan.held_out);
        // All services of a seed define their tools and word their answers in one manner, as one provider's would.
        let manner = Manner::named(&mut Draws::new("manner of the experiment", &[seed]));
        let task = |one: &StreamTask| -> Result<Task> {
            let mut task = one.task()?;
            task.payload = Setup::of(&task)?.with_manner(manner.clone()).to_json()?;
            Ok(task)
        };
        let tasks = |tasks: &[StreamTask]| tasks.iter().map(task).collect::<Result<Vec<Task>>>();
        Ok(Tasks {
            stream: tasks(&stream)?,
            held_out: tasks(&held_out)?,
        })
    }

    fn backends(&self, engine: &Engine, arm: &Arm) -> Result<Backends> {
        let agent = |model| {
            let options = ModelExecutorOptions::default();
            ModelExecutor::new(model, engine.dialect.clone(), options).map(Arc::new)
        };
        let mut backends = Backends::new(
            agent(engine.model.clone())?,
            engine.world.clone(),
            Arc::new(EnvironmentJudge),
        );
        backends.retriever = Some(Arc::new(Bm25Retriever::new(Config::default())?));
        backends.scorer = Some(engine.model.clone());
        backends.model = Some(engine.model.clone());
        backends.tokenizer = Some(engine.model.clone());
        backends.dialect = Some(engine.dialect.clone());
        backends.roles = Some(engine.roles.clone());
        backends.clock = Some(Arc::new(SystemClock::new()));
        for job in self.models.get(&arm.name).into_iter().flatten() {
            let (language, scorer) = engine.model_of(job)?;
            match &job.job {
                Job::Agent => backends.executor = Some(agent(language)?),
                Job::Gate => backends.scorer = Some(scorer),
                Job::Roles(roles) => {
                    backends = backends.with_model_for(roles.iter().copied(), language);
                }
            }
        }
        Ok(backends)
    }
}
