//! The roles that a recipe asks.

use crate::{domain::Role, policy::ResolvedPolicies, stations::recipe::Recipe};

/// The roles that a recipe asks: the writer's roles, and the roles of all other policies.
pub(crate) fn asked_roles(recipe: &Recipe, policies: &ResolvedPolicies) -> (Vec<Role>, Vec<Role>) {
    let mut beside = Vec::new();
    if recipe.credit.attribute.asks() {
        beside.push(Role::Attribute);
    }
    let programs = policies.programs.iter();
    let of_programs = programs.flat_map(|(_, program)| program.roles());
    let assessor = policies.assessor.iter();
    let of_assessor = assessor.flat_map(|assessor| assessor.roles());
    for role in of_programs.chain(of_assessor) {
        if !beside.contains(&role) {
            beside.push(role);
        }
    }
    (policies.writer.roles(), beside)
}
