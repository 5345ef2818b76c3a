//! The candidates for a query, as a recipe finds and ranks them (ARISE 3.2; HiSME appendix B, Eq. 20).

use std::collections::BTreeSet;

use crate::{
    contract::Embedding,
    domain::{
        Candidate, Decision, HeldBack, NothingReason, Query, Selection, SkillRef, State, TurnQuery,
        retrieval::{Candidates, RankWeights},
    },
    error::Result,
    id::Seed,
    policy::{Answer, Ask, Context, Question, SelectProgram, View, checks, view::Selected},
    run::report::EventKind,
    stations::retrieve::{Ranked, rank, view_text},
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
///     stations::select::{Selected, candidates},
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

/// The candidate with the greatest retrieval score; of equal scores the smaller id.
pub(super) fn first(retrieved: &[Candidate]) -> Option<&Candidate> {
    let by_score = |a: &&Candidate, b: &&Candidate| {
        let by_score = a.score.total_cmp(&b.score);
        by_score.then_with(|| b.skill.cmp(&a.skill))
    };
    retrieved.iter().max_by(by_score)
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

// Selection for one query (ARISE 3.2, HiSME appendix B): of a task, or of a later turn if the recipe selects per turn. Every
// selector, of ours or of a host's own, is called and checked alike.

/// Number of skills that a selection without a candidate names.
const HELD_BACK: usize = 5;

/// Selects for a query: the recipe's selector chooses, if there is anything to choose.
pub(crate) async fn select(
    ask: &mut Ask,
    view: &View,
    selector: &dyn SelectProgram,
    query: &TurnQuery,
) -> Selected {
    let mut selected = among_offered(ask, view, selector, query).await;
    let context = view.context();
    for selection in &mut selected.selections {
        selection.quarantined = quarantined(&context, selection.skills());
        if selection.decision == Decision::Nothing(NothingReason::NoCandidates) {
            selection.held_back = held_back(&context);
        }
    }
    selected
}

/// The chosen skills that are tried in quarantine.
fn quarantined(context: &Context<'_>, chosen: &[SkillRef]) -> Vec<SkillRef> {
    let is_tried = |skill: &&SkillRef| {
        let entry = context.library.get(&skill.id);
        entry.is_some_and(|entry| context.tries(entry))
    };
    chosen.iter().filter(is_tried).cloned().collect()
}

/// The skills of the library that wait for their release, the first few by name.
fn held_back(context: &Context<'_>) -> Vec<HeldBack> {
    let waits = |state| matches!(state, State::Trial | State::Quarantined);
    let waiting = context
        .library
        .entries()
        .filter(|entry| waits(entry.skill.state));
    let waiting = waiting.filter(|entry| !context.offers(entry));
    let mut waiting: Vec<HeldBack> = waiting
        .map(|entry| HeldBack {
            name: entry.skill.name.clone(),
            state: entry.skill.state,
        })
        .collect();
    waiting.sort_by(|a, b| a.name.cmp(&b.name));
    waiting.truncate(HELD_BACK);
    waiting
}

async fn among_offered(
    ask: &mut Ask,
    view: &View,
    selector: &dyn SelectProgram,
    query: &TurnQuery,
) -> Selected {
    let nothing = |reason| Selected::nothing(Vec::new(), reason);
    if view.context().warming_up {
        return nothing(NothingReason::WarmUp);
    }
    if selector.never_selects() {
        return nothing(NothingReason::Disabled);
    }
    if view.offered().next().is_none() {
        return nothing(NothingReason::NoCandidates);
    }
    let selected = selector.select(ask, view, query).await;
    let checked = selected.and_then(|selected| {
        checks::selected(&selected, view)?;
        Ok(selected)
    });
    checked.unwrap_or_else(|error| nothing(NothingReason::SelectorFailed(error.to_string())))
}
