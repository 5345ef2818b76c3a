//! A wrapper that runs the calls of a blocking part on threads.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use async_trait::async_trait;
use futures::{channel::oneshot, executor::block_on};

use crate::{
    contract::{
        Embedder, Embedding, EmbeddingSpace, Environment, EnvironmentCapabilities, Episode,
        GenerateRequest, Generation, Judge, JudgeRequest, LanguageModel, ModelCapabilities,
        ModelSpeed, Retriever, ScoreRequest, Scorer, TokenScores,
    },
    domain::{Action, Candidate, IndexUpdate, Observation, Query, Task, Transition, Verdict},
    error::{Error, Result},
    id::{ModelId, Revision, Seed},
};

/// A wrapper that runs each call of a part on a thread of its own. The part is a [`Judge`], an [`Environment`], a
/// [`LanguageModel`], a [`Scorer`], a [`Retriever`] or an [`Embedder`].
///
/// Time limits are enforced at await points ([`contract`](crate::contract)), so a part that blocks its thread exceeds
/// them. With this wrapper the caller awaits the thread of the call, and the limit is enforced. The call itself cannot be
/// stopped: it continues to its end on its thread, and its result is discarded. An episode whose step was given up cannot be
/// stepped again.
///
/// The part runs outside of any runtime. A part that awaits timers or sockets of a runtime, such as tokio's, does not block
/// and needs no wrapper; wrapped, it would panic.
///
/// An executor cannot be wrapped, since it borrows its episode: wrap the model that it calls. A store or a journal is not
/// wrapped, since after a write whose result is discarded the run would not know what is kept.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{agent::{EnvironmentJudge, OnThread}, contract::{Judge, JudgeRequest}, testing::sample};
///
/// # futures::executor::block_on(async {
/// let judge = OnThread::new(EnvironmentJudge);
/// let task = sample::task("t", &["one"]);
/// let trajectory = sample::trajectory("a", &task, &["one"], true);
/// let verdict = judge.judge(&JudgeRequest::new(&task, &trajectory)).await?;
/// assert_eq!(verdict.success(), Some(true));
/// # Ok::<(), journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct OnThread<P>(Arc<P>);

impl<P> OnThread<P> {
    /// Wraps a part.
    pub fn new(part: P) -> Self {
        Self(Arc::new(part))
    }
}

/// Runs a call on a thread of its own and awaits it.
async fn run<T: Send + 'static>(
    operation: &'static str,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    let spawned = thread::Builder::new()
        .name(format!("journeyman {operation}"))
        .spawn(move || {
            // Sending fails where the caller has given up; the result is then discarded.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(call)));
        });
    spawned.map_err(|source| {
        Error::unavailable(operation, "no thread could be had")
            .temporary()
            .source_from(source)
    })?;
    match receiver.await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(payload)) => std::panic::resume_unwind(payload),
        Err(_) => Err(Error::unavailable(
            operation,
            "the thread of the call ended without an answer",
        )),
    }
}

#[async_trait]
impl<J: Judge + 'static> Judge for OnThread<J> {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        let part = Arc::clone(&self.0);
        let (task, trajectory) = (request.task.clone(), request.trajectory.clone());
        run("Judge::judge", move || {
            let request = JudgeRequest {
                task: &task,
                trajectory: &trajectory,
            };
            block_on(part.judge(&request))
        })
        .await?
    }
}

#[async_trait]
impl<E: Environment + 'static> Environment for OnThread<E> {
    fn capabilities(&self) -> EnvironmentCapabilities {
        self.0.capabilities()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        let (part, task) = (Arc::clone(&self.0), task.clone());
        let reset = move || block_on(part.reset(&task, seed));
        let episode = run("Environment::reset", reset).await??;
        Ok(Box::new(ThreadedEpisode {
            seen: episode.observation().clone(),
            episode: Some(episode),
        }))
    }
}

#[async_trait]
impl<M: LanguageModel + 'static> LanguageModel for OnThread<M> {
    fn capabilities(&self) -> &ModelCapabilities {
        self.0.capabilities()
    }

    fn context(&self) -> usize {
        self.0.context()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let (part, request) = (Arc::clone(&self.0), request.clone());
        let call = move || block_on(part.generate(&request));
        run("LanguageModel::generate", call).await?
    }
}

#[async_trait]
impl<S: Scorer + 'static> Scorer for OnThread<S> {
    fn model(&self) -> &ModelId {
        self.0.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let (part, request) = (Arc::clone(&self.0), request.clone());
        run("Scorer::score", move || block_on(part.score(&request))).await?
    }

    fn speed(&self) -> Option<ModelSpeed> {
        self.0.speed()
    }

    fn has_lasting_scores(&self) -> bool {
        self.0.has_lasting_scores()
    }

    fn is_trained_to_score(&self) -> bool {
        self.0.is_trained_to_score()
    }

    fn weights(&self, adapter: Option<&str>) -> ModelId {
        self.0.weights(adapter)
    }
}

#[async_trait]
impl<R: Retriever + 'static> Retriever for OnThread<R> {
    async fn watermark(&self) -> Result<Revision> {
        let part = Arc::clone(&self.0);
        run("Retriever::watermark", move || block_on(part.watermark())).await?
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        let (part, update) = (Arc::clone(&self.0), update.clone());
        let call = move || block_on(part.refresh(&update));
        run("Retriever::refresh", call).await?
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let (part, query) = (Arc::clone(&self.0), query.clone());
        run("Retriever::search", move || block_on(part.search(&query))).await?
    }

    fn has_comparable_scores(&self) -> bool {
        self.0.has_comparable_scores()
    }
}

#[async_trait]
impl<E: Embedder + 'static> Embedder for OnThread<E> {
    fn space(&self) -> &EmbeddingSpace {
        self.0.space()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        let part = Arc::clone(&self.0);
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let call = move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            block_on(part.embed(&texts))
        };
        run("Embedder::embed", call).await?
    }
}

/// An episode that moves to a thread for each step and back.
struct ThreadedEpisode {
    seen: Observation,
    episode: Option<Box<dyn Episode>>,
}

impl fmt::Debug for ThreadedEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadedEpisode")
            .field("episode", &self.episode)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Episode for ThreadedEpisode {
    fn observation(&self) -> &Observation {
        &self.seen
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        const STEP: &str = "Episode::step";
        let Some(mut episode) = self.episode.take() else {
            return Err(Error::unavailable(
                STEP,
                "an earlier step was given up, and the episode with it",
            )
            .hint("begin a new episode"));
        };
        let action = action.clone();
        let (episode, stepped) = run(STEP, move || {
            let stepped = block_on(episode.step(&action));
            (episode, stepped)
        })
        .await?;
        self.seen = episode.observation().clone();
        self.episode = Some(episode);
        stepped
    }

    async fn close(self: Box<Self>) -> Result<()> {
        match self.episode {
            Some(episode) => run("Episode::close", move || block_on(episode.close())).await?,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::future::{Either, select};

    use super::*;
    use crate::{
        contract::Components,
        domain::{Message, Prompt, Speaker},
        testing::{
            Play, ScriptedEnvironment, ScriptedModel, ScriptedRetriever, ScriptedScorer,
            WordEmbedder, sample,
        },
    };

    /// Blocks its thread.
    #[derive(Debug)]
    struct Slow;

    #[async_trait]
    impl Judge for Slow {
        #[expect(
            clippy::disallowed_methods,
            reason = "a part that blocks is what is tested"
        )]
        async fn judge(&self, _: &JudgeRequest<'_>) -> Result<Verdict> {
            thread::sleep(Duration::from_secs(2));
            Ok(Verdict::binary(true))
        }
    }

    #[test]
    fn a_blocking_judge_can_be_given_up() {
        let task = sample::task("t", &["one"]);
        let trajectory = sample::trajectory("a", &task, &["one"], true);
        let request = JudgeRequest {
            task: &task,
            trajectory: &trajectory,
        };
        let judge = OnThread::new(Slow);
        let judging = std::pin::pin!(judge.judge(&request));
        let limit = futures_timer::Delay::new(Duration::from_millis(50));
        let first = block_on(select(judging, limit));
        assert!(matches!(first, Either::Right(_)), "the limit comes first");
    }

    #[test]
    fn a_model_a_scorer_and_a_retriever_behind_threads_answer_as_they_do_without() {
        block_on(async {
            let prompt = Prompt {
                messages: vec![Message::data(Speaker::User, "say one")],
                open: Vec::new(),
            };
            let model = ScriptedModel::by(|_, _| Play::Give("one".to_owned()));
            let model = OnThread::new(model);
            let said = model
                .generate(&GenerateRequest::greedy(prompt.clone(), 8))
                .await;
            assert_eq!(said.unwrap().text, "one");

            let scorer = Arc::new(ScriptedScorer::by(|_, _| Play::Give(-1.5)));
            let request = ScoreRequest {
                prompt,
                continuations: vec!["a skill".to_owned()],
                max_continuation_tokens: 8,
                time_limit: Duration::from_secs(1),
                adapter: None,
                repeatable: false,
            };
            let direct = scorer.score(&request).await.unwrap();
            let threaded = OnThread(Arc::clone(&scorer));
            assert_eq!(threaded.score(&request).await.unwrap(), direct);
            assert_eq!(threaded.model(), scorer.model());

            let retriever = OnThread::new(ScriptedRetriever::new());
            assert_eq!(retriever.watermark().await.unwrap(), Revision(0));
            let query = Query {
                text: "one".to_owned(),
                limit: 3,
                among: None,
            };
            assert_eq!(retriever.search(&query).await.unwrap(), []);
        });
    }

    #[test]
    fn an_embedder_behind_threads_is_the_same_embedder() {
        let direct = WordEmbedder::new(8);
        let threaded = OnThread::new(direct.clone());
        let texts = ["one", "two"];
        let (here, there) = (
            block_on(direct.embed(&texts)),
            block_on(threaded.embed(&texts)),
        );
        assert_eq!(here.unwrap(), there.unwrap());
        assert_eq!(direct.space(), threaded.space());
        let _ = Components::own_loop().with_embedder(Arc::new(threaded));
    }

    #[test]
    fn a_world_behind_threads_is_the_same_world() {
        block_on(async {
            let world = OnThread::new(ScriptedEnvironment::words());
            let task = sample::task("t", &["one", "two"]);
            let mut episode = world.reset(&task, Seed(1)).await.unwrap();
            let said = Action::Message("one".to_owned());
            let transition = episode.step(&said).await.unwrap();
            assert_eq!(episode.observation(), &transition.observation);
            assert!(transition.outcome.is_none());
            let said = Action::Message("two".to_owned());
            let transition = episode.step(&said).await.unwrap();
            assert!(transition.outcome.unwrap().success);
            episode.close().await.unwrap();
        });
    }
}
