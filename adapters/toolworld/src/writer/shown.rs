//! The attempts, tools and skills of a role task that the bundled model is shown.

use journeyman::contract::RoleTask;
use journeyman::domain::{Trace, Trajectory};
use journeyman::{Error, Result};

use crate::dialect::tools_of;
use crate::tool::Tool;

/// Maximum number of attempts that are compared at once.
const COMPARED: usize = 3;
/// Maximum number of skills in a prompt that the model can tell apart.
pub(super) const SKILLS: usize = 2;

/// The attempts that the model is shown, and the index of the skill that it is asked about.
pub(super) fn shown(task: &RoleTask) -> Result<(Vec<&Trace>, Option<usize>)> {
    match task {
        RoleTask::Refactor { attempts, .. } => match attempts.as_slice() {
            [] | [_] => Err(refused("there are fewer than two attempts to compare")),
            several => Ok((several.iter().rev().take(COMPARED).rev().collect(), None)),
        },
        RoleTask::Refine {
            skill, attempts, ..
        } => {
            let this = skill.reference();
            let place = |trace: &Trace| {
                let mut skills = trace.trajectory.injection.skills.iter();
                skills.position(|injected| injected.skill == this)
            };
            let stood = attempts
                .iter()
                .filter_map(|trace| Some((trace, place(trace)?)));
            // Preferably the first attempt in which the skill was among the first two.
            let (trace, place) = stood
                .min_by_key(|(_, place)| (*place).max(SKILLS - 1))
                .ok_or_else(|| absent("the skill stood in the prompt of none of the attempts"))?;
            Ok((vec![trace], Some(checked_place(place)?)))
        }
        RoleTask::Attribute { attempt, skill } => {
            if *skill >= attempt.trajectory.injection.skills.len() {
                return Err(absent("the attempt's prompt had no such skill").with("skill", skill));
            }
            Ok((vec![attempt], Some(checked_place(*skill)?)))
        }
        other => Ok((other.attempts().iter().take(1).collect(), None)),
    }
}

/// Checks that the model can be asked about the skill at this index.
fn checked_place(place: usize) -> Result<usize> {
    if place < SKILLS {
        return Ok(place);
    }
    Err(
        refused("the bundled model tells the first two skills of a prompt apart and no more")
            .with("place", place + 1)
            .hint("put at most two skills into a prompt"),
    )
}

pub(super) fn absent(message: &'static str) -> Error {
    Error::invalid("Roles::prompt", message)
}

pub(super) fn refused(message: &'static str) -> Error {
    Error::unsupported("Roles::prompt", message)
}

pub(super) fn tools_shown(trajectory: &Trajectory) -> Vec<Tool> {
    let first = trajectory.steps.first();
    first
        .and_then(|step| tools_of(&step.observation).ok())
        .unwrap_or_default()
}
