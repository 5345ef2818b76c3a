//! The assessment of an attempt: cut, route, score (SCRIBE 3.2).

use std::collections::BTreeMap;

use crate::{
    contract::{Embedding, RoleAnswer, RoleTask, SegmentPrompt, SubgoalInAttempt, dot},
    domain::{
        Anchor, AnchorScores, AssessedSubgoal, Assessment, Drift, LibraryChange, Prototype, Route,
        Rubric, Subgoal, SubgoalRef, SubgoalScore, Trace,
    },
    id::{AttemptId, Category},
    library::SkillLibrary,
    papers::scribe::{
        AnchorPolicy, AssessBy, AssessPolicy, RouteBy,
        asking::roles,
        center::{center, unit},
    },
    policy::Ask,
    run::report::EventKind,
    text::hashed_ngrams,
};

/// Assesses an attempt: a role cuts it into subgoals, each is routed to a prototype, and a role scores it against the
/// prototype's rubric. `None` where the attempt has no step, or could not be cut.
pub(crate) async fn assess(
    ask: &mut Ask,
    library: &SkillLibrary,
    policy: &AssessPolicy,
    attempt: &Trace,
) -> Option<Assessment> {
    let prototypes = library.prototypes();
    let (subgoals, repaired) = match policy.by {
        AssessBy::Subgoals(prompt) => cut(ask, attempt, prompt).await?,
        AssessBy::Steps => (steps(attempt)?, false),
    };
    let routes = match policy.by {
        AssessBy::Subgoals(_) => {
            let by = (policy.route, policy.least_confidence);
            routes(ask, by, prototypes, attempt, &subgoals).await
        }
        AssessBy::Steps => vec![None; subgoals.len()],
    };
    let scores = scores(ask, policy, prototypes, attempt, &subgoals, &routes).await;
    let subgoals = subgoals.into_iter().zip(routes).zip(scores);
    let verdict = attempt.verdict.as_ref();
    Some(Assessment {
        attempt: attempt.trajectory.attempt.clone(),
        task: attempt.task.id.clone(),
        category: attempt.task.category.clone(),
        success: verdict.and_then(|verdict| verdict.success()),
        repaired,
        subgoals: subgoals
            .map(|((subgoal, route), score)| AssessedSubgoal {
                subgoal,
                route,
                score,
            })
            .collect(),
    })
}

/// The subgoals of an attempt by a role, and whether their spans had to be repaired.
async fn cut(
    ask: &mut Ask,
    attempt: &Trace,
    prompt: SegmentPrompt,
) -> Option<(Vec<Subgoal>, bool)> {
    if attempt.trajectory.steps.is_empty() {
        return None;
    }
    let task = RoleTask::Segment {
        attempt: Box::new(attempt.clone()),
        prompt,
    };
    match roles(ask, vec![task]).await.pop()? {
        Some(RoleAnswer::Segments {
            segmentation,
            repaired,
        }) => Some((segmentation.into(), repaired)),
        _ => None,
    }
}

/// Each step as a subgoal of its own.
fn steps(attempt: &Trace) -> Option<Vec<Subgoal>> {
    let count = attempt.trajectory.steps.len();
    let step = |place: usize| Subgoal {
        subgoal: format!("step {place}"),
        skill: String::new(),
        first: place,
        last: place,
    };
    (count > 0).then(|| (0..count).map(step).collect())
}

/// The score of each subgoal, in order. A subgoal without a rubric is scored where the policy has open judgements.
async fn scores(
    ask: &mut Ask,
    policy: &AssessPolicy,
    prototypes: &[Prototype],
    attempt: &Trace,
    subgoals: &[Subgoal],
    routes: &[Option<Route>],
) -> Vec<Option<SubgoalScore>> {
    let open = policy.open || policy.by == AssessBy::Steps;
    let rubric = |route: &Option<Route>| {
        let route = route.as_ref()?;
        let mut routed = prototypes.iter().filter(|one| one.id == route.prototype);
        routed.next().map(|one| &one.rubric)
    };
    let asked: Vec<(usize, Option<&Rubric>)> = (0..)
        .zip(routes.iter().map(rubric))
        .filter(|(_, rubric)| open || rubric.is_some())
        .collect();
    let tasks = asked.iter().filter_map(|(place, rubric)| {
        let subgoal = subgoals.get(*place)?;
        Some(score_task(attempt, subgoal, *rubric, 0))
    });
    let answers = roles(ask, tasks.collect()).await;
    let mut scores = vec![None; subgoals.len()];
    for ((place, _), answer) in asked.iter().zip(answers) {
        if let (Some(score), Some(RoleAnswer::Scored { score: given, .. })) =
            (scores.get_mut(*place), answer)
        {
            *score = Some(given);
        }
    }
    scores
}

/// The request to score a subgoal.
pub(super) fn score_task(
    attempt: &Trace,
    subgoal: &Subgoal,
    rubric: Option<&Rubric>,
    repeat: u32,
) -> RoleTask {
    RoleTask::Score {
        subgoal: Box::new(SubgoalInAttempt {
            attempt: attempt.clone(),
            subgoal: subgoal.clone(),
        }),
        rubric: rubric.cloned().map(Box::new),
        repeat,
    }
}

// Routing: which prototype a subgoal belongs to, and how sure that is (SCRIBE 3.2).

/// The embeddings of texts: the host's embedder's, or hashed n-grams where it has none or it fails.
pub(super) async fn embed(ask: &mut Ask, texts: Vec<String>) -> Vec<Embedding> {
    let hashed = texts.clone();
    if let Some(embedded) = ask.embed(texts).await {
        return embedded;
    }
    let hashed = hashed.iter().map(|text| hashed_ngrams(text));
    hashed.filter_map(|one| Embedding::new(one).ok()).collect()
}

/// The prototype of each subgoal, in order; `None` where there is no prototype or the router is less sure than `least`.
pub(super) async fn routes(
    ask: &mut Ask,
    (by, least): (RouteBy, f64),
    prototypes: &[Prototype],
    attempt: &Trace,
    subgoals: &[Subgoal],
) -> Vec<Option<Route>> {
    if prototypes.is_empty() {
        return vec![None; subgoals.len()];
    }
    let routes = match by {
        RouteBy::Similarity { temperature, least } => {
            by_similarity(ask, (temperature, least), prototypes, subgoals).await
        }
        RouteBy::Role => by_role(ask, prototypes, attempt, subgoals).await,
    };
    let sure = |route: Option<Route>| route.filter(|route| route.confidence >= least);
    routes.into_iter().map(sure).collect()
}

async fn by_similarity(
    ask: &mut Ask,
    (temperature, least): (f64, f64),
    prototypes: &[Prototype],
    subgoals: &[Subgoal],
) -> Vec<Option<Route>> {
    let exemplars = prototypes.iter().flat_map(|one| one.exemplars.clone());
    let texts = subgoals.iter().map(Subgoal::text).chain(exemplars);
    let embeddings = embed(ask, texts.collect()).await;
    let (own, exemplars) = embeddings.split_at(subgoals.len().min(embeddings.len()));
    let mut exemplars = exemplars.iter();
    let centers: Vec<Vec<f32>> = prototypes
        .iter()
        .map(|one| unit(center(exemplars.by_ref().take(one.exemplars.len()))))
        .collect();
    let route =
        |embedding: &Embedding| nearest(embedding, prototypes, &centers, (temperature, least));
    own.iter().map(route).collect()
}

/// The nearest prototype, where one is near enough; the confidence is the softmax of the cosines.
fn nearest(
    embedding: &Embedding,
    prototypes: &[Prototype],
    centers: &[Vec<f32>],
    (temperature, least): (f64, f64),
) -> Option<Route> {
    let cosines: Vec<f64> = centers
        .iter()
        .map(|center| f64::from(dot(embedding.components(), center)))
        .collect();
    let best = (0..cosines.len()).reduce(|best, next| match cosines[next] > cosines[best] {
        true => next,
        false => best,
    })?;
    if cosines[best] < least {
        return None;
    }
    let sum: f64 = cosines
        .iter()
        .map(|cosine| ((cosine - cosines[best]) / temperature).exp())
        .sum();
    Some(Route {
        prototype: prototypes.get(best)?.id.clone(),
        confidence: (1.0 / sum).clamp(0.0, 1.0),
    })
}

async fn by_role(
    ask: &mut Ask,
    prototypes: &[Prototype],
    attempt: &Trace,
    subgoals: &[Subgoal],
) -> Vec<Option<Route>> {
    // Whom a prototype has as members, which may be thousands, is nothing that the role is shown.
    let shown = |one: &Prototype| Prototype {
        members: Vec::new(),
        ..one.clone()
    };
    let shown: Vec<Prototype> = prototypes.iter().map(shown).collect();
    let task = |subgoal: &Subgoal| RoleTask::Route {
        subgoal: Box::new(SubgoalInAttempt {
            attempt: attempt.clone(),
            subgoal: subgoal.clone(),
        }),
        prototypes: shown.clone(),
    };
    let replies = roles(ask, subgoals.iter().map(task).collect()).await;
    let route = |answer: Option<RoleAnswer>| match answer {
        Some(RoleAnswer::Routed {
            prototype: Some(place),
            confidence,
        }) => Some(Route {
            prototype: prototypes.get(place)?.id.clone(),
            confidence,
        }),
        _ => None,
    };
    replies.into_iter().map(route).collect()
}

// Anchors: subgoals that are judged again at each checkpoint (SCRIBE A.3).

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
