//! Roles of a general instruct model ([`GeneralRoles`]): for each role a prompt and a parser, which a host can read and
//! replace. With the feature `json-schema` also JSON answers by a schema (`Structured`), and a judge that asks a model
//! (`ModelJudge`).

mod answer_schema;
mod answers;
mod curation;
mod filling;
mod general;
#[cfg(feature = "json-schema")]
mod model_judge;
mod object;
#[cfg(any(test, not(feature = "json-schema")))]
mod schema_rules;
mod shown;
#[cfg(feature = "json-schema")]
mod structured;
mod summarize;
mod template;
mod visible;

pub use general::{GeneralRoles, RoleOptions};
#[cfg(feature = "json-schema")]
pub use model_judge::ModelJudge;
#[cfg(feature = "json-schema")]
pub use structured::{Structured, StructuredAnswer};
pub use summarize::read_arise;

#[cfg(test)]
mod tests;
