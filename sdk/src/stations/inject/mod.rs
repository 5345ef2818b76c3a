//! Injection: writes a skill as prompt text ([`render`]) and keeps the texts within a token budget ([`fit`]).

mod render;
mod room;

pub use render::render;
pub(crate) use render::{ToolDetail, brief_tools};
pub use room::Room;
pub use room::fit;
pub(crate) use room::too_long;
