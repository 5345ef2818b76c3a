//! Injection: writes a skill as prompt text ([`render`]) and keeps the texts within a token budget ([`fit`]).

mod budget;
mod compact;
mod render;
mod room;
mod tool_detail;

pub use budget::fit;
pub(crate) use compact::{Compactor, Seen};
pub use render::render;
pub use room::Room;
pub(crate) use room::too_long;
