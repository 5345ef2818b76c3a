//! A scorer that follows a script.

use std::{collections::BTreeMap, fmt};

use async_trait::async_trait;

use super::play::{Calls, Play, word_id, words};
use crate::{
    contract::{ScoreRequest, Scorer, TokenScores},
    domain::Prompt,
    error::{Error, Result},
    id::ModelId,
};

type Script = dyn Fn(&Prompt, &str) -> Play<f64> + Send + Sync;

/// A [`Scorer`] that gives every token of a continuation the log-probability of a script. Its tokens are words.
///
/// ```
/// use journeyman::testing::{Play, ScriptedScorer};
///
/// // Every word is likelier behind a prompt about jars.
/// let scorer = ScriptedScorer::by(|prompt, _continuation| {
///     Play::Give(if prompt.text().contains("jar") { -0.5 } else { -2.0 })
/// });
/// assert_eq!(scorer.calls(), 0);
/// ```
pub struct ScriptedScorer {
    model: ModelId,
    context: usize,
    script: Box<Script>,
    adapters: BTreeMap<String, Box<Script>>,
    calls: Calls,
    trained: bool,
}

impl ScriptedScorer {
    /// A scorer that follows a closure from prompt and continuation to the log-probability of each token.
    pub fn by(script: impl Fn(&Prompt, &str) -> Play<f64> + Send + Sync + 'static) -> Self {
        Self {
            model: ModelId::new("scripted"),
            context: 4_096,
            script: Box::new(script),
            adapters: BTreeMap::new(),
            calls: Calls::default(),
            trained: true,
        }
    }

    /// Is not a model that was trained to score, so that a session fits its gate's threshold to it.
    #[must_use]
    pub fn untrained(mut self) -> Self {
        self.trained = false;
        self
    }

    /// Has an adapter of this name, with a script of its own.
    #[must_use]
    pub fn with_adapter(
        mut self,
        name: impl Into<String>,
        script: impl Fn(&Prompt, &str) -> Play<f64> + Send + Sync + 'static,
    ) -> Self {
        self.adapters.insert(name.into(), Box::new(script));
        self
    }

    /// A scorer with a log-probability for each text that a continuation may contain; -10 for a continuation with none.
    pub fn table<T: Into<String>>(rows: impl IntoIterator<Item = (T, f64)>) -> Self {
        let rows: BTreeMap<String, f64> = rows
            .into_iter()
            .map(|(text, score)| (text.into(), score))
            .collect();
        Self::by(move |_, continuation| {
            let row = rows
                .iter()
                .find(|(text, _)| continuation.contains(text.as_str()));
            Play::Give(row.map_or(-10.0, |(_, score)| *score))
        })
    }

    /// A scorer that plays the same at every call, such as [`Play::Fail`].
    pub fn that(play: Play<f64>) -> Self {
        Self::by(move |_, _| play.clone())
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.count()
    }

    /// The greatest length of a prompt, in words.
    pub fn context(&self) -> usize {
        self.context
    }
}

impl fmt::Debug for ScriptedScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedScorer")
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Scorer for ScriptedScorer {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        self.calls.next();
        let length = words(&request.prompt.text()).len();
        if length >= self.context {
            return Err(Error::invalid(
                "Scorer::score",
                "the prompt leaves no room in the context",
            )
            .with("prompt_tokens", length)
            .with("context", self.context));
        }
        let script = match &request.adapter {
            None => &self.script,
            Some(name) => self.adapters.get(name).ok_or_else(|| {
                let message = format!("no adapter `{name}` is loaded");
                Error::not_found("Scorer::score", message)
            })?,
        };
        let mut scores = Vec::with_capacity(request.continuations.len());
        for continuation in &request.continuations {
            let logprob = script(&request.prompt, continuation).perform().await?;
            let all = words(continuation);
            let ids: Vec<i32> = (all.iter().take(request.max_continuation_tokens))
                .map(|word| word_id(word))
                .collect();
            scores.push(TokenScores {
                logprobs: vec![logprob; ids.len()],
                truncated: ids.len() < all.len(),
                ids,
            });
        }
        Ok(scores)
    }

    fn has_lasting_scores(&self) -> bool {
        true
    }

    /// What the script says is meant, unless it is [`untrained`](Self::untrained), or gives the library's skills fewer than -5 nats a token
    /// without a task.
    fn is_trained_to_score(&self) -> bool {
        self.trained
    }
}
