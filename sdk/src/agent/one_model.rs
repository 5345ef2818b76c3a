//! A host's parts from one model.

use std::sync::Arc;

use super::{ChatFormat, EnvironmentJudge, ModelExecutor, ModelExecutorOptions};
use crate::{
    agent::role::GeneralRoles,
    contract::{Components, Environment, LanguageModel, Scorer},
    error::Result,
};

impl Components {
    /// One model in every part that a model can take: it acts in the environment ([`ModelExecutor`]), scores skills for
    /// the gate, and plays the roles ([`GeneralRoles::shipped`]), all in the [`ChatFormat`] that its capabilities allow.
    /// The environment's outcome is the verdict ([`EnvironmentJudge`]); the clock is the system's where the feature
    /// `system-clock` is on. Library, journal and retriever are the host's to add, and every part can be replaced.
    ///
    /// # Errors
    /// None with the shipped roles.
    pub fn of_model(
        model: Arc<impl LanguageModel + Scorer + 'static>,
        environment: Arc<dyn Environment>,
    ) -> Result<Self> {
        let prompt_format = Arc::new(ChatFormat::of(model.capabilities()));
        let options = ModelExecutorOptions::default();
        let agent = ModelExecutor::new(model.clone(), prompt_format.clone(), options)?;
        let components = Self::new(Arc::new(agent), environment, Arc::new(EnvironmentJudge))
            .with_scorer(model.clone())
            .with_prompt_format(prompt_format)
            .with_model(model)
            .with_roles(Arc::new(GeneralRoles::shipped()?));
        #[cfg(feature = "system-clock")]
        let components = components.with_clock(Arc::new(super::SystemClock::new()));
        Ok(components)
    }
}
