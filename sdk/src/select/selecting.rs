//! Retrieval and selection for one query (ARISE 3.2, HiSME appendix B): of a task, or of a later turn if the recipe selects
//! per turn.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Candidates, SelectPer, SelectPolicy, Selector, from_bank, in_force::in_force, selector::first,
};
use crate::{
    contract::{Embedding, SkillScores},
    domain::{
        Candidate, Decision, FittedThreshold, HeldBack, Mode, NothingReason, Query, Selection,
        Skill, SkillRef, State, TurnQuery,
    },
    error::Result,
    id::Seed,
    library::SkillLibrary,
    policy::{Answer, Ask, Context, Policies, Question, SelectProgram, View, checks},
    report::EventKind,
    retrieve::{Ranked, rank, view_text},
};

/// The candidates for a query, and the selections among them: one selection, or one per rollout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Selected {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) selections: Vec<Selection>,
}

impl Selected {
    /// One selection for all rollouts.
    fn one(candidates: Vec<Candidate>, selection: Selection) -> Self {
        Self {
            candidates,
            selections: vec![selection],
        }
    }

    fn nothing(candidates: Vec<Candidate>, reason: NothingReason) -> Self {
        Self::one(candidates, Selection::nothing(reason))
    }

    /// The skills for a rollout.
    pub(crate) fn injected(&self, rollout: u32) -> &[SkillRef] {
        let own = self.selections.get(rollout as usize);
        own.or(self.selections.first())
            .map_or(&[], Selection::skills)
    }

    /// One event for each selection.
    pub(crate) fn events(&self, library: &SkillLibrary) -> Vec<EventKind> {
        let event = |(rollout, selection): (u32, &Selection)| {
            let chosen = selection.skills().iter();
            let chosen = chosen.filter_map(|skill| library.get(&skill.id));
            EventKind::Selected {
                rollout,
                selection: selection.clone(),
                names: chosen.map(|entry| entry.skill.name.clone()).collect(),
            }
        };
        (0..).zip(&self.selections).map(event).collect()
    }

    /// The error of the retriever, scorer or selector, if one kept a selection from being made.
    pub(crate) fn unavailable(&self) -> Option<&str> {
        self.selections.iter().find_map(|one| match &one.decision {
            Decision::Nothing(
                NothingReason::RetrieverUnavailable(why)
                | NothingReason::ScorerUnavailable(why)
                | NothingReason::Uncalibrated(why)
                | NothingReason::SelectorFailed(why),
            ) => Some(why.as_str()),
            _ => None,
        })
    }
}

/// Number of skills that a selection without a candidate names.
const HELD_BACK: usize = 5;

/// Selects for a query: candidates are found and ranked, scored where the selector needs scores, and chosen.
pub(crate) async fn select(
    ask: &mut Ask,
    view: &View,
    policies: (&SelectPolicy, &Policies),
    query: &TurnQuery,
) -> Selected {
    let mut selected = among_offered(ask, view, policies, query).await;
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
    (policy, policies): (&SelectPolicy, &Policies),
    query: &TurnQuery,
) -> Selected {
    let (context, seed) = (&view.context(), view.seed());
    let nothing = |reason| Selected::nothing(Vec::new(), reason);
    if context.warming_up {
        return nothing(NothingReason::WarmUp);
    }
    if policy.selector == Selector::Nothing {
        return nothing(NothingReason::Disabled);
    }
    if context.offered().next().is_none() {
        return nothing(NothingReason::NoCandidates);
    }
    if let Selector::Own(own) = &policy.selector {
        return match chosen_by_host(ask, view, policies.selector(own), query).await {
            Ok(selection) => Selected::one(Vec::new(), selection),
            Err(error) => nothing(NothingReason::SelectorFailed(error.to_string())),
        };
    }
    if let Selector::Bank(bank) = &policy.selector {
        let (looked_at, selection) = from_bank::select(ask, view, (policy, bank), query).await;
        return Selected::one(looked_at, selection);
    }
    let candidates = match candidates(ask, context, policy, query).await {
        Ok(candidates) => candidates,
        Err(error) => return nothing(NothingReason::RetrieverUnavailable(error.to_string())),
    };
    if candidates.is_empty() {
        return nothing(NothingReason::NoCandidates);
    }
    let skills = candidates
        .iter()
        .filter_map(|found| context.library.get(&found.skill.id));
    let skills: Vec<Skill> = skills.map(|entry| entry.skill.clone()).collect();
    let (selector, fitted) = match &policy.selector {
        Selector::Gate(gate) => match in_force(ask, gate, policy.decided_on(skills.len())).await {
            Ok((gate, fitted)) => (Selector::Gate(gate), fitted),
            Err(reason) => return Selected::nothing(candidates, reason),
        },
        other => (other.clone(), None),
    };
    let scores = scored(ask, query, &selector, (&candidates, skills)).await;
    let chosen = scores.and_then(|scores| {
        let selector = (&selector, fitted.as_ref());
        choose(context, (policy, selector), seed, &candidates, &scores)
    });
    match chosen {
        Ok(selections) => Selected {
            candidates,
            selections,
        },
        // Missing or invalid scores cost the injection, not the task (F13).
        Err(error) => Selected::nothing(
            candidates,
            NothingReason::ScorerUnavailable(error.to_string()),
        ),
    }
}

/// The scores that the selector needs: of all candidates, or of the one that the search finds first, with what its score counts there
/// beside the model's.
///
/// # Errors
/// The scorer's error.
async fn scored(
    ask: &mut Ask,
    query: &TurnQuery,
    selector: &Selector,
    (candidates, mut skills): (&[Candidate], Vec<Skill>),
) -> Result<Vec<SkillScores>> {
    let Some(score) = selector.score() else {
        return Ok(Vec::new());
    };
    let found = selector.gate().and_then(|gate| gate.found);
    let found = found.zip(first(candidates));
    if let Some((_, first)) = found {
        skills.retain(|skill| skill.id == first.skill.id);
    }
    let mut scores = ask.score(query.text.clone(), skills, score).await?;
    if let (Some((weight, first)), [one]) = (found, scores.as_mut_slice())
        && let Some(behind_the_task) = &mut one.conditional
    {
        behind_the_task.sum += weight.counts(first.score, &query.text);
    }
    Ok(scores)
}

/// The candidates: the whole cache, or what the retriever finds, ranked.
///
/// # Errors
/// The retriever's error.
async fn candidates(
    ask: &mut Ask,
    context: &Context<'_>,
    policy: &SelectPolicy,
    query: &TurnQuery,
) -> Result<Vec<Candidate>> {
    let limit = match policy.candidates {
        Candidates::Cache => return Ok(cache(context)),
        Candidates::Search { limit } => limit,
    };
    let found = ask.retrieve(search(query, context, limit.get())).await?;
    let found = at_current_versions(context, found);
    let ranked = ranked(ask, context, policy, query, found).await;
    ask.tell(EventKind::Retrieved {
        candidates: ranked.clone(),
    });
    Ok(ranked)
}

/// The selection of the host's own selector, which may contain offered skills alone.
async fn chosen_by_host(
    ask: &mut Ask,
    view: &View,
    program: Result<Arc<dyn SelectProgram>>,
    query: &TurnQuery,
) -> Result<Selection> {
    let selection = program?.select(ask, view, query).await?;
    checks::offered(&selection, view)?;
    Ok(selection)
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

/// The offered candidates, in the library's versions: the index may be ahead of a frozen library.
fn at_current_versions(context: &Context<'_>, found: Vec<Candidate>) -> Vec<Candidate> {
    let current = found.into_iter().filter_map(|candidate| {
        let entry = context.library.get(&candidate.skill.id)?;
        context.offers(entry).then(|| Candidate {
            skill: entry.skill.reference(),
            score: candidate.score,
        })
    });
    current.collect()
}

/// Ranks candidates again by the recipe's weights, if it has any (HiSME appendix B).
async fn ranked(
    ask: &mut Ask,
    context: &Context<'_>,
    policy: &SelectPolicy,
    query: &TurnQuery,
    found: Vec<Candidate>,
) -> Vec<Candidate> {
    let Some(weights) = &policy.rank else {
        return found;
    };
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

fn choose(
    context: &Context<'_>,
    (policy, (selector, fitted)): (&SelectPolicy, (&Selector, Option<&FittedThreshold>)),
    seed: Seed,
    candidates: &[Candidate],
    scores: &[SkillScores],
) -> Result<Vec<Selection>> {
    let offered = context.offered();
    let pool: Vec<SkillRef> = offered.map(|entry| entry.skill.reference()).collect();
    let count = match (policy.per, context.mode) {
        (SelectPer::Query | SelectPer::Turn, _) | (_, Mode::Evaluate) => 1,
        (SelectPer::Rollout, Mode::Train) => context.group,
    };
    (0..u64::from(count))
        .map(|number| {
            let seed = seed.derive("select", number);
            let chosen = selector.choose(candidates, scores, &pool, seed, context.mode)?;
            Ok(Selection {
                fitted: fitted.cloned(),
                ..chosen
            })
        })
        .collect()
}
