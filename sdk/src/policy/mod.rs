//! What a policy sees of its run, what it can ask, and how a host brings policies of its own.
//!
//! A policy is a straight-line `async fn` over [`Ask`]: see [`program`](crate::program). It is handed a [`View`] of the run,
//! and says what it decided: a [`Selection`](crate::domain::Selection) or changes of the library. A host's own policy
//! implements [`SelectProgram`] or [`MaintenanceProgram`] and is registered in [`Policies`]; a recipe names it with its
//! parameters ([`OwnPolicy`]).

mod answer;
mod context;
mod question;
mod registry;
mod rollout;
mod view;

pub use answer::{Answer, CaseRun, ChosenSkill, CommitDone, Played};
pub(crate) use context::Context;
pub(crate) use question::fits;
pub use question::{Ask, Case, PlayedCase, Question, Questions, Said};
pub use registry::{MaintenanceProgram, OwnPolicy, Policies, SelectProgram};
pub(crate) use rollout::Rollout;
pub use view::View;
