//! The agent.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::{Episode, Guidance};
use crate::{
    domain::{Action, Exposure, Injection, Task, Trajectory},
    error::Result,
    id::{AttemptId, Seed},
};

/// What an executor is asked to do.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// Which attempt.
    pub id: AttemptId,
    /// At which task.
    pub task: &'a Task,
    /// What the agent's randomness follows from.
    pub seed: Seed,
    /// 0 is greedy; a group of rollouts explores with more.
    pub temperature: f32,
    /// The skills for the first turn that the agent takes itself.
    pub injection: &'a Injection,
    /// Whom to ask at each later turn.
    pub guidance: &'a dyn Guidance,
    /// How long it may take.
    pub time_limit: Duration,
    /// Actions to replay before acting freely; needs a deterministic environment.
    pub prefix: &'a [Action],
}

impl Attempt<'_> {
    /// The trajectory of this attempt before its first step, with every skill of the first turn as an exposure that is not
    /// used yet.
    pub fn trajectory(&self) -> Trajectory {
        let mut trajectory = Trajectory::new(self.id.clone(), self.task.id.clone(), self.seed);
        let skills = self.injection.skills.iter();
        trajectory.exposures = skills
            .map(|injected| Exposure {
                skill: injected.skill.clone(),
                used: false,
                since: 0,
            })
            .collect();
        trajectory
    }
}

/// The agent: acts in an episode until it is over or it gives up.
///
/// # Behaviour
/// - *trajectory*: a failed attempt is a `Trajectory` that says why it ended; `Err` means that it could not try.
/// - *steps*: the steps are numbered from 0 in order, and each carries what was seen, done and answered.
/// - *outcome*: the outcome of the episode's last transition is the trajectory's.
/// - *prefix*: the actions of `prefix` come first, in order.
/// - *exposures*: every injected skill is an exposure, marked as used when the agent used it.
#[async_trait]
pub trait Executor: fmt::Debug + Send + Sync {
    /// Attempts a task.
    ///
    /// # Errors
    /// When the attempt could not be made at all, such as a model that is not there.
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory>;
}
