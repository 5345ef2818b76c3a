//! Plain values: tasks, attempts, skills, changes, verdicts. No trait objects, no input or output.

mod assessment;
mod assignment;
mod change;
mod compaction;
mod constructors;
mod evidence;
mod file;
pub(crate) mod gate_policy;
mod hidden;
mod identities;
mod index;
mod maintenance_budget;
mod message;
pub(crate) mod quarantine_policy;
pub(crate) mod retrieval;
mod role;
mod score_kind;
mod selection;
mod skill;
mod skill_name;
mod skill_use;
mod subgoal;
mod task;
mod tier_policy;
mod trajectory;
mod verdict;

pub use assessment::{Anchor, AnchorScores, AssessedSubgoal, Assessment, Drift, Lesson, Route};
pub use assessment::{Prototype, Rubric, Trap};
pub use assignment::{AssignedSkill, Assignment, ComparedPair, Withheld, Withhold};
pub use change::{Cause, Commit, Committed};
pub use change::{LibraryChange, Tier};
pub use compaction::Compaction;
pub use evidence::HandledMark;
pub use evidence::{
    AttemptNote, Attribution, BundleCase, CaseKind, ExposureOutcome, InformationGain, Judgement,
    RoleRule, Trace,
};
pub use evidence::{CaseOutcome, CaseResult};
pub use file::{FilePath, FileRef};
pub use gate_policy::{DecidedOn, FittedThreshold, FoundWeight};
pub use hidden::{HiddenCharacter, find_hidden, hidden_by_line};
pub use index::{IndexMark, IndexUpdate};
pub use maintenance_budget::MaintenanceBudget;
pub use message::{AnsweredCall, Message, NativeCall, Prompt, Span, Speaker};
pub use retrieval::TurnQuery;
pub use role::Role;
pub use score_kind::ScoreKind;
pub use selection::{Candidate, Query};
pub use selection::{Decision, HeldBack, NothingReason, Scored, Selection};
pub use selection::{InjectedSkill, Injection};
pub use skill::Trust;
pub use skill::{Kind, Origin, Provenance, Scope, Skill, SkillDraft, SkillRef, State, Taint};
pub use skill_name::SkillName;
pub(crate) use skill_name::latin_words;
pub use skill_use::SkillUse;
pub use subgoal::{Segmentation, Subgoal, SubgoalRef, SubgoalScore};
pub use task::Mode;
pub use task::Task;
pub use tier_policy::TierPolicy;
pub use trajectory::ObservationKind;
pub use trajectory::StepNote;
pub use trajectory::Usage;
pub use trajectory::{
    Action, EndReason, Exposure, GenerationRecord, LeftOut, Observation, Outcome, Sampling, Source,
    Step, StepResult, TokenId, ToolCall, ToolDefinition, Trajectory, Transition, UnreadTurn,
};
pub use verdict::Verdict;

pub use crate::id::{
    AttemptId, CommitKey, PrototypeId, Revision, SegmentId, Timestamp, sha256_hex,
};
