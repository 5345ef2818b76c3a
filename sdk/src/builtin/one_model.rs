//! A host's parts from one model.

use std::sync::Arc;

use super::{ChatDialect, EnvironmentJudge, ModelExecutor, ModelExecutorOptions};
use crate::{
    contract::{Backends, Environment, LanguageModel, Scorer},
    error::Result,
    role::GeneralRoles,
};

impl Backends {
    /// One model in every part that a model can take: it acts in the environment ([`ModelExecutor`]), scores skills for
    /// the gate, and plays the roles ([`GeneralRoles::shipped`]), all in the [`ChatDialect`] that its capabilities allow.
    /// The environment's outcome is the verdict ([`EnvironmentJudge`]); the clock is the system's where the feature
    /// `system-clock` is on. Library, journal and retriever are the host's to add, and every part can be replaced.
    ///
    /// # Errors
    /// None with the shipped roles.
    pub fn of_model(
        model: Arc<impl LanguageModel + Scorer + 'static>,
        environment: Arc<dyn Environment>,
    ) -> Result<Self> {
        let dialect = Arc::new(ChatDialect::of(model.capabilities()));
        let options = ModelExecutorOptions::default();
        let agent = ModelExecutor::new(model.clone(), dialect.clone(), options)?;
        let backends = Self::new(Arc::new(agent), environment, Arc::new(EnvironmentJudge))
            .with_scorer(model.clone())
            .with_dialect(dialect)
            .with_model(model)
            .with_roles(Arc::new(GeneralRoles::shipped()?));
        #[cfg(feature = "system-clock")]
        let backends = backends.with_clock(Arc::new(super::SystemClock::new()));
        Ok(backends)
    }
}
