//! The agent's world.

use std::fmt;

use async_trait::async_trait;

use crate::{
    domain::{Action, Observation, Task, Transition},
    error::Result,
    id::Seed,
};

/// What an environment can promise.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentCapabilities {
    /// The same task, seed and actions give the same transitions, so a prefix of actions can be replayed.
    pub deterministic: bool,
}

impl EnvironmentCapabilities {
    /// A world that gives the same answers to the same actions.
    pub fn deterministic() -> Self {
        Self {
            deterministic: true,
        }
    }
}

/// A world in which tasks are attempted.
///
/// # Behaviour
/// - *repeats*: when `deterministic`, the same task, seed and actions give the same transitions.
/// - *apart*: episodes do not disturb each other, also when they run at once.
/// - *unknown task*: a task that the world cannot set up is `Invalid` or `NotFound`.
#[async_trait]
pub trait Environment: fmt::Debug + Send + Sync {
    /// What the world can promise.
    fn capabilities(&self) -> EnvironmentCapabilities;

    /// Begins an episode.
    ///
    /// # Errors
    /// `Invalid` or `NotFound` for a task it cannot set up; `Unavailable`.
    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>>;
}

/// One attempt's world. The driver owns it and closes it.
///
/// # Behaviour
/// - *outcome*: the transition that ends an episode carries the outcome, and no other does.
/// - *refusal*: an action that the world refuses is a transition with `is_error`, not an `Err`.
/// - *over*: a step after the end is `Invalid`.
#[async_trait]
pub trait Episode: fmt::Debug + Send {
    /// What the agent sees now.
    fn observation(&self) -> &Observation;

    /// Acts.
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
