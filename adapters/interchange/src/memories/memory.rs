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

impl Memory {
    /// A memory of an attempt at a task, in words: whether the task was done, and what the attempt was about.
    pub fn new(
        id: impl Into<String>,
        task: impl Into<String>,
        success: bool,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            task: task.into(),
            success,
            category: None,
            description: description.into(),
            steps: Vec::new(),
            planning_pattern: None,
            mistakes_to_avoid: Vec::new(),
        }
    }

    /// The same with the task's category.
    #[must_use]
    pub fn with_category(mut self, category: impl Into<Category>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// The same with the refined steps of a success, in order.
    #[must_use]
    pub fn with_steps(mut self, steps: Vec<MemoryStep>) -> Self {
        self.steps = steps;
        self
    }

    /// The same with the pattern of a success, in words.
    #[must_use]
    pub fn with_planning_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.planning_pattern = Some(pattern.into());
        self
    }

    /// The same with the mistakes of a failure.
    #[must_use]
    pub fn with_mistakes_to_avoid(mut self, mistakes: Vec<MemoryMistake>) -> Self {
        self.mistakes_to_avoid = mistakes;
        self
    }
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

impl MemoryStep {
    /// An action, what was seen after it, and why it was done.
    pub fn new(
        action: impl Into<String>,
        observation: impl Into<String>,
        reasoning: impl Into<String>,
    ) -> Self {
        Self {
            action: action.into(),
            observation: observation.into(),
            reasoning: reasoning.into(),
        }
    }
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

impl MemoryMistake {
    /// When the mistake happens, and what not to do then.
    pub fn new(trigger_condition: impl Into<String>, bad_action: impl Into<String>) -> Self {
        Self {
            trigger_condition: trigger_condition.into(),
            bad_action: bad_action.into(),
        }
    }
}
