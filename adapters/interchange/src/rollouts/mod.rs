//! Groups of rollouts for a trainer, as JSON Lines: what group-relative policy optimization (GRPO) needs from the SDK (ARISE
//! Eq. 6, row A14; SCRIBE 4, row C9; SkillOS, row K7; SkillRL Eq. 9, row R6).
//!
//! Each line is one [`Rollout`]: where it comes from, the model and how its tokens were drawn, a list of [`Segment`]s with the
//! tokens, their log-probabilities and which of them the model chose, the reward and the group-relative advantage. The JSON Schema
//! of a line is [`JSON_SCHEMA`]; `docs/reference/exports.md` explains each field.
//!
//! - [`of_journal`] makes the agent's rollouts of a learning run, [`of_curator`] a curator's of a group of tasks, and [`of_group`]
//!   those of a host's own.
//! - [`write`](write()) and [`read`] convert to lines and back; [`Validator`] checks an export of any size.
//! - [`Rollout::sequences`] packs the segments into the sequences that a trainer's model reads.
//!
//! What a trainer adds: the log-probabilities of the present weights, those of a reference model where the objective has a KL
//! term, and the settings of its objective. None of them is part of the export.

mod curator;
mod group;
mod journal;
mod lines;
mod packing;
mod rollout;
mod schema;
mod segment;

pub use curator::of_curator;
pub use group::{
    ExportedRollouts, RefusedRollout, RolloutAttempt, RolloutGroup, StepGeneration, of_group,
};
pub use journal::of_journal;
pub use lines::{RolloutSummary, Validator, read, write};
pub use packing::Sequence;
pub use rollout::{RewardPart, Rollout, RolloutEnd, RolloutKind, RolloutSampling};
pub use schema::JSON_SCHEMA;
pub use segment::Segment;
