//! An agent whose attempts the host sees.

use std::fmt;

use async_trait::async_trait;

use crate::{
    contract::{Attempt, Episode, Executor, ModelCapabilities},
    domain::{Injection, Task, Trajectory},
    error::Result,
};

/// An agent whose attempts a function of the host sees when they have ended: to write a trace, or to show them.
///
/// The function is called with the task, the skills that the attempt had at its first turn (later ones are in
/// [`Trajectory::exposures`] too), and what the agent made of it: once for each attempt that could be made, before it is judged.
/// What the run adds to a trajectory is not there yet, such as
/// [`Trajectory::injection`]. Attempts of a group may call it at once from several threads. An attempt ends when the function has
/// returned, so it should be quick. What it sees has not been cleared of secrets: a [`Redactor`](crate::text::Redactor) hides
/// those whose form is known.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use journeyman::{Seed, agent::ObservedExecutor, contract::{Attempt, Environment, Executor, FixedGuidance}};
/// use journeyman::{domain::{Action, Injection, Task}, testing::{Play, ScriptedEnvironment, ScriptedExecutor}};
/// # futures::executor::block_on(async {
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let sees = seen.clone();
/// let agent = ScriptedExecutor::acting(|_, steps| Play::Give(steps.is_empty().then(|| Action::Message("good".into()))));
/// let agent = ObservedExecutor::new(agent, move |task, _, trajectory| {
///     sees.lock().unwrap().push((task.id.clone(), trajectory.steps.len()));
/// });
/// # let task = Task::new("greet", "good day").with_payload(vec!["good"]);
/// # let mut episode = ScriptedEnvironment::words().reset(&task, Seed(7)).await?;
/// # let nothing = Injection::NONE;
/// # let guidance = FixedGuidance::new(nothing.clone());
/// # let attempt = Attempt::new("first", &task, Seed(7), &nothing, &guidance);
/// agent.execute(attempt, episode.as_mut()).await?;
/// assert_eq!(*seen.lock().unwrap(), [("greet".into(), 1)]);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub struct ObservedExecutor<E, F> {
    agent: E,
    observe: F,
}

impl<E, F> ObservedExecutor<E, F>
where
    E: Executor,
    F: Fn(&Task, &Injection, &Trajectory) + Send + Sync,
{
    /// An agent, and the function that sees its attempts.
    pub fn new(agent: E, observe: F) -> Self {
        Self { agent, observe }
    }
}

impl<E: fmt::Debug, F> fmt::Debug for ObservedExecutor<E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedExecutor")
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<E, F> Executor for ObservedExecutor<E, F>
where
    E: Executor,
    F: Fn(&Task, &Injection, &Trajectory) + Send + Sync,
{
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        let (task, injection) = (attempt.task, attempt.injection);
        let trajectory = self.agent.execute(attempt, episode).await?;
        (self.observe)(task, injection, &trajectory);
        Ok(trajectory)
    }

    fn capabilities(&self) -> Option<&ModelCapabilities> {
        self.agent.capabilities()
    }
}
