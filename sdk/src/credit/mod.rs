//! Credit: what each exposed skill is given for how the attempts went.

mod utility;

pub use utility::{CreditPer, GroupAttempt, credits};
