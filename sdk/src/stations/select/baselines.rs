//! Selectors that ask no scorer: baselines that a gate is compared with.

use std::num::NonZeroUsize;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    candidates::{first, found, selections},
    gate::draw,
};
use crate::{
    domain::{Candidate, Decision, NothingReason, Selection, SkillRef, TurnQuery},
    error::Result,
    id::Seed,
    policy::{Ask, PolicyOptions, SelectProgram, View, view::Selected},
};

/// Always the candidate with the greatest retrieval score: the selector `first`.
///
/// ```
/// use journeyman::{recipe, stations::select::First};
///
/// let mut recipe = recipe::standard();
/// recipe.select.selector = First.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct First;

/// Always the few candidates with the greatest retrieval scores (HiSME appendix B, algorithm 2): the selector `top`.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{recipe, stations::select::Top};
///
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Top::new(NonZeroUsize::MIN).into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Top {
    /// Greatest number of skills.
    pub limit: NonZeroUsize,
}

impl Top {
    /// At most so many skills.
    pub const fn new(limit: NonZeroUsize) -> Self {
        Self { limit }
    }
}

/// Always a skill drawn from the whole pool, where the recipe finds a candidate (ARISE Table 2 (b)): the selector `random`.
///
/// ```
/// use journeyman::{recipe, stations::select::Random};
///
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Random.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Random;

/// Never a skill: the selector `nothing`.
///
/// ```
/// use journeyman::{recipe, stations::select::Nothing};
///
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Nothing.into();
/// assert_eq!(recipe.gate(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing;

impl PolicyOptions for First {
    const NAME: &'static str = "first";
}

impl PolicyOptions for Top {
    const NAME: &'static str = "top";
}

impl PolicyOptions for Random {
    const NAME: &'static str = "random";
}

impl PolicyOptions for Nothing {
    const NAME: &'static str = "nothing";
}

#[async_trait]
impl SelectProgram for First {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        chosen(ask, view, query, |candidates, _| {
            let first = first(candidates).map(|one| one.skill.clone());
            first.into_iter().collect()
        })
        .await
    }
}

#[async_trait]
impl SelectProgram for Top {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        let limit = self.limit.get();
        chosen(ask, view, query, |candidates, _| top(candidates, limit)).await
    }
}

#[async_trait]
impl SelectProgram for Random {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        let pool: Vec<SkillRef> = view
            .offered()
            .map(|entry| entry.skill.reference())
            .collect();
        chosen(ask, view, query, |_, seed| {
            draw(&pool, seed).into_iter().collect()
        })
        .await
    }
}

#[async_trait]
impl SelectProgram for Nothing {
    async fn select(&self, _: &mut Ask, _: &View, _: &TurnQuery) -> Result<Selected> {
        Ok(Selected::nothing(Vec::new(), NothingReason::Disabled))
    }

    fn never_selects(&self) -> bool {
        true
    }
}

/// The selections of a selector that needs only the candidates and a seed.
async fn chosen(
    ask: &mut Ask,
    view: &View,
    query: &TurnQuery,
    choose: impl Fn(&[Candidate], Seed) -> Vec<SkillRef> + Send,
) -> Result<Selected> {
    let candidates = match found(ask, view, query).await {
        Ok(candidates) => candidates,
        Err(nothing) => return Ok(nothing),
    };
    let selections = selections(view, |seed| Ok(unscored(choose(&candidates, seed))))?;
    Ok(Selected::new(candidates, selections))
}

pub(super) fn unscored(skills: Vec<SkillRef>) -> Selection {
    Selection::unscored(match skills.is_empty() {
        true => Decision::Nothing(NothingReason::NoCandidates),
        false => Decision::Inject {
            skills,
            explored: false,
        },
    })
}

/// The skills with the greatest retrieval scores, best first; of equal scores the smaller id first.
pub(super) fn top(retrieved: &[Candidate], limit: usize) -> Vec<SkillRef> {
    let mut ranked: Vec<&Candidate> = retrieved.iter().collect();
    ranked.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| a.skill.cmp(&b.skill))
    });
    let best = ranked.into_iter().take(limit);
    best.map(|candidate| candidate.skill.clone()).collect()
}
