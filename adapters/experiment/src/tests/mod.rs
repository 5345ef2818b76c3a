//! Tests without a world: a plan's rules, results of given reports and commits, and the report of given cells.
#![allow(clippy::unwrap_used)]

mod measured;
mod planned;
mod reported;
