//! The tests of other systems' formats.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod assessments;
mod curated;
mod demonstrations;
mod evals;
mod interchange;
mod memories;
mod rollout_lines;
mod rollouts;
