//! Measures of learning: the information gain of each skill, exact and by proxy (ARISE D.3; row A11); how reliably subgoals are
//! completed, and whether plans that work are preferred (SCRIBE 6.1, appendix E; row C8).

pub(crate) mod gaining;
mod information_gain;
mod plans;
mod structure;

pub use information_gain::ProxyGain;
pub use plans::{Plan, candidate_plans};
pub use structure::{ExecutedPlan, HighLevel, MidLevel, StructureOptions, Trials, Viability};
