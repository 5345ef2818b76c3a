//! [`RunContext`], the run's state that is lent to its tasks, its maintenance and its selections.

use std::ops::Deref;

use crate::{
    domain::{MaintenanceBudget, Mode},
    id::{RunId, Seed},
    library::SkillLibrary,
    maintain::MaintenanceContext,
    policy::{Context, ResolvedPolicies, View},
    recipe::Recipe,
};

/// The run's state that is lent to its tasks, its maintenance and its selections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunContext<'a> {
    context: Context<'a>,
    pub(crate) recipe: &'a Recipe,
    /// The policies that the recipe names.
    pub(crate) policies: &'a ResolvedPolicies,
}

impl<'a> RunContext<'a> {
    /// Borrows the present state of a run.
    pub(crate) fn new(
        (run, seed): (&'a RunId, Seed),
        (mode, replays): (Mode, bool),
        recipe: &'a Recipe,
        library: &'a SkillLibrary,
        policies: &'a ResolvedPolicies,
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
            // The library counts the tasks, so that runs of a single task count towards the warm-up too.
            warming_up: mode == Mode::Train
                && library.tasks_learned() < recipe.schedule.tasks(attempts.warm_up),
            explores: true,
            replays,
            left: MaintenanceBudget::default(),
            tries_quarantined: recipe.maintenance.quarantine.is_some(),
            retrieval: recipe.select.retrieval(),
            library,
        };
        Self {
            context,
            recipe,
            policies,
        }
    }

    /// Sets whether a gate may explore.
    pub(crate) fn exploring(mut self, explores: bool) -> Self {
        self.context.explores = explores;
        self
    }

    /// Replaces the seed.
    pub(crate) fn with_seed(mut self, seed: Seed) -> Self {
        self.context.seed = seed;
        self
    }

    /// Sets what is left of the budget of this round of maintenance.
    pub(crate) fn within(mut self, left: MaintenanceBudget) -> Self {
        self.context.left = left;
        self
    }

    /// Replaces the library.
    pub(crate) fn on<'b>(self, library: &'b SkillLibrary) -> RunContext<'b>
    where
        'a: 'b,
    {
        let mut run_context: RunContext<'b> = self;
        run_context.context.library = library;
        run_context
    }

    /// The context of maintenance.
    pub(crate) fn maintenance_context(&self) -> MaintenanceContext<'a> {
        self.recipe.maintenance_context(self.context)
    }

    /// The view for a policy of a step.
    pub(crate) fn view(&self, step: u64) -> View {
        View::of(&self.context, step)
    }
}

impl<'a> Deref for RunContext<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}
