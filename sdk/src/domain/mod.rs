//! Plain values: tasks, attempts, skills, changes, verdicts. No trait objects, no input or output.

mod assessment;
mod candidate;
mod case_outcome;
mod change;
mod commit;
mod compaction;
mod constructors;
mod evidence;
mod file;
mod fitted_threshold;
pub(crate) mod gate_policy;
mod handled_mark;
mod hidden;
mod identities;
mod index;
mod injection;
mod maintenance_budget;
mod message;
mod mode;
mod observation_kind;
mod prototype;
pub(crate) mod retrieval;
mod role;
mod score_kind;
mod selection;
mod skill;
mod skill_name;
mod skill_use;
mod step_note;
mod subgoal;
mod task;
mod tier_policy;
mod trajectory;
mod trust;
mod turn_query;
mod usage;
mod verdict;

pub use assessment::{Anchor, AnchorScores, AssessedSubgoal, Assessment, Drift, Lesson, Route};
pub use candidate::{Candidate, Query};
pub use case_outcome::{CaseOutcome, CaseResult};
pub use change::{LibraryChange, Tier};
pub use commit::{Cause, Commit, Committed};
pub use compaction::Compaction;
pub use evidence::{
    AttemptNote, Attribution, BundleCase, CaseKind, ExposureOutcome, InformationGain, Judgement,
    RoleRule, Trace,
};
pub use file::{FilePath, FileRef};
pub use fitted_threshold::{DecidedOn, FittedThreshold, FoundWeight};
pub use handled_mark::HandledMark;
pub use hidden::{HiddenCharacter, find_hidden, hidden_by_line};
pub use index::{IndexMark, IndexUpdate};
pub use injection::{InjectedSkill, Injection};
pub use maintenance_budget::MaintenanceBudget;
pub use message::{AnsweredCall, Message, NativeCall, Prompt, Span, Speaker};
pub use mode::Mode;
pub use observation_kind::ObservationKind;
pub use prototype::{Prototype, Rubric, Trap};
pub use role::Role;
pub use score_kind::ScoreKind;
pub use selection::{Decision, HeldBack, NothingReason, Scored, Selection};
pub use skill::{Kind, Origin, Provenance, Scope, Skill, SkillDraft, SkillRef, State, Taint};
pub use skill_name::SkillName;
pub(crate) use skill_name::latin_words;
pub use skill_use::SkillUse;
pub use step_note::StepNote;
pub use subgoal::{Segmentation, Subgoal, SubgoalRef, SubgoalScore};
pub use task::Task;
pub use tier_policy::TierPolicy;
pub use trajectory::{
    Action, EndReason, Exposure, GenerationRecord, LeftOut, Observation, Outcome, Sampling, Source,
    Step, StepResult, TokenId, ToolCall, ToolDefinition, Trajectory, Transition, UnreadTurn,
};
pub use trust::Trust;
pub use turn_query::TurnQuery;
pub use usage::Usage;
pub use verdict::Verdict;
