//! Retrieval and selection: the machine that ends in one selection a query or one a rollout. A task goes through it, and a
//! later turn where the recipe selects for each.

use serde::{Deserialize, Serialize};

use super::{EventKind, Need, Station, context::Context};
use crate::{
    contract::Embedding,
    domain::{Candidate, Query, SkillRef},
    error::Result,
    id::Seed,
    recipe::{Candidates, SelectPer},
    retrieve::{RankWeights, Ranked, TurnQuery, rank, view_text},
    select::{Decision, Mode, NothingReason, ScoreKind, Selection, Selector, SkillScores},
};

/// Where selection stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Retrieve,
    Embed,
    Score,
    Done,
}

/// Retrieval and selection for one query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Selecting {
    step: u64,
    stage: Stage,
    candidates: Vec<Candidate>,
    selections: Vec<Selection>,
}

impl Selecting {
    pub(super) fn new(step: u64, context: &Context<'_>) -> Self {
        let mut machine = Self {
            step,
            stage: Stage::Retrieve,
            candidates: Vec::new(),
            selections: Vec::new(),
        };
        machine.begin(context);
        machine
    }

    fn begin(&mut self, context: &Context<'_>) {
        let recipe = context.recipe;
        if context.is_warming_up() {
            self.select_nothing(NothingReason::WarmUp);
        } else if recipe.selector == Selector::Nothing {
            self.select_nothing(NothingReason::Disabled);
        } else if context.offered().next().is_none() {
            self.select_nothing(NothingReason::NoCandidates);
        } else if recipe.candidates == Candidates::Cache {
            self.candidates = context
                .offered()
                .map(|entry| Candidate {
                    skill: entry.skill.reference(),
                    score: 0.0,
                })
                .collect();
            self.candidates_known(context);
        }
    }

    /// The one selection, or one a rollout; `None` while it is not made.
    pub(super) fn selections(&self) -> Option<&[Selection]> {
        (self.stage == Stage::Done).then_some(&self.selections)
    }

    /// The skills for a rollout.
    pub(super) fn injected(&self, rollout: u32) -> &[SkillRef] {
        let own = self.selections.get(rollout as usize);
        own.or(self.selections.first())
            .map_or(&[], Selection::skills)
    }

    /// Why it could not be decided, where a station did not answer.
    pub(super) fn unavailable(&self) -> Option<&str> {
        self.selections.iter().find_map(|one| match &one.decision {
            Decision::Nothing(
                NothingReason::RetrieverUnavailable(why) | NothingReason::ScorerUnavailable(why),
            ) => Some(why.as_str()),
            _ => None,
        })
    }

    /// What was found.
    pub(super) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    pub(super) fn need(&self, query: &TurnQuery, context: &Context<'_>) -> Option<(Station, Need)> {
        let need = match self.stage {
            Stage::Retrieve => retrieve(query, context),
            Stage::Embed => self.embed(query, context),
            Stage::Score => self.score(query, context),
            Stage::Done => return None,
        };
        Some((self.station()?, need))
    }

    /// Where it waits.
    pub(super) fn station(&self) -> Option<Station> {
        match self.stage {
            Stage::Retrieve => Some(Station::Retrieve),
            Stage::Embed => Some(Station::Rank),
            Stage::Score => Some(Station::Score),
            Stage::Done => None,
        }
    }

    pub(super) fn retrieved(
        &mut self,
        context: &Context<'_>,
        query: &TurnQuery,
        found: Result<Vec<Candidate>>,
        events: &mut Vec<EventKind>,
    ) {
        match found {
            Ok(found) => {
                // The index may be ahead of a frozen library: the library says which version is meant.
                self.candidates = found
                    .into_iter()
                    .filter_map(|candidate| {
                        let entry = context.library.get(&candidate.skill.id)?;
                        context.offers(entry).then(|| Candidate {
                            skill: entry.skill.reference(),
                            score: candidate.score,
                        })
                    })
                    .collect();
                let weighs = |weights: &RankWeights| weights.dense > 0.0;
                if self.candidates.len() > 1 && context.recipe.rank.as_ref().is_some_and(weighs) {
                    self.stage = Stage::Embed;
                } else {
                    self.rank(context, query, &[], events);
                }
            }
            Err(error) => {
                self.select_nothing(NothingReason::RetrieverUnavailable(error.to_string()));
            }
        }
    }

    /// What query and candidates mean, the query first; none where the run has no embedder, and what it could not give
    /// counts for nothing.
    pub(super) fn embedded(
        &mut self,
        context: &Context<'_>,
        query: &TurnQuery,
        made: Result<Option<Vec<Embedding>>>,
        events: &mut Vec<EventKind>,
    ) {
        let embeddings = made.unwrap_or_default().unwrap_or_default();
        self.rank(context, query, &embeddings, events);
    }

    /// Ranks what was found anew, where the recipe says how.
    fn rank(
        &mut self,
        context: &Context<'_>,
        query: &TurnQuery,
        embeddings: &[Embedding],
        events: &mut Vec<EventKind>,
    ) {
        if let Some(weights) = &context.recipe.rank {
            let (of_query, of_skills) = match embeddings {
                [query, skills @ ..] if skills.len() == self.candidates.len() => {
                    (Some(query), skills)
                }
                _ => (None, &[][..]),
            };
            let found = (0..).zip(&self.candidates);
            let skills = found.filter_map(|(place, found): (usize, _)| {
                let entry = context.library.get(&found.skill.id)?;
                let counts = entry.life.counts(entry.skill.version);
                Some(Ranked {
                    skill: &entry.skill,
                    sparse: found.score,
                    embedding: of_skills.get(place),
                    judged: (counts.helpful, counts.harmful),
                })
            });
            let skills: Vec<Ranked<'_>> = skills.collect();
            self.candidates = rank(query, of_query, &skills, weights);
        }
        events.push(EventKind::Retrieved {
            candidates: self.candidates.clone(),
        });
        if self.candidates.is_empty() {
            self.select_nothing(NothingReason::NoCandidates);
        } else {
            self.candidates_known(context);
        }
    }

    pub(super) fn scored(&mut self, context: &Context<'_>, scores: Result<Vec<SkillScores>>) {
        match scores.and_then(|scores| self.choose(context, &scores)) {
            Ok(selections) => {
                self.selections = selections;
                self.stage = Stage::Done;
            }
            // Scores that cannot be had, or not be decided on, cost the injection and not the task (F13).
            Err(error) => {
                self.select_nothing(NothingReason::ScorerUnavailable(error.to_string()));
            }
        }
    }

    /// What was decided, once it is.
    pub(super) fn events(&self, events: &mut Vec<EventKind>) {
        for (rollout, selection) in (0..).zip(self.selections().into_iter().flatten()) {
            events.push(EventKind::Selected {
                rollout,
                selection: selection.clone(),
            });
        }
    }

    fn candidates_known(&mut self, context: &Context<'_>) {
        if context.recipe.selector.score().is_some() {
            self.stage = Stage::Score;
        } else {
            self.scored(context, Ok(Vec::new()));
        }
    }

    fn embed(&self, query: &TurnQuery, context: &Context<'_>) -> Need {
        let found = self.candidates.iter();
        let found = found.filter_map(|found| context.library.get(&found.skill.id));
        let views = found.map(|entry| view_text(&entry.skill));
        Need::Embed(std::iter::once(query.text.clone()).chain(views).collect())
    }

    fn score(&self, query: &TurnQuery, context: &Context<'_>) -> Need {
        let score = context.recipe.selector.score();
        Need::Score {
            query: query.text.clone(),
            skills: self
                .candidates
                .iter()
                .filter_map(|c| context.library.get(&c.skill.id))
                .map(|entry| entry.skill.clone())
                .collect(),
            unconditional: score.is_some_and(ScoreKind::needs_unconditional),
        }
    }

    fn choose(&self, context: &Context<'_>, scores: &[SkillScores]) -> Result<Vec<Selection>> {
        let offered = context.offered();
        let pool: Vec<SkillRef> = offered.map(|entry| entry.skill.reference()).collect();
        let selector = &context.recipe.selector;
        self.seeds(context)
            .into_iter()
            .map(|seed| selector.choose(&self.candidates, scores, &pool, seed, context.mode))
            .collect()
    }

    fn seeds(&self, context: &Context<'_>) -> Vec<Seed> {
        let count = match (context.recipe.select_per, context.mode) {
            (SelectPer::Query | SelectPer::Turn, _) | (_, Mode::Evaluate) => 1,
            (SelectPer::Rollout, Mode::Train) => context.group(),
        };
        let seed = context.step_seed(self.step);
        (0..u64::from(count))
            .map(|i| seed.derive("select", i))
            .collect()
    }

    fn select_nothing(&mut self, reason: NothingReason) {
        self.selections = vec![Selection::nothing(reason)];
        self.stage = Stage::Done;
    }
}

fn retrieve(query: &TurnQuery, context: &Context<'_>) -> Need {
    let limit = match context.recipe.candidates {
        Candidates::Search { limit } => limit,
        Candidates::Cache => usize::MAX,
    };
    let offered = context.offered();
    Need::Retrieve(Query {
        text: query.text.clone(),
        limit,
        among: Some(offered.map(|entry| entry.skill.id.clone()).collect()),
    })
}
