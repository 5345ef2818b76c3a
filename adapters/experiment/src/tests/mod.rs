//! Tests without a model: the plan's rules, what is measured of given reports and commits, and the report of given cells.
#![allow(clippy::unwrap_used)]

mod measured;
mod planned;
mod reported;
