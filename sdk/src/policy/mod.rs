//! The interface of policies: the view of a run, the questions and answers, and the traits of policies.
//!
//! A policy that needs answers from a host's parts is a straight-line `async fn` over [`Ask`] (see
//! [`program`](crate::program)). It gets a [`View`] of the run and returns its decision: a
//! [`Selection`](crate::domain::Selection), drafts, or changes of the library. A policy that needs no answers is a plain
//! function. A host's own policy implements one of six traits and is registered in [`Policies`]; a recipe names it with its
//! parameters ([`OwnPolicy`]):
//!
//! | station | trait | named by |
//! | --- | --- | --- |
//! | select | [`SelectProgram`] | `Selector::Own` |
//! | reward | [`RewardRule`] | `RewardPolicy::own` |
//! | credit | [`CreditRule`] | `CreditPolicy::own` |
//! | write | [`WriteProgram`] | `Writer::Own` |
//! | admit | [`AdmitRule`] | `AdmitPolicy::own` |
//! | maintenance | [`MaintenanceProgram`] | `Recipe::programs` |
//!
//! Our own maintenance programs implement the same trait and are in the same registry.

mod answer;
pub(crate) mod checks;
mod context;
mod own;
mod question;
mod registry;
mod rollout;
pub(crate) mod telling;
mod view;

pub(crate) use answer::CallUsage;
pub use answer::{
    Answer, CaseRun, ChosenSkill, CommitDone, FailedCall, Played, RoleGeneration, ShortenedPrompt,
    Unreadable,
};
pub(crate) use context::Context;
pub use own::{
    AdmitRule, CreditRule, MaintenanceProgram, OwnPolicy, RewardRule, SelectProgram, SkillCredit,
    WriteProgram,
};
pub(crate) use question::fits;
pub use question::{Ask, Case, PlayedCase, Question, Questions, RoleReply};
pub use registry::Policies;
pub(crate) use rollout::Rollout;
pub(crate) use telling::{ask_roles, unreadable};
pub use view::View;
