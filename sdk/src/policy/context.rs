//! What a policy sees of its run, borrowed.

use crate::{
    domain::{Mode, State, Tier},
    id::{RunId, Seed},
    library::{Entry, SkillLibrary},
};

/// What a policy sees of its run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) run: &'a RunId,
    pub(crate) seed: Seed,
    pub(crate) mode: Mode,
    /// Number of attempts at a task.
    pub(crate) group: u32,
    /// Whether nothing is selected yet (ARISE 3.2).
    pub(crate) warming_up: bool,
    pub(crate) library: &'a SkillLibrary,
}

impl<'a> Context<'a> {
    /// What a step's randomness follows from.
    pub(crate) fn step_seed(&self, step: u64) -> Seed {
        self.seed.derive("step", step)
    }

    /// Whether a skill may be offered here: those on trial in training only (HiSME, appendix B).
    pub(crate) fn offers(&self, entry: &Entry) -> bool {
        entry.tier == Tier::Cache
            && (entry.skill.state == State::Active || self.mode == Mode::Train)
    }

    /// The skills that may be offered, by id.
    pub(crate) fn offered(&self) -> impl Iterator<Item = &'a Entry> {
        let context = *self;
        self.library
            .cache()
            .filter(move |entry| context.offers(entry))
    }
}
