//! Rules for the roles that make skills, from how what they made has fared (HiSME 3.4, algorithm 5; H13, H14).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::{BundleCounts, Experience, RoleAnswer, RoleTask, VersionJudgements},
    domain::{LibraryChange, Origin, Role, RoleRule, Skill, State},
    library::{Entry, JudgementCounts},
    maintain::{EvolvePolicy, Upkeep},
    policy::Said,
};

/// The tasks of the evolver: one for each role with enough mature skills.
pub(crate) fn due(context: &Upkeep<'_>) -> Vec<RoleTask> {
    let Some(policy) = &context.policy.evolve else {
        return Vec::new();
    };
    let roles = Role::ALL.into_iter().filter(|role| role.learns_rules());
    let asks = roles.filter_map(|role| {
        let rows = rows(context, policy, role);
        let enough = rows.len() >= policy.rows as usize;
        enough.then(|| RoleTask::Evolve {
            role,
            rules: context.library.rules(role).to_vec(),
            rows,
        })
    });
    asks.collect()
}

/// What a role made and how that fared: only what has lived long enough, the latest, oldest first. What it wrote word for
/// word again is one row, and what another wrote word for word the same bears it out as well.
fn rows(context: &Upkeep<'_>, policy: &EvolvePolicy, role: Role) -> Vec<Experience> {
    let origin = match role {
        Role::Extract => Origin::Extracted,
        Role::Refactor => Origin::Refactored,
        _ => Origin::Refined,
    };
    let entries = || context.library.entries().chain(context.library.deleted());
    let mut fared: BTreeMap<&str, JudgementCounts> = BTreeMap::new();
    for entry in entries() {
        for version in entry.versions() {
            *fared.entry(&version.body).or_default() +=
                entry.life.counts_of_all_trials(version.version);
        }
    }
    let mut made: Vec<(u64, &Entry, &Skill)> = entries()
        .flat_map(|entry| entry.versions().map(move |version| (entry, version)))
        .filter(|(_, version)| version.provenance.origin == origin)
        .map(|(entry, version)| (came_in(context, entry, version), entry, version))
        .collect();
    // The sort is stable, so what came in one revision stays in order of ids.
    made.sort_by_key(|(came_in, ..)| *came_in);
    let mut texts = BTreeSet::new();
    let latest = made.into_iter().rev();
    let latest = latest.filter(|(_, _, version)| texts.insert(version.body.as_str()));
    let rows = latest.filter_map(|(_, entry, version)| {
        let counts = fared.get(version.body.as_str()).copied();
        row(policy, entry, version, counts.unwrap_or_default())
    });
    let mut rows: Vec<Experience> = rows.take(policy.sample as usize).collect();
    rows.reverse();
    rows
}

/// When a version came in; of one that is not in use now no more is known than that it did not come before the first.
fn came_in(context: &Upkeep<'_>, entry: &Entry, version: &Skill) -> u64 {
    let in_use = context.library.get(&entry.skill.id).is_some();
    match in_use && version.version == entry.skill.version {
        true => entry.changed_at.0,
        false => entry.added_at.0,
    }
}

/// A row, once the version has lived long enough: judged often enough, or taken out of use.
fn row(
    policy: &EvolvePolicy,
    entry: &Entry,
    version: &Skill,
    counts: JudgementCounts,
) -> Option<Experience> {
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
    let before = entry
        .versions()
        .take_while(|one| one.version < version.version);
    let before = before.last().map(|before| {
        let counts = entry.life.counts_of_all_trials(before.version);
        VersionJudgements {
            helpful: counts.helpful,
            harmful: counts.harmful,
        }
    });
    Some(Experience {
        skill: version.clone(),
        helpful: counts.helpful,
        harmful: counts.harmful,
        other: counts.neutral + counts.uncertain,
        bundle: tested.map(|tested| BundleCounts {
            passed: count(tested.passed()),
            cases: count(tested.outcomes.len()),
        }),
        before,
        fate: fate.to_owned(),
    })
}

/// The changes of rules. An answer that could not be read changes nothing.
pub(crate) fn learned(context: &Upkeep<'_>, said: &[Said]) -> Vec<LibraryChange> {
    let Some(policy) = &context.policy.evolve else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    for Said { task, said } in said {
        let (RoleTask::Evolve { role, rules, .. }, Ok(Some(played))) = (task, said) else {
            continue;
        };
        let RoleAnswer::Rules(learned) = &played.answer else {
            continue;
        };
        let kept = learned.iter().take(policy.rules).cloned();
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

#[cfg(test)]
mod tests;
