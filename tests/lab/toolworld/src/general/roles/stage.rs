//! Where the cases of roles come from.

use journeyman::contract::{PromptFormat, RoleTask};

use super::answer::Answer;
use crate::general::attempt::Attempt;
use crate::general::manner::Manner;
use crate::scene::Scene;
use crate::seed::Draws;
use crate::world::WorldSpec;

/// The worlds that cases are drawn from, and the prompt format in which their attempts were made.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// How worlds are made.
    pub spec: &'a WorldSpec,
    /// Writes the skills of the attempts' prompts.
    pub prompt_format: &'a dyn PromptFormat,
}

impl Stage<'_> {
    /// A scene as an attempt in a manner whose refusals name what is missing.
    pub(super) fn attempt(self, scene: &Scene, draws: &mut Draws) -> Attempt {
        let manner = Manner::named(draws);
        Attempt::of(scene, manner, self.prompt_format, draws)
    }
}

/// The draws of a case; `None` where they gave none of the role.
pub(super) type Drawn = Option<(RoleTask, Answer)>;
