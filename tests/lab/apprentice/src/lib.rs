//! The bundled model's evaluation through llama.cpp, on the way that users take: through `ChatFormat` and `GeneralRoles`, on
//! held-out worlds. A library, so that the measured figures run the same code.

mod acting;
mod arena;
mod gate;
mod overlap;
mod roles;
mod same;
mod share;
mod variant;

pub use acting::{Acting, Robust};
pub use arena::Arena;
pub use gate::{Gate, METHODS};
pub use roles::{RoleFigures, Roles};
pub use same::Same;
pub use share::{Apart, Share};
pub use variant::Variant;
