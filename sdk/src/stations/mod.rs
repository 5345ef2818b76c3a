//! The stations that a task passes, in order: skills are found, shown and chosen, an attempt is assessed and rewarded, skills get their
//! credit, drafts are written and admitted, the library is maintained, its effect is measured, and rules change rules.
//!
//! ```text
//! retrieve -> inject -> select -> assess -> reward -> credit -> propose -> admit -> maintain -> measure -> meta
//! ```
//!
//! Each station holds the policies that Journeyman brings for it, with their options; a station sees those before it. The traits
//! behind them, which a host's policies implement too, are in [`policy`](crate::policy).

pub mod admit;
pub mod assess;
pub mod credit;
pub mod inject;
pub mod maintain;
pub mod measure;
pub mod meta;
pub mod propose;
pub mod retrieve;
pub mod reward;
pub mod select;
