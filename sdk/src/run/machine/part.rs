//! The parts of maintenance, in the order in which they run.

use futures::FutureExt;
use serde::{Deserialize, Serialize};

use super::{own, scene::Scene};
use crate::{
    domain::MaintenanceBudget,
    error::Result,
    policy::Ask,
    program::Running,
    recipe::{
        Recipe,
        programs::{Decided, across_tasks, bank, gains, micro, prototypes},
    },
};

/// A part of maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    Micro,
    Macro,
    Bank,
    Gains,
    Prototypes,
    /// A program of the host's own, by its index in the recipe.
    Own(u32),
}

impl Part {
    pub(super) fn start(
        self,
        ask: Ask,
        context: &Scene<'_>,
        (step, left): (u64, MaintenanceBudget),
    ) -> Running<Result<Decided>> {
        let context = context.within(left);
        let (view, recipe) = (context.view(step), context.recipe.clone());
        let overlaps = context.overlaps.share();
        match self {
            Self::Micro => Box::pin(micro(ask, view, recipe, overlaps).map(Ok)),
            Self::Macro => Box::pin(across_tasks(ask, view, recipe, overlaps).map(Ok)),
            Self::Bank => Box::pin(bank(ask, view, recipe, overlaps).map(Ok)),
            Self::Gains => Box::pin(gains(ask, view).map(Ok)),
            Self::Prototypes => Box::pin(prototypes(ask, view, recipe)),
            Self::Own(place) => Box::pin(own::run_program(
                ask,
                view,
                (recipe, context.policies.clone()),
                place,
            )),
        }
    }

    pub(super) fn name(self, recipe: &Recipe) -> String {
        match self {
            Self::Micro => "micro".to_owned(),
            Self::Macro => "macro".to_owned(),
            Self::Bank => "bank".to_owned(),
            Self::Gains => "gains".to_owned(),
            Self::Prototypes => "prototypes".to_owned(),
            Self::Own(place) => {
                let scheduled = recipe.programs.get(place as usize);
                scheduled.map_or_else(String::new, |one| one.program.name.clone())
            }
        }
    }

    /// The number of the part's commit within the step.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Micro => 0,
            Self::Macro => 1,
            Self::Gains => 2,
            Self::Own(place) => place.saturating_add(3),
            // From the top down, so that the numbers of the host's programs stay as they are in older journals.
            Self::Bank => u32::MAX,
            Self::Prototypes => u32::MAX - 1,
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Micro => "skills were tested, mended and filtered",
            Self::Macro => "attempts were refactored and rules learnt",
            Self::Bank => "attempts were distilled into the bank",
            Self::Gains => "the gain of skills was measured",
            Self::Prototypes => "subgoals were clustered and distilled",
            Self::Own(_) => "a program of the host's own looked after the library",
        }
    }
}
