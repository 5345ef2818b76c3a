//! The progress events of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AttemptReport, TaskReport};
use crate::{
    domain::{Candidate, EndReason, Judgement, Role, Selection, Skill, SkillName, SkillRef, State},
    id::{AttemptId, Revision, RunId, Seed, SkillId, TaskId},
    library::Move,
    text::plain_terminal,
};

/// Something that happened, for people and for dashboards. The order does not depend on timing.
///
/// Every event names its run; one that belongs to a task names the task, and one that belongs to an attempt the attempt,
/// so that the events of attempts that run at once can be told apart. [`fmt::Display`] gives a line for a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The run.
    pub run: RunId,
    /// The task's place in the run's stream, from 0; of maintenance, the task behind which it is done.
    pub step: Option<u64>,
    /// The task of that place.
    pub task: Option<TaskId>,
    /// The attempt, of an event that belongs to one.
    pub attempt: Option<AttemptId>,
    /// What happened.
    pub kind: EventKind,
}

impl Event {
    /// An event of a run, or of the task at a place of it.
    pub(crate) fn new(run: &RunId, place: Option<(u64, &TaskId)>, kind: EventKind) -> Self {
        let attempt = match (&kind, place) {
            (EventKind::Attempted { report, .. }, _) => Some(report.attempt.clone()),
            (EventKind::Credited { attempt, .. } | EventKind::Attributed { attempt, .. }, _) => {
                Some(attempt.clone())
            }
            (EventKind::Selected { rollout, .. }, Some((step, _))) => {
                Some(AttemptId::of(run, step, *rollout))
            }
            _ => None,
        };
        Self {
            run: run.clone(),
            step: place.map(|(step, _)| step),
            task: place.map(|(_, task)| task.clone()),
            attempt,
            kind,
        }
    }
}

/// What happened.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum EventKind {
    /// A run began.
    RunStarted {
        /// What all its randomness follows from.
        seed: Seed,
        /// How many tasks it has.
        tasks: u64,
    },
    /// Candidates were found.
    Retrieved {
        /// The best first.
        candidates: Vec<Candidate>,
    },
    /// The gate decided.
    Selected {
        /// For which rollout; the first of all when selection is once a query.
        rollout: u32,
        /// What, and on what grounds.
        selection: Selection,
        /// The names of the skills to inject, in its order.
        names: Vec<SkillName>,
    },
    /// An attempt was made and judged, or could not be.
    Attempted {
        /// Which rollout.
        rollout: u32,
        /// How it went.
        report: Box<AttemptReport>,
    },
    /// A skill was credited with the reward of an attempt that had it in its prompt.
    Credited {
        /// Which skill, in which version.
        skill: SkillRef,
        /// Its name.
        name: SkillName,
        /// The attempt.
        attempt: AttemptId,
        /// The attempt's reward, in the recipe's own range.
        reward: f64,
        /// The skill's utility once the commit is through, in the range of rewards.
        utility: f64,
    },
    /// A role said what a skill did in an attempt (HiSME, algorithm 1).
    Attributed {
        /// Which skill, in which version.
        skill: SkillRef,
        /// Its name.
        name: SkillName,
        /// The attempt.
        attempt: AttemptId,
        /// What it did.
        judgement: Judgement,
        /// Why, in the role's words.
        reason: String,
    },
    /// A skill entered the library, or a new version of one did.
    Admitted {
        /// The skill as the library has it, under its final name and in its state.
        skill: Box<Skill>,
        /// Whether it replaces an earlier version.
        revised: bool,
    },
    /// No skill is written from the task's attempts, and no role was asked for one.
    NotDue {
        /// Why.
        reason: String,
    },
    /// A skill was not written, or not let in.
    Refused {
        /// Why.
        reason: String,
    },
    /// A role's answers could not be read, and a skill was made without a model instead (ARISE D.1).
    FellBack {
        /// Which role.
        role: Role,
        /// Why no answer could be read.
        reason: String,
    },
    /// A skill is in the library and not in full use yet.
    Waits {
        /// Which skill, in which version.
        skill: SkillRef,
        /// Its name.
        name: SkillName,
        /// Its state: on trial, or in quarantine.
        state: State,
        /// What it waits for.
        reason: String,
    },
    /// A skill was released, taken out of use, or moved to another state.
    StateChanged {
        /// Which skill.
        skill: SkillId,
        /// Its name.
        name: SkillName,
        /// Its state from here on.
        state: State,
        /// Why.
        reason: String,
    },
    /// Attempts and skills that overlap were given to the refactorer (HiSME, appendix C).
    Grouped {
        /// The attempts that it was shown.
        attempts: Vec<AttemptId>,
        /// The skills that it was shown.
        skills: Vec<SkillId>,
        /// Why they belong together, as JSON.
        reason: String,
    },
    /// A role could not be played, or nothing that it said could be read.
    RoleFailed {
        /// Which role.
        role: Role,
        /// Why.
        reason: String,
    },
    /// A test case could not be played, or nobody could judge it. It speaks neither for its skill nor against it.
    CaseFailed {
        /// The case's name.
        case: String,
        /// Why.
        reason: String,
    },
    /// A task's policy failed. Nothing was learned from the task.
    TaskFailed {
        /// Why.
        reason: String,
    },
    /// A part of maintenance failed. Nothing of it was committed, and what was learned before is kept.
    MaintenanceFailed {
        /// Which part: `micro`, `macro`, `gains`, or the name of the host's own program.
        part: String,
        /// Why.
        reason: String,
    },
    /// Skills moved between the tiers, or were deleted.
    Moved {
        /// In the order in which they were made.
        moves: Vec<Move>,
    },
    /// The library changed.
    Committed {
        /// The library's revision.
        revision: Revision,
        /// How many times another writer was first.
        rebased: u32,
    },
    /// A task is through.
    TaskFinished {
        /// How it went.
        report: Box<TaskReport>,
    },
    /// The run is through.
    RunFinished {
        /// The library's revision.
        revision: Revision,
    },
}

/// One line: the run, the task or attempt, and what happened.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A part's words may hold line ends and what a terminal would follow.
        let kind = self.kind.to_string();
        let words: Vec<&str> = kind.split_whitespace().collect();
        let kind = words.join(" ");
        let kind = plain_terminal(&kind);
        match (&self.attempt, &self.task) {
            (Some(attempt), Some(task)) => write!(f, "{attempt} ({task}): {kind}"),
            (Some(attempt), None) => write!(f, "{attempt}: {kind}"),
            (None, Some(task)) => write!(f, "{} ({task}): {kind}", self.run),
            (None, None) => write!(f, "{}: {kind}", self.run),
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunStarted { seed, tasks } => write!(f, "run of {tasks} tasks, seed {seed}"),
            Self::Retrieved { candidates } => match candidates.len() {
                1 => f.write_str("found 1 candidate"),
                count => write!(f, "found {count} candidates"),
            },
            Self::Selected {
                selection, names, ..
            } => fmt_selected(selection, names, f),
            Self::Attempted { report, .. } => fmt_attempt(report, f),
            Self::Credited { .. } | Self::Attributed { .. } => fmt_said_of_a_skill(self, f),
            Self::Admitted { skill, revised } => {
                let what = if *revised { "revised" } else { "new" };
                write!(
                    f,
                    "{what} skill {} ({}): {}",
                    skill.name, skill.state, skill.description
                )
            }
            Self::NotDue { reason } => write!(f, "no skill is due: {reason}"),
            Self::Refused { reason } => write!(f, "no skill: {reason}"),
            Self::FellBack { role, reason } => {
                write!(
                    f,
                    "no answer of the role {role} could be read, so its skill is the abstracted trace: {reason}"
                )
            }
            Self::Waits { name, reason, .. } => write!(f, "skill {name} waits: {reason}"),
            Self::StateChanged {
                name,
                state,
                reason,
                ..
            } => write!(f, "skill {name} is {state}: {reason}"),
            Self::Grouped {
                attempts, skills, ..
            } => {
                let (attempts, skills) = (attempts.len(), skills.len());
                write!(f, "{attempts} attempts and {skills} skills overlap")
            }
            Self::RoleFailed { role, reason } => write!(f, "role {role} failed: {reason}"),
            Self::CaseFailed { case, reason } => {
                write!(f, "the test case {case} decides nothing: {reason}")
            }
            Self::TaskFailed { reason } => write!(f, "the task failed: {reason}"),
            Self::MaintenanceFailed { part, reason } => {
                write!(f, "the {part} part of maintenance failed: {reason}")
            }
            Self::Moved { moves } => match moves.len() {
                1 => f.write_str("one skill moved between the tiers"),
                count => write!(f, "{count} skills moved between the tiers"),
            },
            Self::Committed { revision, .. } => write!(f, "library at revision {revision}"),
            Self::TaskFinished { report } => fmt_task(report, f),
            Self::RunFinished { revision } => write!(f, "run finished at revision {revision}"),
        }
    }
}

fn fmt_said_of_a_skill(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::Credited {
            name,
            reward,
            utility,
            ..
        } => write!(
            f,
            "skill {name} is credited with a reward of {reward:.2}, its utility is {utility:.3}"
        ),
        EventKind::Attributed {
            name,
            judgement,
            reason,
            ..
        } => write!(f, "skill {name} was {judgement}: {reason}"),
        _ => Ok(()),
    }
}

fn fmt_selected(
    selection: &Selection,
    names: &[SkillName],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(SkillName::as_str).collect();
        write!(f, "{}: ", names.join(", "))?;
    }
    write!(f, "{selection}")
}

fn fmt_attempt(report: &AttemptReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (&report.error, report.success) {
        (Some(error), _) => write!(f, "not made or not judged: {error}"),
        (None, Some(true)) => write!(f, "done in {} steps", report.steps),
        (None, Some(false)) => write!(f, "not done, {} steps{}", report.steps, Ended(report)),
        (None, None) => write!(f, "{} steps, not judged{}", report.steps, Ended(report)),
    }
}

/// Why an attempt ended that the environment did not end.
struct Ended<'a>(&'a AttemptReport);

impl fmt::Display for Ended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.end {
            None | Some(EndReason::Finished) => Ok(()),
            Some(end) => write!(f, ": {end}"),
        }
    }
}

fn fmt_task(report: &TaskReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let attempts = report.attempts.iter();
    let done = attempts.filter(|one| one.success == Some(true)).count();
    let all = report.attempts.len();
    write!(f, "task finished, {done} of {all} attempts done")
}
