//! The roles that a recipe asks.

use crate::{
    assess::{AssessBy, RouteBy},
    domain::Role,
    policy::Policies,
    propose::Writer,
    recipe::Recipe,
};

/// The roles that a recipe asks: the writer's role, and the roles of all other policies.
pub(crate) fn asked_roles(recipe: &Recipe, policies: &Policies) -> (Option<Role>, Vec<Role>) {
    let mut beside = Vec::new();
    if recipe.credit.attribute.asks() {
        beside.push(Role::Attribute);
    }
    // The recipe was resolved, so that its programs are there.
    for scheduled in recipe.scheduled().unwrap_or_default() {
        let program = policies.program(&scheduled.program);
        for role in program.map(|program| program.roles()).unwrap_or_default() {
            if !beside.contains(&role) {
                beside.push(role);
            }
        }
    }
    if let Some(assess) = &recipe.assess {
        if let AssessBy::Subgoals(_) = assess.by {
            beside.push(Role::Segment);
            beside.extend((assess.route == RouteBy::Role).then_some(Role::Route));
        }
        beside.push(Role::Score);
    }
    let writer = match recipe.write.by {
        Writer::Summarize { .. } => Some(Role::Summarize),
        Writer::Extract { .. } => Some(Role::Extract),
        Writer::Curate { .. } => Some(Role::Curate),
        Writer::Own(_) => None,
    };
    (writer, beside)
}
