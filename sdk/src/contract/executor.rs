//! The agent.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::{Episode, Guidance, ModelCapabilities};
use crate::{
    domain::{Action, Exposure, Injection, SkillUse, Task, Trajectory},
    error::Result,
    id::{AttemptId, Seed},
};

/// A request to attempt a task.
///
/// ```
/// use journeyman::{
///     Seed,
///     contract::{Attempt, FixedGuidance},
///     domain::{EndReason, Injection, Task},
/// };
///
/// let (task, nothing) = (Task::new("t-1", "Close ticket 17."), Injection::NONE);
/// let guidance = FixedGuidance::new(Injection::NONE);
/// let attempt = Attempt::new("first", &task, Seed(7), &nothing, &guidance);
/// assert_eq!(attempt.temperature, 0.0);
/// // The executor fills it in.
/// let trajectory = attempt.trajectory();
/// assert!(trajectory.steps.is_empty() && trajectory.end == EndReason::GaveUp);
/// ```
#[non_exhaustive]
#[derive(Debug)]
pub struct Attempt<'a> {
    /// The attempt's id.
    pub id: AttemptId,
    /// The task.
    pub task: &'a Task,
    /// The seed of the agent's randomness.
    pub seed: Seed,
    /// Sampling temperature, at least 0. 0 is greedy; a group of rollouts explores with a greater one.
    pub temperature: f32,
    /// The skills for the first turn that the agent takes itself.
    pub injection: &'a Injection,
    /// Gives the skills for each later turn.
    pub guidance: &'a dyn Guidance,
    /// Greatest duration of the attempt.
    pub time_limit: Duration,
    /// Actions to replay before the agent acts itself; needs a deterministic environment.
    pub prefix: &'a [Action],
}

impl<'a> Attempt<'a> {
    /// A greedy attempt of at most a minute, without actions to replay.
    pub fn new(
        id: impl Into<AttemptId>,
        task: &'a Task,
        seed: Seed,
        injection: &'a Injection,
        guidance: &'a dyn Guidance,
    ) -> Self {
        Self {
            id: id.into(),
            task,
            seed,
            temperature: 0.0,
            injection,
            guidance,
            time_limit: Duration::from_secs(60),
            prefix: &[],
        }
    }

    /// The trajectory of this attempt before its first step, with every skill of the first turn as an exposure of unknown
    /// use.
    pub fn trajectory(&self) -> Trajectory {
        let mut trajectory = Trajectory::new(self.id.clone(), self.task.id.clone(), self.seed);
        let skills = self.injection.skills.iter();
        trajectory.exposures = skills
            .map(|injected| Exposure {
                skill: injected.skill.clone(),
                used: SkillUse::Unknown,
                since: 0,
            })
            .collect();
        trajectory
    }
}

/// The agent: acts in an episode until it is over or it gives up.
///
/// ```
/// use journeyman::{Result, async_trait, contract::{Attempt, Episode, Executor}};
/// use journeyman::domain::{Action, EndReason, Step, StepResult, Trajectory};
///
/// /// Says the words of the instruction, one a step.
/// #[derive(Debug)]
/// struct Speller;
///
/// #[async_trait]
/// impl Executor for Speller {
///     async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
///         let mut trajectory = attempt.trajectory();
///         let words = attempt.task.instruction.split(' ').skip(attempt.prefix.len());
///         let words = words.map(|word| Action::Message(word.to_owned()));
///         for action in attempt.prefix.iter().cloned().chain(words) {
///             let seen = episode.observation().clone();
///             let transition = match episode.step(&action).await {
///                 Ok(transition) => transition,
///                 Err(error) => {
///                     trajectory.end = EndReason::Failed(error);
///                     break;
///                 }
///             };
///             let result = StepResult::from(&transition);
///             trajectory.push(Step::new(action, result).seeing(seen));
///             if transition.outcome.is_some() {
///                 (trajectory.outcome, trajectory.end) = (transition.outcome, EndReason::Finished);
///                 break;
///             }
///         }
///         Ok(trajectory)
///     }
/// }
/// # use journeyman::{Seed, contract::{Environment, FixedGuidance}, domain::{Injection, Task}};
/// # use journeyman::testing::ScriptedEnvironment;
/// # futures::executor::block_on(async {
/// #
/// let task = Task::new("greet", "good day").with_payload(vec!["good", "day"]);
/// let mut episode = ScriptedEnvironment::words().reset(&task, Seed(7)).await?;
/// # let nothing = Injection::NONE;
/// # let guidance = FixedGuidance::new(nothing.clone());
/// # let attempt = Attempt::new("first", &task, Seed(7), &nothing, &guidance);
/// let trajectory = Speller.execute(attempt, episode.as_mut()).await?;
/// assert_eq!((trajectory.steps.len(), trajectory.end), (2, EndReason::Finished));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *trajectory*: a failed attempt is a `Trajectory` that says why it ended; `Err` means that it could not try.
/// - *steps*: the steps are numbered from 0 in order, and each carries what was seen, done and answered.
/// - *outcome*: the outcome of the episode's last transition is the trajectory's.
/// - *prefix*: the actions of `prefix` come first, in order.
/// - *exposures*: every injected skill is an exposure. Its use is what the agent said of it, as reported to the guidance: followed,
///   not followed, or unknown where the agent said nothing.
#[async_trait]
pub trait Executor: fmt::Debug + Send + Sync {
    /// Attempts a task.
    ///
    /// # Errors
    /// When the attempt could not be made at all, such as a model that is not there.
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory>;

    /// The capabilities of the model that acts, where one does and it is known; the time of attempts follows from its speed.
    fn capabilities(&self) -> Option<&ModelCapabilities> {
        None
    }
}
