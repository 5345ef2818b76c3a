//! A task, and whether a run learns from it.

use serde::{Deserialize, Serialize};

use crate::id::{Category, TaskId};

/// A task to attempt in an environment.
///
/// ```
/// use journeyman::domain::Task;
/// use serde_json::json;
///
/// let task = Task::new("ticket-17", "Refund the customer's last order.")
///     .with_category("refunds")
///     .with_tags(["verify-customer"])
///     .with_payload(json!({"order": 4711}));
/// assert_eq!(task.payload["order"], 4711);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Unique within what a host hands over.
    pub id: TaskId,
    /// The request, in words: the query of retrieval and of the gate.
    pub instruction: String,
    /// The host's own grouping.
    pub category: Option<Category>,
    /// Free labels, such as the skills a task needs.
    pub tags: Vec<String>,
    /// The environment's data for setting up the task; opaque to the SDK.
    pub payload: serde_json::Value,
}

impl Task {
    /// A task with no category, tags or payload.
    pub fn new(id: impl Into<TaskId>, instruction: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            instruction: instruction.into(),
            category: None,
            tags: Vec::new(),
            payload: serde_json::Value::Null,
        }
    }

    /// The same in a category of the host's.
    #[must_use]
    pub fn with_category(mut self, category: impl Into<Category>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// The same with labels.
    #[must_use]
    pub fn with_tags(mut self, tags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// The same with the environment's data.
    #[must_use]
    pub fn with_payload(mut self, payload: impl Into<serde_json::Value>) -> Self {
        self.payload = payload.into();
        self
    }
}

/// Whether a run learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The gate may explore, but for attempts that a host begins
    /// ([`Options::explore_live`](crate::run::Options::explore_live)).
    #[default]
    Train,
    /// The gate never explores: epsilon is 0 (A.3).
    Evaluate,
}
