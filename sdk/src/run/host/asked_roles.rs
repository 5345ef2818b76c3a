//! The roles that a recipe asks.

use crate::{
    domain::Role,
    policy::ResolvedPolicies,
    recipe::Recipe,
    stations::assess::{AssessBy, RouteBy},
};

/// The roles that a recipe asks: the writer's roles, and the roles of all other policies.
pub(crate) fn asked_roles(recipe: &Recipe, policies: &ResolvedPolicies) -> (Vec<Role>, Vec<Role>) {
    let mut beside = Vec::new();
    if recipe.credit.attribute.asks() {
        beside.push(Role::Attribute);
    }
    let programs = policies.programs.iter();
    for role in programs.flat_map(|(_, program)| program.roles()) {
        if !beside.contains(&role) {
            beside.push(role);
        }
    }
    if let Some(assess) = &recipe.assess {
        if let AssessBy::Subgoals(_) = assess.by {
            beside.push(Role::Segment);
            beside.extend((assess.route == RouteBy::Role).then_some(Role::Route));
        }
        beside.push(Role::Score);
    }
    (policies.writer.roles(), beside)
}
