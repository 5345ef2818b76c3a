//! A judge's verdict.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A judge's verdict on a trajectory.
///
/// ```
/// use journeyman::domain::Verdict;
///
/// let done = Verdict::binary(true);
/// assert_eq!((done.success, done.score), (Some(true), 1.0));
///
/// let mut half = Verdict { success: Some(false), score: 0.5, ..Verdict::binary(false) };
/// half.parts.insert("tests-passed".to_owned(), 0.5);
/// half.evidence.push("3 of 6 tests passed".to_owned());
/// assert!(half.is_valid());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the task was done; `None` where the judge cannot decide: then nothing is credited.
    pub success: Option<bool>,
    /// How well, in [0, 1].
    pub score: f64,
    /// Named parts of the score, each finite.
    pub parts: BTreeMap<String, f64>,
    /// The evidence for the verdict, for people.
    pub evidence: Vec<String>,
}

impl Verdict {
    /// A verdict of success or failure with score 1 or 0.
    pub fn binary(success: bool) -> Self {
        Self {
            success: Some(success),
            score: f64::from(u8::from(success)),
            parts: BTreeMap::new(),
            evidence: Vec::new(),
        }
    }

    /// Whether the rules of a verdict hold: score in [0, 1], every part finite.
    pub fn is_valid(&self) -> bool {
        (0.0..=1.0).contains(&self.score) && self.parts.values().all(|part| part.is_finite())
    }
}
