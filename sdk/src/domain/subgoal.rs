//! Subgoals of an attempt, and how an attempt is cut into them (SCRIBE 3.1).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    id::AttemptId,
};

/// A subgoal of an attempt, the skill that it takes, and the steps in which it is worked on: SCRIBE's triple of subgoal,
/// skill and step.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subgoal {
    /// What is to be accomplished, in words.
    pub subgoal: String,
    /// The main skill that it takes, in words.
    pub skill: String,
    /// Its first step, from 0.
    pub first: usize,
    /// Its last step, from 0; not before `first`.
    pub last: usize,
}

impl Subgoal {
    /// A subgoal, the skill that it takes in words, and its first and last step.
    pub fn new(
        subgoal: impl Into<String>,
        skill: impl Into<String>,
        first: usize,
        last: usize,
    ) -> Self {
        Self {
            subgoal: subgoal.into(),
            skill: skill.into(),
            first,
            last,
        }
    }
}

impl Subgoal {
    /// Subgoal and skill as one text: what is embedded and clustered (SCRIBE 3.1).
    pub fn text(&self) -> String {
        format!("{}\n{}", self.subgoal, self.skill)
    }
}

/// A subgoal's identity: its attempt, and its place among the attempt's subgoals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SubgoalRef {
    /// The attempt.
    pub attempt: AttemptId,
    /// The place, from 0.
    pub place: u32,
}

impl fmt::Display for SubgoalRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.attempt, self.place)
    }
}

/// An attempt cut into subgoals: contiguous spans in order, without an overlap, that together have every step (SCRIBE 3.1,
/// appendix D).
///
/// ```
/// use journeyman::domain::{Segmentation, Subgoal};
///
/// let subgoal = |subgoal: &str, first, last| Subgoal::new(subgoal, "brewing", first, last);
/// let cut = Segmentation::new(vec![subgoal("heat water", 0, 1), subgoal("pour", 2, 2)], 3)?;
/// assert_eq!(cut.subgoals().len(), 2);
///
/// // Step 1 belongs to no subgoal: refused, or given to the subgoal before.
/// let gap = vec![subgoal("heat water", 0, 0), subgoal("pour", 2, 2)];
/// assert!(Segmentation::new(gap.clone(), 3).is_err());
/// assert_eq!(Segmentation::repaired(gap, 3)?, cut);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Subgoal>", into = "Vec<Subgoal>")]
pub struct Segmentation(Vec<Subgoal>);

const NEW: &str = "Segmentation::new";

impl Segmentation {
    /// A segmentation of an attempt with so many steps.
    ///
    /// # Errors
    /// `Invalid` for no subgoal, one without words, and for spans that overlap, leave a step out or end after the last step;
    /// with the index of the subgoal, from 0.
    pub fn new(subgoals: Vec<Subgoal>, steps: usize) -> Result<Self> {
        let invalid = |rule: &'static str, place: usize| {
            Err(Error::invalid(NEW, rule)
                .with("subgoal", place)
                .with("steps", steps))
        };
        let mut next = 0;
        for (place, subgoal) in subgoals.iter().enumerate() {
            if subgoal.subgoal.trim().is_empty() {
                return invalid("a subgoal has no words", place);
            }
            if subgoal.first < next {
                return invalid("a subgoal begins before the one before it ends", place);
            }
            if subgoal.first > next {
                return invalid("a step before the subgoal belongs to none", place);
            }
            if subgoal.last < subgoal.first || subgoal.last >= steps {
                return invalid(
                    "a subgoal ends before it begins or after the last step",
                    place,
                );
            }
            next = subgoal.last + 1;
        }
        match next == steps && !subgoals.is_empty() {
            true => Ok(Self(subgoals)),
            false => invalid("the last steps belong to no subgoal", subgoals.len()),
        }
    }

    /// A segmentation from spans that may be out of order, overlap or leave steps out. They are sorted by their first step;
    /// those that begin after the last step go, and so do those without words; each ends where the next begins. The first one
    /// begins at step 0, and the last one ends at the last step.
    ///
    /// # Errors
    /// `Invalid` where no subgoal is left.
    pub fn repaired(mut subgoals: Vec<Subgoal>, steps: usize) -> Result<Self> {
        subgoals.retain(|one| one.first < steps && !one.subgoal.trim().is_empty());
        subgoals.sort_by_key(|one| (one.first, one.last));
        // Of two that begin at the same step the longer one stays.
        subgoals.reverse();
        subgoals.dedup_by_key(|one| one.first);
        subgoals.reverse();
        let firsts: Vec<usize> = subgoals.iter().skip(1).map(|one| one.first).collect();
        for (place, subgoal) in subgoals.iter_mut().enumerate() {
            let end = firsts.get(place).copied().unwrap_or(steps);
            subgoal.last = end.saturating_sub(1);
        }
        if let Some(first) = subgoals.first_mut() {
            first.first = 0;
        }
        Self::new(subgoals, steps)
    }

    /// The subgoals, in order.
    pub fn subgoals(&self) -> &[Subgoal] {
        &self.0
    }
}

impl TryFrom<Vec<Subgoal>> for Segmentation {
    type Error = Error;

    fn try_from(subgoals: Vec<Subgoal>) -> Result<Self> {
        let steps = subgoals
            .last()
            .map_or(0, |last| last.last.saturating_add(1));
        Self::new(subgoals, steps)
    }
}

impl From<Segmentation> for Vec<Subgoal> {
    fn from(segmentation: Segmentation) -> Self {
        segmentation.0
    }
}

/// A judge's score of a subgoal, 0 to 3 (SCRIBE 3.2).
///
/// ```
/// use journeyman::domain::SubgoalScore;
///
/// assert_eq!(SubgoalScore::new(2)?.get(), 2);
/// assert!(SubgoalScore::new(7).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct SubgoalScore(u8);

impl SubgoalScore {
    /// The greatest score.
    pub const MAX: u8 = 3;

    /// A score.
    ///
    /// # Errors
    /// `Invalid` for a score over 3.
    pub fn new(score: u8) -> Result<Self> {
        match score <= Self::MAX {
            true => Ok(Self(score)),
            false => Err(
                Error::invalid("SubgoalScore::new", "the score of a subgoal is 0 to 3")
                    .with("score", score),
            ),
        }
    }

    /// The number.
    pub fn get(self) -> u8 {
        self.0
    }

    /// The score as a share of the greatest one, in [0, 1].
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::MAX)
    }
}

impl TryFrom<u8> for SubgoalScore {
    type Error = Error;

    fn try_from(score: u8) -> Result<Self> {
        Self::new(score)
    }
}

impl From<SubgoalScore> for u8 {
    fn from(score: SubgoalScore) -> Self {
        score.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subgoals(spans: &[(usize, usize)]) -> Vec<Subgoal> {
        let subgoal = |(first, last): &(usize, usize)| Subgoal {
            subgoal: format!("from {first}"),
            skill: "s".to_owned(),
            first: *first,
            last: *last,
        };
        spans.iter().map(subgoal).collect()
    }

    fn check(spans: &[(usize, usize)], steps: usize, valid: bool, repaired: &[(usize, usize)]) {
        let is_valid = Segmentation::new(subgoals(spans), steps).is_ok();
        assert_eq!(is_valid, valid, "{spans:?}");
        let made = Segmentation::repaired(subgoals(spans), steps);
        let made = made.map_or(Vec::new(), |made| {
            let spans = made.subgoals().iter();
            spans.map(|one| (one.first, one.last)).collect()
        });
        assert_eq!(made, repaired, "{spans:?}");
    }

    #[test]
    fn spans_are_checked_repaired_or_refused() {
        check(&[(0, 1), (2, 2)], 3, true, &[(0, 1), (2, 2)]);
        check(&[(0, 0)], 1, true, &[(0, 0)]);
        // A gap, an overlap, steps left out at either end, another order, an end past the last step, a span that is none.
        check(&[(0, 0), (2, 2)], 3, false, &[(0, 1), (2, 2)]);
        check(&[(0, 2), (2, 3)], 4, false, &[(0, 1), (2, 3)]);
        check(&[(1, 1)], 4, false, &[(0, 3)]);
        check(&[(2, 2), (0, 1)], 3, false, &[(0, 1), (2, 2)]);
        check(&[(0, 9)], 3, false, &[(0, 2)]);
        check(&[(0, 0), (5, 6)], 3, false, &[(0, 2)]);
        check(&[(0, 1), (2, 1)], 3, false, &[(0, 1), (2, 2)]);
        // Two that begin at once: the longer one stays.
        check(&[(0, 2), (0, 0)], 3, false, &[(0, 2)]);
        // Nothing is left.
        check(&[], 3, false, &[]);
        check(&[(7, 8)], 3, false, &[]);
        check(&[], 0, false, &[]);
    }

    #[test]
    fn a_subgoal_without_words_is_none() {
        let mut blank = subgoals(&[(0, 0), (1, 1)]);
        blank[0].subgoal = " ".to_owned();
        assert!(Segmentation::new(blank.clone(), 2).is_err());
        let repaired = Segmentation::repaired(blank, 2).unwrap();
        assert_eq!(repaired.subgoals().len(), 1);
    }

    #[test]
    fn json_is_checked() {
        let cut = Segmentation::new(subgoals(&[(0, 1), (2, 2)]), 3).unwrap();
        let json = serde_json::to_string(&cut).unwrap();
        assert_eq!(serde_json::from_str::<Segmentation>(&json).unwrap(), cut);
        let gap = json.replace("\"first\":2", "\"first\":3");
        assert!(serde_json::from_str::<Segmentation>(&gap).is_err());
        assert!(serde_json::from_str::<SubgoalScore>("4").is_err());
    }
}
