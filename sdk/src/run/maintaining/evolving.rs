//! Rules for the roles that make skills, from how what they made has fared (HiSME 3.4, algorithm 5; H13, H14).

use super::{
    super::context::Context,
    slots::{Ask, Slots},
};
use crate::{
    contract::{Experience, RoleAnswer, RoleTask},
    domain::{LibraryChange, Origin, Role, RoleRule, Skill, State},
    library::Entry,
    recipe::EvolvePolicy,
};

/// Asks for the rules of each role of which enough has lived long enough to tell.
pub(super) fn evolve(context: &Context<'_>) -> Slots {
    let Some(policy) = &context.recipe.maintenance.evolve else {
        return Slots::default();
    };
    let roles = Role::ALL.into_iter().filter(|role| role.learns_rules());
    let asks = roles.filter_map(|role| {
        let rows = rows(context, policy, role);
        let enough = rows.len() >= policy.rows as usize;
        enough.then(|| {
            Ask::Role(Box::new(RoleTask::Evolve {
                role,
                rules: context.library.rules(role).to_vec(),
                rows,
            }))
        })
    });
    asks.collect()
}

/// What a role made and how that fared: only what has lived long enough, the latest, oldest first.
fn rows(context: &Context<'_>, policy: &EvolvePolicy, role: Role) -> Vec<Experience> {
    let origin = match role {
        Role::Extract => Origin::Extracted,
        Role::Refactor => Origin::Refactored,
        _ => Origin::Refined,
    };
    let entries = context.library.entries().chain(context.library.deleted());
    let mut rows: Vec<(u64, Experience)> = entries
        .flat_map(|entry| entry.versions().map(move |version| (entry, version)))
        .filter(|(_, version)| version.provenance.origin == origin)
        .filter_map(|(entry, version)| Some((entry.added_at.0, row(policy, entry, version)?)))
        .collect();
    // The sort is stable, so what came in one revision stays in order of ids.
    rows.sort_by_key(|(added, _)| *added);
    let over = rows.len().saturating_sub(policy.sample as usize);
    rows.into_iter().skip(over).map(|(_, row)| row).collect()
}

/// A row, once the version has lived long enough: judged often enough, tested, or taken out of use.
fn row(policy: &EvolvePolicy, entry: &Entry, version: &Skill) -> Option<Experience> {
    let counts = entry.life.counts(version.version);
    let tested = entry.life.tested.as_ref();
    let tested = tested.filter(|tested| tested.version == version.version);
    let is_current = entry.skill.version == version.version;
    let fell = is_current && matches!(entry.skill.state, State::Disabled | State::Archived);
    if counts.total() < policy.mature && !fell {
        return None;
    }
    let fate = match entry.skill.state {
        _ if !is_current => "revised",
        State::Active => "active",
        State::Trial => "on trial",
        State::Disabled => "disabled",
        State::Archived => "archived",
        State::Draft => "draft",
        State::Quarantined => "quarantined",
    };
    let count = |cases: usize| u32::try_from(cases).unwrap_or(u32::MAX);
    Some(Experience {
        skill: version.clone(),
        helpful: counts.helpful,
        harmful: counts.harmful,
        other: counts.neutral + counts.uncertain,
        bundle: tested.map(|tested| (count(tested.passed()), count(tested.outcomes.len()))),
        fate: fate.to_owned(),
    })
}

/// The rules that were learnt, where they are others than before. What could not be read changes nothing.
pub(super) fn learnt(context: &Context<'_>, slots: &Slots) -> Vec<LibraryChange> {
    let Some(policy) = &context.recipe.maintenance.evolve else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    for (task, said) in slots.played() {
        let (RoleTask::Evolve { role, rules, .. }, Ok(Some(played))) = (task, said) else {
            continue;
        };
        let RoleAnswer::Rules(learnt) = &played.answer else {
            continue;
        };
        let kept = learnt.iter().take(policy.rules).cloned();
        let kept: Vec<RoleRule> = kept.collect();
        if kept != *rules {
            changes.push(LibraryChange::SetRules {
                role: *role,
                rules: kept,
            });
        }
    }
    changes
}
