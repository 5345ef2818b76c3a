//! Filtering (HiSME 3.3, Eq. 14 to 16; H9).

use std::collections::BTreeSet;

use super::{FilterPolicy, Upkeep, support::spoken_for};
use crate::{
    domain::{LibraryChange, Origin, SkillRef, State},
    id::{AttemptId, SkillId, Version},
    library::{Entry, SkillLibrary},
};

/// The changes for the skills that the filter takes out of use (Eq. 16). A skill that was refined just now stays, and by the
/// policy one that still meets the release threshold.
pub(crate) fn filtered(context: &Upkeep<'_>, changes: &[LibraryChange]) -> Vec<LibraryChange> {
    let Some(policy) = &context.policy.filter else {
        return Vec::new();
    };
    let mended: BTreeSet<&SkillId> = changes
        .iter()
        .filter_map(|change| match change {
            LibraryChange::Revise(skill) => Some(&skill.id),
            _ => None,
        })
        .collect();
    let offered = context
        .library
        .entries()
        .filter(|entry| entry.skill.state.is_offered() && !mended.contains(&entry.skill.id));
    let fallen = offered.filter(|entry| {
        let supported = || spoken_for(context, entry, changes).is_some();
        policy.takes(&entry.life, entry.skill.version) && !(policy.keep_supported && supported())
    });
    let taken = fallen.flat_map(|entry| {
        let change = taken_out(policy, entry);
        let unfit = match &change {
            LibraryChange::RollBack { to, .. } => calls(context.library, entry, *to),
            _ => Vec::new(),
        };
        let dropped = (!unfit.is_empty()).then(|| LibraryChange::PatchBundle {
            skill: entry.skill.id.clone(),
            cases: Vec::new(),
            dropped: unfit,
        });
        [change].into_iter().chain(dropped)
    });
    taken.collect()
}

/// The cases that called for another version than this one: attempts that followed it and were refused.
fn calls(library: &SkillLibrary, entry: &Entry, version: Version) -> Vec<String> {
    let reference = SkillRef {
        id: entry.skill.id.clone(),
        version,
    };
    let failed = |attempt: &AttemptId| {
        let mut traces = library.traces().map(|trace| &trace.trajectory);
        traces.any(|tried| {
            let mut exposures = tried.exposures.iter();
            tried.attempt == *attempt
                && exposures.any(|seen| seen.used && seen.skill == reference)
                && tried.steps.iter().any(|step| step.result.is_error)
        })
    };
    let bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
    let calls = bundle.filter(|case| case.refusals == 0 && failed(&case.attempt));
    calls.map(|case| case.name.clone()).collect()
}

/// What becomes of a version that falls: where it was mended, and the version before helped more often than it harmed, that one
/// comes back (algorithm 4, line 14); else the skill is disabled.
fn taken_out(policy: &FilterPolicy, entry: &Entry) -> LibraryChange {
    let counts = |version| {
        let counts = (entry.life).latest_counts(version, policy.window as usize);
        (counts.harmful, counts.helpful)
    };
    let version = &entry.skill;
    let (harmful, helpful) = counts(version.version);
    let reason = format!("harmful {harmful} times, helpful {helpful} times");
    let mended = version.provenance.origin == Origin::Refined;
    let before = entry.history.last().filter(|before| {
        let (harmful, helpful) = counts(before.version);
        mended && helpful > harmful
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
    use super::*;
    use crate::{
        Seed,
        domain::{Attribution, BundleCase, CaseKind, Exposure, Judgement, TierPolicy},
        id::TaskId,
        library::{Judged, Life},
        testing::sample,
    };

    #[test]
    fn a_mended_version_that_falls_gives_way_to_a_sound_one_before_it() {
        let falls = |origin, before: [u32; 2]| {
            let first = sample::skill("one");
            let mut second = first.clone();
            second.version = Version(2);
            second.provenance.origin = origin;
            let told = |version: u64, judgement, number: u32| {
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
            changes.extend((0..helpful).map(|at| told(1, Judgement::Helpful, at)));
            changes.extend((0..harmful).map(|at| told(1, Judgement::Harmful, at)));
            changes.push(LibraryChange::Revise(Box::new(second)));
            changes.extend((0..2).map(|at| told(2, Judgement::Harmful, at)));
            let mut library = SkillLibrary::default();
            library
                .apply(&sample::committed(1, changes))
                .expect("it is taken");
            let entry = library.get(&first.id).expect("it is there");
            let policy = FilterPolicy::default();
            assert!(policy.takes(&entry.life, entry.skill.version));
            taken_out(&policy, entry)
        };
        let back = falls(Origin::Refined, [2, 1]);
        assert!(matches!(
            back,
            LibraryChange::RollBack { to: Version(1), .. }
        ));
        for (origin, before) in [
            (Origin::Refined, [1, 1]),
            (Origin::Refined, [0, 0]),
            (Origin::Extracted, [2, 0]),
        ] {
            let state = match falls(origin, before) {
                LibraryChange::SetState { state, .. } => state,
                other => panic!("{other:?}"),
            };
            assert_eq!(state, State::Disabled);
        }
    }

    #[test]
    fn the_cases_that_called_for_a_fallen_version_go_with_it() {
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
        // Each followed a version; some were refused something.
        let followed = |attempt: &str, version, is_refused| {
            let mut trace = sample::trace(attempt, &task, &["one"], true);
            trace.trajectory.steps[0].result.is_error = is_refused;
            trace.trajectory.exposures.push(Exposure {
                skill: SkillRef {
                    id: skill.id.clone(),
                    version: Version(version),
                },
                since: 0,
                used: true,
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
            followed("called", 1, true),
            followed("went well", 1, false),
            followed("of the next", 2, true),
            LibraryChange::PatchBundle {
                skill: skill.id.clone(),
                cases: vec![
                    case("called", 0),
                    case("called", 1),
                    case("went well", 0),
                    case("of the next", 0),
                    case("nobody knows", 0),
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
        assert_eq!(calls(&library, entry, Version(1)), ["called, 0"]);
        assert_eq!(calls(&library, entry, Version(2)), ["of the next, 0"]);
    }

    #[test]
    fn helpful_judgements_protect_within_the_window_alone() {
        let mut life = Life::default();
        let mut number = 0;
        let policy = FilterPolicy {
            harmful: 2,
            helpful: 1,
            window: 3,
            keep_supported: true,
        };
        let mut told = |judgement| {
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
        assert!(!told(Judgement::Harmful));
        assert!(!told(Judgement::Helpful));
        assert!(!told(Judgement::Harmful));
        assert!(!told(Judgement::Harmful));
        // The helpful one is further back now.
        assert!(told(Judgement::Neutral));
        assert!(!told(Judgement::Helpful));
    }
}
