//! Questions to roles about 24 items.

use journeyman::{
    agent::ChatFormat,
    contract::RoleTask,
    domain::{Role, Skill, Trace},
};
use journeyman_toolworld::{
    general::roles::{Stage, case},
    lexicon::foreign_words,
    seed::Draws,
    world::WorldSpec,
};

use super::WORDS;

/// Attempts, rows, skills, findings, or steps of an attempt, that a role is shown.
const ROWS: usize = 24;

/// A role's question about 24 items, or an attempt of 24 steps, with long texts.
pub(super) fn question(role: Role, draws: &mut Draws) -> RoleTask {
    let prompt_format = ChatFormat::default();
    let mut draw = || {
        let spec = WorldSpec::wide(draws);
        let stage = Stage {
            spec: &spec,
            prompt_format: &prompt_format,
        };
        let task = case(role, stage, draws).task;
        lengthened(task, draws)
    };
    let mut task = draw();
    for _ in 1..ROWS {
        add(&mut task, draw());
    }
    task
}

/// Adds the items of another question of the same role, up to 24 of each.
fn add(task: &mut RoleTask, more: RoleTask) {
    fn extend<T>(items: &mut Vec<T>, more: Vec<T>) {
        items.extend(more);
        items.truncate(ROWS);
    }
    match (task, more) {
        (RoleTask::Summarize { attempts, .. }, RoleTask::Summarize { attempts: more, .. })
        | (RoleTask::Refine { attempts, .. }, RoleTask::Refine { attempts: more, .. }) => {
            extend(attempts, more);
        }
        (
            RoleTask::Refactor {
                attempts, skills, ..
            },
            RoleTask::Refactor {
                attempts: more,
                skills: beside,
                ..
            },
        ) => {
            extend(attempts, more);
            extend(skills, beside);
        }
        (RoleTask::Evolve { rows, .. }, RoleTask::Evolve { rows: more, .. }) => extend(rows, more),
        (RoleTask::DistilPrototype { members }, RoleTask::DistilPrototype { members: more }) => {
            extend(members, more);
        }
        (
            RoleTask::Route { prototypes, .. },
            RoleTask::Route {
                prototypes: more, ..
            },
        ) => extend(prototypes, more),
        (
            RoleTask::DistilBank {
                findings, skills, ..
            },
            RoleTask::DistilBank {
                findings: more,
                skills: beside,
                ..
            },
        ) => {
            extend(findings, more);
            extend(skills, beside);
        }
        (RoleTask::Curate { skills, .. }, RoleTask::Curate { skills: more, .. }) => {
            extend(skills, more);
        }
        (RoleTask::Tag { task }, RoleTask::Tag { task: more }) => {
            task.instruction = format!("{}\n{}", task.instruction, more.instruction);
        }
        // What is left is about one attempt, which is 24 steps long already, or about one skill.
        _ => {}
    }
}

/// The same with attempts of 24 steps, long results and long skills.
fn lengthened(mut task: RoleTask, draws: &mut Draws) -> RoleTask {
    let mut trace = |trace: &mut Trace| {
        let steps = trace.trajectory.steps.clone();
        let last = steps.len().saturating_sub(1);
        // The first steps come again and again, so that the attempt ends as it did.
        let before = steps.iter().take(last.max(1)).cycle();
        let mut made: Vec<_> = before.take(ROWS - 1).cloned().collect();
        made.extend(steps.get(last).cloned());
        for (index, step) in (0..).zip(&mut made) {
            step.index = index;
            let more = foreign_words(WORDS, draws);
            step.result.text = format!("{} {more}", step.result.text);
        }
        trace.trajectory.steps = made;
    };
    match &mut task {
        RoleTask::Summarize { attempts, .. }
        | RoleTask::Refactor { attempts, .. }
        | RoleTask::Refine { attempts, .. } => attempts.iter_mut().for_each(&mut trace),
        RoleTask::Extract { attempt, .. }
        | RoleTask::Attribute { attempt, .. }
        | RoleTask::Bundle { attempt, .. }
        | RoleTask::Segment { attempt, .. }
        | RoleTask::Curate { attempt, .. }
        | RoleTask::Lesson { attempt } => trace(attempt),
        RoleTask::DistilPrototype { members } => {
            members.iter_mut().for_each(|one| trace(&mut one.attempt));
        }
        RoleTask::Route { subgoal, .. } | RoleTask::Score { subgoal, .. } => {
            trace(&mut subgoal.attempt);
        }
        _ => {}
    }
    let mut skill = |skill: &mut Skill| {
        skill.body = format!("{}\n{}", skill.body, foreign_words(WORDS, draws));
    };
    match &mut task {
        RoleTask::Refactor { skills, .. }
        | RoleTask::Curate { skills, .. }
        | RoleTask::DistilBank { skills, .. } => skills.iter_mut().for_each(skill),
        RoleTask::Evolve { rows, .. } => rows.iter_mut().for_each(|row| skill(&mut row.skill)),
        RoleTask::Refine { skill: one, .. }
        | RoleTask::Bundle { skill: one, .. }
        | RoleTask::Review { skill: one } => skill(one),
        _ => {}
    }
    task
}
