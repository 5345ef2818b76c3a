//! Cases of the SDK's roles with true answers, which the worlds give: what a role is asked, and the JSON that answers it
//! right.

mod agreement;
mod answer;
mod assessing;
mod case;
mod credit;
mod curating;
mod judging;
mod reviewing;
mod rule;
mod rules;
mod stage;
mod writing;

pub use agreement::agrees;
pub use assessing::{NOT_HELPING, taught_rubric, true_cut};
pub use case::{RoleCase, case};
pub use rule::{Feature, Rule};
pub use stage::Stage;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
