//! What a task or maintenance shares with its run.

use std::ops::Deref;

use crate::{
    domain::Mode,
    id::{RunId, Seed},
    library::SkillLibrary,
    maintain::{Overlaps, Upkeep},
    policy::{Context, Policies, View},
    recipe::Recipe,
};

/// What a task or maintenance shares with its run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    context: Context<'a>,
    pub(crate) recipe: &'a Recipe,
    pub(crate) overlaps: &'a Overlaps,
    /// The host's own.
    pub(crate) policies: &'a Policies,
}

impl<'a> Scene<'a> {
    /// A run that is about to go on.
    pub(crate) fn new(
        (run, seed): (&'a RunId, Seed),
        mode: Mode,
        recipe: &'a Recipe,
        library: &'a SkillLibrary,
        (overlaps, policies): (&'a Overlaps, &'a Policies),
    ) -> Self {
        let attempts = &recipe.attempts;
        let context = Context {
            run,
            seed,
            mode,
            group: match mode {
                Mode::Train => attempts.group.get(),
                Mode::Evaluate => 1,
            },
            // The library counts the tasks, so a host that begins task by task leaves the warm-up as a stream does.
            warming_up: mode == Mode::Train
                && library.tasks_learned() < recipe.schedule.tasks(attempts.warm_up),
            library,
        };
        Self {
            context,
            recipe,
            overlaps,
            policies,
        }
    }

    /// The same with another seed.
    pub(crate) fn with_seed(mut self, seed: Seed) -> Self {
        self.context.seed = seed;
        self
    }

    /// What maintenance is handed.
    pub(crate) fn upkeep(&self) -> Upkeep<'a> {
        self.recipe.upkeep(self.context, self.overlaps)
    }

    /// What a policy of a step is handed.
    pub(crate) fn view(&self, step: u64) -> View {
        View::of(&self.context, step)
    }
}

impl<'a> Deref for Scene<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}
