//! The record of a host's parts.

use std::sync::Arc;

use super::{
    Clock, Dialect, Embedder, Environment, Executor, Journal, Judge, LanguageModel, Retriever,
    Roles, Scorer, SkillStore, Tokenizer,
};

/// A host's parts. A part that is `None` is one that the runtime does without;
/// [`Journeyman::open`](crate::run::Journeyman::open) says what will not happen then
/// ([`Journeyman::findings`](crate::run::Journeyman::findings)).
///
/// A host that hands over tasks begins with [`Backends::new`], one that keeps its own agent loop with
/// [`Backends::own_loop`]; further parts are set as fields or by the `with_` methods.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{builtin::{MemoryJournal, SystemClock}, contract::Backends};
///
/// let backends = Backends::own_loop()
///     .with_journal(Arc::new(MemoryJournal::new()))
///     .with_clock(Arc::new(SystemClock::new()));
/// assert!(backends.executor.is_none() && backends.journal.is_some());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Backends {
    /// The agent. Without one the runtime makes no attempt itself: the host keeps its own loop.
    pub executor: Option<Arc<dyn Executor>>,
    /// The agent's world. Without one nothing is played again: bundles cannot run.
    pub environment: Option<Arc<dyn Environment>>,
    /// The judgement of results. Without one an attempt is judged by the outcome that the host finishes it with.
    pub judge: Option<Arc<dyn Judge>>,
    /// Where the library is kept. Without one it is kept in memory and ends with the process.
    pub store: Option<Arc<dyn SkillStore>>,
    /// Where a run's events are kept. Without one a run cannot be resumed or replayed.
    pub journal: Option<Arc<dyn Journal>>,
    /// Finds candidates. Without one every skill of the cache is a candidate.
    pub retriever: Option<Arc<dyn Retriever>>,
    /// Gives log-probabilities for the gate. Without one the gate declines.
    pub scorer: Option<Arc<dyn Scorer>>,
    /// How the executor's model wants skills to be written. The gate scores the text that it writes, and declines without it.
    pub dialect: Option<Arc<dyn Dialect>>,
    /// Plays the roles beside the agent's: writes, repairs and judges skills.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// What that model is asked in each role, and how its answer is read.
    pub roles: Option<Arc<dyn Roles>>,
    /// Counts tokens, where a recipe bounds what skills may take of a prompt.
    pub tokenizer: Option<Arc<dyn Tokenizer>>,
    /// Embeds texts, for what compares them by meaning: the overlap graph, ranking.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Keeps deadlines.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Backends {
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

    /// With [`Backends::executor`].
    #[must_use]
    pub fn with_executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// With [`Backends::environment`].
    #[must_use]
    pub fn with_environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = Some(environment);
        self
    }

    /// With [`Backends::judge`].
    #[must_use]
    pub fn with_judge(mut self, judge: Arc<dyn Judge>) -> Self {
        self.judge = Some(judge);
        self
    }

    /// With [`Backends::store`].
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn SkillStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// With [`Backends::journal`].
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// With [`Backends::retriever`].
    #[must_use]
    pub fn with_retriever(mut self, retriever: Arc<dyn Retriever>) -> Self {
        self.retriever = Some(retriever);
        self
    }

    /// With [`Backends::scorer`].
    #[must_use]
    pub fn with_scorer(mut self, scorer: Arc<dyn Scorer>) -> Self {
        self.scorer = Some(scorer);
        self
    }

    /// With [`Backends::dialect`].
    #[must_use]
    pub fn with_dialect(mut self, dialect: Arc<dyn Dialect>) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// With [`Backends::model`].
    #[must_use]
    pub fn with_model(mut self, model: Arc<dyn LanguageModel>) -> Self {
        self.model = Some(model);
        self
    }

    /// With [`Backends::roles`].
    #[must_use]
    pub fn with_roles(mut self, roles: Arc<dyn Roles>) -> Self {
        self.roles = Some(roles);
        self
    }

    /// With [`Backends::tokenizer`].
    #[must_use]
    pub fn with_tokenizer(mut self, tokenizer: Arc<dyn Tokenizer>) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }

    /// With [`Backends::embedder`].
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// With [`Backends::clock`].
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }
}
