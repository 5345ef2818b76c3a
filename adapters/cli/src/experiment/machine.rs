//! The host of the command's experiments: a world for each cell, a llama.cpp model, and a BM25 index for each session.

use std::{
    collections::BTreeMap,
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Result,
    agent::{ChatFormat, ModelExecutor, ModelExecutorOptions, SystemClock, role::GeneralRoles},
    contract::{Components, LanguageModel, PromptFormat, Roles, Scorer},
};
use journeyman_experiment::{Arm, Conditions, Host, Plan, Tasks};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};

use super::{
    form::EXPERIMENT,
    models::{JobModel, used},
    world::Settings,
};
use crate::{
    jobs::Job,
    model::load::{adapter_name, with_adapter},
    output::warn,
    stemming::retriever,
    world::World,
};

/// A world's settings and a model's file.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) model: PathBuf,
    /// The models of single jobs, by the arm's name.
    pub(super) models: BTreeMap<String, Vec<JobModel>>,
    /// Cells that run at once; as many as the cores can compute if not given.
    pub(super) jobs: Option<NonZero<usize>>,
    pub(super) settings: Settings,
    /// The folder of llama.cpp's backends.
    pub(super) backends: Option<PathBuf>,
}

/// The loaded models, and the world of the cell that runs.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    model: Arc<LlamaCpp>,
    /// Those of single jobs, by their files.
    others: BTreeMap<PathBuf, Arc<LlamaCpp>>,
    world: Option<Arc<World>>,
    prompt_format: Arc<dyn PromptFormat>,
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
            world: None,
            prompt_format: Arc::new(ChatFormat::of(model.capabilities())),
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
        config.deterministic = conditions.deterministic;
        config.threads = Some(conditions.threads);
        config.gpu_layers = self.settings.gpu_layers.unwrap_or_default();
        config.backends.clone_from(&self.backends);
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
    type World = Settings;
    type Engine = Engine;

    fn world(&self) -> &Settings {
        &self.settings
    }

    /// One engine that all jobs share, which batches their requests. A deterministic engine answers one request at a
    /// time, so each job has an engine of its own then.
    fn engines(&self, plan: &Plan, cells: usize) -> Result<Vec<Engine>> {
        // The cheapest first: a wrong program is told before a model is loaded.
        let at_once = self.settings.world.check(plan)?;
        let conditions = &plan.conditions;
        let jobs = match at_once {
            true => self.jobs(conditions.threads, cells),
            false => 1,
        };
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

    fn begin(&self, engine: &mut Engine) -> Result<()> {
        engine.world = Some(Arc::new(self.settings.world.open()?));
        Ok(())
    }

    fn end(&self, engine: &mut Engine) {
        if let Some(world) = engine.world.take() {
            block_on(world.close());
        }
    }

    fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
        self.settings.world.tasks(plan, seed)
    }

    fn components(&self, engine: &Engine, arm: &Arm) -> Result<Components> {
        let Some(world) = &engine.world else {
            let message = "a session began outside a cell";
            return Err(Error::new(ErrorKind::Internal, EXPERIMENT, message)
                .hint("this is a fault of the command: please report it"));
        };
        let agent = |model| {
            let mut options = ModelExecutorOptions::default();
            if let Some(steps) = self.settings.world.agent_steps() {
                options.max_steps = steps;
            }
            ModelExecutor::new(model, engine.prompt_format.clone(), options).map(Arc::new)
        };
        let mut components = Components::new(
            agent(engine.model.clone())?,
            world.environment.clone(),
            world.judge.clone(),
        );
        components.retriever = Some(Arc::new(retriever(self.settings.stems)?));
        components.scorer = Some(engine.model.clone());
        components.model = Some(engine.model.clone());
        components.tokenizer = Some(engine.model.clone());
        components.prompt_format = Some(engine.prompt_format.clone());
        components.roles = Some(engine.roles.clone());
        components.clock = Some(Arc::new(SystemClock::new()));
        for job in self.models.get(&arm.name).into_iter().flatten() {
            let (language, scorer) = engine.model_of(job)?;
            match &job.job {
                Job::Agent => components.executor = Some(agent(language)?),
                Job::Gate => components.scorer = Some(scorer),
                Job::Roles(roles) => {
                    components = components.with_model_for(roles.iter().copied(), language);
                }
            }
        }
        Ok(components)
    }
}
