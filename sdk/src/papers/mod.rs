//! The papers, a room for each: its recipe, its policies with their options, its maintenance programs, what a host calls, and how its
//! results are measured.
//!
//! | room | paper | in it |
//! | --- | --- | --- |
//! | `arise` | ARISE | the stages that a written skill passes, the information gain of skills |
//! | `scribe` | SCRIBE | assessment of subgoals, prototypes and their rubrics, the process reward |
//! | `hisme` | HiSME | test bundles, refinement, the filter, refactoring by the overlap graph, rules of roles |
//! | `skillos` | SkillOS | groups of tasks, rollouts of a curator, its reward |
//! | `skillrl` | SkillRL | the bank of general and category skills, and its selector |
//!
//! The runtime (the crate's other modules but [`recipe`](crate::recipe)) knows no room: a policy is asked by its trait
//! ([`policy`](crate::policy)). No room sees another one. What several papers share is a station's
//! ([`stations`](crate::stations)): the gate, the writers, credit, admission. Each room is a feature of the crate, under its name.

#[cfg(feature = "arise")]
pub mod arise;
#[cfg(feature = "hisme")]
pub mod hisme;
#[cfg(feature = "scribe")]
pub mod scribe;
#[cfg(feature = "skillos")]
pub mod skillos;
#[cfg(feature = "skillrl")]
pub mod skillrl;
