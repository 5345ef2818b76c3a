//! What is measured of one arm with one seed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One arm with one seed, from the start to the end of the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellResult {
    /// The held-out tasks with the library as it was, in order; of an arm that learns nothing, the first alone.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// The tasks that were learned from, in order.
    pub(crate) stream: Vec<StreamTask>,
    /// The library before the stream and after each of its tasks.
    pub(crate) library: Vec<LibraryPoint>,
}

/// The held-out tasks with one state of the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// After how many tasks of the stream.
    pub(crate) learned: u64,
    /// The library's revision.
    pub(crate) revision: u64,
    /// In the same order for each arm.
    pub(crate) tasks: Vec<HeldOut>,
}

/// One attempt at a held-out task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldOut {
    pub(crate) task: String,
    /// Whether its contract is hidden.
    pub(crate) hidden: bool,
    /// Whether it was done without one refused or needless call.
    pub(crate) first: bool,
    /// Whether it was done within the budget of steps.
    pub(crate) success: bool,
    pub(crate) score: f64,
    pub(crate) reward: Option<f64>,
    /// Whether a skill was injected.
    pub(crate) injected: bool,
    /// Whether the agent said that it used one.
    pub(crate) used: bool,
    pub(crate) steps: u32,
    pub(crate) prompt_tokens: u64,
    pub(crate) output_tokens: u64,
}

/// A task of the stream, all its attempts together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StreamTask {
    pub(crate) task: String,
    pub(crate) hidden: bool,
    /// What failed outside the agent: attempts that could not be made or judged, and choices that could not be made.
    pub(crate) failed: usize,
    /// Counts of attempts: all of them, and those of which this holds.
    pub(crate) attempts: usize,
    pub(crate) first: usize,
    pub(crate) success: usize,
    pub(crate) injected: usize,
    pub(crate) used: usize,
    /// The mean over attempts.
    pub(crate) score: f64,
    /// The mean over those that were judged.
    pub(crate) reward: Option<f64>,
    /// Of all attempts together.
    pub(crate) prompt_tokens: u64,
    pub(crate) output_tokens: u64,
    /// What came of each draft, where any was due.
    pub(crate) written: Vec<Written>,
}

/// What came of writing a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) admitted: bool,
    /// Whether what was admitted is a new version.
    pub(crate) revised: bool,
    /// Whether there was a draft.
    pub(crate) drafted: bool,
    /// Whether it is the trace abstraction.
    pub(crate) fallback: bool,
    /// Why nothing came of it.
    pub(crate) refused: Option<String>,
}

/// The library's counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LibraryPoint {
    /// After how many tasks of the stream.
    pub(crate) learned: u64,
    /// Skills by tier.
    pub(crate) tiers: BTreeMap<String, usize>,
    /// Skills by state.
    pub(crate) states: BTreeMap<String, usize>,
    pub(crate) deleted: usize,
    /// What happened since the point before, by its name: moves, and changes of states as `active to disabled`.
    pub(crate) changes: BTreeMap<String, usize>,
}
