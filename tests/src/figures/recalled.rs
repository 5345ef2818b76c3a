//! A model that answers a request which it answered before from memory.
//!
//! The arms of a group attempt the same tasks with the same seeds, so they ask the same until their libraries differ. For
//! example, several attempt a held-out task with the same skill. A deterministic model gives the same bytes for the same request,
//! whatever ran before, so no figure depends on where an answer comes from. Tokens are counted as if the model had written them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use journeyman::{
    Error, ErrorKind, ModelId, Result, async_trait,
    contract::{
        GenerateRequest, Generation, LanguageModel, ModelCapabilities, ModelSpeed, ScoreRequest,
        Scorer, TokenCount, TokenScores,
    },
    domain::sha256_hex,
};
use quickstart::Parts;
use serde::Serialize;

/// The same parts, whose sessions ask a model that recalls its answers. They make one call at a time: then the model reads a
/// turn's prompt on from the turn before it, which is all that a deterministic model keeps.
///
/// Answers are kept until the parts and their sessions are dropped, so what does not ask the same takes parts of its own.
///
/// # Errors
/// `Unsupported` where the model is not deterministic: an answer from memory would not be one that it gives again.
pub fn recalling(parts: &Parts) -> Result<Parts> {
    let model = Recalled::of(parts.model.clone())?;
    Ok(parts.clone().through(Arc::new(model)).one_at_a_time())
}

/// A deterministic model, and what it answered. Errors are not kept.
#[derive(Debug)]
struct Recalled<M> {
    model: Arc<M>,
    /// By the digests of requests.
    written: Mutex<HashMap<String, Generation>>,
    scored: Mutex<HashMap<String, Vec<TokenScores>>>,
}

impl<M: LanguageModel> Recalled<M> {
    fn of(model: Arc<M>) -> Result<Self> {
        let capabilities = model.capabilities();
        if !capabilities.deterministic {
            let message = format!("{} is not deterministic", capabilities.model);
            let error = Error::new(ErrorKind::Unsupported, "figures::recalling", message);
            return Err(error.hint("load it by Parts::deterministic"));
        }
        Ok(Self {
            model,
            written: Mutex::default(),
            scored: Mutex::default(),
        })
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Recalled<M> {
    fn capabilities(&self) -> &ModelCapabilities {
        self.model.capabilities()
    }

    fn context(&self) -> usize {
        self.model.context()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        // Who watches a text as it is written gets nothing of one that was written before.
        if request.sink.is_some() {
            return self.model.generate(request).await;
        }
        let key = of_text(request)?;
        let known = lock(&self.written).get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let written = self.model.generate(request).await?;
        lock(&self.written).insert(key, written.clone());
        Ok(written)
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        self.model.count_prompt(request).await
    }
}

#[async_trait]
impl<M: Scorer> Scorer for Recalled<M> {
    fn model(&self) -> &ModelId {
        self.model.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let key = digest(&(
            &request.prompt,
            &request.continuations,
            request.max_continuation_tokens,
            &request.adapter,
            request.repeatable,
        ))?;
        let known = lock(&self.scored).get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let scored = self.model.score(request).await?;
        lock(&self.scored).insert(key, scored.clone());
        Ok(scored)
    }

    fn speed(&self) -> Option<ModelSpeed> {
        self.model.speed()
    }

    fn has_lasting_scores(&self) -> bool {
        self.model.has_lasting_scores()
    }

    fn is_trained_to_score(&self) -> bool {
        self.model.is_trained_to_score()
    }

    fn weights(&self, adapter: Option<&str>) -> ModelId {
        self.model.weights(adapter)
    }
}

/// All that a text depends on: not the time limit, and not the seed where nothing is drawn.
fn of_text(request: &GenerateRequest) -> Result<String> {
    let sampling = &request.sampling;
    let seed = (sampling.temperature > 0.0).then_some(sampling.seed);
    digest(&(
        &request.prompt,
        (sampling.temperature, sampling.top_p, seed),
        request.max_tokens,
        &request.stop,
        &request.adapter,
        &request.json_schema,
        &request.tools,
        &request.tool_choice,
    ))
}

fn digest(of: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(of);
    let fault = |error: serde_json::Error| {
        Error::invalid("Recalled", format!("a request is no JSON: {error}"))
    };
    Ok(sha256_hex(text.map_err(fault)?))
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use futures::executor::block_on;
    use journeyman::testing::Edited as _;
    use journeyman::{
        Seed,
        domain::{Message, Prompt, Sampling, Speaker},
    };

    use super::*;

    /// Answers with the number of the request.
    #[derive(Debug)]
    struct Numbered(ModelCapabilities, AtomicUsize);

    impl Numbered {
        fn new(deterministic: bool) -> Self {
            let mut capabilities = ModelCapabilities::new("numbered".into(), 4_096);
            capabilities.deterministic = deterministic;
            Self(capabilities, AtomicUsize::new(0))
        }

        fn recalled() -> Recalled<Self> {
            Recalled::of(Arc::new(Self::new(true))).unwrap()
        }

        fn next(&self) -> usize {
            self.1.fetch_add(1, Ordering::SeqCst)
        }
    }

    #[async_trait]
    impl LanguageModel for Numbered {
        fn capabilities(&self) -> &ModelCapabilities {
            &self.0
        }

        async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
            let text = self.next().to_string();
            Ok(Generation::new(self.0.model.clone(), &request.prompt, text))
        }
    }

    #[async_trait]
    impl Scorer for Numbered {
        fn model(&self) -> &ModelId {
            &self.0.model
        }

        async fn score(&self, _: &ScoreRequest) -> Result<Vec<TokenScores>> {
            Ok(vec![TokenScores::new(
                Vec::new(),
                vec![-(self.next() as f64)],
            )])
        }
    }

    fn prompt(text: &str) -> Prompt {
        Prompt::new(vec![Message::data(Speaker::User, text)])
    }

    fn request(text: &str, temperature: f32, seed: u64) -> GenerateRequest {
        GenerateRequest::greedy(prompt(text), 8)
            .edited(|it| it.sampling = Sampling::new(temperature, 1.0, Seed(seed)))
    }

    #[test]
    fn a_model_that_is_not_deterministic_is_refused() {
        let refused = Recalled::of(Arc::new(Numbered::new(false))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn a_text_is_recalled_for_the_same_request_alone() {
        let model = Numbered::recalled();
        let write = |request: GenerateRequest| block_on(model.generate(&request)).unwrap().text;
        assert_eq!(write(request("a", 0.7, 1)), "0");
        assert_eq!(write(request("a", 0.7, 1)), "0");
        assert_eq!(write(request("b", 0.7, 1)), "1");
        assert_eq!(write(request("a", 0.7, 2)), "2");
        assert_eq!(write(request("a", 0.6, 1)), "3");
        let longer = request("a", 0.7, 1).edited(|it| it.max_tokens = 9);
        assert_eq!(write(longer), "4");
        let slower = request("a", 0.7, 1).edited(|it| it.time_limit = Duration::from_secs(1));
        assert_eq!(write(slower), "0");
    }

    #[test]
    fn a_greedy_text_is_recalled_whatever_the_seed() {
        let model = Numbered::recalled();
        let write = |seed| block_on(model.generate(&request("a", 0.0, seed))).unwrap();
        assert_eq!(write(1), write(2));
    }

    #[test]
    fn scores_are_recalled_for_the_same_texts_alone() {
        let model = Numbered::recalled();
        let score = |texts: &[&str]| {
            let request = ScoreRequest::new(
                prompt("a"),
                texts.iter().map(|text| (*text).to_owned()).collect(),
            )
            .with_time_limit(Duration::from_secs(1));
            block_on(model.score(&request)).unwrap()
        };
        let first = score(&["b"]);
        assert_eq!(score(&["b"]), first);
        assert_ne!(score(&["b", "c"]), first);
    }
}
