//! The result of a cell, as its file has it.

use std::collections::BTreeMap;

use journeyman::domain::SkillUse;
use serde::{Deserialize, Serialize};

/// The result of one arm with one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellResult {
    /// The held-out tasks at each checkpoint, in order. An arm that does not learn has only the first checkpoint, and one in a
    /// world that cannot be set up again only the last.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// The tasks of the stream, in order; none for an arm that does not learn.
    pub(crate) stream: Vec<StreamTask>,
    /// The library before the stream and after each of its tasks.
    pub(crate) library: Vec<LibraryPoint>,
}

/// The held-out tasks with the library of one checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Tasks of the stream before the checkpoint.
    pub(crate) learned: u64,
    /// The library's revision.
    pub(crate) revision: u64,
    /// The tasks, in the same order for each arm.
    pub(crate) tasks: Vec<HeldOut>,
}

/// One attempt at a held-out task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldOut {
    pub(crate) task: String,
    /// Whether the task has the tag `hidden`.
    pub(crate) hidden: bool,
    /// Whether it succeeded without a refused or needless call.
    pub(crate) first: bool,
    /// Whether it succeeded.
    pub(crate) success: bool,
    pub(crate) score: f64,
    pub(crate) reward: Option<f64>,
    /// Whether a skill was injected.
    pub(crate) injected: bool,
    /// Whether the agent followed a skill, where that is known.
    pub(crate) used: SkillUse,
    pub(crate) steps: u32,
    pub(crate) prompt_tokens: u64,
    pub(crate) output_tokens: u64,
}

/// A task of the stream, with all its attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StreamTask {
    pub(crate) task: String,
    pub(crate) hidden: bool,
    /// Failures outside the agent: attempts that could not be made or judged, and selections that could not be made.
    pub(crate) failed: usize,
    /// The number of attempts; below, of attempts with the property of [`HeldOut`] that has the same name.
    pub(crate) attempts: usize,
    pub(crate) first: usize,
    pub(crate) success: usize,
    pub(crate) injected: usize,
    pub(crate) followed: usize,
    /// The number of attempts with a skill injected of which nobody knows whether they followed it.
    pub(crate) use_unknown: usize,
    /// The mean score of all attempts.
    pub(crate) score: f64,
    /// The mean reward of the judged attempts; none where none was judged.
    pub(crate) reward: Option<f64>,
    /// Tokens of all attempts together.
    pub(crate) prompt_tokens: u64,
    pub(crate) output_tokens: u64,
    /// One entry for each skill that was due to be written.
    pub(crate) written: Vec<Written>,
}

/// The result of writing a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) admitted: bool,
    /// Whether the admitted skill is a new version.
    pub(crate) revised: bool,
    /// Whether the role wrote a draft.
    pub(crate) drafted: bool,
    /// Whether the draft is a trace abstraction.
    pub(crate) fallback: bool,
    /// Why no skill was admitted.
    pub(crate) refused: Option<String>,
}

/// The library's counts at one point of the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LibraryPoint {
    /// Tasks of the stream before this point.
    pub(crate) learned: u64,
    /// Skills by tier.
    pub(crate) tiers: BTreeMap<String, usize>,
    /// Skills by state.
    pub(crate) states: BTreeMap<String, usize>,
    pub(crate) deleted: usize,
    /// Changes since the point before, counted by name: moves, and changes of state such as `active to disabled`.
    pub(crate) changes: BTreeMap<String, usize>,
}
