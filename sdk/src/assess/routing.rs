//! Routing: which prototype a subgoal belongs to, and how sure that is (SCRIBE 3.2).

use super::{
    RouteBy,
    asking::roles,
    center::{center, unit},
};
use crate::{
    contract::{Embedding, RoleAnswer, RoleTask, SubgoalInAttempt, dot},
    domain::{Prototype, Route, Subgoal, Trace},
    policy::Ask,
    text::hashed_ngrams,
};

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
