//! What the engine counts.

use serde::{Deserialize, Serialize};

/// What a loaded model has done since it was loaded, and what it is doing.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineStats {
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that failed, those taken back or out of time included.
    pub failed: u64,
    /// Requests that were refused because too many waited.
    pub refused: u64,
    /// Batches that were decoded.
    pub batches: u64,
    /// Tokens that were decoded.
    pub decoded_tokens: u64,
    /// Tokens that were not decoded, because memory held them from another request.
    pub reused_tokens: u64,
    /// Requests that gave their memory back to an older one and began anew.
    pub preempted: u64,
    /// Prefixes that left the cache for want of room.
    pub evicted: u64,
    /// Requests being computed.
    pub active: usize,
    /// Requests waiting.
    pub waiting: usize,
    /// Prefixes in the cache.
    pub cached_prefixes: usize,
    /// Tokens of these, a shared one counted once for each.
    pub cached_tokens: usize,
    /// Cells of memory that hold a token.
    pub used_cells: usize,
}
