//! Support of a skill by its bundle: the tasks with a passed whole-attempt case.

use std::collections::BTreeSet;

use crate::{
    domain::{BundleCase, CaseKind, CaseOutcome, Judgement, LibraryChange, State},
    library::Entry,
    papers::hisme::MicroPolicy,
    stations::maintain::{MaintenanceContext, live::tasks_needed},
};

/// What releases a skill on trial, or tried in quarantine, in maintenance: its bundle, where the recipe has bundles; else more
/// helpful judgements than harmful ones, which do not suffice in quarantine. The number of tasks or judgements.
pub(crate) fn support_in_maintenance(
    context: &MaintenanceContext<'_, MicroPolicy>,
    entry: &Entry,
    changes: &[LibraryChange],
) -> Option<u32> {
    if context.policy.bundles.is_some() {
        return release_support(context, entry, changes);
    }
    let version = entry.skill.version;
    let counts = entry.life.counts(version);
    let falls = context.policy.filter.as_ref();
    let falls = falls.is_some_and(|policy| policy.takes(&entry.life, version));
    let helped = counts.helpful > 0 && counts.harmful <= counts.helpful;
    let suffices = helped && !falls && entry.skill.state != State::Quarantined;
    suffices.then_some(counts.helpful)
}

/// Number of tasks with a passed whole-attempt case, if that meets the release threshold
/// ([`BundlePolicy::tasks`](crate::papers::hisme::BundlePolicy::tasks), [`QuarantinePolicy::tasks`](crate::stations::maintain::QuarantinePolicy::tasks)) and there
/// are no more harmful judgements than such tasks. `changes` are those of this maintenance so far, with the latest outcomes.
pub(crate) fn release_support(
    context: &MaintenanceContext<'_, MicroPolicy>,
    entry: &Entry,
    changes: &[LibraryChange],
) -> Option<u32> {
    let bundles = context.policy.bundles.as_ref()?;
    let counts = entry.life.counts(entry.skill.version);
    let support = support(entry, changes, bundles.harm_blocks);
    let needed = tasks_needed(context, entry.skill.state);
    (support >= needed && counts.harmful <= support).then_some(support)
}

/// Number of tasks with a passed whole-attempt case of this version; 0 if a case [blocks its release](blocks_release).
fn support(entry: &Entry, changes: &[LibraryChange], harm_blocks: bool) -> u32 {
    let known = entry.life.bundle.iter().map(|bundled| &bundled.case);
    let new = changes.iter().filter_map(|change| match change {
        LibraryChange::PatchBundle { skill, cases, .. } if *skill == entry.skill.id => Some(cases),
        _ => None,
    });
    let cases: Vec<&BundleCase> = new.flatten().chain(known).collect();
    let mut tasks = BTreeSet::new();
    for outcome in last_outcomes(entry, changes) {
        let case = cases.iter().find(|case| case.name == outcome.name);
        let Some(case) = case else { continue };
        if blocks_release(entry, case, outcome, harm_blocks) {
            return 0;
        }
        // The steps before a fragment are replayed whatever the skill says of them, so a passed fragment supports no release.
        if case.is_whole() && outcome.has_passed() && !is_of_harmed_attempt(entry, case) {
            tasks.insert(&case.task.id);
        }
    }
    u32::try_from(tasks.len()).unwrap_or(u32::MAX)
}

/// Whether the outcome of a case blocks the skill's release: the case was played and failed. The case of an attempt that the
/// skill harmed does so only if `harm_blocks` ([`BundlePolicy::harm_blocks`](crate::papers::hisme::BundlePolicy::harm_blocks)).
pub(crate) fn blocks_release(
    entry: &Entry,
    case: &BundleCase,
    outcome: &CaseOutcome,
    harm_blocks: bool,
) -> bool {
    let counts = || harm_blocks || !is_of_harmed_attempt(entry, case);
    outcome.has_failed() && counts()
}

/// Whether a case was made from an attempt that the skill harmed.
fn is_of_harmed_attempt(entry: &Entry, case: &BundleCase) -> bool {
    let mut judged = entry.life.judged.iter().map(|judged| &judged.attribution);
    let mut is_harmed =
        || judged.any(|one| one.judgement == Judgement::Harmful && one.attempt == case.attempt);
    case.kind == CaseKind::Negative && is_harmed()
}

/// The latest outcomes of the current version's cases, from this maintenance's changes or an earlier one.
pub(crate) fn last_outcomes<'a>(
    entry: &'a Entry,
    changes: &'a [LibraryChange],
) -> impl Iterator<Item = &'a CaseOutcome> {
    let reference = entry.skill.reference();
    let now = changes.iter().rev().find_map(|change| match change {
        LibraryChange::Test { skill, outcomes } if *skill == reference => Some(outcomes),
        _ => None,
    });
    let before = entry.life.tested.as_ref();
    let before = before.filter(|tested| tested.version == reference.version);
    let outcomes = now.or(before.map(|tested| &tested.outcomes));
    outcomes.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Seed,
        domain::{Attribution, CaseResult},
        library::SkillLibrary,
        testing::sample,
    };

    #[test]
    fn the_failed_case_of_a_harmed_attempt_blocks_a_release_as_the_policy_says() {
        let skill = sample::skill("one");
        let case = |kind| BundleCase {
            name: "a case".to_owned(),
            kind,
            task: sample::task("t", &["one"]),
            attempt: "harmed".into(),
            world_seed: Seed(1),
            prefix: Vec::new(),
            refusals: 0,
            least_score: 0.0,
        };
        let harmed = LibraryChange::Attribute(Attribution {
            skill: skill.reference(),
            attempt: "harmed".into(),
            task: "t".into(),
            judgement: Judgement::Harmful,
            scope: String::new(),
            reason: "a test".to_owned(),
        });
        let mut library = SkillLibrary::new();
        let changes = vec![LibraryChange::Add(Box::new(skill.clone())), harmed];
        library
            .apply(&sample::committed(1, changes))
            .expect("it is taken");
        let entry = library.get(&skill.id).expect("it is there");
        let outcome = CaseOutcome {
            name: "a case".to_owned(),
            result: CaseResult::Failed {
                reason: "the task was not done".to_owned(),
                refusals: 1,
            },
        };
        let blocks = |kind, harm_blocks| blocks_release(entry, &case(kind), &outcome, harm_blocks);
        assert!(!blocks(CaseKind::Negative, false));
        assert!(blocks(CaseKind::Negative, true));
        assert!(blocks(CaseKind::Integration, false));
    }
}
