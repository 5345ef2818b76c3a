//! What a policy sees of its run, owned.

use super::Context;
use crate::{
    domain::Mode,
    id::{RunId, Seed},
    library::SkillLibrary,
};

/// What a policy sees of its run. Nothing of it changes while the policy runs.
#[derive(Debug)]
pub(crate) struct View {
    run: RunId,
    seed: Seed,
    mode: Mode,
    group: u32,
    warming_up: bool,
    library: SkillLibrary,
    /// The place of its task in the stream; of maintenance, of the task behind which it is done.
    pub(crate) step: u64,
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
}
