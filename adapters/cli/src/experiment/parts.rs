//! The parts of a run in toolworld: the bundled model's dialect, its roles, and an index of its own.

use std::sync::Arc;

use journeyman::{
    Result, Seed,
    builtin::{EnvironmentJudge, MemoryStore, ModelExecutor, ModelExecutorOptions, SystemClock},
    contract::Backends,
    recipe::Recipe,
    run::{Journeyman, Options},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};
use journeyman_tantivy::{Bm25Retriever, Config};
use journeyman_toolworld::{
    dialect::{ApprenticeDialect, Mode, TOKENS},
    environment::Toolworld,
    writer::ApprenticeRoles,
};

use super::plan::Plan;

/// An engine and the world that it acts in.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    model: Arc<LlamaCpp>,
    world: Arc<Toolworld>,
    dialect: Arc<ApprenticeDialect>,
}

impl Parts {
    pub(super) fn load(plan: &Plan) -> Result<Self> {
        let mut config = LlamaConfig::new(&plan.model);
        config.deterministic = plan.deterministic;
        config.threads = plan.threads;
        // The dialect writes the markers of a turn itself.
        config.template = Template::None;
        let model = LlamaCpp::load(config)?;
        model.require_tokens(&TOKENS).map_err(|error| {
            error.hint(
                "an experiment's world speaks the bundled model's dialect; use examples/apprentice/apprentice.gguf or one that was trained like it",
            )
        })?;
        Ok(Self {
            model,
            world: Arc::new(Toolworld::new(plan.world.steps)?),
            dialect: Arc::new(ApprenticeDialect::new(Mode::Row)),
        })
    }

    /// A runtime over a store.
    pub(super) async fn open(
        &self,
        recipe: Recipe,
        session: &str,
        seed: Seed,
        store: Arc<MemoryStore>,
    ) -> Result<Journeyman> {
        let executor = ModelExecutor::new(
            self.model.clone(),
            self.dialect.clone(),
            ModelExecutorOptions::default(),
        )?;
        let mut backends = Backends::new(
            Arc::new(executor),
            self.world.clone(),
            Arc::new(EnvironmentJudge),
        );
        backends.store = Some(store);
        backends.retriever = Some(Arc::new(Bm25Retriever::new(Config::default())?));
        backends.scorer = Some(self.model.clone());
        backends.model = Some(self.model.clone());
        backends.tokenizer = Some(self.model.clone());
        backends.dialect = Some(self.dialect.clone());
        backends.roles = Some(Arc::new(ApprenticeRoles));
        backends.clock = Some(Arc::new(SystemClock::new()));
        Journeyman::open(backends, recipe, Options::new(session, seed)).await
    }
}
