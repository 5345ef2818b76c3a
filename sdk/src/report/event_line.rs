//! Events as lines of text.

use std::fmt;

use super::{AttemptReport, Event, EventKind, TaskReport};
use crate::{
    domain::{EndReason, Selection, SkillName},
    text::plain_terminal,
};

/// One line: the run, task or attempt, and the event.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Texts of a host's part may hold line breaks and terminal escape sequences.
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
            Self::GeneralAlone { reason } => write!(f, "general skills alone: {reason}"),
            Self::Retrieved { candidates } => match candidates.len() {
                1 => f.write_str("found 1 candidate"),
                count => write!(f, "found {count} candidates"),
            },
            Self::Selected {
                selection, names, ..
            } => fmt_selected(selection, names, f),
            Self::Attempted { report, .. } => fmt_attempt(report, f),
            Self::Credited { .. } | Self::Attributed { .. } => fmt_evidence(self, f),
            Self::Admitted { skill, revised } => {
                let what = if *revised { "revised" } else { "new" };
                write!(
                    f,
                    "{what} skill {} ({}): {}",
                    skill.name, skill.state, skill.description
                )
            }
            Self::NotDue { reason, .. } => write!(f, "no skill is to be written: {reason}"),
            Self::Refused { reason } => write!(f, "no skill is added: {reason}"),
            Self::CallRefused {
                call,
                about,
                refusal,
            } => write!(f, "{call} of {about} is refused: {refusal}"),
            Self::RoleShortened { .. } | Self::FellBack { .. } | Self::RoleFailed { .. } => {
                fmt_role(self, f)
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
            Self::CaseFailed { case, reason } => {
                write!(
                    f,
                    "the test case {case} could not be played or judged: {reason}"
                )
            }
            Self::TaskFailed { reason } => write!(f, "the task failed: {reason}"),
            Self::OverBudget { .. } | Self::MaintenanceFailed { .. } => fmt_maintenance(self, f),
            Self::Assessed { .. }
            | Self::PrototypesRefreshed { .. }
            | Self::AnchorsChecked { .. } => fmt_assessment(self, f),
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

fn fmt_role(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::RoleShortened {
            role,
            whole,
            sent,
            left_out,
        } => write!(
            f,
            "the prompt of the role {role} was shortened from {whole} to {sent} tokens; left out: {left_out}"
        ),
        EventKind::FellBack { role, reason, .. } => write!(
            f,
            "no answer of the role {role} could be read, so its skill is the abstracted trace: {reason}"
        ),
        EventKind::RoleFailed { role, reason } => write!(f, "role {role} failed: {reason}"),
        _ => Ok(()),
    }
}

fn fmt_maintenance(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::OverBudget { count, of } => {
            write!(f, "the budget of maintenance leaves out {count}: {of}")
        }
        EventKind::MaintenanceFailed { part, reason } => {
            write!(f, "the {part} part of maintenance failed: {reason}")
        }
        _ => Ok(()),
    }
}

fn fmt_evidence(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

fn fmt_assessment(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::Assessed {
            assessment,
            process,
            ..
        } => {
            let count = assessment.subgoals.len();
            match process {
                Some(process) => write!(f, "{count} subgoals, process score {process:.2}"),
                None => write!(f, "{count} subgoals, none of them scored"),
            }
        }
        EventKind::PrototypesRefreshed {
            subgoals,
            prototypes,
            persisting,
            before,
            alone,
            left_out,
        } => write!(
            f,
            "{prototypes} prototypes of {subgoals} subgoals; {persisting} of the {before} before go on, {alone} clusters of one and {left_out} others became none"
        ),
        EventKind::AnchorsChecked { drift } => write!(
            f,
            "{} anchors judged again: {} with another score than at first, {:+.2} points on average",
            drift.anchors, drift.changed, drift.mean
        ),
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

/// Formats the end reason of an attempt that did not end in the environment's own end.
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
