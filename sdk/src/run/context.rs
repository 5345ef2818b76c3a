//! What a task shares with its run.

use super::maintaining::Overlaps;
use crate::{
    domain::{State, Tier},
    id::{RunId, Seed},
    library::{Entry, SkillLibrary},
    recipe::Recipe,
    select::Mode,
};

/// What a task shares with its run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) run: &'a RunId,
    pub(super) seed: Seed,
    pub(super) recipe: &'a Recipe,
    pub(super) mode: Mode,
    pub(super) library: &'a SkillLibrary,
    pub(super) overlaps: &'a Overlaps,
}

impl<'a> Context<'a> {
    /// What a step's randomness follows from.
    pub(super) fn step_seed(&self, step: u64) -> Seed {
        self.seed.derive("step", step)
    }

    /// How many attempts a task gets.
    pub(super) fn group(&self) -> u32 {
        match self.mode {
            Mode::Train => self.recipe.group,
            Mode::Evaluate => 1,
        }
    }

    /// Whether nothing is selected yet (ARISE 3.2). The library counts the steps, so a host that begins task by task
    /// leaves the warm-up as a stream does.
    pub(super) fn is_warming_up(&self) -> bool {
        self.mode == Mode::Train && self.library.steps() < self.recipe.warm_up
    }

    /// Whether a skill may be offered here: those on trial in training only (HiSME, appendix B).
    pub(super) fn offers(&self, entry: &Entry) -> bool {
        entry.tier == Tier::Cache
            && (entry.skill.state == State::Active || self.mode == Mode::Train)
    }

    /// The skills that may be offered, by id.
    pub(super) fn offered(&self) -> impl Iterator<Item = &'a Entry> {
        let context = *self;
        self.library
            .cache()
            .filter(move |entry| context.offers(entry))
    }
}
