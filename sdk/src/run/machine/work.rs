//! Converts questions of policies to effects: adds seeds, ids and limits.

use std::num::NonZeroUsize;

use super::{
    effect::{AttemptEffect, CaseEffect, Effect, Station},
    run_context::RunContext,
};
use crate::{
    domain::{Mode, Skill, Task},
    id::{AttemptId, Seed},
    policy::{Case, ChosenSkill, Question},
    program::QuestionPath,
    select::SelectPer,
};

/// The owner of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    /// A task of the stream.
    Task,
    /// Maintenance.
    Maintenance,
}

/// The station of a question's effect.
pub(crate) fn station(of: Of, question: &Question) -> Station {
    match (of, question) {
        (Of::Maintenance, _) => Station::Maintain,
        (_, Question::Retrieve(_)) => Station::Retrieve,
        (_, Question::Embed(_)) => Station::Rank,
        (_, Question::Score { .. } | Question::Threshold { .. }) => Station::Score,
        (_, Question::Attempt { .. }) => Station::Attempt,
        (_, Question::Judge { .. }) => Station::Judge,
        (_, Question::Role(_)) => Station::Role,
        (_, Question::Case(_) | Question::Gain { .. }) => Station::Try,
    }
}

/// The effect of a question at a place of a step's program.
pub(crate) fn effect(
    context: &RunContext<'_>,
    step: u64,
    of: Of,
    place: &QuestionPath,
    question: &Question,
) -> Effect {
    match question {
        Question::Retrieve(query) => Effect::Retrieve(query.clone()),
        Question::Embed(texts) => Effect::Embed(texts.clone()),
        Question::Score {
            query,
            skills,
            score,
        } => Effect::Score {
            query: query.clone(),
            skills: skills.clone(),
            score: *score,
            // What is evaluated is decided alike each time, whatever shares the model's batches.
            repeatable: context.mode == Mode::Evaluate,
        },
        Question::Threshold { most_wrong, on } => Effect::Threshold {
            most_wrong: *most_wrong,
            on: *on,
        },
        Question::Attempt {
            task,
            number,
            skills,
        } => Effect::Attempt(Box::new(attempt(context, step, task, *number, skills))),
        Question::Judge { task, trajectory } => Effect::Judge {
            task: task.clone(),
            trajectory: trajectory.clone(),
        },
        Question::Role(task) => Effect::Role {
            ask: task.clone(),
            seed: match of {
                // Derived from the question's number within the scope; from its whole place if the policy asks in nested
                // scopes.
                Of::Task => {
                    let (role, path) = (task.role().name(), place.path());
                    let (number, before) = path.split_last().unwrap_or((&0, &[]));
                    let in_scopes = before.iter().skip(1).any(|scope| *scope > 0);
                    let seed = context.step_seed(step);
                    match in_scopes {
                        true => seed_at(seed.derive(role, 0), place),
                        false => seed.derive(role, u64::from(*number)),
                    }
                }
                Of::Maintenance => seed_at(context.step_seed(step), place),
            },
        },
        Question::Case(one) => Effect::Case(Box::new(case(context, step, place, one))),
        Question::Gain { skill, attempts } => Effect::Gain {
            skill: skill.clone(),
            attempts: attempts.clone(),
        },
    }
}

fn seed_at(seed: Seed, place: &QuestionPath) -> Seed {
    let numbers = place.path().iter();
    numbers.fold(seed, |seed, number| {
        seed.derive("maintain", u64::from(*number))
    })
}

fn attempt(
    context: &RunContext<'_>,
    step: u64,
    task: &Task,
    number: u32,
    skills: &[ChosenSkill],
) -> AttemptEffect {
    let seed = context.step_seed(step);
    AttemptEffect {
        run: context.run.clone(),
        attempt: AttemptId::of(context.run, step, number),
        task: task.clone(),
        seed: seed.derive("attempt", u64::from(number)),
        world_seed: seed.derive("world", 0),
        temperature: match context.mode {
            Mode::Train => context.recipe.attempts.temperature,
            Mode::Evaluate => 0.0,
        },
        skills: skills.to_vec(),
        skill_tokens: context.recipe.select.skill_tokens.map(NonZeroUsize::get),
        each_turn: context.recipe.select.per == SelectPer::Turn && !context.warming_up,
        time_limit: context.recipe.limits.attempt,
    }
}

fn case(context: &RunContext<'_>, step: u64, place: &QuestionPath, one: &Case) -> CaseEffect {
    let Case { skill, case } = one;
    // The seed depends only on the step and the case, so that the case is played alike with and without the skill.
    let seed = context.step_seed(step).derive(&case.name, 0);
    CaseEffect {
        attempt: AttemptEffect {
            run: context.run.clone(),
            attempt: AttemptId::new(format!("{}/{step}/m{place}", context.run)),
            task: case.task.clone(),
            seed,
            world_seed: case.world_seed,
            temperature: 0.0,
            skills: skill.iter().map(|skill| chosen(skill)).collect(),
            skill_tokens: context.recipe.select.skill_tokens.map(NonZeroUsize::get),
            // A case tests this skill, so no other may be selected.
            each_turn: false,
            time_limit: context.recipe.limits.attempt,
        },
        prefix: case.prefix.clone(),
    }
}

fn chosen(skill: &Skill) -> ChosenSkill {
    ChosenSkill {
        sha256: skill.content_sha256(),
        skill: skill.clone(),
    }
}
