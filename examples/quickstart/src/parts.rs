//! The host's parts: one model that acts, scores and writes, and a world from a seed.

use std::{
    env,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

use journeyman::{
    Result, Seed,
    agent::{
        ChatFormat, EnvironmentJudge, ModelExecutor, ModelExecutorOptions, SystemClock,
        role::GeneralRoles,
    },
    contract::{Components, Journal, LanguageModel, PromptFormat, Roles, Scorer, SkillStore},
    recipe::Recipe,
    run::{Journeyman, Options},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use journeyman_tantivy::{Bm25Retriever, Config};
use journeyman_toolworld::environment::Toolworld;

/// Where the bundled model lies, seen from the repository's root.
const BUNDLED: &str = "tests/lab/apprentice/apprentice.gguf";

/// Where the bundled model lies: in the repository that `JOURNEYMAN_ROOT` names, as the scripts do, or else in the working folder.
pub fn default_model() -> PathBuf {
    let root = env::var_os("JOURNEYMAN_ROOT").map(PathBuf::from);
    root.unwrap_or_default().join(BUNDLED)
}

/// A loaded model and the world it acts in.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Acts, scores and writes.
    pub model: Arc<LlamaCpp>,
    /// Who is asked to act and to write, and who is asked to score: the model, or what stands before it.
    asked: Arc<dyn LanguageModel>,
    scorer: Arc<dyn Scorer>,
    in_flight: Option<NonZeroUsize>,
    world: Arc<Toolworld>,
    prompt_format: Arc<dyn PromptFormat>,
    roles: Arc<dyn Roles>,
}

impl Parts {
    /// Loads the model, which is used by its chat template.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt` or `Unsupported` for a file that is no model, or has no chat template; `Invalid` for a step budget of 0.
    pub fn load(model: &Path, steps: usize) -> Result<Self> {
        Self::with(LlamaConfig::new(model), steps)
    }

    /// The same with [`LlamaConfig::deterministic`], for figures and tests: what it writes repeats to the byte.
    ///
    /// # Errors
    /// As [`Parts::load`].
    pub fn deterministic(model: &Path, steps: usize) -> Result<Self> {
        let mut config = LlamaConfig::new(model);
        config.deterministic = true;
        Self::with(config, steps)
    }

    /// The same with another configuration.
    ///
    /// # Errors
    /// As [`Parts::load`].
    pub fn with(config: LlamaConfig, steps: usize) -> Result<Self> {
        let world = Arc::new(Toolworld::new(steps)?);
        let model = LlamaCpp::load(config)?;
        Ok(Self {
            prompt_format: Arc::new(ChatFormat::of(model.capabilities())),
            roles: Arc::new(GeneralRoles::shipped()?),
            world,
            asked: model.clone(),
            scorer: model.clone(),
            in_flight: None,
            model,
        })
    }

    /// The same parts, whose sessions ask `model` in place of the loaded one. For example, it may count requests and pass them on.
    #[must_use]
    pub fn through<M: LanguageModel + Scorer + 'static>(mut self, model: Arc<M>) -> Self {
        self.asked = model.clone();
        self.scorer = model;
        self
    }

    /// The same parts, whose sessions make one call at a time.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.in_flight = Some(NonZeroUsize::MIN);
        self
    }

    /// Who is asked to act and to write.
    pub fn asked(&self) -> Arc<dyn LanguageModel> {
        self.asked.clone()
    }

    /// Who is asked to score.
    pub fn scorer(&self) -> Arc<dyn Scorer> {
        self.scorer.clone()
    }

    /// The options of a session with these parts.
    pub fn options(&self, session: &str, seed: Seed) -> Options {
        let mut options = Options::new(session, seed);
        if let Some(in_flight) = self.in_flight {
            options.in_flight = in_flight;
        }
        options
    }

    /// How the agent's prompts are written.
    pub fn prompt_format(&self) -> Arc<dyn PromptFormat> {
        self.prompt_format.clone()
    }

    /// The roles that the model plays.
    pub fn roles(&self) -> Arc<dyn Roles> {
        self.roles.clone()
    }

    /// The host's parts over a store, with an index of their own.
    ///
    /// # Errors
    /// What the executor and the index give.
    pub fn components(
        &self,
        store: Arc<dyn SkillStore>,
        journal: Option<Arc<dyn Journal>>,
    ) -> Result<Components> {
        let executor = ModelExecutor::new(
            self.asked.clone(),
            self.prompt_format.clone(),
            ModelExecutorOptions::default(),
        )?;
        let mut components = Components::new(
            Arc::new(executor),
            self.world.clone(),
            Arc::new(EnvironmentJudge),
        );
        components.store = Some(store);
        components.journal = journal;
        components.retriever = Some(Arc::new(Bm25Retriever::new(Config::default())?));
        components.scorer = Some(self.scorer.clone());
        components.model = Some(self.asked.clone());
        components.tokenizer = Some(self.model.clone());
        components.prompt_format = Some(self.prompt_format.clone());
        components.roles = Some(self.roles.clone());
        components.clock = Some(Arc::new(SystemClock::new()));
        Ok(components)
    }

    /// A runtime over a store, with an index of its own.
    ///
    /// # Errors
    /// As [`Journeyman::open`].
    pub async fn open(
        &self,
        recipe: Recipe,
        session: &str,
        seed: Seed,
        store: Arc<dyn SkillStore>,
        journal: Option<Arc<dyn Journal>>,
    ) -> Result<Journeyman> {
        let components = self.components(store, journal)?;
        Journeyman::open(components, recipe, self.options(session, seed)).await
    }
}
