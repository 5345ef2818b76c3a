//! Cases, role by role.

use journeyman::contract::RoleTask;
use journeyman::domain::Role;

use super::stage::Stage;
use super::{assessing, curating, judging, reviewing, rules, writing};
use crate::seed::Draws;

/// A case: what a role is asked, and a right answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleCase {
    /// What is asked.
    pub task: RoleTask,
    /// The answer: JSON with spaces, its keys in the order of the role's schema.
    pub answer: String,
}

/// Draws a case of a role.
#[must_use]
pub fn case(role: Role, stage: Stage<'_>, draws: &mut Draws) -> RoleCase {
    loop {
        let drawn = match role {
            Role::Summarize => writing::summarize(stage, draws),
            Role::Extract => writing::extract(stage, draws),
            Role::Refactor => writing::refactor(stage, draws),
            Role::Refine => writing::refine(stage, draws),
            Role::Attribute => judging::attribute(stage, draws),
            Role::Bundle => judging::bundle(stage, draws),
            Role::Evolve => rules::evolve(stage, draws),
            Role::Segment => assessing::segment(stage, draws),
            Role::DistilPrototype => assessing::distil_prototype(stage, draws),
            Role::Route => assessing::route(stage, draws),
            Role::Score => assessing::score(stage, draws),
            Role::Curate => curating::curate(stage, draws),
            Role::Tag => curating::tag(stage, draws),
            Role::Lesson => curating::lesson(stage, draws),
            Role::DistilBank => curating::distil_bank(stage, draws),
            _ => reviewing::review(stage, draws),
        };
        if let Some((task, answer)) = drawn {
            return RoleCase {
                task,
                answer: answer.to_string(),
            };
        }
    }
}
