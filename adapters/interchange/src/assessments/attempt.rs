//! One annotated attempt: a line of the export.

use journeyman::{
    Category, Error, Result, TaskId,
    domain::{
        Action, AssessedSubgoal, Assessment, AttemptId, PrototypeId, Segmentation, Step, Subgoal,
        SubgoalScore, Taint, Trace,
    },
};
use serde::{Deserialize, Serialize};

use super::split::SplitPart;
use crate::form::known_form;

const VALIDATE: &str = "AnnotatedAttempt::validate";

/// A step of an attempt.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnotatedStep {
    /// What the agent saw before it.
    pub observation: String,
    /// The agent's own words, where there are any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub transcript: String,
    /// The action.
    pub action: Action,
    /// The environment's answer.
    pub result: String,
    /// Whether the environment refused the action.
    pub refused: bool,
}

impl From<&Step> for AnnotatedStep {
    fn from(step: &Step) -> Self {
        Self {
            observation: step.observation.text.clone(),
            transcript: step.transcript.clone(),
            action: step.action.clone(),
            result: step.result.text.clone(),
            refused: step.result.is_error,
        }
    }
}

/// A subgoal with its annotations.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnotatedSubgoal {
    /// What is accomplished.
    pub subgoal: String,
    /// The main skill that it takes.
    pub skill: String,
    /// Its first step, from 0.
    pub first: usize,
    /// Its last step, from 0.
    pub last: usize,
    /// Its prototype; `null` where it has none.
    pub prototype: Option<PrototypeId>,
    /// The judge's score, 0 to 3; `null` where it was not scored.
    pub score: Option<SubgoalScore>,
}

impl From<&AssessedSubgoal> for AnnotatedSubgoal {
    fn from(assessed: &AssessedSubgoal) -> Self {
        let Subgoal {
            subgoal,
            skill,
            first,
            last,
            ..
        } = assessed.subgoal.clone();
        Self {
            subgoal,
            skill,
            first,
            last,
            prototype: assessed.route.as_ref().map(|route| route.prototype.clone()),
            score: assessed.score,
        }
    }
}

/// An attempt with its annotations.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnotatedAttempt {
    /// The name of the form: [`AnnotatedAttempt::SCHEMA`].
    pub schema: String,
    /// The version of the form: [`AnnotatedAttempt::VERSION`].
    pub version: u32,
    /// The part that it belongs to.
    pub split: SplitPart,
    /// Which attempt.
    pub attempt: AttemptId,
    /// At which task.
    pub task: TaskId,
    /// The task's category.
    pub category: Option<Category>,
    /// The problem, in words.
    pub instruction: String,
    /// The raw trajectory.
    pub steps: Vec<AnnotatedStep>,
    /// The subgoals in order. Their spans do not overlap, and together have every step.
    pub subgoals: Vec<AnnotatedSubgoal>,
    /// Whether the task was done, where a judge decided.
    pub success: Option<bool>,
    /// Whether anything that the agent saw is of an untrusted source.
    pub taint: Taint,
}

impl AnnotatedAttempt {
    /// The name of the form.
    pub const SCHEMA: &str = "journeyman.assessment";
    /// The version of the form.
    pub const VERSION: u32 = 1;

    /// An attempt with the subgoals of its assessment.
    ///
    /// # Errors
    /// `Invalid` for an assessment of another attempt, and for spans that are not those of its steps.
    pub fn new(assessment: &Assessment, attempt: &Trace, split: SplitPart) -> Result<Self> {
        let trajectory = &attempt.trajectory;
        if assessment.attempt != trajectory.attempt {
            return Err(Error::invalid(
                "AnnotatedAttempt::new",
                "the assessment is of another attempt",
            )
            .with("attempt", &trajectory.attempt)
            .with("assessment", &assessment.attempt));
        }
        let annotated = Self {
            schema: Self::SCHEMA.to_owned(),
            version: Self::VERSION,
            split,
            attempt: assessment.attempt.clone(),
            task: assessment.task.clone(),
            category: assessment.category.clone(),
            instruction: attempt.task.instruction.clone(),
            steps: trajectory.steps.iter().map(AnnotatedStep::from).collect(),
            subgoals: assessment
                .subgoals
                .iter()
                .map(AnnotatedSubgoal::from)
                .collect(),
            success: assessment.success,
            taint: attempt.taint(),
        };
        annotated.validate()?;
        Ok(annotated)
    }

    /// Checks the rules that hold for a line by itself: a known form, and spans as of [`Segmentation::new`].
    ///
    /// # Errors
    /// `Unsupported` for another form or version, `Invalid` else.
    pub fn validate(&self) -> Result<()> {
        let own = (Self::SCHEMA, Self::VERSION);
        known_form(VALIDATE, (&self.schema, self.version), own)?;
        let subgoals = self
            .subgoals
            .iter()
            .map(|one| Subgoal::new(one.subgoal.clone(), one.skill.clone(), one.first, one.last));
        Segmentation::new(subgoals.collect(), self.steps.len()).map(drop)
    }
}
