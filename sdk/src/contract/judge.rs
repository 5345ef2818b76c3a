//! The judgement of results.

use std::fmt;

use async_trait::async_trait;

use crate::{
    domain::{Task, Trajectory, Verdict},
    error::Result,
};

/// What is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct JudgeRequest<'a> {
    /// The task.
    pub task: &'a Task,
    /// The attempt at it.
    pub trajectory: &'a Trajectory,
}

/// Says whether, and how well, a task was done.
///
/// # Behaviour
/// - *valid*: the score is in [0, 1] and every part is finite.
/// - *unsure*: what cannot be told is `success: None`, never a guess.
/// - *repeats*: the same trajectory gets the same verdict, unless the judge says that it draws samples.
#[async_trait]
pub trait Judge: fmt::Debug + Send + Sync {
    /// Judges.
    ///
    /// # Errors
    /// When no verdict could be reached; that attempt then credits nothing.
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict>;
}
