//! The candidates for a query, as a recipe finds and ranks them (ARISE 3.2; HiSME appendix B, Eq. 20).

use std::collections::BTreeSet;

use crate::{
    contract::Embedding,
    domain::{
        Candidate, NothingReason, Query, Selection, TurnQuery,
        retrieval::{Candidates, RankWeights},
    },
    error::Result,
    id::Seed,
    policy::{Answer, Ask, Context, Question, View, selected::Selected},
    report::EventKind,
    retrieve::{Ranked, rank, view_text},
};

/// The candidates for a query among the skills that may be offered: all of them, or those that the retriever finds, ranked by the
/// recipe's weights ([`SelectPolicy::candidates`](super::SelectPolicy::candidates),
/// [`SelectPolicy::rank`](super::SelectPolicy::rank)). A selector of a host's own begins with them, too:
///
/// ```
/// use journeyman::{
///     Result, async_trait,
///     domain::{Decision, NothingReason, Selection, TurnQuery},
///     policy::{Ask, SelectProgram, View},
///     select::{Selected, candidates},
/// };
///
/// /// Chooses the candidate that comes last.
/// #[derive(Debug)]
/// struct Last;
///
/// #[async_trait]
/// impl SelectProgram for Last {
///     async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
///         let found = candidates(ask, view, query).await?;
///         let selection = match found.last() {
///             Some(last) => Selection::unscored(Decision::Inject {
///                 skills: vec![last.skill.clone()],
///                 explored: false,
///             }),
///             None => Selection::nothing(NothingReason::NoCandidates),
///         };
///         Ok(Selected::new(found, vec![selection]))
///     }
/// }
/// ```
///
/// # Errors
/// The retriever's error.
pub async fn candidates(ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Vec<Candidate>> {
    let context = &view.context();
    let limit = match context.retrieval.candidates {
        Candidates::Cache => return Ok(cache(context)),
        Candidates::Search { limit } => limit,
    };
    let found = ask.retrieve(search(query, context, limit.get())).await?;
    let found = at_current_versions(context, found);
    let ranked = match &context.retrieval.rank {
        None => found,
        Some(weights) => ranked(ask, context, (query, weights), found).await,
    };
    ask.tell(EventKind::Retrieved {
        candidates: ranked.clone(),
    });
    Ok(ranked)
}

/// The candidates for a query.
///
/// # Errors
/// A selector's result where there are none.
pub(super) async fn found(
    ask: &mut Ask,
    view: &View,
    query: &TurnQuery,
) -> Result<Vec<Candidate>, Selected> {
    match candidates(ask, view, query).await {
        Ok(found) if found.is_empty() => Err(Selected::nothing(found, NothingReason::NoCandidates)),
        Ok(found) => Ok(found),
        Err(error) => {
            let reason = NothingReason::RetrieverUnavailable(error.to_string());
            Err(Selected::nothing(Vec::new(), reason))
        }
    }
}

/// As many selections as the recipe asks for, each with a seed of its own.
///
/// # Errors
/// That of `choose`.
pub(super) fn selections(
    view: &View,
    choose: impl Fn(Seed) -> Result<Selection>,
) -> Result<Vec<Selection>> {
    let seed = view.seed();
    let numbers = 0..u64::from(view.selections());
    numbers
        .map(|number| choose(seed.derive("select", number)))
        .collect()
}

fn cache(context: &Context<'_>) -> Vec<Candidate> {
    let offered = context.offered().map(|entry| Candidate {
        skill: entry.skill.reference(),
        score: 0.0,
    });
    offered.collect()
}

fn search(query: &TurnQuery, context: &Context<'_>, limit: usize) -> Query {
    let offered = context.offered();
    Query {
        text: query.text.clone(),
        limit,
        among: Some(offered.map(|entry| entry.skill.id.clone()).collect()),
    }
}

/// The offered candidates, in the library's versions: the index may be ahead of a frozen library. A skill that was found twice, such
/// as in two versions, is there once, with its first score.
fn at_current_versions(context: &Context<'_>, found: Vec<Candidate>) -> Vec<Candidate> {
    let mut known = BTreeSet::new();
    let found = found.into_iter();
    let once = found.filter(|candidate| known.insert(candidate.skill.id.clone()));
    let current = once.filter_map(|candidate| {
        let entry = context.library.get(&candidate.skill.id)?;
        context.offers(entry).then(|| Candidate {
            skill: entry.skill.reference(),
            score: candidate.score,
        })
    });
    current.collect()
}

/// Ranks candidates again by the recipe's weights.
async fn ranked(
    ask: &mut Ask,
    context: &Context<'_>,
    (query, weights): (&TurnQuery, &RankWeights),
    found: Vec<Candidate>,
) -> Vec<Candidate> {
    let embeddings = match found.len() > 1 && weights.dense > 0.0 {
        true => embedded(ask, context, query, &found).await,
        false => Vec::new(),
    };
    let (of_query, of_skills) = match embeddings.as_slice() {
        [query, skills @ ..] if skills.len() == found.len() => (Some(query), skills),
        _ => (None, &[][..]),
    };
    let skills = (0..).zip(&found).filter_map(|(place, found): (usize, _)| {
        let entry = context.library.get(&found.skill.id)?;
        Some(Ranked {
            skill: &entry.skill,
            sparse: found.score,
            embedding: of_skills.get(place),
            judged: entry.life.counts(entry.skill.version),
        })
    });
    rank(query, of_query, &skills.collect::<Vec<_>>(), weights)
}

/// The embeddings of the query and of each candidate, in this order; empty without an embedder, and the ranking then does
/// without them.
async fn embedded(
    ask: &mut Ask,
    context: &Context<'_>,
    query: &TurnQuery,
    found: &[Candidate],
) -> Vec<Embedding> {
    let entries = found
        .iter()
        .filter_map(|found| context.library.get(&found.skill.id));
    let views = entries.map(|entry| view_text(&entry.skill));
    let texts = std::iter::once(query.text.clone()).chain(views).collect();
    match ask.one(Question::Embed(texts)).await {
        Answer::Embedded(made) => made.unwrap_or_default().unwrap_or_default(),
        _ => Vec::new(),
    }
}
