//! ARISE's compact skill document (ARISE C.1, Table 4, Figure 4): five short fields, so that scores of different skills
//! can be compared.

mod abstraction;
mod document;
mod limits;
mod markdown;
mod seeds;

pub use abstraction::TraceStep;
pub use document::{AriseDocument, DEFAULT_CHECK, GENERAL_CHECK};
pub use limits::{AriseLimits, AriseSchema, ProblemTypes};
pub use seeds::seed_skills;

#[cfg(test)]
mod tests;
