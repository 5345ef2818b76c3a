//! The inputs of a run.

use std::num::NonZeroU64;

use crate::{
    domain::{Mode, Task},
    id::{ModelId, RunId, Seed},
    library::SkillLibrary,
    policy::Policies,
    stations::recipe::Recipe,
};

/// The inputs of a run.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct RunPlan {
    /// The run's id: unique within a store and a journal.
    pub run: RunId,
    /// The seed from which all randomness of the run is derived.
    pub seed: Seed,
    /// The recipe.
    pub recipe: Recipe,
    /// Learning, or evaluation on a frozen library.
    pub mode: Mode,
    /// The tasks, in order.
    pub tasks: Vec<Task>,
    /// Whether test cases can be played ([`View::replays`](crate::policy::View::replays)).
    pub replays: bool,
    /// The model that acts, with its adapter; `None` where the agent does not say.
    pub model: Option<ModelId>,
    /// The library at the start.
    pub library: SkillLibrary,
    /// The host's own policies that the recipe names.
    pub policies: Policies,
    /// Maximum number of concurrent tasks in evaluation. In learning the recipe's [`batch`](Recipe::batch) is used instead.
    pub width: NonZeroU64,
}

impl RunPlan {
    /// A learning run over tasks, from an empty library, whose agent does not say its model. Test cases cannot be played: set
    /// [`replays`](Self::replays) where the host's environment can replay attempts.
    pub fn new(run: impl Into<RunId>, seed: Seed, recipe: Recipe, tasks: Vec<Task>) -> Self {
        Self {
            run: run.into(),
            seed,
            recipe,
            mode: Mode::Train,
            tasks,
            replays: false,
            model: None,
            library: SkillLibrary::new(),
            policies: Policies::new(),
            width: NonZeroU64::MIN,
        }
    }
}
