//! [`Model`]: the model that a session is opened with.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use journeyman::{
    Result,
    agent::{ChatFormat, SystemClock, role::GeneralRoles},
    contract::{Components, Environment, LanguageModel, Scorer},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};

/// The model of a session: a GGUF file that is yet to be loaded, a loaded one, or another adapter's.
///
/// It is made from a path, from a [`LlamaConfig`], or from an [`Arc<LlamaCpp>`](LlamaCpp) that the host has loaded, for example because
/// two sessions share it. A text is a path, and no name of a public model: [`find_model`](journeyman_llama_cpp::find_model) gives the path of one.
///
/// ```
/// use journeyman_local::{Model, journeyman_llama_cpp::LlamaConfig};
///
/// let by_path = Model::from("model.gguf");
/// let mut config = LlamaConfig::new("model.gguf");
/// config.n_ctx = Some(8192);
/// let by_config = Model::from(config);
/// # let _ = (by_path, by_config);
/// ```
pub struct Model(Kind);

enum Kind {
    File(Box<LlamaConfig>),
    Loaded(Arc<LlamaCpp>),
    Other(Box<Placing>),
}

/// Puts a model into its places. The type of the model is lost behind it: no one contract says all that a model can do.
type Placing = dyn FnOnce(Option<Arc<dyn Environment>>) -> Result<Components> + Send;

impl Model {
    /// The model of another adapter, such as a server's that gives log-probabilities. It is not loaded, and counts no tokens where a
    /// recipe limits those of skills ([`Components::tokenizer`]).
    pub fn new(model: Arc<impl LanguageModel + Scorer + 'static>) -> Self {
        Self(Kind::Other(Box::new(|environment| {
            placed(model, environment)
        })))
    }

    /// Loads the model where that has not happened, and puts it into every place that it can take. Blocks while it loads.
    pub(crate) fn components(
        self,
        environment: Option<Arc<dyn Environment>>,
    ) -> Result<Components> {
        match self.0 {
            Kind::File(config) => local(LlamaCpp::load(*config)?, environment),
            Kind::Loaded(model) => local(model, environment),
            Kind::Other(placing) => placing(environment),
        }
    }
}

fn local(model: Arc<LlamaCpp>, environment: Option<Arc<dyn Environment>>) -> Result<Components> {
    Ok(placed(model.clone(), environment)?.with_tokenizer(model))
}

/// The parts that a model takes. Without an environment the host keeps its own agent loop.
fn placed(
    model: Arc<impl LanguageModel + Scorer + 'static>,
    environment: Option<Arc<dyn Environment>>,
) -> Result<Components> {
    match environment {
        Some(environment) => Components::of_model(model, environment),
        None => Ok(Components::own_loop()
            .with_scorer(model.clone())
            .with_prompt_format(Arc::new(ChatFormat::of(model.capabilities())))
            .with_model(model)
            .with_roles(Arc::new(GeneralRoles::shipped()?))
            .with_clock(Arc::new(SystemClock::new()))),
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::File(config) => f.debug_tuple("Model").field(config).finish(),
            Kind::Loaded(model) => f.debug_tuple("Model").field(model).finish(),
            Kind::Other(_) => f.debug_struct("Model").finish_non_exhaustive(),
        }
    }
}

impl From<LlamaConfig> for Model {
    fn from(config: LlamaConfig) -> Self {
        Self(Kind::File(Box::new(config)))
    }
}

impl From<Arc<LlamaCpp>> for Model {
    fn from(model: Arc<LlamaCpp>) -> Self {
        Self(Kind::Loaded(model))
    }
}

impl From<PathBuf> for Model {
    fn from(path: PathBuf) -> Self {
        LlamaConfig::new(path).into()
    }
}

impl From<&Path> for Model {
    fn from(path: &Path) -> Self {
        LlamaConfig::new(path).into()
    }
}

impl From<&str> for Model {
    fn from(path: &str) -> Self {
        LlamaConfig::new(path).into()
    }
}

impl From<String> for Model {
    fn from(path: String) -> Self {
        LlamaConfig::new(path).into()
    }
}
