//! Injection: writes a skill as prompt text ([`render`]) and keeps the texts within a token budget ([`fit`]).

mod compact;
mod render;
mod room;

pub(crate) use compact::{Compactor, Seen};
pub use render::render;
pub use room::Room;
pub use room::fit;
pub(crate) use room::too_long;
