//! The way that users take: worlds shown through the SDK's own [`ChatFormat`](journeyman::agent::ChatFormat) and
//! [`GeneralRoles`](journeyman::agent::role::GeneralRoles), with tools as JSON Schema, calls in JSON and skills as SKILL.md
//! text. The training text of the bundled model is written here, and the evaluation draws its worlds here.

pub mod acting;
mod attempt;
mod broken;
pub mod chatml;
mod composed;
pub mod corpus;
pub mod document;
mod drills;
pub mod manner;
pub mod opaque;
pub mod recipe;
pub mod roles;
pub mod skills;
pub mod styles;
mod thoughts;
pub mod tools;
pub mod vocabulary;
