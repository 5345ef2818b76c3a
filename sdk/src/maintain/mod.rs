//! What is done for the library between tasks (HiSME algorithms 1, 3 and 4).

pub(crate) mod bundling;
mod covered;
pub(crate) mod filtering;
pub(crate) mod live;
pub(crate) mod mending;
mod options;
pub(crate) mod outcomes;
mod overlaps;
mod patience;
pub(crate) mod refactoring;
mod support;
mod upkeep;

pub use options::{
    BundlePolicy, EvolvePolicy, FilterPolicy, Gate, Maintenance, RefactorPolicy, RefinePolicy,
};
pub(crate) use overlaps::Overlaps;
pub(crate) use upkeep::Upkeep;
