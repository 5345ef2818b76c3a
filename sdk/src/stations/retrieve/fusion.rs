//! Joins the candidates of two retrievers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RankWeights;
use crate::{
    domain::{Candidate, SkillRef},
    error::{Error, Result},
    id::SkillId,
};

/// How the candidates of a lexical and a dense retriever are joined.
///
/// ```
/// use journeyman::{domain::Candidate, stations::retrieve::Fusion, testing::sample};
///
/// let candidate = |name, score| Candidate::new(sample::skill(name).reference(), score);
/// let lexical = [candidate("brew", 7.1), candidate("boil", 6.9)];
/// let dense = [candidate("boil", 0.8), candidate("grind", 0.4)];
/// let joined = Fusion::default().join(&lexical, &dense);
/// assert_eq!(joined[0].skill, sample::skill("boil").reference()); // nearly first, and first
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// The sum over both retrievers of 1 / (`k` + rank), with ranks from 1 (Cormack, Clarke and Büttcher, SIGIR 2009).
    ReciprocalRank {
        /// Finite and not negative; a greater one levels the ranks. The paper has 60.
        k: f64,
    },
    /// The weighted sum of the lexical score, divided by the greatest one, and the cosine, of which a negative one counts
    /// as 0: the first two terms of HiSME's Eq. 20. The terms for tools and trust are [`rank`](super::rank)'s.
    Weighted {
        /// The weight of the lexical score.
        lexical: f64,
        /// The weight of the cosine.
        dense: f64,
    },
}

impl Default for Fusion {
    /// [`Fusion::Weighted`] with the weights of [`RankWeights::default`](super::RankWeights): 0.5 for words, 0.25 for meaning.
    /// The paper does not publish its weights. With ranks a search by meaning counts as much as one by words, though it may know
    /// nothing of the texts at hand.
    fn default() -> Self {
        let RankWeights {
            sparse: lexical,
            dense,
            ..
        } = RankWeights::default();
        Self::Weighted { lexical, dense }
    }
}

impl Fusion {
    /// Checks the parameters.
    ///
    /// # Errors
    /// `Invalid` for a `k` or a weight that is negative or not finite, or weights of which none is positive.
    pub fn validate(&self) -> Result<()> {
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        let valid = match *self {
            Self::ReciprocalRank { k } => sound(k),
            Self::Weighted { lexical, dense } => {
                sound(lexical) && sound(dense) && lexical.max(dense) > 0.0
            }
        };
        if valid {
            return Ok(());
        }
        Err(Error::invalid("Fusion::validate", "a parameter is out of range")
            .with("fusion", self.shown())
            .hint("give finite numbers of at least 0, and one positive weight; `Fusion::default()` is sound"))
    }

    /// The parameters, for a person.
    fn shown(self) -> String {
        match self {
            Self::ReciprocalRank { k } => format!("reciprocal_rank with k {k}"),
            Self::Weighted { lexical, dense } => {
                format!("weighted with lexical {lexical} and dense {dense}")
            }
        }
    }

    /// Joins both retrievers' candidates, best first each; the result is best first too, ties by id. A skill that only one
    /// of them found counts with that one's part. Of two versions of one skill the later one is given.
    pub fn join(&self, lexical: &[Candidate], dense: &[Candidate]) -> Vec<Candidate> {
        let greatest = lexical.iter().map(|one| one.score).fold(0.0, f64::max);
        let share = |score: f64| {
            if greatest > 0.0 {
                score.max(0.0) / greatest
            } else {
                0.0
            }
        };
        let of_rank = |k: f64, at: usize| 1.0 / (k + at as f64 + 1.0);
        let lexical = lexical.iter().enumerate().map(|(at, one)| {
            let part = match *self {
                Self::ReciprocalRank { k } => of_rank(k, at),
                Self::Weighted { lexical, .. } => lexical * share(one.score),
            };
            (one, part)
        });
        let dense = dense.iter().enumerate().map(|(at, one)| {
            let part = match *self {
                Self::ReciprocalRank { k } => of_rank(k, at),
                Self::Weighted { dense, .. } => dense * one.score.max(0.0),
            };
            (one, part)
        });
        let mut sums: BTreeMap<SkillId, (SkillRef, f64)> = BTreeMap::new();
        for (one, part) in lexical.chain(dense) {
            let (skill, sum) =
                (sums.entry(one.skill.id.clone())).or_insert_with(|| (one.skill.clone(), 0.0));
            skill.version = skill.version.max(one.skill.version);
            *sum += part;
        }
        let joined = sums.into_values();
        let mut joined: Vec<Candidate> = joined
            .map(|(skill, score)| Candidate { skill, score })
            .collect();
        // A stable sort of what is in the order of ids.
        joined.sort_by(|a, b| b.score.total_cmp(&a.score));
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Version, testing::sample};

    fn found(skills: &[(&str, f64)]) -> Vec<Candidate> {
        let candidate = |(name, score): &(&str, f64)| Candidate {
            skill: sample::skill(name).reference(),
            score: *score,
        };
        skills.iter().map(candidate).collect()
    }

    fn check(
        fusion: Fusion,
        lexical: &[(&str, f64)],
        dense: &[(&str, f64)],
        expect: &[(&str, f64)],
    ) {
        let joined = fusion.join(&found(lexical), &found(dense));
        assert_eq!(joined.len(), expect.len(), "{joined:?}");
        for (one, due) in joined.iter().zip(found(expect)) {
            assert_eq!(one.skill, due.skill, "{fusion:?}");
            assert!((one.score - due.score).abs() < 1e-12, "{one:?} {due:?}");
        }
    }

    #[test]
    fn ranks_are_summed_by_hand() {
        let rrf = Fusion::ReciprocalRank { k: 60.0 };
        check(rrf, &[], &[], &[]);
        check(rrf, &[("a", 9.0)], &[], &[("a", 1.0 / 61.0)]);
        check(
            rrf,
            &[("a", 9.0), ("b", 1.0)],
            &[("c", 0.9), ("b", 0.8)],
            &[("b", 2.0 / 62.0), ("a", 1.0 / 61.0), ("c", 1.0 / 61.0)],
        );
    }

    #[test]
    fn weighted_scores_are_summed_by_hand() {
        let half = Fusion::Weighted {
            lexical: 0.5,
            dense: 0.25,
        };
        check(
            half,
            &[("a", 8.0), ("b", 4.0)],
            &[("b", 0.6), ("c", 0.2), ("a", -0.4)],
            &[("a", 0.5), ("b", 0.4), ("c", 0.05)],
        );
        check(
            half,
            &[("b", 0.0), ("a", -1.0)],
            &[],
            &[("a", 0.0), ("b", 0.0)],
        );
    }

    #[test]
    fn the_later_version_of_a_skill_is_given() {
        let (old, mut new) = (found(&[("a", 1.0)]), found(&[("a", 0.5)]));
        new[0].skill.version = Version(2);
        for joined in [
            Fusion::default().join(&old, &new),
            Fusion::default().join(&new, &old),
        ] {
            assert_eq!((joined.len(), joined[0].skill.version), (1, Version(2)));
        }
    }

    #[test]
    fn parameters_are_checked() {
        let weighted = |lexical, dense| Fusion::Weighted { lexical, dense };
        let rank = |k| Fusion::ReciprocalRank { k };
        for sound in [Fusion::default(), rank(60.0), weighted(1.0, 0.0)] {
            assert!(sound.validate().is_ok(), "{sound:?}");
        }
        for wrong in [
            rank(-1.0),
            rank(f64::NAN),
            weighted(0.0, 0.0),
            weighted(1.0, f64::INFINITY),
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
