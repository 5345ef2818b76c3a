//! The roles that the bundled model knows beside acting, as cases with true answers. Training text uses cases from the
//! training side of the split; the evaluation uses the held-out side. Rules name no tools, so for them the evaluation
//! only uses other seeds.

mod case;
mod judging;
mod parts;
mod role;
mod rules;
mod writing;

pub use case::Case;
pub(crate) use judging::{credit_of, subgoal};
pub(crate) use parts::NOTHING;
pub use parts::Twist;
pub use role::{Credit, Role};
pub use rules::{Feature, Rule};
pub(crate) use rules::{
    MOST_RULES, conclusion, draw as draw_rules, outcomes_script, with_rule_notes,
};
pub(crate) use writing::{corrected_service, shown};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
