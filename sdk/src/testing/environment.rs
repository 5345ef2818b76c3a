//! An environment that follows a script.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use super::{
    play::{Calls, Play},
    sample,
};
use crate::{
    contract::{Environment, EnvironmentCapabilities, Episode},
    domain::{Action, Observation, Outcome, Task, Transition},
    error::{Error, Result},
    id::Seed,
};

type Begin = dyn Fn(&Task, Seed) -> Play<Observation> + Send + Sync;
type Script = dyn Fn(&Task, Seed, &[Action]) -> Play<Transition> + Send + Sync;

/// An [`Environment`] that follows a script: a closure from the task, the seed and all actions so far to the last
/// action's transition. So it is deterministic.
///
/// ```
/// use journeyman::{
///     Seed,
///     contract::Environment,
///     domain::{Action, Outcome, Task, Transition},
///     testing::{Play, ScriptedEnvironment, sample},
/// };
///
/// // Any two actions do the task.
/// let world = ScriptedEnvironment::by(|_task, _seed, actions| {
///     let seen = sample::observation("noted");
///     Play::Give(match actions.len() {
///         2 => Transition::end(seen, Outcome::success()),
///         _ => Transition::next(seen),
///     })
/// });
/// # futures::executor::block_on(async {
/// let mut episode = world.reset(&Task::new("t-1", "Do it twice."), Seed(7)).await?;
/// assert_eq!(episode.step(&Action::EndTurn).await?.outcome, None);
/// assert_eq!(episode.step(&Action::EndTurn).await?.outcome, Some(Outcome::success()));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub struct ScriptedEnvironment {
    begin: Arc<Begin>,
    script: Arc<Script>,
    opened: Calls,
    closed: Arc<Calls>,
    capabilities: EnvironmentCapabilities,
}

impl ScriptedEnvironment {
    /// An environment that follows a closure; the first observation is the task's instruction.
    pub fn by(
        script: impl Fn(&Task, Seed, &[Action]) -> Play<Transition> + Send + Sync + 'static,
    ) -> Self {
        Self {
            begin: Arc::new(|task, _| Play::Give(sample::observation(&task.instruction))),
            script: Arc::new(script),
            opened: Calls::default(),
            closed: Arc::default(),
            capabilities: EnvironmentCapabilities::deterministic(),
        }
    }

    /// Declares these guarantees; what the environment does stays the same. Default: deterministic.
    #[must_use]
    pub fn declaring(mut self, capabilities: EnvironmentCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// An environment in which the agent must say the words of the task's payload, a list of texts, one after the other. A
    /// wrong word is refused, the end of the turn ends the episode as a failure, and a payload that is not a list is an
    /// unknown task.
    pub fn words() -> Self {
        Self::by(|task, _, actions| {
            let words = listed(task).unwrap_or_default();
            let said = (actions.iter())
                .filter(|a| matches!(a, Action::Message(_)))
                .fold(0, |said, action| {
                    said + usize::from(is_word(action, words.get(said)))
                });
            let right = actions.split_last().is_none_or(|(last, before)| {
                let due = (before.iter()).fold(0, |said, action| {
                    said + usize::from(is_word(action, words.get(said)))
                });
                is_word(last, words.get(due))
            });
            let ended = matches!(actions.last(), Some(Action::EndTurn));
            let done = said == words.len();
            Play::Give(Transition {
                observation: sample::observation(match (done, ended, right) {
                    (true, ..) => "that was all",
                    (_, true, _) => "not all words were said",
                    (_, _, true) => "go on",
                    _ => "that is not the next word",
                }),
                is_error: !right && !ended,
                outcome: (done || ended).then(|| Outcome {
                    success: done,
                    score: f64::from(u8::from(done)),
                    parts: std::collections::BTreeMap::new(),
                }),
            })
        })
        .beginning(|task, _| match listed(task) {
            Some(words) if !words.is_empty() => Play::Give(sample::observation(&task.instruction)),
            _ => Play::Fail(Error::invalid(
                "Environment::reset",
                "the task's payload is not a list of words",
            )),
        })
    }

    /// Replaces the first observation by that of a closure.
    #[must_use]
    pub fn beginning(
        mut self,
        begin: impl Fn(&Task, Seed) -> Play<Observation> + Send + Sync + 'static,
    ) -> Self {
        self.begin = Arc::new(begin);
        self
    }

    /// The number of episodes that were begun.
    pub fn opened(&self) -> usize {
        self.opened.count()
    }

    /// The number of episodes that were closed.
    pub fn closed(&self) -> usize {
        self.closed.count()
    }
}

fn listed(task: &Task) -> Option<Vec<String>> {
    serde_json::from_value(task.payload.clone()).ok()
}

fn is_word(action: &Action, due: Option<&String>) -> bool {
    matches!((action, due), (Action::Message(said), Some(due)) if said == due)
}

impl fmt::Debug for ScriptedEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedEnvironment")
            .field("opened", &self.opened())
            .field("closed", &self.closed())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Environment for ScriptedEnvironment {
    fn capabilities(&self) -> EnvironmentCapabilities {
        self.capabilities.clone()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        let observation = (self.begin)(task, seed).perform().await?;
        self.opened.next();
        Ok(Box::new(ScriptedEpisode {
            script: Arc::clone(&self.script),
            closed: Arc::clone(&self.closed),
            task: task.clone(),
            seed,
            actions: Vec::new(),
            observation,
            over: false,
        }))
    }
}

struct ScriptedEpisode {
    script: Arc<Script>,
    closed: Arc<Calls>,
    task: Task,
    seed: Seed,
    actions: Vec<Action>,
    observation: Observation,
    over: bool,
}

impl fmt::Debug for ScriptedEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedEpisode")
            .field("task", &self.task.id)
            .field("actions", &self.actions.len())
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Episode for ScriptedEpisode {
    fn observation(&self) -> &Observation {
        &self.observation
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        if self.over {
            return Err(Error::invalid("Episode::step", "the episode is over"));
        }
        self.actions.push(action.clone());
        let play = (self.script)(&self.task, self.seed, &self.actions);
        let transition = play.perform().await?;
        self.observation = transition.observation.clone();
        self.over = transition.outcome.is_some();
        Ok(transition)
    }

    async fn close(self: Box<Self>) -> Result<()> {
        self.closed.next();
        Ok(())
    }
}
