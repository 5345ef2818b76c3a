//! Maintenance: decides between tasks, from kept attempts, judgements and test cases, which skills are released, refined,
//! disabled and made anew (HiSME 3.2 and 3.3, algorithms 1, 3 and 4; rows H2 to H10).
//!
//! [`Maintenance`] has a policy for each part, or `None` to switch it off: [`BundlePolicy`] for test cases and release,
//! [`RefinePolicy`], [`FilterPolicy`] and [`RefactorPolicy`] for what happens to skills, and [`EvolvePolicy`] for the rules of
//! roles ([`meta`](crate::meta)). A [`Schedule`](crate::recipe::Schedule) says when each part runs.

pub(crate) mod bundling;
mod covered;
pub(crate) mod filtering;
pub(crate) mod live;
mod options;
pub(crate) mod outcomes;
mod overlaps;
pub(crate) mod refactoring;
pub(crate) mod refining;
mod retries;
mod support;
mod upkeep;

pub use options::{
    BundlePolicy, EvolvePolicy, FilterPolicy, Gate, Maintenance, RefactorPolicy, RefinePolicy,
};
pub(crate) use overlaps::Overlaps;
pub(crate) use upkeep::Upkeep;
