//! Selectors: the gate, the baselines that it is compared with, and the host's own.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::{BankSelector, GatePolicy, decide, gate::draw};
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
/// use journeyman::{
///     Seed, Version,
///     domain::{Candidate, Mode, NothingReason, Selection, SkillRef},
///     select::Selector,
/// };
///
/// let found = |id: &str, score| Candidate {
///     skill: SkillRef { id: id.into(), version: Version(1) },
///     score,
/// };
/// let retrieved = [found("open-jar", 2.0), found("close-jar", 3.0)];
/// let choose = |selector: Selector| selector.choose(&retrieved, &[], &[], Seed(1), Mode::Train);
/// assert_eq!(choose(Selector::First)?.skills(), [found("close-jar", 3.0).skill]);
/// assert_eq!(choose(Selector::Nothing)?, Selection::nothing(NothingReason::Disabled));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selector {
    /// The best candidate by the model's own log-probabilities, or nothing if it fails the gate's tests.
    Gate(GatePolicy),
    /// Always the candidate with the greatest retrieval score.
    First,
    /// Always the few candidates with the greatest retrieval scores (HiSME appendix B, algorithm 2).
    Top {
        /// Greatest number of skills.
        limit: NonZeroUsize,
    },
    /// Always a skill drawn from the whole pool (ARISE Table 2 (b)).
    Random,
    /// All general skills, and those of the task's category that are similar to the task (SkillRL Eq. 4).
    Bank(BankSelector),
    /// Never a skill.
    Nothing,
    /// The choice of a program of the host's own ([`SelectProgram`](crate::policy::SelectProgram)).
    Own(OwnPolicy),
}

impl Default for Selector {
    fn default() -> Self {
        Self::Gate(GatePolicy::default())
    }
}

impl Selector {
    /// The gate that decides by scores, if the selector has one.
    pub fn gate(&self) -> Option<&GatePolicy> {
        match self {
            Self::Gate(policy) => Some(policy),
            Self::Bank(bank) => bank.gate.as_ref().map(|gate| &gate.policy),
            _ => None,
        }
    }

    /// The gate that decides by scores, to be changed.
    pub fn gate_mut(&mut self) -> Option<&mut GatePolicy> {
        match self {
            Self::Gate(policy) => Some(policy),
            Self::Bank(bank) => bank.gate.as_mut().map(|gate| &mut gate.policy),
            _ => None,
        }
    }

    /// The score of each candidate that is needed to choose; `None` for a selector without scores.
    pub fn score(&self) -> Option<ScoreKind> {
        self.gate().map(|policy| policy.score)
    }

    /// Chooses. `retrieved` are the retriever's candidates (for [`Selector::First`] and [`Selector::Top`]), `scores` the
    /// scorer's answer (for the gate), `pool` the whole cache (for the gate's exploration and [`Selector::Random`]).
    ///
    /// # Errors
    /// Those of [`decide`] for the gate; `Unsupported` for a bank and for a program of the host's own, which choose within a
    /// run; none for the others.
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
            Self::Bank(_) => {
                return Err(Error::unsupported(
                    "Selector::choose",
                    "skills are chosen from a bank within a run",
                ));
            }
            Self::Own(own) => {
                return Err(Error::unsupported(
                    "Selector::choose",
                    "a program of the host's own chooses within a run",
                )
                .with("name", &own.name));
            }
            Self::First => first(retrieved)
                .map(|one| one.skill.clone())
                .into_iter()
                .collect(),
            Self::Top { limit } => top(retrieved, limit.get()),
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

/// The candidate with the greatest retrieval score; of equal scores the smaller id.
pub(super) fn first(retrieved: &[Candidate]) -> Option<&Candidate> {
    let by_score = |a: &&Candidate, b: &&Candidate| {
        let by_score = a.score.total_cmp(&b.score);
        by_score.then_with(|| b.skill.cmp(&a.skill))
    };
    retrieved.iter().max_by(by_score)
}

/// The skills with the greatest retrieval scores, best first; of equal scores the smaller id first.
fn top(retrieved: &[Candidate], limit: usize) -> Vec<SkillRef> {
    let mut ranked: Vec<&Candidate> = retrieved.iter().collect();
    ranked.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| a.skill.cmp(&b.skill))
    });
    let best = ranked.into_iter().take(limit);
    best.map(|candidate| candidate.skill.clone()).collect()
}
