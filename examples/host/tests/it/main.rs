//! The tests of the host, and of the page that prints it.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod both_ways;
mod page;
