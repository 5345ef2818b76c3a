//! Anchors: subgoals that are judged again at each checkpoint (SCRIBE A.3).

use std::collections::BTreeMap;

use super::{AnchorPolicy, asking::roles, assessing::score_task};
use crate::{
    contract::RoleAnswer,
    domain::{Anchor, AnchorScores, Drift, LibraryChange, Prototype, SubgoalRef, Trace},
    id::{AttemptId, Category},
    library::SkillLibrary,
    policy::Ask,
    report::EventKind,
};

/// The anchors from now on: those that there are, and more for each category that has too few, the earliest subgoals first. An
/// anchor needs a prototype and an attempt that is still kept.
pub(super) fn anchors(
    library: &SkillLibrary,
    prototypes: &[Prototype],
    policy: AnchorPolicy,
) -> Vec<Anchor> {
    let mut anchors = library.anchors().to_vec();
    let mut counts: BTreeMap<Option<Category>, usize> = BTreeMap::new();
    for anchor in &anchors {
        *counts.entry(anchor.category.clone()).or_default() += 1;
    }
    let traces: BTreeMap<&AttemptId, &Trace> = library
        .traces()
        .map(|trace| (&trace.trajectory.attempt, trace))
        .collect();
    let of_members: BTreeMap<&SubgoalRef, &Prototype> = prototypes
        .iter()
        .flat_map(|one| one.members.iter().map(move |member| (member, one)))
        .collect();
    for known in library.subgoals() {
        let is_one = |anchor: &Anchor| anchor.at == known.at;
        let count = counts.entry(known.category.clone()).or_default();
        if *count >= policy.each.get() || anchors.iter().any(is_one) {
            continue;
        }
        let own = of_members.get(&known.at);
        let (Some(prototype), Some(trace)) = (own, traces.get(&known.at.attempt)) else {
            continue;
        };
        let mut attempt = Trace::clone(trace);
        let subgoal = known.assessed.subgoal.clone();
        attempt.trajectory.steps.truncate(subgoal.last + 1);
        anchors.push(Anchor {
            at: known.at.clone(),
            category: known.category.clone(),
            attempt: Box::new(attempt),
            subgoal,
            rubric: prototype.rubric.clone(),
        });
        *count += 1;
    }
    anchors
}

/// The scores of each anchor at the earliest checkpoint that is kept of it; of a new anchor the present ones.
fn earliest(library: &SkillLibrary, now: &[AnchorScores]) -> Vec<AnchorScores> {
    let of = |one: &AnchorScores| {
        let mut kept = library.anchor_checks().flatten();
        kept.find(|before| before.anchor == one.anchor).cloned()
    };
    now.iter()
        .map(|one| of(one).unwrap_or_else(|| one.clone()))
        .collect()
}

/// Judges every anchor as often as the policy says, tells how far the judge moved since the first checkpoint of each, and gives the
/// changes.
pub(super) async fn check(
    ask: &mut Ask,
    library: &SkillLibrary,
    anchors: Vec<Anchor>,
    policy: AnchorPolicy,
) -> Vec<LibraryChange> {
    if anchors.is_empty() {
        return Vec::new();
    }
    let repeats = policy.repeats.get();
    let tasks = anchors.iter().flat_map(|anchor| {
        let task = |repeat| {
            let rubric = Some(&anchor.rubric);
            score_task(&anchor.attempt, &anchor.subgoal, rubric, repeat)
        };
        (0..repeats).map(task)
    });
    let mut answers = roles(ask, tasks.collect()).await.into_iter();
    let scores: Vec<AnchorScores> = anchors
        .iter()
        .map(|anchor| {
            let own = answers.by_ref().take(repeats as usize);
            let scores = own.filter_map(|answer| match answer {
                Some(RoleAnswer::Scored { score, .. }) => Some(score),
                _ => None,
            });
            AnchorScores {
                anchor: anchor.at.clone(),
                scores: scores.collect(),
            }
        })
        .collect();
    ask.tell(EventKind::AnchorsChecked {
        drift: Drift::between(&earliest(library, &scores), &scores),
    });
    let new = anchors != library.anchors();
    let chosen = new.then_some(LibraryChange::SetAnchors(anchors));
    chosen
        .into_iter()
        .chain([LibraryChange::CheckAnchors(scores)])
        .collect()
}
