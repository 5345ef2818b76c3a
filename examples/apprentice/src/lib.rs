//! The bundled model's evaluation through llama.cpp on held-out worlds, as a library, so that the measured figures run
//! the same code.

mod acting;
mod arena;
mod curating;
mod equality;
mod gate;
pub mod general;
mod overlap;
mod roles;
mod share;

pub use acting::Acting;
pub use arena::Arena;
pub use curating::Curating;
pub use equality::{Greedy, greedy, tokens};
pub use gate::Gate;
pub use roles::{Roles, TWISTED, held_out};
pub use share::{Apart, Share};
