//! The roles that a recipe asks.

use crate::{
    assess::{AssessBy, RouteBy},
    domain::Role,
    propose::Writer,
    recipe::Recipe,
};

/// The roles that a recipe asks: the writer's role, and the roles of all other policies.
pub(crate) fn asked_roles(recipe: &Recipe) -> (Option<Role>, Vec<Role>) {
    let maintenance = &recipe.maintenance;
    let assess = recipe.assess.as_ref();
    let by_subgoals = assess.is_some_and(|one| matches!(one.by, AssessBy::Subgoals(_)));
    let by_role = by_subgoals && assess.is_some_and(|one| one.route == RouteBy::Role);
    let beside = [
        (recipe.credit.attribute.asks(), Role::Attribute),
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
        (by_subgoals, Role::Segment),
        (by_subgoals, Role::DistilPrototype),
        (by_role, Role::Route),
        (assess.is_some(), Role::Score),
    ];
    let beside = beside.into_iter().filter(|(asked, _)| *asked);
    let writer = match recipe.write.by {
        Writer::Summarize { .. } => Some(Role::Summarize),
        Writer::Extract { .. } => Some(Role::Extract),
        Writer::Curate { .. } => Some(Role::Curate),
        Writer::Own(_) => None,
    };
    (writer, beside.map(|(_, role)| role).collect())
}
