//! The result of one case of a skill's test bundle.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A case of a skill's test bundle with its result.
///
/// In JSON: `failed` is the reason, or `null` where the case passed; `refusals` is absent where the case was not played.
///
/// ```
/// use journeyman::domain::{CaseOutcome, CaseResult};
///
/// let reason = "the task was not done".to_owned();
/// let outcome = CaseOutcome {
///     name: "close-ticket-1".to_owned(),
///     result: CaseResult::Failed { reason, refusals: 2 },
/// };
/// assert!(outcome.was_played() && !outcome.has_passed());
/// assert_eq!(outcome.refusals(), Some(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct CaseOutcome {
    /// The case's name, unique within its bundle.
    pub name: String,
    /// The result.
    pub result: CaseResult,
}

/// The result of a test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    /// The attempt met the case's conditions.
    Passed {
        /// Number of the agent's own actions that the environment refused.
        refusals: u32,
    },
    /// The attempt missed one of the case's conditions.
    Failed {
        /// The condition that was missed, in words.
        reason: String,
        /// Number of the agent's own actions that the environment refused.
        refusals: u32,
    },
    /// There was no attempt, or no verdict on it: the environment was unavailable, the judge gave no verdict, or the
    /// environment cannot play such a case. The result is no evidence for or against the skill.
    NotPlayed {
        /// Why, in words.
        reason: String,
    },
}

impl CaseOutcome {
    /// Whether the case passed.
    pub fn has_passed(&self) -> bool {
        matches!(self.result, CaseResult::Passed { .. })
    }

    /// Whether the case was played and failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.result, CaseResult::Failed { .. })
    }

    /// Whether the case was played and judged.
    pub fn was_played(&self) -> bool {
        !matches!(self.result, CaseResult::NotPlayed { .. })
    }

    /// Number of the agent's own actions that the environment refused; `None` where the case was not played.
    pub fn refusals(&self) -> Option<u32> {
        match &self.result {
            CaseResult::Passed { refusals } | CaseResult::Failed { refusals, .. } => {
                Some(*refusals)
            }
            CaseResult::NotPlayed { .. } => None,
        }
    }

    /// Why the case failed or was not played; `None` where it passed.
    pub fn reason(&self) -> Option<&str> {
        match &self.result {
            CaseResult::Passed { .. } => None,
            CaseResult::Failed { reason, .. } | CaseResult::NotPlayed { reason } => Some(reason),
        }
    }
}

/// The JSON form.
#[derive(Serialize, Deserialize)]
struct Saved {
    name: String,
    failed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refusals: Option<u32>,
}

impl From<CaseOutcome> for Saved {
    fn from(outcome: CaseOutcome) -> Self {
        let (failed, refusals) = match outcome.result {
            CaseResult::Passed { refusals } => (None, Some(refusals)),
            CaseResult::Failed { reason, refusals } => (Some(reason), Some(refusals)),
            CaseResult::NotPlayed { reason } => (Some(reason), None),
        };
        Self {
            name: outcome.name,
            failed,
            refusals,
        }
    }
}

impl TryFrom<Saved> for CaseOutcome {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        let result = match (saved.failed, saved.refusals) {
            (None, Some(refusals)) => CaseResult::Passed { refusals },
            (Some(reason), Some(refusals)) => CaseResult::Failed { reason, refusals },
            (Some(reason), None) => CaseResult::NotPlayed { reason },
            (None, None) => {
                return Err(Error::invalid(
                    "CaseOutcome::try_from",
                    "`refusals` is missing, and a case that passed was played",
                ));
            }
        };
        Ok(Self {
            name: saved.name,
            result,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: CaseResult, json: &str) {
        let outcome = CaseOutcome {
            name: "one".to_owned(),
            result,
        };
        assert_eq!(serde_json::to_string(&outcome).unwrap(), json);
        assert_eq!(serde_json::from_str::<CaseOutcome>(json).unwrap(), outcome);
    }

    #[test]
    fn each_result_has_its_json_form() {
        let reason = || "no".to_owned();
        check(
            CaseResult::Passed { refusals: 2 },
            r#"{"name":"one","failed":null,"refusals":2}"#,
        );
        check(
            CaseResult::Failed {
                reason: reason(),
                refusals: 0,
            },
            r#"{"name":"one","failed":"no","refusals":0}"#,
        );
        check(
            CaseResult::NotPlayed { reason: reason() },
            r#"{"name":"one","failed":"no"}"#,
        );
    }

    #[test]
    fn a_passed_case_without_refusals_is_refused() {
        let json = r#"{"name":"one","failed":null}"#;
        let error = serde_json::from_str::<CaseOutcome>(json).unwrap_err();
        assert!(
            error.to_string().contains("`refusals` is missing"),
            "{error}"
        );
    }
}
