//! Executes a run: performs the machine's effects with the host's parts, with time limits and redaction, and feeds the answers
//! back.

pub(crate) mod attempt;
pub(crate) mod deciding;
pub(crate) mod drive;
pub(crate) mod embedding_cache;
pub(crate) mod fit_threshold;
mod fits;
pub(crate) mod known_scores;
pub(crate) mod perform;
pub(crate) mod performer;
pub(crate) mod redaction;
pub(crate) mod scores;

pub(crate) use deciding::Deciding;
pub use deciding::DecisionCost;
pub use performer::Performer;
