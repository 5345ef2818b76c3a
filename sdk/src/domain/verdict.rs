//! A judge's verdict.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Outcome;
use crate::error::{Error, Result};

/// A judge's verdict on a trajectory: success, a score in [0, 1], and named parts of the score, each finite.
///
/// ```
/// use journeyman::domain::Verdict;
///
/// let done = Verdict::binary(true);
/// assert_eq!((done.success(), done.score()), (Some(true), 1.0));
///
/// let half = Verdict::scored(false, 0.5)?
///     .with_part("tests-passed", 0.5)?
///     .with_evidence("3 of 6 tests passed");
/// assert_eq!(half.parts()["tests-passed"], 0.5);
///
/// assert_eq!(Verdict::undecided().success(), None);
/// assert!(Verdict::scored(true, 1.5).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Verdict {
    success: Option<bool>,
    score: f64,
    parts: BTreeMap<String, f64>,
    evidence: Vec<String>,
}

/// The fields of a verdict that was read, before they are checked.
#[derive(Deserialize)]
struct Fields {
    success: Option<bool>,
    score: f64,
    parts: BTreeMap<String, f64>,
    evidence: Vec<String>,
}

impl TryFrom<Fields> for Verdict {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self> {
        let mut verdict = Self::undecided().with_score(fields.score)?;
        verdict.success = fields.success;
        verdict.evidence = fields.evidence;
        let mut parts = fields.parts.into_iter();
        parts.try_fold(verdict, |verdict, (name, value)| {
            verdict.with_part(name, value)
        })
    }
}

impl Verdict {
    /// The part that has the agent's own word where a judge gives it beside its verdict: 1 where the agent takes the task for done, else 0
    /// (SkillOS; `ModelJudge::beside`). The curator's prompt then says what the agent thinks, not what the judge
    /// decided.
    pub const SELF_JUDGED: &'static str = "self_judged";

    /// A verdict of success or failure with score 1 or 0.
    pub fn binary(success: bool) -> Self {
        Self {
            success: Some(success),
            score: f64::from(u8::from(success)),
            parts: BTreeMap::new(),
            evidence: Vec::new(),
        }
    }

    /// A verdict of success or failure with a score.
    ///
    /// # Errors
    /// `Invalid` for a score outside [0, 1].
    pub fn scored(success: bool, score: f64) -> Result<Self> {
        Self::binary(success).with_score(score)
    }

    /// The verdict of a judge that cannot decide whether the task was done, with score 0. Nothing is credited for it.
    pub fn undecided() -> Self {
        Self {
            success: None,
            ..Self::binary(false)
        }
    }

    /// The verdict that an outcome states.
    ///
    /// # Errors
    /// `Invalid` for a score outside [0, 1], and for a part that is not finite.
    pub fn of(outcome: &Outcome) -> Result<Self> {
        let verdict = Self::scored(outcome.success, outcome.score)?;
        let mut parts = outcome.parts.iter();
        parts.try_fold(verdict, |verdict, (name, value)| {
            verdict.with_part(name, *value)
        })
    }

    /// With another score.
    ///
    /// # Errors
    /// `Invalid` for a score outside [0, 1].
    pub fn with_score(mut self, score: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&score) {
            let rule = "the score of a verdict is in [0, 1]";
            return Err(Error::invalid("Verdict::with_score", rule).with("score", score));
        }
        self.score = score;
        Ok(self)
    }

    /// With a named part of the score.
    ///
    /// # Errors
    /// `Invalid` for a value that is not finite.
    pub fn with_part(mut self, name: impl Into<String>, value: f64) -> Result<Self> {
        let name = name.into();
        if !value.is_finite() {
            let rule = "a part of a verdict is finite";
            return Err(Error::invalid("Verdict::with_part", rule)
                .with("part", name)
                .with("value", value));
        }
        self.parts.insert(name, value);
        Ok(self)
    }

    /// With a line of evidence for people.
    #[must_use]
    pub fn with_evidence(mut self, line: impl Into<String>) -> Self {
        self.evidence.push(line.into());
        self
    }

    /// Whether the task was done; `None` where the judge cannot decide: then nothing is credited.
    pub fn success(&self) -> Option<bool> {
        self.success
    }

    /// How well the task was done, in [0, 1].
    pub fn score(&self) -> f64 {
        self.score
    }

    /// Named parts of the score, each finite.
    pub fn parts(&self) -> &BTreeMap<String, f64> {
        &self.parts
    }

    /// The evidence for the verdict, for people.
    pub fn evidence(&self) -> &[String] {
        &self.evidence
    }

    /// The texts of a verdict, to redact them: the names of the parts, and the evidence.
    pub(crate) fn texts_mut(&mut self) -> (&mut BTreeMap<String, f64>, &mut [String]) {
        (&mut self.parts, &mut self.evidence)
    }
}
