//! What a policy sees of its run, owned.

use super::Context;
use crate::{
    domain::Mode,
    id::{RunId, Seed},
    library::{Entry, SkillLibrary},
};

/// What a policy sees of its run. Nothing of it changes while the policy runs.
#[derive(Debug)]
pub struct View {
    run: RunId,
    seed: Seed,
    mode: Mode,
    group: u32,
    warming_up: bool,
    library: SkillLibrary,
    step: u64,
}

impl View {
    /// A view of what a step of a run sees now.
    pub(crate) fn of(context: &Context<'_>, step: u64) -> Self {
        Self {
            run: context.run.clone(),
            seed: context.seed,
            mode: context.mode,
            group: context.group,
            warming_up: context.warming_up,
            library: context.library.clone(),
            step,
        }
    }

    /// The same, borrowed.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            run: &self.run,
            seed: self.seed,
            mode: self.mode,
            group: self.group,
            warming_up: self.warming_up,
            library: &self.library,
        }
    }

    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// What the randomness of this step follows from: a policy derives its own from it.
    pub fn seed(&self) -> Seed {
        self.context().step_seed(self.step)
    }

    /// Whether the run learns.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The place of the task in the stream, from 0; of maintenance, of the task behind which it is done; 0 where the skills of
    /// a later turn are chosen.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The library as it is for this step.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The skills that may be offered to the agent, by id: those of the cache that are active, and in learning those on
    /// trial.
    pub fn offered(&self) -> impl Iterator<Item = &Entry> {
        let context = self.context();
        let offered = self.library.cache();
        offered.filter(move |entry| context.offers(entry))
    }
}
