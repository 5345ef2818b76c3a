//! The progress events of a run.

use serde::{Deserialize, Serialize};

use super::{AttemptReport, TaskReport};
use crate::{
    domain::{Candidate, Role, Skill},
    id::{AttemptId, Revision, RunId, Seed, SkillId, TaskId},
    library::Move,
    select::Selection,
};

/// Something that happened, for people and for dashboards. The order does not depend on timing.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A run began.
    RunStarted {
        /// Which run.
        run: RunId,
        /// What all its randomness follows from.
        seed: Seed,
        /// How many tasks it has.
        tasks: u64,
    },
    /// Candidates were found.
    Retrieved {
        /// The task's place in the stream.
        step: u64,
        /// The best first.
        candidates: Vec<Candidate>,
    },
    /// The gate decided.
    Selected {
        /// The task's place in the stream.
        step: u64,
        /// For which rollout; the first of all when selection is once a query.
        rollout: u32,
        /// What, and on what grounds.
        selection: Selection,
    },
    /// An attempt was made and judged, or could not be.
    Attempted {
        /// The task's place in the stream.
        step: u64,
        /// Which rollout.
        rollout: u32,
        /// How it went.
        report: Box<AttemptReport>,
    },
    /// A skill was let into the library, or a new version of it.
    Admitted {
        /// The task's place in the stream.
        step: u64,
        /// The skill.
        skill: Box<Skill>,
        /// Whether it replaces an earlier version.
        revised: bool,
    },
    /// A skill was not written, or not let in.
    Refused {
        /// The task's place in the stream.
        step: u64,
        /// Why.
        reason: String,
    },
    /// Attempts and skills that overlap were given to the refactorer (HiSME, appendix C).
    Grouped {
        /// The task's place in the stream.
        step: u64,
        /// The attempts that it was shown.
        attempts: Vec<AttemptId>,
        /// The skills that it was shown.
        skills: Vec<SkillId>,
        /// Why they belong together, as JSON.
        reason: String,
    },
    /// A role could not be played, or nothing that it said could be read.
    RoleFailed {
        /// The task's place in the stream.
        step: u64,
        /// Which role.
        role: Role,
        /// Why.
        reason: String,
    },
    /// Skills moved between the tiers, or were deleted.
    Moved {
        /// The task's place in the stream.
        step: u64,
        /// In the order in which they were made.
        moves: Vec<Move>,
    },
    /// The library changed.
    Committed {
        /// The task's place in the stream.
        step: u64,
        /// The library's revision.
        revision: Revision,
        /// How many times another writer was first.
        rebased: u32,
    },
    /// A task is through.
    TaskFinished {
        /// Which task.
        task: TaskId,
        /// How it went.
        report: Box<TaskReport>,
    },
    /// The run is through.
    RunFinished {
        /// Which run.
        run: RunId,
        /// The library's revision.
        revision: Revision,
    },
}
