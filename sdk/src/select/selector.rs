//! Ways to choose: the gate, and the baselines that it is measured against.

use serde::{Deserialize, Serialize};

use super::{GatePolicy, decide, gate::draw};
use crate::{
    contract::SkillScores,
    domain::{Candidate, Decision, Mode, NothingReason, ScoreKind, Selection, SkillRef},
    error::{Error, Result},
    id::Seed,
    policy::OwnPolicy,
};

/// How a skill is chosen for a query.
///
/// ```
/// use journeyman::{Seed, domain::{Mode, NothingReason, Selection}, select::Selector};
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
    /// The retriever's best few, always (HiSME B, algorithm 2).
    Top {
        /// How many at most, at least 1.
        limit: usize,
    },
    /// One of the whole pool, always (ARISE Table 2 (b)).
    Random,
    /// None, ever.
    Nothing,
    /// By a program of the host's own ([`SelectProgram`](crate::policy::SelectProgram)).
    Own(OwnPolicy),
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
            Self::First | Self::Top { .. } | Self::Random | Self::Nothing | Self::Own(_) => None,
        }
    }

    /// Chooses. `retrieved` is the retriever's answer ([`Selector::First`] and [`Selector::Top`] read it), `scores` the
    /// scorer's (the gate alone), `pool` the whole cache (the gate's exploration, and [`Selector::Random`]).
    ///
    /// # Errors
    /// As [`decide`] for the gate; `Unsupported` for a program of the host's own; the others have none.
    pub fn choose(
        &self,
        retrieved: &[Candidate],
        scores: &[SkillScores],
        pool: &[SkillRef],
        seed: Seed,
        mode: Mode,
    ) -> Result<Selection> {
        let skills: Vec<SkillRef> = match self {
            Self::Gate(policy) => return decide(policy, scores, pool, seed, mode),
            Self::Nothing => return Ok(Selection::nothing(NothingReason::Disabled)),
            Self::Own(own) => {
                return Err(Error::unsupported(
                    "Selector::choose",
                    "a program of the host's own chooses within a run",
                )
                .with("name", &own.name));
            }
            Self::First => top(retrieved, 1),
            Self::Top { limit } => top(retrieved, *limit),
            Self::Random => draw(pool, seed).into_iter().collect(),
        };
        let decision = match skills.is_empty() {
            true => Decision::Nothing(NothingReason::NoCandidates),
            false => Decision::Inject {
                skills,
                explored: false,
            },
        };
        Ok(Selection::unscored(decision))
    }
}

/// Those with the greatest retrieval scores, of equal ones the smaller ids.
fn top(retrieved: &[Candidate], limit: usize) -> Vec<SkillRef> {
    let mut ranked: Vec<&Candidate> = retrieved.iter().collect();
    ranked.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| a.skill.cmp(&b.skill))
    });
    let best = ranked.into_iter().take(limit);
    best.map(|candidate| candidate.skill.clone()).collect()
}
