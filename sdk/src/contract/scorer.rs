//! The log-probability of a given text.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    contract::ModelSpeed,
    domain::{Prompt, ScoreKind, SkillRef, TokenId},
    error::{Error, Result},
    id::ModelId,
};

/// Texts to be scored after one prompt.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl ScoreRequest {
    /// A request of at most 128 tokens of each continuation (ARISE C.4), within a minute, by the model alone.
    pub fn new(prompt: Prompt, continuations: Vec<String>) -> Self {
        Self {
            prompt,
            continuations,
            max_continuation_tokens: 128,
            time_limit: Duration::from_secs(60),
            adapter: None,
            repeatable: false,
        }
    }

    /// The same with another greatest number of tokens of each continuation.
    #[must_use]
    pub fn with_max_continuation_tokens(mut self, max_continuation_tokens: usize) -> Self {
        self.max_continuation_tokens = max_continuation_tokens;
        self
    }

    /// The same with this time limit.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }
}

/// The log-probabilities of one continuation.
#[non_exhaustive]
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
    /// A continuation that was not cut: its tokens, and the log-probability of each.
    pub fn new(ids: Vec<TokenId>, logprobs: Vec<f64>) -> Self {
        Self {
            ids,
            logprobs,
            truncated: false,
        }
    }

    /// Sets whether it was cut.
    #[must_use]
    pub fn with_truncated(mut self, truncated: bool) -> Self {
        self.truncated = truncated;
        self
    }
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
///             let logprobs = vec![-(256.0_f64).ln(); ids.len()];
///             TokenScores::new(ids, logprobs).with_truncated(text.len() > most)
///         }).collect())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let request = ScoreRequest::new(Prompt::default(), vec!["brew".to_owned()])
///     .with_time_limit(Duration::from_secs(1));
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

    /// Whether the model was trained to have skills scored behind tasks, so that a recipe's own threshold holds for it, with skills of the kind
    /// that it knows: half of the library's at least have -5 nats a token or more without a task. For any other model, and any other
    /// library, a session fits one ([`GatePolicy::most_wrong`](crate::stations::select::GatePolicy)). The default: no.
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

// The log-probabilities of skills.

/// The log-probability of a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// The sum over its tokens, nats; finite.
    pub sum: f64,
    /// Number of tokens that were scored, after the cut.
    pub tokens: usize,
}

impl Total {
    /// Whether a text without a task is of the kind that a model was trained on: -5 nats a token at least. The bundled model gives a token of
    /// its own skills -0.7 to -0.9, and one of 24 skills of people -10.4 to -12.1, less than chance.
    pub(crate) fn is_known(&self) -> bool {
        self.sum >= -5.0 * self.tokens as f64
    }
}

impl From<&TokenScores> for Total {
    fn from(scores: &TokenScores) -> Self {
        Self {
            sum: scores.sum(),
            tokens: scores.logprobs.len(),
        }
    }
}

/// The log-probabilities of one candidate.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillScores {
    /// The skill, in its version.
    pub skill: SkillRef,
    /// The skill's log-probability after the query. [`ScoreKind::Fits`] alone does without it.
    pub conditional: Option<Total>,
    /// The skill's log-probability after the same template with an empty query. It depends only on the skill's version and
    /// the model, so it can be kept. [`ScoreKind::Pmi`] needs it.
    pub unconditional: Option<Total>,
    /// The log-probabilities of the two answers to the question whether the skill fits. [`ScoreKind::Fits`] needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<FitTotals>,
}

impl SkillScores {
    /// A skill without scores.
    pub fn new(skill: SkillRef) -> Self {
        Self {
            skill,
            conditional: None,
            unconditional: None,
            fit: None,
        }
    }
}

/// The log-probabilities of the two answers of a [`FitQuestion`](super::FitQuestion).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitTotals {
    /// That the skill fits.
    pub fits: Total,
    /// That it does not.
    pub does_not: Total,
}

impl FitTotals {
    /// The totals of the two answers.
    pub const fn new(fits: Total, does_not: Total) -> Self {
        Self { fits, does_not }
    }
}

impl SkillScores {
    /// The score of a kind; `None` where a part that it needs is missing, and where no token was scored: a sum over
    /// nothing would be the largest that there can be.
    pub fn value(&self, kind: ScoreKind) -> Option<f64> {
        let scored = |total: &Total| total.tokens > 0;
        let text = self.conditional.filter(scored);
        match kind {
            ScoreKind::Sum => text.map(|text| text.sum),
            ScoreKind::Mean => text.map(|text| text.sum / text.tokens as f64),
            ScoreKind::Pmi | ScoreKind::CardPmi => Some(text?.sum - self.unconditional?.sum),
            ScoreKind::Fits => {
                let FitTotals { fits, does_not } = self.fit?;
                (scored(&fits) && scored(&does_not)).then_some(fits.sum - does_not.sum)
            }
        }
    }

    /// The score of a kind, checked.
    ///
    /// # Errors
    /// `Invalid`, naming the skill, where nothing of it was scored, a part that the score needs is missing or a number is
    /// not finite.
    pub(crate) fn checked(&self, kind: ScoreKind) -> Result<f64> {
        let fault = |message| {
            Error::invalid("select::decide", message)
                .with("skill", &self.skill.id)
                .with("version", self.skill.version)
        };
        let value = self.value(kind).ok_or_else(|| match kind {
            _ if kind.is_pmi() && self.conditional.is_some_and(|text| text.tokens > 0) => {
                fault("PMI needs the skill's log-probability without the query")
            }
            ScoreKind::Fits => fault("no token of an answer to whether the skill fits was scored"),
            _ => fault("the scorer scored no token of the skill")
                .hint("give the skill a text, and check that the scorer's tokenizer reads it"),
        })?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(fault("the score is not a finite number")
                .hint("the scorer's log-probabilities must be finite"))
        }
    }
}

// Scores of texts that do not depend on a task, which a store may keep.

/// Sums of log-probabilities of one text behind one prompt, which a later session may need again: a skill by itself, for PMI, or
/// behind a task by which a gate's threshold is set.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptScores {
    /// A digest of all that the sums depend on: the weights with their adapter, the prompt, the text, the cut, and whether the
    /// request had to be repeatable. Anything else has another key, so an outdated value is never found.
    pub key: String,
    /// Number of tokens that were scored, after the cut.
    pub tokens: usize,
    /// The sums of the first 16, 32, ... tokens, nats, and last that of all.
    pub sums: Vec<f64>,
}

impl KeptScores {
    /// Kept sums of a text of so many tokens.
    pub fn new(key: impl Into<String>, tokens: usize, sums: Vec<f64>) -> Self {
        Self {
            key: key.into(),
            tokens,
            sums,
        }
    }
}

impl KeptScores {
    /// The number of tokens from one sum to the next.
    pub const STEP: usize = 16;

    pub(crate) fn of(key: String, scores: &TokenScores) -> Self {
        let mut sum = 0.0;
        let sums = scores.logprobs.chunks(Self::STEP).map(|some| {
            sum += some.iter().sum::<f64>();
            sum
        });
        Self {
            key,
            sums: sums.collect(),
            tokens: scores.logprobs.len(),
        }
    }

    /// The sum over all tokens.
    pub fn total(&self) -> Total {
        Total {
            sum: self.sums.last().copied().unwrap_or_default(),
            tokens: self.tokens,
        }
    }

    /// Whether the numbers can be what a scorer gave.
    pub(crate) fn is_sound(&self) -> bool {
        let finite = self.sums.iter().all(|sum| sum.is_finite() && *sum <= 0.0);
        finite && self.sums.len() == self.tokens.div_ceil(Self::STEP)
    }
}

#[cfg(test)]
mod kept_scores_tests {
    use super::*;

    #[test]
    fn sums_go_up_to_every_sixteenth_token_and_to_the_last() {
        let of = |count: usize| {
            let scores = TokenScores {
                ids: vec![1; count],
                logprobs: vec![-0.5; count],
                truncated: false,
            };
            KeptScores::of("k".to_owned(), &scores)
        };
        assert_eq!(of(40).sums, [-8.0, -16.0, -20.0]);
        assert_eq!(of(32).sums, [-8.0, -16.0]);
        assert_eq!(of(40).total().sum, -20.0);
        assert_eq!(
            of(0).total(),
            Total {
                sum: 0.0,
                tokens: 0
            }
        );
        for count in [0, 1, 16, 17, 40] {
            assert!(of(count).is_sound());
        }
        let short = KeptScores {
            tokens: 50,
            ..of(40)
        };
        assert!(!short.is_sound());
    }
}
