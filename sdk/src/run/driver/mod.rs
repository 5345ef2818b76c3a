//! What acts: needs are given to the host's parts, bounded in time, without secrets, and one loop awaits the answers.

pub(crate) mod committing;
pub(crate) mod contain;
pub(crate) mod drive;
pub(crate) mod embedded;
pub(crate) mod gaining;
pub(crate) mod injecting;
pub(crate) mod log;
pub(crate) mod perform;
pub(crate) mod performer;
pub(crate) mod playing;
pub(crate) mod redacting;
pub(crate) mod sound;
pub(crate) mod turning;

pub use performer::Performer;
