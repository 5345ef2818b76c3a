//! A group of attempts and their verdicts: the machine that ends when each is judged or could not be.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

use super::{
    AttemptNeed, ChosenSkill, Need, Station, Turns,
    context::Context,
    fold::{self, Rollout},
    selecting::Selecting,
};
use crate::{
    domain::{Task, Trajectory, Verdict},
    error::Result,
    id::AttemptId,
    recipe::SelectPer,
    select::Mode,
};

/// The attempts at one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Attempting {
    step: u64,
    /// Decided when the task begins: the library's count of steps moves on with the task's own commit.
    warming_up: bool,
    attempts: BTreeMap<u32, Result<Box<Trajectory>>>,
    verdicts: BTreeMap<u32, Result<Verdict>>,
    #[serde(skip)]
    turns: SharedTurns,
}

/// What all attempts of a task share. It follows from the run, so it is no part of a saved one and tells none from another.
#[derive(Clone, Debug, Default)]
struct SharedTurns(OnceLock<Arc<Turns>>);

impl PartialEq for SharedTurns {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Attempting {
    pub(super) fn new(step: u64, context: &Context<'_>) -> Self {
        Self {
            step,
            warming_up: context.is_warming_up(),
            ..Self::default()
        }
    }

    /// Attempts not yet made, and verdicts on those that were.
    pub(super) fn needs(
        &self,
        task: &Task,
        selecting: &Selecting,
        context: &Context<'_>,
        wants: &dyn Fn(Station, u32) -> bool,
    ) -> Vec<(Station, u32, Need)> {
        (0..context.group())
            .filter_map(|index| match self.attempts.get(&index) {
                None if !wants(Station::Attempt, index) => None,
                None => {
                    let need = self.attempt(index, task, selecting, context);
                    Some((Station::Attempt, index, Need::Attempt(Box::new(need))))
                }
                Some(Ok(trajectory))
                    if !self.verdicts.contains_key(&index) && wants(Station::Judge, index) =>
                {
                    let need = Need::Judge {
                        task: Box::new(task.clone()),
                        trajectory: trajectory.clone(),
                    };
                    Some((Station::Judge, index, need))
                }
                Some(_) => None,
            })
            .collect()
    }

    /// An attempt's answer; one that came before stays.
    pub(super) fn attempted(&mut self, index: u32, attempt: Result<Box<Trajectory>>) {
        self.attempts.entry(index).or_insert(attempt);
    }

    /// A verdict; one that came before stays.
    pub(super) fn judged(&mut self, index: u32, verdict: Result<Verdict>) {
        self.verdicts.entry(index).or_insert(verdict);
    }

    pub(super) fn is_complete(&self, context: &Context<'_>) -> bool {
        (0..context.group()).all(|index| match self.attempts.get(&index) {
            Some(Ok(_)) => self.verdicts.contains_key(&index),
            Some(Err(_)) => true,
            None => false,
        })
    }

    /// What the attempts came to, in order.
    pub(super) fn rollouts(
        &self,
        selecting: &Selecting,
        context: &Context<'_>,
    ) -> Vec<Rollout<'_>> {
        (0..context.group())
            .filter_map(|index| {
                Some(fold::rollout(
                    context,
                    self.warming_up,
                    self.id(index, context),
                    selecting.injected(index),
                    self.attempts.get(&index)?,
                    self.verdicts.get(&index),
                ))
            })
            .collect()
    }

    fn id(&self, index: u32, context: &Context<'_>) -> AttemptId {
        AttemptId::of(context.run, self.step, index)
    }

    /// What later turns choose from, where they do and the task is no part of a warm-up: the library as it is when the
    /// first attempt is asked for.
    fn turns(&self, context: &Context<'_>) -> Option<Arc<Turns>> {
        let each = context.recipe.select_per == SelectPer::Turn && !self.warming_up;
        let turns = || {
            Arc::new(Turns {
                recipe: context.recipe.clone(),
                mode: context.mode,
                library: context.library.clone(),
            })
        };
        each.then(|| Arc::clone(self.turns.0.get_or_init(turns)))
    }

    fn attempt(
        &self,
        index: u32,
        task: &Task,
        selecting: &Selecting,
        context: &Context<'_>,
    ) -> AttemptNeed {
        let seed = context.step_seed(self.step);
        let skills = selecting.injected(index).iter();
        let skills = skills.filter_map(|skill| context.library.get(&skill.id));
        AttemptNeed {
            run: context.run.clone(),
            attempt: self.id(index, context),
            task: task.clone(),
            seed: seed.derive("attempt", u64::from(index)),
            world_seed: seed.derive("world", 0),
            temperature: match context.mode {
                Mode::Train => context.recipe.temperature,
                Mode::Evaluate => 0.0,
            },
            skills: skills.map(ChosenSkill::from).collect(),
            skill_tokens: context.recipe.skill_tokens,
            turns: self.turns(context),
            time_limit: context.recipe.limits.attempt,
        }
    }
}
