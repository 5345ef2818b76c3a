//! Memories: values.

use journeyman::Category;

/// A memory of one attempt.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its id, unique within a text.
    pub id: String,
    /// The task, in words.
    pub task: String,
    /// Whether the task was done.
    pub success: bool,
    /// The task's category, where the description says `classified as '...'`.
    pub category: Option<Category>,
    /// What the attempt was about and how it went, in words.
    pub description: String,
    /// The refined steps of a success.
    pub steps: Vec<MemoryStep>,
    /// The pattern of a success, in words.
    pub planning_pattern: Option<String>,
    /// The mistakes of a failure.
    pub mistakes_to_avoid: Vec<MemoryMistake>,
}

/// A step of a memory.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryStep {
    /// The action.
    pub action: String,
    /// What was seen.
    pub observation: String,
    /// Why it was done.
    pub reasoning: String,
}

/// A mistake of a memory.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryMistake {
    /// When it happens.
    pub trigger_condition: String,
    /// What not to do.
    pub bad_action: String,
}
