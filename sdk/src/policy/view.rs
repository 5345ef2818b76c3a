//! The owned snapshot of a run's state that a policy reads.

use super::Context;
use crate::{
    domain::{
        MaintenanceBudget, Mode,
        retrieval::{Retrieval, SelectPer},
    },
    id::{RunId, Seed},
    library::{Entry, SkillLibrary},
};

/// A snapshot of the part of a run's state that a policy may read. It does not change while the policy runs.
#[derive(Debug)]
pub struct View {
    run: RunId,
    seed: Seed,
    mode: Mode,
    group: u32,
    warming_up: bool,
    explores: bool,
    replays: bool,
    left: MaintenanceBudget,
    tries_quarantined: bool,
    retrieval: Retrieval,
    library: SkillLibrary,
    step: u64,
}

impl View {
    /// A snapshot of the current state, for a step of the run.
    pub(crate) fn of(context: &Context<'_>, step: u64) -> Self {
        Self {
            run: context.run.clone(),
            seed: context.seed,
            mode: context.mode,
            group: context.group,
            warming_up: context.warming_up,
            explores: context.explores,
            replays: context.replays,
            left: context.left,
            tries_quarantined: context.tries_quarantined,
            retrieval: context.retrieval,
            library: context.library.clone(),
            step,
        }
    }

    /// The borrowed form of this view.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            run: &self.run,
            seed: self.seed,
            mode: self.mode,
            group: self.group,
            warming_up: self.warming_up,
            explores: self.explores,
            replays: self.replays,
            left: self.left,
            tries_quarantined: self.tries_quarantined,
            retrieval: self.retrieval,
            library: &self.library,
        }
    }

    /// The run's id.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The seed of this step. A policy derives all its randomness from it.
    pub fn seed(&self) -> Seed {
        self.context().step_seed(self.step)
    }

    /// Whether the run learns or evaluates.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The task's index in the stream, from 0. In maintenance: the index of the last task before it. 0 in a selection for a
    /// later turn of an attempt.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Number of selections that the recipe asks of a selector: one for all attempts at a task, or one for each of them, where it
    /// selects per rollout ([`SelectPer`](crate::select::SelectPer)) and learns.
    pub fn selections(&self) -> u32 {
        match (self.retrieval.per, self.mode) {
            (SelectPer::Query | SelectPer::Turn, _) | (_, Mode::Evaluate) => 1,
            (SelectPer::Rollout, Mode::Train) => self.group,
        }
    }

    /// Whether test cases can be played ([`Ask::play`](super::Ask::play)): the host gave an agent, a judge, and a world that
    /// can be set up again ([`EnvironmentCapabilities`](crate::contract::EnvironmentCapabilities)). Otherwise a case is
    /// `Unsupported`, and the world is left alone.
    pub fn replays(&self) -> bool {
        self.replays
    }

    /// What was left of the round's budget when this part of maintenance began ([`MaintenanceBudget`]). A program of a host's
    /// own keeps to it by itself.
    pub fn budget_left(&self) -> MaintenanceBudget {
        self.left
    }

    /// The library at the start of this step.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The skills that may be offered to the agent, by id: the active skills of the cache, and in learning also its skills
    /// on trial and those that the recipe tries in quarantine.
    pub fn offered(&self) -> impl Iterator<Item = &Entry> {
        self.context().offered()
    }
}
