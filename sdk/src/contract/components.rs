//! The record of a host's parts.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Clock, Embedder, Environment, Executor, Journal, Judge, LanguageModel, PromptFormat, Retriever,
    Roles, Scorer, SkillStore, Tokenizer,
};
use crate::{domain::Role, id::ModelId};

/// A host's parts. The runtime works without a part that is `None`;
/// [`Journeyman::findings`](crate::run::Journeyman::findings) lists what does not happen then.
///
/// A host that hands over tasks begins with [`Components::new`]. A host that keeps its own agent loop begins with
/// [`Components::own_loop`], and one whose only model is to take every place with `Components::of_model` (feature `language-model`). Further parts are set as fields or by the `with_` methods.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{agent::{MemoryJournal, SystemClock}, contract::Components};
///
/// let components = Components::own_loop()
///     .with_journal(Arc::new(MemoryJournal::new()))
///     .with_clock(Arc::new(SystemClock::new()));
/// assert!(components.executor.is_none() && components.journal.is_some());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Components {
    /// The agent. Without one the runtime makes no attempt itself: the host keeps its own loop.
    pub executor: Option<Arc<dyn Executor>>,
    /// The agent's world. Without one no attempt is replayed, so test bundles cannot run.
    pub environment: Option<Arc<dyn Environment>>,
    /// Judges attempts. Without one the verdict is the outcome that the host finishes an attempt with.
    pub judge: Option<Arc<dyn Judge>>,
    /// Keeps the library. Without one the library is in memory and ends with the process.
    pub store: Option<Arc<dyn SkillStore>>,
    /// Keeps a run's events. Without one a run cannot be resumed or replayed.
    pub journal: Option<Arc<dyn Journal>>,
    /// Finds candidates. Without one every skill of the cache is a candidate.
    pub retriever: Option<Arc<dyn Retriever>>,
    /// Computes log-probabilities for the gate. Without one the gate injects nothing.
    pub scorer: Option<Arc<dyn Scorer>>,
    /// Prompt format of the executor's model. The gate scores skills in this format, and injects nothing without it.
    pub prompt_format: Option<Arc<dyn PromptFormat>>,
    /// The model behind the roles, which write, repair and judge skills.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// The models of roles that another model than [`model`](Self::model) plays.
    pub role_models: BTreeMap<Role, Arc<dyn LanguageModel>>,
    /// A prompt and a parser for each role.
    pub roles: Option<Arc<dyn Roles>>,
    /// Counts tokens, where a recipe limits the tokens of injected skills.
    pub tokenizer: Option<Arc<dyn Tokenizer>>,
    /// Embeds texts for the overlap graph and for ranking.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Time for the limits of calls. Without one calls have no limit.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Components {
    /// An agent, its world and the judgement of results: the runtime makes the attempts.
    pub fn new(
        executor: Arc<dyn Executor>,
        environment: Arc<dyn Environment>,
        judge: Arc<dyn Judge>,
    ) -> Self {
        Self {
            executor: Some(executor),
            environment: Some(environment),
            judge: Some(judge),
            ..Self::default()
        }
    }

    /// No agent, no world and no judge: the host keeps its own agent loop and finishes each attempt with its outcome
    /// ([`AttemptHandle::finish`](crate::run::AttemptHandle::finish)).
    pub fn own_loop() -> Self {
        Self::default()
    }

    /// With [`Components::executor`].
    #[must_use]
    pub fn with_executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// With [`Components::environment`].
    #[must_use]
    pub fn with_environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = Some(environment);
        self
    }

    /// With [`Components::judge`].
    #[must_use]
    pub fn with_judge(mut self, judge: Arc<dyn Judge>) -> Self {
        self.judge = Some(judge);
        self
    }

    /// With [`Components::store`].
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn SkillStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// With [`Components::journal`].
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// With [`Components::retriever`].
    #[must_use]
    pub fn with_retriever(mut self, retriever: Arc<dyn Retriever>) -> Self {
        self.retriever = Some(retriever);
        self
    }

    /// With [`Components::scorer`].
    #[must_use]
    pub fn with_scorer(mut self, scorer: Arc<dyn Scorer>) -> Self {
        self.scorer = Some(scorer);
        self
    }

    /// With [`Components::prompt_format`].
    #[must_use]
    pub fn with_prompt_format(mut self, prompt_format: Arc<dyn PromptFormat>) -> Self {
        self.prompt_format = Some(prompt_format);
        self
    }

    /// With [`Components::model`].
    #[must_use]
    pub fn with_model(mut self, model: Arc<dyn LanguageModel>) -> Self {
        self.model = Some(model);
        self
    }

    /// With another model than [`Components::model`] for these roles: a role, or a group of them such as [`Role::WRITERS`]. Of two
    /// calls for one role the later one counts.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use journeyman::{contract::Components, domain::Role, testing::ScriptedModel};
    ///
    /// let model = |name: &str| Arc::new(ScriptedModel::always("").with_id(name));
    /// let components = Components::own_loop()
    ///     .with_model(model("small"))
    ///     .with_model_for(Role::WRITERS, model("large"));
    /// let name = |role| components.model_for(role).map(|model| model.capabilities().model.to_string());
    /// assert_eq!(name(Role::Extract).as_deref(), Some("large"));
    /// assert_eq!(name(Role::Score).as_deref(), Some("small"));
    /// ```
    #[must_use]
    pub fn with_model_for(
        mut self,
        roles: impl IntoIterator<Item = Role>,
        model: Arc<dyn LanguageModel>,
    ) -> Self {
        let models = roles.into_iter().map(|role| (role, Arc::clone(&model)));
        self.role_models.extend(models);
        self
    }

    /// The model of a role: its own of [`Components::role_models`], or else [`Components::model`].
    pub fn model_for(&self, role: Role) -> Option<&Arc<dyn LanguageModel>> {
        self.role_models.get(&role).or(self.model.as_ref())
    }

    /// Whether [`Components::roles`] play a role, and a model is there for it.
    pub fn plays(&self, role: Role) -> bool {
        let roles = self.roles.as_ref();
        roles.is_some_and(|roles| roles.plays(role)) && self.model_for(role).is_some()
    }

    /// The model that acts, with its adapter; `None` where the agent does not say.
    pub(crate) fn acting_model(&self) -> Option<&ModelId> {
        let executor = self.executor.as_ref()?;
        executor.capabilities().map(|known| &known.model)
    }

    pub(crate) fn models(&self) -> impl Iterator<Item = &Arc<dyn LanguageModel>> {
        self.model.iter().chain(self.role_models.values())
    }

    /// With [`Components::roles`].
    #[must_use]
    pub fn with_roles(mut self, roles: Arc<dyn Roles>) -> Self {
        self.roles = Some(roles);
        self
    }

    /// With [`Components::tokenizer`].
    #[must_use]
    pub fn with_tokenizer(mut self, tokenizer: Arc<dyn Tokenizer>) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }

    /// With [`Components::embedder`].
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// With [`Components::clock`].
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }
}
