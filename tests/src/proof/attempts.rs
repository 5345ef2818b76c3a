//! Sessions of a model in which an attempt costs little: it ends with the first refused call, and every few attempts a line says how
//! long they take.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use async_trait::async_trait;
use journeyman::{
    Error, ModelId, Result, Seed,
    agent::{MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{
        Attempt, Environment, EnvironmentCapabilities, Episode, Executor, LanguageModel,
        ModelCapabilities, PromptFormat,
    },
    domain::{Action, Observation, Outcome, Task, Trajectory, Transition, Usage},
    recipe::Recipe,
    run::Journeyman,
};
use quickstart::Parts;

use super::services::components;
use crate::real_models::told;

/// Attempts from one line of progress to the next.
const PROGRESS_EVERY: usize = 12;

/// A model that acts, with the form in which it is asked.
#[derive(Debug)]
pub(super) struct Acting {
    parts: Parts,
    format: Arc<dyn PromptFormat>,
    /// Of all sessions.
    made: Arc<AttemptCount>,
}

impl Acting {
    pub(super) fn new(parts: Parts, format: Arc<dyn PromptFormat>) -> Self {
        let model = parts.model.capabilities().model.to_string();
        Self {
            parts,
            format,
            made: Arc::new(AttemptCount {
                model,
                start: Instant::now(),
                count: Mutex::default(),
            }),
        }
    }

    pub(super) fn model(&self) -> &ModelId {
        &self.parts.model.capabilities().model
    }

    /// A session on a store, with the judge of tasks that are done at once.
    pub(super) async fn session(
        &self,
        store: Arc<MemoryStore>,
        recipe: Recipe,
        (name, seed): (&str, Seed),
    ) -> Result<Journeyman> {
        let parts = &self.parts;
        let mut components = components(parts, store)?;
        let options = ModelExecutorOptions::default();
        components.executor = Some(Arc::new(Counted {
            agent: ModelExecutor::new(parts.asked(), Arc::clone(&self.format), options)?,
            made: Arc::clone(&self.made),
        }));
        let world = components.environment.take();
        components.environment =
            world.map(|world| Arc::new(UntilRefused(world)) as Arc<dyn Environment>);
        components.prompt_format = Some(Arc::clone(&self.format));
        Journeyman::open(components, recipe, parts.options(name, seed)).await
    }
}

/// The attempts of a model so far.
#[derive(Debug)]
struct AttemptCount {
    model: String,
    start: Instant,
    count: Mutex<(usize, Usage)>,
}

impl AttemptCount {
    fn one_more(&self, usage: Usage) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        count.0 += 1;
        count.1.add(usage);
        let (attempts, usage) = *count;
        if attempts.is_multiple_of(PROGRESS_EVERY) {
            let (model, seconds) = (&self.model, self.start.elapsed().as_secs());
            let (read, written) = (usage.prompt_tokens, usage.output_tokens);
            told(&format!(
                "  {attempts} attempts of {model}, {seconds} s since it was loaded; prompts of {read} tokens, answers of {written}"
            ));
        }
    }
}

/// An agent whose attempts are counted.
#[derive(Debug)]
struct Counted {
    agent: ModelExecutor,
    made: Arc<AttemptCount>,
}

#[async_trait]
impl Executor for Counted {
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        let trajectory = self.agent.execute(attempt, episode).await?;
        self.made.one_more(trajectory.usage);
        Ok(trajectory)
    }

    fn capabilities(&self) -> Option<&ModelCapabilities> {
        self.agent.capabilities()
    }
}

/// A world whose episodes end with the first refused call. The task is then not done at once, whatever would come after it.
#[derive(Debug)]
struct UntilRefused(Arc<dyn Environment>);

#[async_trait]
impl Environment for UntilRefused {
    fn capabilities(&self) -> EnvironmentCapabilities {
        self.0.capabilities()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        Ok(Box::new(Ending {
            episode: self.0.reset(task, seed).await?,
            is_over: false,
        }))
    }
}

#[derive(Debug)]
struct Ending {
    episode: Box<dyn Episode>,
    is_over: bool,
}

#[async_trait]
impl Episode for Ending {
    fn observation(&self) -> &Observation {
        self.episode.observation()
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        if self.is_over {
            return Err(Error::invalid("Episode::step", "the episode is over"));
        }
        let mut transition = self.episode.step(action).await?;
        if transition.is_error && transition.outcome.is_none() {
            transition.outcome = Some(Outcome::failure());
        }
        self.is_over = transition.outcome.is_some();
        Ok(transition)
    }

    async fn close(self: Box<Self>) -> Result<()> {
        self.episode.close().await
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use journeyman::{ErrorKind, domain::ToolCall};
    use journeyman_toolworld::{
        environment::Toolworld,
        stream::{Universe, UniverseSpec},
        tool::{ToolName, wire_name},
    };
    use serde_json::{Value, json};

    use super::*;

    fn call(tool: &ToolName, arguments: Value) -> Action {
        Action::Call(vec![ToolCall::new(wire_name(tool), arguments)])
    }

    #[test]
    fn an_episode_ends_with_the_first_refused_call() {
        let universe = Universe::make(UniverseSpec::of(1, 0), 101).unwrap();
        let stream = universe.stream(1);
        let (task, asked) = (stream[0].task().unwrap(), &stream[0].world);
        let target = &asked.goal.target;
        let mut tools = asked.services.iter().map(|service| &service.tool.name);
        let other = tools.find(|tool| *tool != target).unwrap();
        let world = UntilRefused(Arc::new(Toolworld::default()));
        block_on(async {
            let mut episode = world.reset(&task, Seed(1)).await.unwrap();
            let accepted = episode.step(&call(other, json!({}))).await.unwrap();
            assert!(!accepted.is_error);
            assert_eq!(accepted.outcome, None);
            let refused = call(target, json!({"nothing": 1}));
            let transition = episode.step(&refused).await.unwrap();
            assert!(transition.is_error);
            assert_eq!(transition.outcome, Some(Outcome::failure()));
            let over = episode.step(&refused).await.unwrap_err();
            assert_eq!(over.kind(), ErrorKind::Invalid);
            episode.close().await.unwrap();
        });
    }
}
