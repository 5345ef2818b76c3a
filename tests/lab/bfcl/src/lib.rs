//! BFCL's multi-turn tasks as an environment in Python, judged by the official checker of the package `bfcl-eval`.
//!
//! [`tasks`] reads them, [`Setting::world`] starts the environment, [`replay`] plays given calls, and [`damaged`] spoils
//! them.

mod damage;
mod effect;
mod replay;
mod setting;
mod task;

pub use damage::{Damage, damaged};
pub use effect::{Found, with_effect};
pub use replay::{Played, PlayedTurn, replay};
pub use setting::Setting;
pub use task::{BfclTask, tasks};
