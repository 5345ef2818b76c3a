//! Executes a run: performs the machine's effects with the host's parts, with time limits and redaction, and feeds the answers
//! back.

pub(crate) mod committing;
pub(crate) mod contain;
pub(crate) mod decide;
pub(crate) mod deciding;
pub(crate) mod drive;
pub(crate) mod embedding_cache;
mod fits;
pub(crate) mod fitting;
pub(crate) mod gaining;
pub(crate) mod injecting;
pub(crate) mod known_scores;
pub(crate) mod log;
pub(crate) mod perform;
pub(crate) mod performer;
pub(crate) mod playing;
mod playing_roles;
pub(crate) mod redacting;
mod redacting_answers;
mod scoring;
pub(crate) mod sound;
mod spans;
pub(crate) mod turning;

pub(crate) use deciding::Deciding;
pub use deciding::DecisionCost;
pub use performer::Performer;
