//! What a policy sees of its run.

use super::{context::Context, maintaining::Overlaps};
use crate::{
    id::{RunId, Seed},
    library::SkillLibrary,
    recipe::Recipe,
    select::Mode,
};

/// What a policy sees of its run. Nothing of it changes while the policy runs.
#[derive(Debug)]
pub(super) struct View {
    run: RunId,
    seed: Seed,
    recipe: Recipe,
    mode: Mode,
    library: SkillLibrary,
    overlaps: Overlaps,
    /// The place of its task in the stream; of maintenance, of the task behind which it is done.
    pub(super) step: u64,
}

impl View {
    /// A view of what a step of a run sees now.
    pub(super) fn of(context: &Context<'_>, step: u64) -> Self {
        Self {
            run: context.run.clone(),
            seed: context.seed,
            recipe: context.recipe.clone(),
            mode: context.mode,
            library: context.library.clone(),
            overlaps: context.overlaps.share(),
            step,
        }
    }

    /// The same, borrowed.
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            run: &self.run,
            seed: self.seed,
            recipe: &self.recipe,
            mode: self.mode,
            library: &self.library,
            overlaps: &self.overlaps,
        }
    }
}
