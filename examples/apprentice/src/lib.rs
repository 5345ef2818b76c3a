//! The bundled model's evaluation through llama.cpp on held-out worlds, as a library, so that the measured figures run
//! the same code.

mod acting;
mod arena;
pub mod equality;
mod gate;
mod overlap;
mod share;

pub use acting::Acting;
pub use arena::Arena;
pub use gate::Gate;
pub use share::{Apart, Share};
