//! What a host writes to embed Journeyman, each file under 100 lines: a world ([`desk`]), a judge ([`judge`]), a model ([`model`], scripted, so
//! that the example runs anywhere; [`roles`] and [`scorer`] are what it does beside acting), and the two ways in ([`hand_over`],
//! [`own_loop`]). `cargo run -p host` runs all of it; `docs/how-to/choose-the-parts.md` prints the two ways in.
#![allow(clippy::print_stdout, reason = "it shows what happens")]

pub mod desk;
pub mod hand_over;
pub mod judge;
pub mod model;
pub mod own_loop;
pub mod roles;
pub mod scorer;
pub mod tasks;
