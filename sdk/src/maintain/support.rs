//! What speaks for a skill: at how many tasks whole attempts of its bundle go well with it.

use std::collections::BTreeSet;

use super::Upkeep;
use crate::{
    domain::{BundleCase, CaseKind, CaseOutcome, Judgement, LibraryChange},
    library::Entry,
};

/// At how many tasks whole attempts speak for a skill, where that is enough for a newcomer to be released and no more
/// judgements speak against it. `changes` are those of this round so far, which have what its cases came to now.
pub(crate) fn spoken_for(
    context: &Upkeep<'_>,
    entry: &Entry,
    changes: &[LibraryChange],
) -> Option<u32> {
    let bundles = context.policy.bundles.as_ref()?;
    let counts = entry.life.counts(entry.skill.version);
    let support = support(entry, changes, bundles.harm_blocks);
    (support >= bundles.tasks && counts.harmful <= support).then_some(support)
}

/// Number of tasks with a passed whole-attempt case of this version; 0 if a case speaks against the skill. The case of an attempt
/// that it harmed does so only if `harm_blocks` ([`BundlePolicy::harm_blocks`](super::BundlePolicy::harm_blocks)).
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
        if is_against(entry, case, outcome, harm_blocks) {
            return 0;
        }
        // A fragment plays what came before it, whatever the skill says of that.
        if case.is_whole() && outcome.has_passed() && !is_of_harmed(entry, case) {
            tasks.insert(&case.task.id);
        }
    }
    u32::try_from(tasks.len()).unwrap_or(u32::MAX)
}

/// Whether the outcome of a case speaks against the skill.
pub(crate) fn is_against(
    entry: &Entry,
    case: &BundleCase,
    outcome: &CaseOutcome,
    harm_blocks: bool,
) -> bool {
    let counts = || harm_blocks || !is_of_harmed(entry, case);
    outcome.has_failed() && counts()
}

/// Whether a case is of an attempt that the skill harmed.
fn is_of_harmed(entry: &Entry, case: &BundleCase) -> bool {
    let mut judged = entry.life.judged.iter().map(|judged| &judged.attribution);
    let mut is_harmed =
        || judged.any(|told| told.judgement == Judgement::Harmful && told.attempt == case.attempt);
    case.kind == CaseKind::Negative && is_harmed()
}

/// What came of the current version's cases when they ran last, in this round or before it.
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
    fn the_failed_case_of_a_harmed_attempt_holds_a_skill_back_as_the_policy_says() {
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
        let against = |kind, harm_blocks| is_against(entry, &case(kind), &outcome, harm_blocks);
        assert!(!against(CaseKind::Negative, false));
        assert!(against(CaseKind::Negative, true));
        assert!(against(CaseKind::Integration, false));
    }
}
