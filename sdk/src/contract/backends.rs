//! The record of a host's parts.

use std::sync::Arc;

use super::{
    Clock, Dialect, Embedder, Environment, Executor, Journal, Judge, LanguageModel, Retriever,
    Roles, Scorer, SkillStore, Tokenizer,
};

/// A host's parts. The first three are the host's own; the others are what the stations need.
///
/// A part that is `None` is one that the run does without: no retriever, and every skill of the cache is a
/// candidate; no scorer or dialect, and the gate declines and says so; no model or roles, and no skill is
/// written; no clock, and no deadline is kept.
#[derive(Clone, Debug)]
pub struct Backends {
    /// The agent.
    pub executor: Arc<dyn Executor>,
    /// Its world.
    pub environment: Arc<dyn Environment>,
    /// The judgement of results.
    pub judge: Arc<dyn Judge>,
    /// Where the library is kept; in memory when none is given.
    pub store: Option<Arc<dyn SkillStore>>,
    /// Where the run's events are kept; nowhere when none is given.
    pub journal: Option<Arc<dyn Journal>>,
    /// Finds candidates.
    pub retriever: Option<Arc<dyn Retriever>>,
    /// Gives log-probabilities for the gate.
    pub scorer: Option<Arc<dyn Scorer>>,
    /// How the executor's model wants skills to be written.
    pub dialect: Option<Arc<dyn Dialect>>,
    /// Plays the roles beside the agent's: writes, mends and judges skills.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// What that model is asked in each role, and how it is read.
    pub roles: Option<Arc<dyn Roles>>,
    /// Counts tokens, where a recipe bounds what skills may take of a prompt.
    pub tokenizer: Option<Arc<dyn Tokenizer>>,
    /// Embeds texts, for what compares them by meaning: the overlap graph, retrieval at each turn.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Keeps deadlines.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Backends {
    /// The host's own three parts, and nothing else.
    pub fn new(
        executor: Arc<dyn Executor>,
        environment: Arc<dyn Environment>,
        judge: Arc<dyn Judge>,
    ) -> Self {
        Self {
            executor,
            environment,
            judge,
            store: None,
            journal: None,
            retriever: None,
            scorer: None,
            dialect: None,
            model: None,
            roles: None,
            tokenizer: None,
            embedder: None,
            clock: None,
        }
    }
}
