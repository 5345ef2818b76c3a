//! Evidence about skills besides rewards: attempts and judgements (HiSME 3.3), test cases with their results, marks of what was
//! handled, and the rules that roles learn from them (3.4).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Action, SkillRef, SkillUse, Taint, Task, Trajectory, Verdict},
    error::{Error, Result},
    id::{AttemptId, Category, ModelId, Seed, TaskId},
};

/// An attempt with its task and verdict. Roles are shown traces, and the library keeps the latest.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The task, without secrets.
    pub task: Task,
    /// The attempt's trajectory.
    pub trajectory: Trajectory,
    /// The verdict, where there is one.
    pub verdict: Option<Verdict>,
    /// The seed of the world's randomness: with this seed and the same actions, a deterministic world gives the same answers.
    pub world_seed: Seed,
}

impl Trace {
    /// An attempt without the score of a gate.
    pub fn new(
        task: Task,
        trajectory: Trajectory,
        verdict: Option<Verdict>,
        world_seed: Seed,
    ) -> Self {
        Self {
            task,
            trajectory,
            verdict,
            world_seed,
        }
    }

    /// Whether the verdict says that the task was done; false without a verdict.
    pub fn is_success(&self) -> bool {
        let verdict = self.verdict.as_ref();
        verdict.and_then(|verdict| verdict.success()) == Some(true)
    }

    /// The taint of skills that are made from it ([`Trajectory::taint`]).
    pub fn taint(&self) -> Taint {
        self.trajectory.taint()
    }

    /// The same without token ids and log-probabilities, which only a trainer needs, and without a turn that could not be read,
    /// from which nothing is learned.
    #[must_use]
    pub fn lean(mut self) -> Self {
        for step in &mut self.trajectory.steps {
            step.generations.clear();
        }
        self.trajectory.unread = None;
        self
    }
}

/// A skill's effect on an attempt that had it in the prompt.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// The skill helped.
    Helpful,
    /// The skill did harm.
    Harmful,
    /// The skill did neither.
    Neutral,
    /// The effect is unknown.
    Uncertain,
}

impl SkillUse {
    /// The use with what a role judged of the skill's effect on the attempt (HiSME 3.3). The judgement decides only where the
    /// use is unknown: a skill that helped or did harm was followed, and a neutral one was not, or it made no difference.
    #[must_use]
    pub fn judged(self, judgement: Option<Judgement>) -> Self {
        match (self, judgement) {
            (Self::Unknown, Some(Judgement::Helpful | Judgement::Harmful)) => Self::Followed,
            (Self::Unknown, Some(Judgement::Neutral)) => Self::NotFollowed,
            (known, _) => known,
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
            Self::Neutral => "neutral",
            Self::Uncertain => "uncertain",
        })
    }
}

/// A judgement with its reason.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// In which attempt.
    pub attempt: AttemptId,
    /// At which task.
    pub task: TaskId,
    /// The judgement.
    pub judgement: Judgement,
    /// The part of the attempt that the judgement is about, in words; empty for the whole attempt.
    pub scope: String,
    /// Why, in words.
    pub reason: String,
}

impl Attribution {
    /// A judgement about a whole attempt, without a reason.
    pub fn new(skill: SkillRef, attempt: AttemptId, task: TaskId, judgement: Judgement) -> Self {
        Self {
            skill,
            attempt,
            task,
            judgement,
            scope: String::new(),
            reason: String::new(),
        }
    }
}

/// The outcome of an attempt with a skill: live evidence, for environments that cannot replay attempts.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExposureOutcome {
    /// At which task.
    pub task: TaskId,
    /// Whether the task was done.
    pub success: bool,
    /// How many actions the environment refused.
    pub refused: u32,
}

impl ExposureOutcome {
    /// Whether an attempt did the task; the environment refused none of its actions.
    pub fn new(task: impl Into<TaskId>, success: bool) -> Self {
        Self {
            task: task.into(),
            success,
            refused: 0,
        }
    }
}

/// A short record of an attempt. The library keeps it to estimate how well the agent does at similar tasks.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptNote {
    /// Which attempt.
    pub attempt: AttemptId,
    /// The host's own grouping of its task.
    pub category: Option<Category>,
    /// Digests of the content words of its task's instruction, sorted, each once, at most [`AttemptNote::WORDS`]. A digest
    /// has 16 bits, so that many words share it: likeness can be measured, and no word of the task (a person's name, say)
    /// is kept where an erasure would miss it.
    pub words: Vec<u16>,
    /// The verdict's score, in [0, 1].
    pub score: f64,
    /// How many actions the environment refused.
    pub refused: u32,
}

impl AttemptNote {
    /// An attempt with its verdict's score, in [0, 1]; its task has no category and no words, and no action was refused.
    pub fn new(attempt: impl Into<AttemptId>, score: f64) -> Self {
        Self {
            attempt: attempt.into(),
            category: None,
            words: Vec::new(),
            score,
            refused: 0,
        }
    }
}

impl AttemptNote {
    /// Greatest number of words of a note.
    pub const WORDS: usize = 64;
}

/// The kind of a test case.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// The fragment that the skill is about, with the skill alone in the prompt.
    Unit,
    /// A whole task that the skill should help with.
    Integration,
    /// A whole task that the skill is not meant for: it must do no harm.
    Negative,
}

/// A case of a test bundle: a task, played from a point on, with the skill in the prompt.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleCase {
    /// Unique within the bundle.
    pub name: String,
    /// The kind.
    pub kind: CaseKind,
    /// The task, without secrets.
    pub task: Task,
    /// The attempt that the case was made from.
    pub attempt: AttemptId,
    /// The seed of the world's randomness, as in that attempt.
    pub world_seed: Seed,
    /// The actions that are replayed before the agent acts itself; empty for a whole attempt.
    pub prefix: Vec<Action>,
    /// Greatest number of the agent's own actions that the environment may refuse.
    pub refusals: u32,
    /// The least score of the verdict, in [0, 1]; the task has to be done in any case.
    pub least_score: f64,
}

impl BundleCase {
    /// A whole task, made from an attempt in a world of this seed, in which no action may be refused.
    pub fn new(
        name: impl Into<String>,
        kind: CaseKind,
        task: Task,
        attempt: impl Into<AttemptId>,
        world_seed: Seed,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            task,
            attempt: attempt.into(),
            world_seed,
            prefix: Vec::new(),
            refusals: 0,
            least_score: 0.0,
        }
    }
}

impl BundleCase {
    /// Whether the case is a whole attempt, without a prefix of replayed actions.
    pub fn is_whole(&self) -> bool {
        self.prefix.is_empty()
    }
}

/// How much a skill's text raises a model's confidence in what was done successfully (ARISE D.3, Eq. 14).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InformationGain {
    /// The mean over attempts of log p(the attempt's words given skill and task) - log p(the same given the task), in nats.
    pub nats: f64,
    /// Number of attempts, at least 1.
    pub attempts: u32,
    /// The model that scored.
    pub model: ModelId,
}

impl InformationGain {
    /// A mean gain in nats over a number of attempts, at least 1, and the model that scored them.
    pub fn new(nats: f64, attempts: u32, model: impl Into<ModelId>) -> Self {
        Self {
            nats,
            attempts,
            model: model.into(),
        }
    }
}

/// A rule for a role: one short sentence of at most [`RoleRule::MAX`] characters.
///
/// ```
/// use journeyman::domain::RoleRule;
///
/// let rule = RoleRule::new("Name the tool.")?;
/// assert_eq!(rule.as_str(), "Name the tool.");
/// assert!(RoleRule::new("x".repeat(RoleRule::MAX + 1)).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoleRule(String);

impl RoleRule {
    /// The greatest length in characters.
    pub const MAX: usize = 300;
    /// Greatest number of rules of a role (HiSME 3.4).
    pub const MOST: usize = 5;

    /// A rule.
    ///
    /// # Errors
    /// `Invalid` for more than [`RoleRule::MAX`] characters.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        let length = text.chars().count();
        if length > Self::MAX {
            let rule = "a rule for a role has at most 300 characters";
            return Err(Error::invalid("RoleRule::new", rule).with("characters", length));
        }
        Ok(Self(text))
    }

    /// A rule of at most the greatest length; the rest is cut off.
    pub(crate) fn cut(text: String) -> Self {
        Self(text.chars().take(Self::MAX).collect())
    }

    /// The sentence.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RoleRule {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::new(text)
    }
}

impl From<RoleRule> for String {
    fn from(rule: RoleRule) -> Self {
        rule.0
    }
}

impl fmt::Display for RoleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A case of a skill's test bundle with its result.
///
/// In JSON: `failed` is the reason, or `null` where the case passed; `refusals` is absent where the case was not played.
///
/// ```
/// use journeyman::domain::{CaseOutcome, CaseResult};
///
/// let reason = "the task was not done".to_owned();
/// let outcome = CaseOutcome::new("close-ticket-1", CaseResult::Failed { reason, refusals: 2 });
/// assert!(outcome.was_played() && !outcome.has_passed());
/// assert_eq!(outcome.refusals(), Some(2));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct CaseOutcome {
    /// The case's name, unique within its bundle.
    pub name: String,
    /// The result.
    pub result: CaseResult,
}

impl CaseOutcome {
    /// A case's name, and how it went.
    pub fn new(name: impl Into<String>, result: CaseResult) -> Self {
        Self {
            name: name.into(),
            result,
        }
    }
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

/// Separates the subject from the number of the miss in the JSON form.
const MISSED: &str = "/missed/";

/// The record of one try of a maintenance step: the step is finished, or the try failed with a temporary error.
///
/// In JSON one string: the subject, and for a miss `/missed/` and its number.
///
/// ```
/// use journeyman::domain::HandledMark;
///
/// let mark = HandledMark::missed("test/close-ticket/1/case-2", 3);
/// assert_eq!(String::from(mark.clone()), "test/close-ticket/1/case-2/missed/3");
/// assert_eq!(HandledMark::from("test/close-ticket/1/case-2/missed/3".to_owned()), mark);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct HandledMark {
    /// The step and its evidence, such as `test/SKILL/VERSION/CASE`; more evidence makes another subject.
    pub subject: String,
    /// The number of the failed try, from 1; the step is tried again. `None` if the step is finished: done or given up.
    pub miss: Option<u32>,
}

impl HandledMark {
    /// The record of a step that is finished: done or given up.
    pub fn done(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            miss: None,
        }
    }

    /// The record of a try that failed with a temporary error; tries are numbered from 1.
    pub fn missed(subject: impl Into<String>, miss: u32) -> Self {
        Self {
            subject: subject.into(),
            miss: Some(miss),
        }
    }
}

impl From<String> for HandledMark {
    fn from(text: String) -> Self {
        let miss = text.rsplit_once(MISSED).and_then(|(subject, digits)| {
            let miss: u32 = digits.parse().ok()?;
            // Every text is written as it was read.
            (miss.to_string() == digits).then(|| Self::missed(subject, miss))
        });
        miss.unwrap_or_else(|| Self::done(text))
    }
}

impl From<HandledMark> for String {
    fn from(mark: HandledMark) -> Self {
        match mark.miss {
            None => mark.subject,
            Some(miss) => format!("{}{MISSED}{miss}", mark.subject),
        }
    }
}

#[cfg(test)]
mod case_outcome_tests {
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

#[cfg(test)]
mod handled_mark_tests {
    use super::*;

    #[test]
    fn a_mark_is_a_string_in_json() {
        for (text, mark) in [
            ("group/[1]", HandledMark::done("group/[1]")),
            ("group/missed/2", HandledMark::missed("group", 2)),
            ("a/missed/1/missed/2", HandledMark::missed("a/missed/1", 2)),
            ("group/missed/", HandledMark::done("group/missed/")),
            ("group/missed/02", HandledMark::done("group/missed/02")),
            ("group/missed/+2", HandledMark::done("group/missed/+2")),
        ] {
            let json = format!("{text:?}");
            assert_eq!(serde_json::to_string(&mark).unwrap(), json);
            assert_eq!(serde_json::from_str::<HandledMark>(&json).unwrap(), mark);
        }
        assert!(serde_json::from_str::<HandledMark>("2").is_err());
    }
}
