//! The interface of policies: the view of a run, the questions and answers, and the traits of policies.
//!
//! A policy that needs answers from a host's parts is a straight-line `async fn` over [`Ask`] (see
//! [`program`](crate::program)). It gets a [`View`] of the run and returns its decision: a
//! [`Selected`](crate::select::Selected), skills that it wrote, or changes of the library. A policy that needs no answers is a plain
//! function. Every policy, ours or a host's own, implements one of six traits and is registered in [`Policies`] under a name; a
//! recipe names it with its options ([`Policy`]):
//!
//! | station | trait | named by | ours |
//! | --- | --- | --- | --- |
//! | select | [`SelectProgram`] | [`SelectPolicy::selector`](crate::select::SelectPolicy::selector) | `gate`, `bank`, `first`, `top`, `random`, `nothing` ([`select`](crate::select)) |
//! | reward | [`RewardRule`] | [`RewardPolicy::by`](crate::reward::RewardPolicy::by) | `levels`, `process` ([`reward`](crate::reward)) |
//! | credit | [`CreditRule`] | [`CreditPolicy::by`](crate::credit::CreditPolicy::by) | `step`, `rollout` ([`credit`](crate::credit)) |
//! | write | [`WriteProgram`] | [`WritePolicy::by`](crate::propose::WritePolicy::by) | `summarize`, `extract`, `curate` ([`propose`](crate::propose)) |
//! | admit | [`AdmitRule`] | [`AdmitPolicy::rules`](crate::admit::AdmitPolicy::rules) | none: the recipe's own admission comes first |
//! | maintenance | [`MaintenanceProgram`] | [`Recipe::programs`](crate::recipe::Recipe::programs) | scheduled by [`Maintenance`](crate::maintain::Maintenance), [`Schedule`](crate::recipe::Schedule) and [`AssessPolicy`](crate::assess::AssessPolicy) |
//!
//! The options of ours are structs ([`PolicyOptions`]) that become a [`Policy`] by `into()`, and implement the trait themselves: a
//! host's own policy can ask them. [`Recipe::resolve`](crate::recipe::Recipe::resolve) builds the policies of a recipe, once for a
//! run, which then calls them as often as it needs them: a policy keeps nothing from one call to the next that its decisions depend
//! on.

mod answer;
pub(crate) mod checks;
mod context;
mod group;
pub(crate) mod named;
mod question;
mod registry;
mod resolved;
mod rollout;
pub(crate) mod selected;
pub(crate) mod telling;
mod traits;
mod view;

pub(crate) use answer::CallUsage;
pub use answer::{
    Answer, CaseRun, ChosenSkill, CommitDone, FailedCall, Played, RoleGeneration, ShortenedPrompt,
    Unreadable,
};
pub(crate) use context::Context;
pub use group::{GroupAttempt, JudgedAttempt, SkillCredit, WriteGroup, Written};
pub use named::{Policy, PolicyOptions};
pub(crate) use question::fits;
pub use question::{Ask, Case, PlayedCase, Question, Questions, RoleReply};
pub use registry::Policies;
pub use resolved::ResolvedPolicies;
pub(crate) use rollout::Rollout;
pub(crate) use telling::{ask_roles, unreadable};
pub use traits::{
    AdmitRule, CreditRule, MaintenanceProgram, RewardRule, SelectProgram, WriteProgram,
};
pub use view::View;
