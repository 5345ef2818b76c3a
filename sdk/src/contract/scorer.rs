//! The log-probability of a given text.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::ModelSpeed;
use crate::{
    domain::{Prompt, TokenId},
    error::Result,
    id::ModelId,
};

/// Texts to be scored after one prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreRequest {
    /// The prompt before every continuation; its `open` is the open-turn marker.
    pub prompt: Prompt,
    /// The texts, each of them data.
    pub continuations: Vec<String>,
    /// Each continuation is cut after this many tokens (ARISE C.4: 128).
    pub max_continuation_tokens: usize,
    /// Greatest duration of the call.
    pub time_limit: Duration,
    /// The adapter (LoRA) to score with, by the name that it was loaded under; the model alone if none.
    pub adapter: Option<String>,
    /// Whether the answer has to be the same each time, whatever runs beside it. A local model then scores the request by itself,
    /// with nothing else in memory, which is slower; a scorer that cannot ignores this.
    pub repeatable: bool,
}

/// The log-probabilities of one continuation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenScores {
    /// The continuation's tokens, after the cut.
    pub ids: Vec<TokenId>,
    /// For each of them log p(token given the prompt and the tokens before), in nats.
    pub logprobs: Vec<f64>,
    /// Whether the continuation was cut.
    pub truncated: bool,
}

impl TokenScores {
    /// The sum over the tokens (ARISE Eq. 2).
    pub fn sum(&self) -> f64 {
        self.logprobs.iter().sum()
    }

    /// The sum divided by the number of tokens; 0 for no tokens.
    pub fn mean(&self) -> f64 {
        match self.logprobs.len() {
            0 => 0.0,
            n => self.sum() / n as f64,
        }
    }
}

/// A model that gives the log-probability of a given text.
///
/// ```
/// use std::time::Duration;
/// use journeyman::{ModelId, Result, async_trait};
/// use journeyman::contract::{ScoreRequest, Scorer, TokenScores};
/// use journeyman::domain::Prompt;
///
/// /// A model for which each of the 256 bytes is equally probable.
/// #[derive(Debug)]
/// struct UniformBytes(ModelId);
///
/// #[async_trait]
/// impl Scorer for UniformBytes {
///     fn model(&self) -> &ModelId {
///         &self.0
///     }
///
///     async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
///         let most = request.max_continuation_tokens;
///         Ok(request.continuations.iter().map(|text| {
///             let ids: Vec<i32> = text.bytes().take(most).map(i32::from).collect();
///             TokenScores {
///                 logprobs: vec![-(256.0_f64).ln(); ids.len()],
///                 truncated: text.len() > most,
///                 ids,
///             }
///         }).collect())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let request = ScoreRequest {
///     prompt: Prompt::default(),
///     continuations: vec!["brew".to_owned()],
///     max_continuation_tokens: 128,
///     time_limit: Duration::from_secs(1),
///     adapter: None,
///     repeatable: false,
/// };
/// let scores = UniformBytes("uniform@1".into()).score(&request).await?;
/// assert_eq!(scores[0].mean(), -(256.0_f64).ln());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *one each*: the answer has one entry for each continuation, in order.
/// - *finite*: every log-probability is finite and at most 0, and there are as many as ids.
/// - *cut*: no entry has more than `max_continuation_tokens` ids; `truncated` says whether one was cut.
/// - *shared prefix*: a continuation's scores are the same, within 1e-3 a token, alone or among others.
/// - *data*: a continuation that spells a special token is scored as plain text.
/// - *empty*: no continuations give an empty answer; an empty continuation gives an entry of no tokens.
/// - *too long*: a prompt that leaves no room in the context is `Invalid`.
/// - *weights*: without an adapter the weights are those of `model`; with one they are others, and those of two adapters differ.
#[async_trait]
pub trait Scorer: fmt::Debug + Send + Sync {
    /// The model that scores.
    fn model(&self) -> &ModelId;

    /// The log-probabilities of each continuation.
    ///
    /// # Errors
    /// `Unsupported` where the server cannot give log-probabilities of a given text; it is never guessed.
    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>>;

    /// The measured speed of a model whose requests share one machine: the time limits of scoring grow with it, and with the number of
    /// requests at once. `None`, the default, where nobody measured it.
    fn speed(&self) -> Option<ModelSpeed> {
        None
    }

    /// Whether equal [`weights`](Self::weights) mean equal scores in later sessions, too, so that scores may be kept on the disk. The
    /// default: no; behind the name at a server another model may stand tomorrow.
    fn has_lasting_scores(&self) -> bool {
        false
    }

    /// Whether the model was trained to have skills scored behind tasks, so that a recipe's own threshold holds for it. For any other
    /// model a session fits one ([`GatePolicy::most_wrong`](crate::select::GatePolicy)). The default: no.
    fn is_trained_to_score(&self) -> bool {
        false
    }

    /// The identity of the weights that a request with this adapter is scored by at present: a score is kept and a threshold is
    /// fitted under it. The default adds the adapter's name to the model's id. A model whose adapters can be replaced under
    /// their names has an identity that follows from their content.
    fn weights(&self, adapter: Option<&str>) -> ModelId {
        match adapter {
            None => self.model().clone(),
            Some(name) => adapted(self.model(), name),
        }
    }
}

/// The id of a model with an adapter, by the adapter's name or by more than that.
pub(crate) fn adapted(model: &ModelId, adapter: &str) -> ModelId {
    ModelId::new(format!("{model}+{adapter}"))
}
