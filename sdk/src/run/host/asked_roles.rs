//! The roles that a recipe asks.

use crate::{domain::Role, propose::Writer, recipe::Recipe};

/// The roles that a recipe asks: the writer's role, and the roles of all other policies.
pub(crate) fn asked_roles(recipe: &Recipe) -> (Option<Role>, Vec<Role>) {
    let maintenance = &recipe.maintenance;
    let beside = [
        (recipe.credit.attribute, Role::Attribute),
        (maintenance.bundles.is_some(), Role::Bundle),
        (maintenance.refine.is_some(), Role::Refine),
        (maintenance.refactor.is_some(), Role::Refactor),
        (maintenance.evolve.is_some(), Role::Evolve),
        // Without `distil-bank` patterns and lessons are skills by themselves.
        (
            maintenance.bank.is_some_and(|bank| bank.first),
            Role::Extract,
        ),
        (maintenance.bank.is_some(), Role::Lesson),
    ];
    let beside = beside.into_iter().filter(|(asked, _)| *asked);
    let writer = match recipe.write.by {
        Writer::Summarize => Some(Role::Summarize),
        Writer::Extract { .. } => Some(Role::Extract),
        Writer::Own(_) => None,
    };
    (writer, beside.map(|(_, role)| role).collect())
}
