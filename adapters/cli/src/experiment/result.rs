//! What is measured of one arm with one seed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One arm with one seed, from the start to the end of the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CellResult {
    /// The held-out tasks with the library as it was, in order; of an arm that learns nothing, the first alone.
    pub(super) checkpoints: Vec<Checkpoint>,
    /// The tasks that were learned from, in order.
    pub(super) stream: Vec<StreamTask>,
    /// The library before the stream and after each of its tasks.
    pub(super) library: Vec<LibraryPoint>,
}

/// The held-out tasks with one state of the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// After how many tasks of the stream.
    pub(super) learned: u64,
    /// The library's revision.
    pub(super) revision: u64,
    /// In the same order for each arm.
    pub(super) tasks: Vec<HeldOut>,
}

/// One attempt at a held-out task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeldOut {
    pub(super) task: String,
    /// Whether its contract is hidden.
    pub(super) hidden: bool,
    /// Whether it was done without one refused or needless call.
    pub(super) first: bool,
    /// Whether it was done within the budget of steps.
    pub(super) success: bool,
    pub(super) score: f64,
    pub(super) reward: Option<f64>,
    /// Whether a skill was injected.
    pub(super) injected: bool,
    /// Whether the agent said that it used one.
    pub(super) used: bool,
    pub(super) steps: u32,
    pub(super) prompt_tokens: u64,
    pub(super) output_tokens: u64,
}

/// A task of the stream, all its attempts together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StreamTask {
    pub(super) task: String,
    pub(super) hidden: bool,
    /// What failed outside the agent: attempts that could not be made or judged, and choices that could not be made.
    pub(super) failed: usize,
    /// Counts of attempts: all of them, and those of which this holds.
    pub(super) attempts: usize,
    pub(super) first: usize,
    pub(super) success: usize,
    pub(super) injected: usize,
    pub(super) used: usize,
    /// The mean over attempts.
    pub(super) score: f64,
    /// The mean over those that were judged.
    pub(super) reward: Option<f64>,
    /// Of all attempts together.
    pub(super) prompt_tokens: u64,
    pub(super) output_tokens: u64,
    /// What came of each draft, where any was due.
    pub(super) written: Vec<Written>,
}

/// What came of writing a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) admitted: bool,
    /// Whether what was admitted is a new version.
    pub(super) revised: bool,
    /// Whether there was a draft.
    pub(super) drafted: bool,
    /// Whether it is the trace abstraction.
    pub(super) fallback: bool,
    /// Why nothing came of it.
    pub(super) refused: Option<String>,
}

/// The library's counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LibraryPoint {
    /// After how many tasks of the stream.
    pub(super) learned: u64,
    /// Skills by tier.
    pub(super) tiers: BTreeMap<String, usize>,
    /// Skills by state.
    pub(super) states: BTreeMap<String, usize>,
    pub(super) deleted: usize,
    /// What happened since the point before, by its name: moves, and changes of states as `active to disabled`.
    pub(super) changes: BTreeMap<String, usize>,
}
