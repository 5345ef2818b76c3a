//! Filtering: decides from judgements which skills are disabled or rolled back (HiSME 3.3, Eq. 14 to 16, algorithm 4; row H9).

use std::collections::BTreeSet;

use crate::{
    domain::{LibraryChange, Origin, SkillRef, State},
    id::{AttemptId, SkillId, Version},
    library::{Entry, SkillLibrary},
    papers::hisme::{FilterPolicy, MicroPolicy, support::release_support},
    stations::maintain::{MaintenanceContext, support::use_of},
};

/// The changes that disable skills, or roll them back (Eq. 16). A skill that was refined or archived in this maintenance is kept as it is,
/// and by the policy one that still meets the release threshold ([`FilterPolicy::keep_supported`]). `changes` are those of this
/// maintenance so far.
pub(crate) fn filtered(
    context: &MaintenanceContext<'_, MicroPolicy>,
    changes: &[LibraryChange],
) -> Vec<LibraryChange> {
    let Some(policy) = &context.policy.filter else {
        return Vec::new();
    };
    let decided: BTreeSet<&SkillId> = changes
        .iter()
        .filter_map(|change| match change {
            LibraryChange::Revise(skill) => Some(&skill.id),
            change => change.archives(),
        })
        .collect();
    let offered = context
        .library
        .entries()
        .filter(|entry| entry.skill.state.is_offered() && !decided.contains(&entry.skill.id));
    let harmful = offered.filter(|entry| {
        let supported = || release_support(context, entry, changes).is_some();
        policy.takes(&entry.life, entry.skill.version) && !(policy.keep_supported && supported())
    });
    let filtered = harmful.flat_map(|entry| {
        let change = disable_or_roll_back(policy, entry);
        let triggers = match &change {
            LibraryChange::RollBack { to, .. } => triggers_of(context.library, entry, *to),
            _ => Vec::new(),
        };
        let dropped = (!triggers.is_empty()).then(|| LibraryChange::PatchBundle {
            skill: entry.skill.id.clone(),
            cases: Vec::new(),
            dropped: triggers,
        });
        [change].into_iter().chain(dropped)
    });
    filtered.collect()
}

/// Names of the cases for which a version was refined: those of attempts that are known to have followed it and had an action
/// refused. They allow no refusal, so the version that comes back could not pass them.
fn triggers_of(library: &SkillLibrary, entry: &Entry, version: Version) -> Vec<String> {
    let reference = SkillRef {
        id: entry.skill.id.clone(),
        version,
    };
    let failed = |attempt: &AttemptId| {
        let mut traces = library.traces().map(|trace| &trace.trajectory);
        traces.any(|tried| {
            tried.attempt == *attempt
                && use_of(library, tried, &reference).is_followed()
                && tried.steps.iter().any(|step| step.result.is_error)
        })
    };
    let bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
    let triggers = bundle.filter(|case| case.refusals == 0 && failed(&case.attempt));
    triggers.map(|case| case.name.clone()).collect()
}

/// The change for a harmful version: a refined version is rolled back if the version before was judged helpful more often than
/// harmful (algorithm 4, line 14); else the skill is disabled.
fn disable_or_roll_back(policy: &FilterPolicy, entry: &Entry) -> LibraryChange {
    let counts = |version| {
        let counts = (entry.life).latest_counts(version, policy.window.get() as usize);
        (counts.harmful, counts.helpful)
    };
    let version = &entry.skill;
    let (harmful, helpful) = counts(version.version);
    let reason = format!("harmful {harmful} times, helpful {helpful} times");
    let refined = version.provenance.origin == Origin::Refined;
    let before = entry.version_before().filter(|before| {
        let (harmful, helpful) = counts(before.version);
        refined && helpful > harmful
    });
    match before {
        Some(before) => LibraryChange::RollBack {
            skill: version.id.clone(),
            to: before.version,
            reason: format!("{reason}, and the version before helped more often than it harmed"),
        },
        None => LibraryChange::SetState {
            skill: version.id.clone(),
            state: State::Disabled,
            reason,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::{
        Seed,
        domain::{Attribution, BundleCase, CaseKind, Exposure, Judgement, SkillUse, TierPolicy},
        id::TaskId,
        library::{Judged, Life},
        testing::sample,
    };

    #[test]
    fn a_harmful_refined_version_is_rolled_back_to_a_helpful_one() {
        let filter = |origin, before: [u32; 2]| {
            let first = sample::skill("one");
            let mut second = first.clone();
            second.version = Version(2);
            second.provenance.origin = origin;
            let judged = |version: u64, judgement, number: u32| {
                LibraryChange::Attribute(Attribution {
                    skill: SkillRef {
                        id: first.id.clone(),
                        version: Version(version),
                    },
                    attempt: AttemptId::new(format!("{version}/{judgement:?}/{number}")),
                    task: TaskId::new("t"),
                    judgement,
                    scope: String::new(),
                    reason: "a test".to_owned(),
                })
            };
            let [helpful, harmful] = before;
            let mut changes = vec![LibraryChange::Add(Box::new(first.clone()))];
            changes.extend((0..helpful).map(|at| judged(1, Judgement::Helpful, at)));
            changes.extend((0..harmful).map(|at| judged(1, Judgement::Harmful, at)));
            changes.push(LibraryChange::Revise(Box::new(second)));
            changes.extend((0..2).map(|at| judged(2, Judgement::Harmful, at)));
            let mut library = SkillLibrary::default();
            library
                .apply(&sample::committed(1, changes))
                .expect("it is taken");
            let entry = library.get(&first.id).expect("it is there");
            let policy = FilterPolicy::default();
            assert!(policy.takes(&entry.life, entry.skill.version));
            disable_or_roll_back(&policy, entry)
        };
        let change = filter(Origin::Refined, [2, 1]);
        assert!(matches!(
            change,
            LibraryChange::RollBack { to: Version(1), .. }
        ));
        for (origin, before) in [
            (Origin::Refined, [1, 1]),
            (Origin::Refined, [0, 0]),
            (Origin::Extracted, [2, 0]),
        ] {
            let state = match filter(origin, before) {
                LibraryChange::SetState { state, .. } => state,
                other => panic!("{other:?}"),
            };
            assert_eq!(state, State::Disabled);
        }
    }

    #[test]
    fn the_cases_that_a_version_was_refined_for_are_found_by_the_attempts_that_failed_with_it() {
        let skill = sample::skill("one");
        let task = sample::task("t", &["one"]);
        let case = |attempt: &str, refusals| BundleCase {
            name: format!("{attempt}, {refusals}"),
            kind: CaseKind::Integration,
            task: task.clone(),
            attempt: AttemptId::new(attempt),
            world_seed: Seed(1),
            prefix: Vec::new(),
            refusals,
            least_score: 0.0,
        };
        // Each attempt followed a version; some had an action refused.
        let followed = |attempt: &str, version, is_refused| {
            let mut trace = sample::trace(attempt, &task, &["one"], true);
            trace.trajectory.steps[0].result.is_error = is_refused;
            trace.trajectory.exposures.push(Exposure {
                skill: SkillRef {
                    id: skill.id.clone(),
                    version: Version(version),
                },
                since: 0,
                used: SkillUse::Followed,
            });
            LibraryChange::Observe(Box::new(trace))
        };
        let keeps = TierPolicy {
            traces: 10,
            ..TierPolicy::default()
        };
        let changes = vec![
            LibraryChange::Configure(keeps),
            LibraryChange::Add(Box::new(skill.clone())),
            followed("refused", 1, true),
            followed("went well", 1, false),
            followed("refused with version 2", 2, true),
            LibraryChange::PatchBundle {
                skill: skill.id.clone(),
                cases: vec![
                    case("refused", 0),
                    case("refused", 1),
                    case("went well", 0),
                    case("refused with version 2", 0),
                    case("not kept", 0),
                ],
                dropped: Vec::new(),
            },
        ];
        let mut library = SkillLibrary::new();
        library
            .apply(&sample::committed(1, changes))
            .expect("it is taken");
        let entry = library.get(&skill.id).expect("it is there");
        assert_eq!(entry.life.bundle.len(), 5);
        assert_eq!(triggers_of(&library, entry, Version(1)), ["refused, 0"]);
        assert_eq!(
            triggers_of(&library, entry, Version(2)),
            ["refused with version 2, 0"]
        );
    }

    #[test]
    fn helpful_judgements_protect_within_the_window_alone() {
        let mut life = Life::default();
        let mut number = 0;
        let policy = FilterPolicy {
            window: NonZeroU32::new(3).expect("not 0"),
            ..FilterPolicy::default()
        };
        let mut takes_after = |judgement| {
            number += 1;
            life.judged.push(Judged {
                attribution: Attribution {
                    skill: sample::skill("one").reference(),
                    attempt: AttemptId::new(number.to_string()),
                    task: TaskId::new("t"),
                    judgement,
                    scope: String::new(),
                    reason: "a test".to_owned(),
                },
                run: None,
            });
            policy.takes(&life, Version(1))
        };
        assert!(!takes_after(Judgement::Harmful));
        assert!(!takes_after(Judgement::Helpful));
        assert!(!takes_after(Judgement::Harmful));
        assert!(!takes_after(Judgement::Harmful));
        // The helpful judgement has left the window.
        assert!(takes_after(Judgement::Neutral));
        assert!(!takes_after(Judgement::Helpful));
    }
}
