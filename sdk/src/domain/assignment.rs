//! What chance gave the attempts at a task of the skills that were chosen for it, and how they went: the ledger of lifts is made of these.

use serde::{Deserialize, Serialize};

use crate::{
    domain::{SkillRef, tier_policy::check},
    error::Result,
    id::{AttemptId, Category, ModelId, TaskId, Version},
};

/// The share of tasks that go without a chosen skill, so that the skill's effect can be told.
///
/// ```
/// use journeyman::{domain::Withhold, recipe};
///
/// let mut recipe = recipe::standard();
/// recipe.select.withhold = Some(Withhold::new(0.1));
/// recipe.validate()?;
/// // Nothing is known of a skill that is always withheld.
/// recipe.select.withhold = Some(Withhold::new(1.0));
/// assert!(recipe.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withhold {
    /// The probability, above 0 and below 1, that all attempts at a task go without the skills that were chosen for it. Where several
    /// were chosen for all attempts at once, each is left out of the other tasks with this probability too; a recipe that selects
    /// for each attempt or each turn draws over all skills alone.
    pub share: f64,
}

impl Withhold {
    /// This share of tasks, above 0 and below 1 ([`validate`](Self::validate)).
    pub const fn new(share: f64) -> Self {
        Self { share }
    }
}

impl Withhold {
    /// Checks the range.
    ///
    /// # Errors
    /// `Invalid`, naming the value.
    pub fn validate(&self) -> Result<()> {
        let sound = self.share > 0.0 && self.share < 1.0;
        let share = self.share;
        let range = "above 0 and below 1 (`None` withholds nothing)";
        check(sound, "withhold.share", share, range)
    }
}

/// Skills that were chosen for a task and, by chance alone, left out of its attempts.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Withheld {
    /// The probability with which each was left out.
    pub share: f64,
    /// Whether the task goes without all of its skills by one draw.
    pub all: bool,
    /// Whether it says something of each skill by itself: the skills were chosen once for all attempts.
    pub by_skill: bool,
    /// Which; none where chance left all of them in.
    pub skills: Vec<SkillRef>,
}

/// A skill that was chosen for a task.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedSkill {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Whether the attempts were given it. One that a prompt then had no room for counts as given.
    pub given: bool,
}

impl AssignedSkill {
    /// A skill that was chosen, and whether the attempts were given it.
    pub fn new(skill: SkillRef, given: bool) -> Self {
        Self { skill, given }
    }
}

/// The scores of two attempts at a task under the same conditions, each in [0, 1]: one with what was before a skill, one with the skill.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedPair {
    /// The task.
    pub task: TaskId,
    /// With the version before or the sources, or without any skill where there was none.
    pub before: f64,
    /// With the skill.
    pub with: f64,
    /// The version before; `None` where there was none, and the task was attempted without a skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Version>,
    /// The skills that it was merged from and that the task was attempted with; none where it is no merge beside its sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SkillRef>,
    /// The model that acted in both, with its adapter; `None` where the agent does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
}

impl ComparedPair {
    /// The scores of two attempts at a task, each in [0, 1]: without any skill, and with the skill.
    pub fn new(task: impl Into<TaskId>, before: f64, with: f64) -> Self {
        Self {
            task: task.into(),
            before,
            with,
            against: None,
            sources: Vec::new(),
            model: None,
        }
    }
}

impl ComparedPair {
    /// Checks the ranges.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub(crate) fn validate(&self) -> Result<()> {
        for (field, score) in [("before", self.before), ("with", self.with)] {
            check((0.0..=1.0).contains(&score), field, score, "in [0, 1]")?;
        }
        Ok(())
    }
}

/// What chance gave the attempts at a task, and how they went: the mean over those that a judge decided about.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The first of the attempts.
    pub attempt: AttemptId,
    /// The task.
    pub task: TaskId,
    /// The host's own grouping of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The model that acted, with its adapter; `None` where the agent does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// The probability with which each skill was withheld.
    pub share: f64,
    /// Whether the task went without all of them by one draw.
    pub without: bool,
    /// Whether it says something of each skill by itself.
    pub by_skill: bool,
    /// The skills that were chosen for it, first those that it was given.
    pub skills: Vec<AssignedSkill>,
    /// The share of the attempts that did the task.
    pub success: f64,
    /// The verdicts' score, in [0, 1].
    pub score: f64,
    /// Number of steps.
    pub steps: f64,
    /// Tokens of prompts and answers.
    pub tokens: f64,
}

impl Assignment {
    /// An assignment of a task that was given all of its skills, at a share of tasks that go without; nothing was done, in no steps.
    /// [`LibraryChange::validate`](crate::domain::LibraryChange::validate) refuses one without a skill.
    pub fn new(attempt: AttemptId, task: TaskId, share: f64) -> Self {
        Self {
            attempt,
            task,
            category: None,
            model: None,
            share,
            without: false,
            by_skill: false,
            skills: Vec::new(),
            success: 0.0,
            score: 0.0,
            steps: 0.0,
            tokens: 0.0,
        }
    }
}

impl Assignment {
    /// Checks the ranges.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub(crate) fn validate(&self) -> Result<()> {
        Withhold { share: self.share }.validate()?;
        for (field, share) in [("success", self.success), ("score", self.score)] {
            check((0.0..=1.0).contains(&share), field, share, "in [0, 1]")?;
        }
        for (field, amount) in [("steps", self.steps), ("tokens", self.tokens)] {
            let sound = amount >= 0.0 && amount.is_finite();
            check(sound, field, amount, "at least 0 and finite")?;
        }
        Ok(())
    }

    /// The skills about which the task says something: the one that was chosen; of several, where they were not all left out by
    /// one draw, all of them. So whether one was given does not hang on the others.
    pub fn tells_of(&self) -> &[AssignedSkill] {
        match self.skills.as_slice() {
            _ if !self.by_skill => &[],
            [_] => &self.skills,
            several if !self.without => several,
            _ => &[],
        }
    }
}
