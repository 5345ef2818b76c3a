//! One rollout: a line of the export.

use std::collections::BTreeMap;

use journeyman::{
    ModelId, Result, RunId, TaskId,
    domain::{AttemptId, EndReason, Revision, SkillRef},
};
use serde::{Deserialize, Serialize};

use super::segment::{Segment, VALIDATE, check};
use crate::form::known_form;

/// The greatest difference between a reward and the sum of its weighted parts.
const REWARD_TOLERANCE: f64 = 1e-6;

/// Whose rollouts a group has.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RolloutKind {
    /// The agent's attempts at one task (ARISE, SCRIBE, SkillRL).
    Agent,
    /// A curator's decisions over a group of tasks (SkillOS).
    Curator,
}

/// Why a rollout ended: [`EndReason`] without its error.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RolloutEnd {
    /// The environment said that it is over.
    Finished,
    /// The agent gave up.
    GaveUp,
    /// The steps were used up: the rollout was cut off.
    StepBudget,
    /// The time was used up: the rollout was cut off.
    Deadline,
    /// The last turn could not be read as an action.
    Unreadable,
    /// The context was too short: the rollout was cut off.
    ContextLength,
    /// A part failed after the environment had given its outcome.
    Failed,
}

impl From<&EndReason> for RolloutEnd {
    fn from(end: &EndReason) -> Self {
        match end {
            EndReason::Finished => Self::Finished,
            EndReason::GaveUp => Self::GaveUp,
            EndReason::StepBudget => Self::StepBudget,
            EndReason::Deadline => Self::Deadline,
            EndReason::Unreadable => Self::Unreadable,
            EndReason::ContextLength { .. } => Self::ContextLength,
            // `EndReason::Failed`, and what a later version of the SDK knows beside.
            _ => Self::Failed,
        }
    }
}

/// The distribution that the tokens were drawn from, beside the model.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RolloutSampling {
    /// The temperature; 0 is greedy.
    pub temperature: f32,
    /// The nucleus, in (0, 1]; 1 keeps every token.
    pub top_p: f32,
}

/// A part of a reward.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RewardPart {
    /// Its value.
    pub value: f64,
    /// Its weight. Where every part has one, the reward is the sum of the weighted values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

impl RewardPart {
    /// A part that has no weight.
    pub fn new(value: f64) -> Self {
        Self {
            value,
            weight: None,
        }
    }

    /// The same with a weight.
    #[must_use]
    pub fn with_weight(mut self, weight: impl Into<Option<f64>>) -> Self {
        self.weight = weight.into();
        self
    }
}

/// One rollout of a group, as a trainer needs it.
///
/// The advantage is relative to the lines of the group: `(reward - mean) / (standard deviation + 1e-8)`, with the population's
/// standard deviation ([`advantages`](journeyman::stations::reward::advantages)). A group of equal rewards has none.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollout {
    /// The name of the form: [`Rollout::SCHEMA`].
    pub schema: String,
    /// The version of the form: [`Rollout::VERSION`].
    pub version: u32,
    /// Whose rollout.
    pub kind: RolloutKind,
    /// The group's id.
    pub group: String,
    /// Number of lines of the group.
    pub size: u32,
    /// The line's place in the group, from 0.
    pub number: u32,
    /// Number of rollouts that were made in the group, those without a line included.
    pub attempts: u32,
    /// Which attempt; for a curator, which of its rollouts.
    pub attempt: AttemptId,
    /// The task; for a curator, the tasks of its group in order.
    pub tasks: Vec<TaskId>,
    /// The run that made it.
    pub run: RunId,
    /// The library's revision when skills were selected; for a curator, at the start of the group.
    pub library: Revision,
    /// The skills that were in the agent's prompts.
    pub skills: Vec<SkillRef>,
    /// The model.
    pub model: ModelId,
    /// The adapter (LoRA); `null` for the model alone.
    pub adapter: Option<String>,
    /// How tokens were drawn.
    pub sampling: RolloutSampling,
    /// The generations, in order; at least one.
    pub segments: Vec<Segment>,
    /// Number of steps, those without a recorded generation included; for a curator, of tasks.
    pub steps: u32,
    /// Why it ended.
    pub end: RolloutEnd,
    /// The reward.
    pub reward: f64,
    /// What the reward consists of, by name, where that is known: `outcome` (0 or 1), `process` (in [0, 1]), `skill` (1 if a
    /// skill was used); for a curator the terms of [`CompositeTerms`](journeyman::papers::skillos::CompositeTerms).
    pub parts: BTreeMap<String, RewardPart>,
    /// The advantage; `null` for every line of a group of equal rewards.
    pub advantage: Option<f64>,
}

impl Rollout {
    /// The name of the form.
    pub const SCHEMA: &str = "journeyman.rollout";
    /// The version of the form.
    pub const VERSION: u32 = 1;

    /// Number of tokens that the model chose.
    pub fn chosen(&self) -> usize {
        let masks = self.segments.iter().flat_map(|segment| &segment.mask);
        masks.filter(|chosen| **chosen).count()
    }

    /// Checks the rules that hold for a line by itself. [`Validator`](super::Validator) checks those of a group too.
    ///
    /// # Errors
    /// `Unsupported` for another form or version; `Invalid` else, with the field, and with the segment where it is about one.
    pub fn validate(&self) -> Result<()> {
        let own = (Self::SCHEMA, Self::VERSION);
        known_form(VALIDATE, (&self.schema, self.version), own)?;
        let Self { size, number, .. } = *self;
        check("group", !self.group.is_empty(), "the group has no id")?;
        check(
            "tasks",
            !self.tasks.is_empty(),
            "a rollout is of at least one task",
        )?;
        check(
            "number",
            number < size && size <= self.attempts,
            "the number is below the size of the group, and that is at most the number of attempts",
        )?;
        let RolloutSampling { temperature, top_p } = self.sampling;
        check(
            "sampling",
            temperature.is_finite() && temperature >= 0.0 && top_p > 0.0 && top_p <= 1.0,
            "the temperature is finite and at least 0, and the nucleus is in (0, 1]",
        )?;
        self.check_segments()?;
        self.check_reward()
    }

    fn check_segments(&self) -> Result<()> {
        let mut before: Option<&Segment> = None;
        for (place, segment) in self.segments.iter().enumerate() {
            segment
                .check(self.steps, before)
                .map_err(|error| error.with("segment", place))?;
            before = Some(segment);
        }
        check(
            "segments",
            self.chosen() > 0,
            "the model chose no token of the rollout",
        )
    }

    fn check_reward(&self) -> Result<()> {
        check("reward", self.reward.is_finite(), "the reward is finite")?;
        let finite = |part: &RewardPart| {
            part.value.is_finite() && part.weight.is_none_or(|weight| weight.is_finite())
        };
        check(
            "parts",
            self.parts.values().all(finite),
            "values and weights of a reward's parts are finite",
        )?;
        let weighted = self
            .parts
            .values()
            .map(|part| Some(part.weight? * part.value));
        let sum: Option<f64> = weighted.sum();
        let agrees = |sum: f64| (sum - self.reward).abs() <= REWARD_TOLERANCE;
        check(
            "parts",
            self.parts.is_empty() || sum.is_none_or(agrees),
            "the weighted parts do not add up to the reward",
        )?;
        check(
            "advantage",
            self.advantage.is_none_or(f64::is_finite),
            "the advantage is finite",
        )
    }
}
