//! The agent's world.

use std::fmt;

use async_trait::async_trait;

use crate::{
    domain::{Action, Observation, Task, Transition},
    error::Result,
    id::Seed,
};

/// Guarantees of an environment. The default promises nothing: what is not promised is not used.
///
/// ```
/// use journeyman::contract::EnvironmentCapabilities;
///
/// // A live service: what an attempt did there stays done, so each task is attempted once and nothing is replayed.
/// let live = EnvironmentCapabilities::default();
/// assert!(!live.resettable && !live.deterministic);
/// // A simulator with chance of its own: whole attempts are repeated, and none is resumed in the middle.
/// assert!(!EnvironmentCapabilities::resettable().deterministic);
/// assert!(EnvironmentCapabilities::deterministic().resettable);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentCapabilities {
    /// A task can be attempted again: [`Environment::reset`] sets it up as if it had never been attempted, and attempts leave
    /// nothing behind outside their episode. Without it the runtime attempts each task once: there are no groups of attempts,
    /// no test case is played, and skills are judged by later attempts alone.
    pub resettable: bool,
    /// The same task, seed and actions give the same transitions, so a prefix of actions can be replayed. Means nothing
    /// without `resettable`.
    pub deterministic: bool,
}

impl EnvironmentCapabilities {
    /// A world in which a task can be attempted again, and may go otherwise then.
    pub fn resettable() -> Self {
        Self {
            resettable: true,
            deterministic: false,
        }
    }

    /// A world in which a task can be attempted again, and the same actions have the same results.
    pub fn deterministic() -> Self {
        Self {
            resettable: true,
            deterministic: true,
        }
    }

    /// Whether an attempt can be resumed in its middle: the task is set up again, and its first actions are replayed.
    pub fn replays_prefixes(&self) -> bool {
        self.resettable && self.deterministic
    }
}

/// A world in which tasks are attempted.
///
/// ```
/// use journeyman::{Error, Result, Seed, async_trait};
/// use journeyman::contract::{Environment, EnvironmentCapabilities, Episode};
/// use journeyman::domain::{Action, Observation, Outcome, Source, Task, Transition};
///
/// /// The agent names words until it names the one in the task's payload.
/// #[derive(Debug)]
/// struct Guessing;
///
/// #[derive(Debug)]
/// struct Round {
///     word: Option<String>,
///     seen: Observation,
/// }
///
/// #[async_trait]
/// impl Environment for Guessing {
///     fn capabilities(&self) -> EnvironmentCapabilities {
///         EnvironmentCapabilities::deterministic()
///     }
///
///     async fn reset(&self, task: &Task, _seed: Seed) -> Result<Box<dyn Episode>> {
///         let word = task.payload.as_str().map(str::to_owned);
///         let seen = Observation::new("Name a word.", Source::trusted("guessing"));
///         match word {
///             None => Err(Error::invalid("Guessing::reset", "the payload is not a word")),
///             word => Ok(Box::new(Round { word, seen })),
///         }
///     }
/// }
///
/// #[async_trait]
/// impl Episode for Round {
///     fn observation(&self) -> &Observation {
///         &self.seen
///     }
///
///     async fn step(&mut self, action: &Action) -> Result<Transition> {
///         let word = self.word.as_ref();
///         let word = word.ok_or_else(|| Error::invalid("Round::step", "the episode is over"))?;
///         Ok(match action {
///             Action::Message(named) if named == word => {
///                 self.word = None;
///                 Transition::end(self.seen.clone(), Outcome::success())
///             }
///             Action::Message(_) => Transition::next(self.seen.clone()),
///             _ => Transition::refused(self.seen.clone()),
///         })
///     }
///
///     async fn close(self: Box<Self>) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let task = Task::new("guess", "Name the word.").with_payload("kettle");
/// let mut episode = Guessing.reset(&task, Seed(7)).await?;
/// assert_eq!(episode.step(&Action::Message("pot".to_owned())).await?.outcome, None);
/// let last = episode.step(&Action::Message("kettle".to_owned())).await?;
/// assert_eq!(last.outcome, Some(Outcome::success()));
/// assert!(episode.step(&Action::EndTurn).await.is_err());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *again*: when `resettable`, a task whose episode ended can be set up again, and takes the same actions again.
/// - *repeats*: when `deterministic`, the same task, seed and actions give the same transitions.
/// - *apart*: episodes do not disturb each other, also when they run at once.
/// - *unknown task*: a task that the world cannot set up is `Invalid` or `NotFound`.
#[async_trait]
pub trait Environment: fmt::Debug + Send + Sync {
    /// The world's guarantees.
    fn capabilities(&self) -> EnvironmentCapabilities;

    /// Begins an episode of a task.
    ///
    /// # Errors
    /// `Invalid` or `NotFound` for a task it cannot set up; `Unavailable`.
    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>>;
}

/// One attempt's world. The driver owns it and closes it.
///
/// ```
/// use journeyman::{Seed, contract::Environment, domain::Action};
/// use journeyman::testing::{ScriptedEnvironment, sample};
///
/// # futures::executor::block_on(async {
/// let task = sample::task("greet", &["good", "day"]);
/// let mut episode = ScriptedEnvironment::words().reset(&task, Seed(7)).await?;
/// let first = episode.step(&Action::Message("good".to_owned())).await?;
/// assert_eq!(first.outcome, None);
/// let last = episode.step(&Action::Message("day".to_owned())).await?;
/// assert!(last.outcome.is_some_and(|outcome| outcome.success));
/// episode.close().await?;
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *outcome*: the transition that ends an episode carries the outcome, and no other does.
/// - *refusal*: an action that the world refuses is a transition with `is_error`, not an `Err`.
/// - *over*: a step after the end is `Invalid`.
#[async_trait]
pub trait Episode: fmt::Debug + Send {
    /// The current observation.
    fn observation(&self) -> &Observation;

    /// Takes an action.
    ///
    /// # Errors
    /// `Invalid` after the end; `Unavailable` when the world itself fails.
    async fn step(&mut self, action: &Action) -> Result<Transition>;

    /// Ends the episode and frees what it holds.
    ///
    /// # Errors
    /// `Unavailable` when the world could not be closed cleanly.
    async fn close(self: Box<Self>) -> Result<()>;
}
