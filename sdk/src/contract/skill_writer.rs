//! The role that writes a skill from successful attempts.

use std::fmt;

use super::GenerateRequest;
use crate::{
    domain::{SkillDraft, Task, Trajectory},
    error::Result,
    id::Seed,
};

/// A successful attempt, and what the writer is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace<'a> {
    /// The attempt.
    pub trajectory: &'a Trajectory,
}

/// What a skill is to be written from.
#[derive(Clone, Debug)]
pub struct WriteRequest<'a> {
    /// The task.
    pub task: &'a Task,
    /// One or two successful attempts, the best first.
    pub traces: &'a [Trace<'a>],
    /// What sampling follows from.
    pub seed: Seed,
    /// The unreadable answer and what was wrong with it, when this is the one repair.
    pub failed: Option<(&'a str, &'a str)>,
}

/// The role that summarises successful attempts into a skill (ARISE D.1): a prompt and a parser. Pure.
///
/// # Behaviour
/// - *pure*: the same request gives the same prompt, the same text the same draft.
/// - *garbage*: no text makes `read` panic; what cannot be read is a `Model` error that says what was wrong.
/// - *bounded*: the draft's description has 1 to 1,024 characters, and the body is not empty.
/// - *fallback*: `fallback` gives a valid draft for any successful attempt.
pub trait SkillWriter: fmt::Debug + Send + Sync {
    /// What to ask the model.
    fn prompt(&self, request: &WriteRequest<'_>) -> GenerateRequest;

    /// Reads the model's answer.
    ///
    /// # Errors
    /// `Model`, saying what was wrong.
    fn read(&self, request: &WriteRequest<'_>, text: &str) -> Result<SkillDraft>;

    /// A minimal skill straight from the first trace, without a model (D.1's trace abstraction).
    fn fallback(&self, request: &WriteRequest<'_>) -> SkillDraft;
}
