//! Rules of the roles that write skills, from the results of these skills (HiSME 3.4, Eq. 17, algorithm 5; H13, H14).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::{BundleCounts, Experience, RoleAnswer, RoleTask, VersionJudgements},
    domain::{LibraryChange, Origin, Role, RoleRule, Skill, State, Taint},
    library::{Entry, JudgementCounts},
    papers::hisme::{EvolvePolicy, MacroPolicy},
    policy::RoleReply,
    stations::{
        admit::{
            Identity, Terms,
            identity::{Compared, Meanings, terms_of},
        },
        maintain::MaintenanceContext,
    },
};

/// The evolver's tasks: one for each role with enough mature skills ([`EvolvePolicy::rows`]).
pub(crate) fn due(
    context: &MaintenanceContext<'_, MacroPolicy>,
    meanings: &Meanings,
) -> Vec<RoleTask> {
    let Some(policy) = &context.policy.evolve else {
        return Vec::new();
    };
    let texts = Texts::of(context, meanings);
    let roles = Role::ALL.into_iter().filter(|role| role.learns_rules());
    let asks = roles.filter_map(|role| {
        let rows = rows(context, (policy, &texts), role);
        let enough = rows.len() >= policy.rows.get() as usize;
        enough.then(|| RoleTask::Evolve {
            role,
            rules: context.library.rules(role).to_vec(),
            rows,
        })
    });
    asks.collect()
}

/// The versions that roles wrote, in use and deleted. A text of an untrusted source makes no rule before it is released.
fn versions<'a>(
    context: &MaintenanceContext<'a, MacroPolicy>,
) -> impl Iterator<Item = (&'a Entry, &'a Skill)> {
    let library = context.context.library;
    let entries = library.entries().chain(library.deleted());
    let versions = entries.flat_map(|entry| entry.versions().map(move |version| (entry, version)));
    versions
        .filter(|(entry, version)| version.taint == Taint::Clean || was_released(entry, version))
}

/// Whether a version is in use, or was at some time.
fn was_released(entry: &Entry, version: &Skill) -> bool {
    let mut states = entry.life.states.iter();
    version.state.is_offered()
        || states.any(|set| {
            let in_use = set.state.is_offered() || set.before.is_offered();
            set.version == version.version && in_use
        })
}

/// The texts whose embeddings decide which versions have the same text.
pub(crate) fn unclear(context: &MaintenanceContext<'_, MacroPolicy>) -> BTreeSet<String> {
    let identity = &context.standing.admit.identity;
    if context.policy.evolve.is_none() || *identity == Identity::Bytes {
        return BTreeSet::new();
    }
    identity.unclear(std::iter::empty(), &Texts::bodies(context))
}

/// The versions' texts, those that are the same together ([`Identity`](crate::stations::admit::Identity)).
struct Texts<'a> {
    /// The number of a body's text.
    numbers: BTreeMap<&'a str, usize>,
    /// The judgements of all versions with a text.
    judged: Vec<JudgementCounts>,
}

impl<'a> Texts<'a> {
    fn of(context: &MaintenanceContext<'a, MacroPolicy>, meanings: &Meanings) -> Self {
        let identity = &context.standing.admit.identity;
        let mut first: Vec<&Skill> = Vec::new();
        let mut texts = Self {
            numbers: BTreeMap::new(),
            judged: Vec::new(),
        };
        for (entry, version) in versions(context) {
            let known = texts.numbers.get(version.body.as_str()).copied();
            let number = known.or_else(|| match identity {
                Identity::Bytes => None,
                identity => {
                    let library = context.context.library;
                    let compared = Compared::of_skill(version, terms_of(library, version));
                    let same = |one: &&Skill| {
                        let same = compared.same(identity, meanings, (library, one));
                        same.is_some()
                    };
                    first.iter().position(same)
                }
            });
            let number = number.unwrap_or_else(|| {
                first.push(version);
                texts.judged.push(JudgementCounts::default());
                first.len() - 1
            });
            texts.numbers.insert(&version.body, number);
            if let Some(judged) = texts.judged.get_mut(number) {
                *judged += entry.life.counts_of_all_trials(version.version);
            }
        }
        texts
    }

    /// One version of each body.
    fn bodies(context: &MaintenanceContext<'_, MacroPolicy>) -> Vec<Compared> {
        let mut bodies = BTreeSet::new();
        let first = versions(context).filter(|(_, version)| bodies.insert(version.body.as_str()));
        let first = first.map(|(_, version)| Compared::of_skill(version, Terms::default()));
        first.collect()
    }

    fn number(&self, version: &Skill) -> Option<usize> {
        self.numbers.get(version.body.as_str()).copied()
    }
}

/// The replay buffer of a role (Eq. 17): the latest mature versions that it wrote with their results, oldest first. Versions
/// with the same text make one row, which has the judgements of all versions with that text, by whichever role.
fn rows(
    context: &MaintenanceContext<'_, MacroPolicy>,
    (policy, texts): (&EvolvePolicy, &Texts<'_>),
    role: Role,
) -> Vec<Experience> {
    let origin = match role {
        Role::Extract => Origin::Extracted,
        Role::Refactor => Origin::Refactored,
        _ => Origin::Refined,
    };
    let mut written: Vec<(u64, &Entry, &Skill)> = versions(context)
        .filter(|(_, version)| version.provenance.origin == origin)
        .map(|(entry, version)| (entered_at(context, entry, version), entry, version))
        .collect();
    // The sort is stable, so versions of one revision stay in the order of their ids.
    written.sort_by_key(|(entered_at, ..)| *entered_at);
    let mut seen = BTreeSet::new();
    let latest = written.into_iter().rev();
    let latest = latest.filter(|(_, _, version)| seen.insert(texts.number(version)));
    let rows = latest.filter_map(|(_, entry, version)| {
        let counts = texts.number(version);
        let counts = counts.and_then(|number| texts.judged.get(number).copied());
        row(policy, entry, version, counts.unwrap_or_default())
    });
    let mut rows: Vec<Experience> = rows.take(policy.sample.get() as usize).collect();
    rows.reverse();
    rows
}

/// The revision at which a version entered the library. It is known for the current version; for others it is that of the
/// skill's first version.
fn entered_at(
    context: &MaintenanceContext<'_, MacroPolicy>,
    entry: &Entry,
    version: &Skill,
) -> u64 {
    let in_use = context.library.get(&entry.skill.id).is_some();
    match in_use && version.version == entry.skill.version {
        true => entry.changed_at.0,
        false => entry.added_at.0,
    }
}

/// The row of a mature version: judged often enough, or disabled or archived. `None` for another.
fn row(
    policy: &EvolvePolicy,
    entry: &Entry,
    version: &Skill,
    counts: JudgementCounts,
) -> Option<Experience> {
    let tested = entry.life.tested.as_ref();
    let tested = tested.filter(|tested| tested.version == version.version);
    let is_current = entry.skill.version == version.version;
    let is_out = is_current && matches!(entry.skill.state, State::Disabled | State::Archived);
    if counts.total() < policy.mature && !is_out {
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

/// The changes of rules that the evolver's answers make. An unreadable answer changes nothing.
pub(crate) fn learned(
    context: &MaintenanceContext<'_, MacroPolicy>,
    replies: &[RoleReply],
) -> Vec<LibraryChange> {
    let Some(policy) = &context.policy.evolve else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    for RoleReply { task, reply } in replies {
        let (RoleTask::Evolve { role, rules, .. }, Ok(Some(played))) = (task, reply) else {
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
