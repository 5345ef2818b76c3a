//! Ways to choose: the gate, and the baselines that it is measured against.

use serde::{Deserialize, Serialize};

use super::{
    Decision, GatePolicy, Mode, NothingReason, ScoreKind, Selection, SkillScores, decide,
    gate::draw,
};
use crate::{
    domain::{Candidate, SkillRef},
    error::Result,
    id::Seed,
};

/// How a skill is chosen for a query.
///
/// ```
/// use journeyman::{Seed, select::{Mode, NothingReason, Selection, Selector}};
///
/// let selection = Selector::Nothing.choose(&[], &[], &[], Seed(1), Mode::Train)?;
/// assert_eq!(selection, Selection::nothing(NothingReason::Disabled));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selector {
    /// By the model's own log-probabilities, with the right to refuse.
    Gate(GatePolicy),
    /// The retriever's best, always.
    First,
    /// One of the whole pool, always (ARISE Table 2 (b)).
    Random,
    /// None, ever.
    Nothing,
}

impl Default for Selector {
    fn default() -> Self {
        Self::Gate(GatePolicy::default())
    }
}

impl Selector {
    /// The score that has to be fetched for each candidate before choosing; `None` where none is needed.
    pub fn score(&self) -> Option<ScoreKind> {
        match self {
            Self::Gate(policy) => Some(policy.score),
            Self::First | Self::Random | Self::Nothing => None,
        }
    }

    /// Chooses. `retrieved` is the retriever's answer ([`Selector::First`] alone reads it), `scores` the
    /// scorer's (the gate alone), `pool` the whole cache (the gate's exploration, and [`Selector::Random`]).
    ///
    /// # Errors
    /// As [`decide`] for the gate; the others have none.
    pub fn choose(
        &self,
        retrieved: &[Candidate],
        scores: &[SkillScores],
        pool: &[SkillRef],
        seed: Seed,
        mode: Mode,
    ) -> Result<Selection> {
        let skill = match self {
            Self::Gate(policy) => return decide(policy, scores, pool, seed, mode),
            Self::Nothing => return Ok(Selection::nothing(NothingReason::Disabled)),
            Self::First => first(retrieved),
            Self::Random => draw(pool, seed),
        };
        let decision = match skill {
            None => Decision::Nothing(NothingReason::NoCandidates),
            Some(skill) => Decision::Inject {
                skill,
                explored: false,
            },
        };
        Ok(Selection::unscored(decision))
    }
}

/// The greatest retrieval score, of equal ones the smallest id.
fn first(retrieved: &[Candidate]) -> Option<SkillRef> {
    retrieved
        .iter()
        .min_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.skill.cmp(&b.skill))
        })
        .map(|best| best.skill.clone())
}
