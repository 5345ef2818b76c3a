//! Maintenance: decides between tasks, from kept attempts, judgements and test cases, which skills are released, refined,
//! disabled and made anew (HiSME 3.2 and 3.3, algorithms 1, 3 and 4; rows H2 to H10), and how a bank of general and category
//! skills is distilled and grown (SkillRL 3.1 to 3.3; rows R1, R4).
//!
//! [`Maintenance`] has a policy for each part, or `None` to switch it off: [`BundlePolicy`] for test cases and release,
//! [`RefinePolicy`], [`FilterPolicy`] and [`RefactorPolicy`] for what happens to skills, [`EvolvePolicy`] for the rules of
//! roles ([`meta`](crate::stations::meta)), [`QuarantinePolicy`] for trials in quarantine, and [`BankPolicy`] for a bank. A [`Schedule`](crate::recipe::Schedule) says when each part runs.

pub(crate) mod bank;
pub(crate) mod bundles;
pub(crate) mod filter;
pub(crate) mod live;
mod maintenance_context;
mod options;
pub(crate) mod outcomes;
mod overlaps;
pub(crate) mod quarantine;
pub(crate) mod refactor;
pub(crate) mod refinement;
mod retries;
mod support;

pub use bank::{BankPolicy, Failure, SuccessRate, ValidationRound, lesson_draft};
pub(crate) use maintenance_context::{MaintenanceContext, MaintenanceOptions};
pub use options::QuarantinePolicy;
pub use options::RefinePolicy;
pub use options::{BundlePolicy, EvolvePolicy, FilterPolicy, Gate, Maintenance, RefactorPolicy};
pub(crate) use overlaps::Overlaps;
