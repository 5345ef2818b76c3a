//! The tests of the shortest hosts, and of the pages that print them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod environments;
mod own_policies;
mod pages;
mod programs;
