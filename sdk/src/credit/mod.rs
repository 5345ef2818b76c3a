//! Credit: what each exposed skill is given for how the attempts went.

mod options;
mod utility;

pub use options::CreditPolicy;
pub use utility::{CreditPer, GroupAttempt, credits};
