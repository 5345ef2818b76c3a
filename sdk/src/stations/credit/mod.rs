//! Credit: decides from the rewards of a group's attempts the credit of each skill that they were given (ARISE C.2, algorithm 1;
//! HiSME 3.3 for judgements by a model; rows A6, H7). A skill's utility is a moving average of its credits.

mod by_contribution;
mod options;
mod rules;

pub use by_contribution::ByContribution;
pub use options::{Attribute, CreditPolicy};
pub use rules::{PerRollout, PerStep};
