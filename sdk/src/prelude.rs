//! What most hosts name: `use journeyman::prelude::*;`.
//!
//! Everything here has its own place too; the prelude adds no names of its own. Adapters and the less common parts are
//! imported from there.

pub use crate::{
    Error, ErrorKind, Result, Seed,
    agent::EnvironmentJudge,
    async_trait,
    contract::{
        Attempt, Components, Environment, EnvironmentCapabilities, Episode, Executor, Judge,
        JudgeRequest, LanguageModel,
    },
    domain::{
        Action, Observation, Outcome, Skill, SkillUse, Source, State, Step, StepResult, Task,
        ToolCall, ToolDefinition, Trajectory, Transition, Verdict,
    },
    recipe,
    run::{
        AttemptHandle, Journeyman, Options,
        report::{Event, EventKind, RunReport},
    },
};

#[cfg(feature = "system-clock")]
pub use crate::agent::SystemClock;
#[cfg(feature = "language-model")]
pub use crate::agent::{ChatFormat, ModelExecutor, ModelExecutorOptions, role::GeneralRoles};
