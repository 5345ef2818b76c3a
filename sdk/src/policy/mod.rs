//! The interface of policies: the view of a run, the questions and answers, and the traits of policies.
//!
//! A policy that needs answers from a host's parts is a straight-line `async fn` over [`Ask`] (see
//! [`program`]). It gets a [`View`] of the run and returns its decision: a
//! [`Selected`](crate::stations::select::Selected), skills that it wrote, or changes of the library. A policy that needs no answers is a plain
//! function. Every policy, ours or a host's own, implements one of seven traits and is registered in [`Policies`] under a name; a
//! recipe names it with its options ([`Policy`]):
//!
//! | station | trait | named by | ours |
//! | --- | --- | --- | --- |
//! | select | [`SelectProgram`] | [`SelectPolicy::selector`](crate::stations::select::SelectPolicy::selector) | `gate`, `first`, `top`, `random`, `nothing` ([`select`](crate::stations::select)), `bank` (`papers::skillrl`) |
//! | assess | [`AssessProgram`] | [`Recipe::assess`](crate::recipe::Recipe::assess) | `subgoals` (`papers::scribe`) |
//! | reward | [`RewardRule`] | [`RewardPolicy::by`](crate::stations::reward::RewardPolicy::by) | `levels` ([`reward`](crate::stations::reward)), `process` (`papers::scribe`) |
//! | credit | [`CreditRule`] | [`CreditPolicy::by`](crate::stations::credit::CreditPolicy::by) | `step`, `rollout` ([`credit`](crate::stations::credit)) |
//! | write | [`WriteProgram`] | [`WritePolicy::by`](crate::stations::propose::WritePolicy::by) | `summarize`, `extract`, `curate` ([`propose`](crate::stations::propose)) |
//! | admit | [`AdmitRule`] | [`AdmitPolicy::rules`](crate::stations::admit::AdmitPolicy::rules) | none: the recipe's own admission comes first |
//! | maintenance | [`MaintenanceProgram`] | [`Maintenance::programs`](crate::recipe::Maintenance::programs) | `micro`, `macro` (`papers::hisme`), `bank` (`papers::skillrl`), `gains` (`papers::arise`), `prototypes`, which an assessor schedules |
//!
//! The options of ours are structs ([`PolicyOptions`]) that become a [`Policy`] by `into()`, and implement the trait themselves
//! (but `macro`, which keeps a graph): a host's own policy can ask them. [`Recipe::resolve`](crate::recipe::Recipe::resolve) builds the policies of a recipe, once for a
//! run, which then calls them as often as it needs them: a policy keeps nothing from one call to the next that its decisions depend
//! on.

pub(crate) mod admit_policy;
mod answers;
pub(crate) mod checks;
pub(crate) mod named;
pub mod program;
pub(crate) mod questions;
mod registry;
pub(crate) mod standing;
mod traits;
pub(crate) mod used_when;
pub(crate) mod view;

pub(crate) use answers::CallUsage;
pub use answers::{
    Answer, CaseRun, ChosenSkill, CommitDone, FailedCall, Played, RoleGeneration, ShortenedPrompt,
    Unreadable,
};
pub use named::{Policy, PolicyOptions};
pub(crate) use questions::fits;
pub use questions::{Ask, Case, PlayedCase, Question, Questions, RoleReply};
pub(crate) use questions::{ask_roles, unreadable};
pub use registry::Policies;
pub use registry::ResolvedPolicies;
pub(crate) use registry::{ASSESSOR, PROGRAM, contained};
pub use standing::Release;
pub use traits::{
    AdmitRule, AssessProgram, CreditRule, MaintenanceProgram, RewardRule, SelectProgram,
    WriteProgram,
};
pub use traits::{Assessed, GroupAttempt, JudgedAttempt, SkillCredit, WriteGroup, Written};
pub(crate) use view::Context;
pub(crate) use view::Rollout;
pub use view::View;
