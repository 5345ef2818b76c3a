//! What most hosts name: `use journeyman::prelude::*;`.
//!
//! Everything here has its own place too; the prelude adds no names of its own. Adapters and the less common parts are
//! imported from there.

pub use crate::{
    Error, ErrorKind, Result, Seed, async_trait,
    builtin::{ChatFormat, EnvironmentJudge, ModelExecutor, ModelExecutorOptions},
    contract::{
        Attempt, Components, Environment, EnvironmentCapabilities, Episode, Executor, Judge,
        JudgeRequest, LanguageModel,
    },
    domain::{
        Action, Observation, Outcome, Skill, SkillUse, Source, State, Step, StepResult, Task,
        ToolCall, ToolDefinition, Trajectory, Transition, Verdict,
    },
    recipe,
    report::{Event, EventKind, RunReport},
    role::GeneralRoles,
    run::{AttemptHandle, Journeyman, Options},
};

#[cfg(feature = "system-clock")]
pub use crate::builtin::SystemClock;
