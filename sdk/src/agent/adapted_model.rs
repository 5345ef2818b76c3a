//! A model with an adapter.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use crate::{
    contract::{
        GenerateRequest, Generation, LanguageModel, ModelCapabilities, ModelSpeed, ScoreRequest,
        Scorer, TokenCount, TokenScores, adapted,
    },
    error::Result,
    id::ModelId,
};

/// A model with one of its adapters (LoRA): it writes and scores with the adapter wherever a host gives a model, as the agent, the
/// gate's scorer, the model of the roles, or that of one role. Several of them over one model share its weights and its context.
///
/// The adapter has the name that it was loaded under (`LlamaConfig::adapters`), or that a server lists it by. A request that names an
/// adapter itself keeps it. The id has the adapter in it ([`Scorer::weights`]), so that no cached score and no fitted threshold of the
/// model alone, or of another adapter, counts for it. [`Generation::record`] keeps model and adapter apart.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{
///     agent::AdaptedModel,
///     contract::{GenerateRequest, LanguageModel},
///     domain::Prompt,
///     testing::{Play, ScriptedModel},
/// };
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::by(|request, _| Play::Give(match request.adapter.as_deref() {
///     Some("writer") => "a skill".to_owned(),
///     _ => "a step".to_owned(),
/// }));
/// let model = Arc::new(model.with_adapters(["writer"]));
/// let writer = AdaptedModel::new(model.clone(), "writer");
///
/// let request = GenerateRequest::greedy(Prompt::default(), 10);
/// assert_eq!(model.generate(&request).await?.text, "a step");
/// assert_eq!(writer.generate(&request).await?.text, "a skill");
/// assert_eq!(writer.capabilities().model.as_str(), "scripted+writer");
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// A request for an adapter that the model does not have is `NotFound`, as without this wrapper: it is never answered by the model
/// alone.
#[derive(Debug)]
pub struct AdaptedModel<M: ?Sized> {
    adapter: String,
    capabilities: OnceLock<ModelCapabilities>,
    id: OnceLock<ModelId>,
    model: Arc<M>,
}

impl<M: ?Sized> AdaptedModel<M> {
    /// The model with the adapter of this name.
    pub fn new(model: Arc<M>, adapter: impl Into<String>) -> Self {
        Self {
            adapter: adapter.into(),
            capabilities: OnceLock::new(),
            id: OnceLock::new(),
            model,
        }
    }

    /// The adapter's name.
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// The adapter of a request: its own, or else this one.
    fn of(&self, request: &Option<String>) -> Option<String> {
        Some(request.as_ref().unwrap_or(&self.adapter).clone())
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<M: LanguageModel + ?Sized> LanguageModel for AdaptedModel<M> {
    fn capabilities(&self) -> &ModelCapabilities {
        self.capabilities.get_or_init(|| {
            let of_model = self.model.capabilities();
            ModelCapabilities {
                model: adapted(&of_model.model, &self.adapter),
                ..of_model.clone()
            }
        })
    }

    fn context(&self) -> usize {
        self.model.context()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let adapter = self.of(&request.adapter);
        let request = GenerateRequest {
            adapter: adapter.clone(),
            ..request.clone()
        };
        let written = self.model.generate(&request).await?;
        Ok(Generation { adapter, ..written })
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        let request = GenerateRequest {
            adapter: self.of(&request.adapter),
            ..request.clone()
        };
        self.model.count_prompt(&request).await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<M: Scorer + ?Sized> Scorer for AdaptedModel<M> {
    fn model(&self) -> &ModelId {
        self.id.get_or_init(|| self.weights(None))
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let request = ScoreRequest {
            adapter: self.of(&request.adapter),
            ..request.clone()
        };
        self.model.score(&request).await
    }

    fn speed(&self) -> Option<ModelSpeed> {
        self.model.speed()
    }

    fn has_lasting_scores(&self) -> bool {
        self.model.has_lasting_scores()
    }

    /// No: an adapter moves the scores that the model alone was trained for.
    fn is_trained_to_score(&self) -> bool {
        false
    }

    fn weights(&self, adapter: Option<&str>) -> ModelId {
        self.model.weights(Some(adapter.unwrap_or(&self.adapter)))
    }
}
