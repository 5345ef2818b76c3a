//! The second edition on the way that users take: through `ChatDialect` and `GeneralRoles`, on held-out worlds.

mod acting;
mod arena;
mod gate;
mod roles;
mod same;
mod variant;

pub use acting::{Acting, Robust, spec};
pub use arena::Arena;
pub use gate::{Gate, METHODS};
pub use roles::{RoleFigures, Roles};
pub use same::Same;
pub use variant::Variant;
