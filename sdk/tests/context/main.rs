//! Prompts fit the model's context: what is left out of attempts and of roles' prompts, and what happens where nothing more can
//! be.
#![allow(clippy::unwrap_used, clippy::panic)]

mod attempts;
mod model;
mod roles;
