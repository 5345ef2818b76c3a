//! Roles of a general instruct model ([`GeneralRoles`]): for each role a prompt and a parser, which a host can read and
//! replace. Also JSON answers by a schema ([`Structured`]), and a judge that asks a model ([`ModelJudge`]).

mod answers;
mod assessing;
mod claims;
mod curating;
mod drafts;
mod extent;
mod filling;
mod general;
mod model_judge;
mod object;
mod refining;
mod shipped;
mod shown;
mod shown_steps;
mod shown_subgoals;
mod structured;
mod summarize;
mod template;
mod values;
mod visible;

pub use general::{GeneralRoles, RoleOptions};
pub use model_judge::ModelJudge;
pub use structured::{Structured, StructuredAnswer};
pub use summarize::read_arise;

#[cfg(test)]
mod tests;
