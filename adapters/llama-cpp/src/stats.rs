//! Counters of the engine.

use serde::{Deserialize, Serialize};

/// Counters of a loaded model since it was loaded, and its present state.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineStats {
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that failed, including those that were cancelled or timed out.
    pub failed: u64,
    /// Requests that were refused because the queue was full.
    pub refused: u64,
    /// Batches that were decoded.
    pub batches: u64,
    /// Tokens that were decoded.
    pub decoded_tokens: u64,
    /// Tokens that were not decoded because another request's memory held them.
    pub reused_tokens: u64,
    /// Restarts of requests that returned their memory to an older one.
    pub preempted: u64,
    /// Prefixes that were evicted from the cache: for lack of room, because more than a context was cached, or because no request used them.
    pub evicted: u64,
    /// Requests being computed.
    pub active: usize,
    /// Requests waiting.
    pub waiting: usize,
    /// Prefixes in the cache.
    pub cached_prefixes: usize,
    /// Tokens of cached prefixes; a shared token counts once for each prefix.
    pub cached_tokens: usize,
    /// Memory cells that hold a token.
    pub used_cells: usize,
    /// Threads that compute now: fewer than at first while other programs hold cores ([`LlamaConfig::threads`](crate::LlamaConfig::threads)).
    pub threads: u32,
}
