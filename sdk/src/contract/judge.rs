//! The judge of attempts.

use std::fmt;

use async_trait::async_trait;

use crate::{
    domain::{Task, Trajectory, Verdict},
    error::Result,
};

/// A request for a verdict.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct JudgeRequest<'a> {
    /// The task.
    pub task: &'a Task,
    /// The attempt at it.
    pub trajectory: &'a Trajectory,
}

impl<'a> JudgeRequest<'a> {
    /// A request to judge an attempt at a task.
    pub fn new(task: &'a Task, trajectory: &'a Trajectory) -> Self {
        Self { task, trajectory }
    }
}

/// Decides whether a task was done, and how well.
///
/// ```
/// use journeyman::{Result, async_trait, contract::{Judge, JudgeRequest}};
/// use journeyman::domain::{Action, Verdict};
///
/// /// Success where the agent says the word in the task's payload; no verdict for a task without one.
/// #[derive(Debug)]
/// struct SaysTheWord;
///
/// #[async_trait]
/// impl Judge for SaysTheWord {
///     async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
///         let Some(word) = request.task.payload.as_str() else {
///             return Ok(Verdict::undecided());
///         };
///         let says = |action: &Action| matches!(action, Action::Message(text) if text.contains(word));
///         let said = request.trajectory.steps.iter().any(|step| says(&step.action));
///         Ok(Verdict::binary(said))
///     }
/// }
/// # use journeyman::{Seed, domain::{Source, Step, StepResult, Task, Trajectory}};
/// # futures::executor::block_on(async {
/// #
/// let task = Task::new("ask", "Ask for the kettle.").with_payload("kettle");
/// let mut trajectory = Trajectory::new("first".into(), task.id.clone(), Seed(7));
/// let asks = Action::Message("Where is the kettle?".to_owned());
/// trajectory.push(Step::new(asks, StepResult::new("On the stove.", Source::default())));
/// let request = JudgeRequest::new(&task, &trajectory);
/// assert_eq!(SaysTheWord.judge(&request).await?.success(), Some(true));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *answers*: an attempt at a task of its kind gets a verdict, and not an error.
/// - *unsure*: an attempt that cannot be judged gets [`Verdict::undecided`] or another verdict without success, never a guess.
/// - *repeats*: the same trajectory gets the same verdict, unless the judge says that it draws samples.
#[async_trait]
pub trait Judge: fmt::Debug + Send + Sync {
    /// The verdict on an attempt.
    ///
    /// # Errors
    /// When no verdict could be reached; that attempt then credits nothing.
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict>;
}
