//! Finding skills that may fit.

use std::fmt;

use async_trait::async_trait;

use crate::{
    domain::{Candidate, Committed, Query},
    error::Result,
    id::Revision,
};

/// An index over the library's skills.
///
/// # Behaviour
/// - *refresh*: after `refresh`, an added skill is found by words of its name, description, trigger and body,
///   and a revised one by its new words, in its new version only.
/// - *idempotent*: commits up to the watermark are passed over; refreshing twice changes nothing.
/// - *limit*: at most `limit` candidates come back, the best first; `limit` 0 gives none.
/// - *among*: with `among`, no other skill comes back, and the limit counts only those.
/// - *ties*: candidates of equal score are in the order of their skill ids.
/// - *any text*: no query text is an error: query operators, control characters and emptiness included.
#[async_trait]
pub trait Retriever: fmt::Debug + Send + Sync {
    /// Takes in what was committed, in order of revisions; gives the watermark, the last revision taken in.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`; the index can be rebuilt from the store at any time.
    async fn refresh(&self, committed: &[Committed]) -> Result<Revision>;

    /// The candidates for a query.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn search(&self, query: &Query) -> Result<Vec<Candidate>>;
}
