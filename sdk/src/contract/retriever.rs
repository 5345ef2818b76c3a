//! Finding skills that may fit.

use std::fmt;

use async_trait::async_trait;

use crate::{
    domain::{Candidate, IndexUpdate, Query},
    error::Result,
    id::Revision,
};

/// An index over the library's skills. It is derived state: it can be made anew from the library at any time;
/// [`SkillLibrary::refresh`](crate::library::SkillLibrary::refresh) does so where it has to.
///
/// # Behaviour
/// - *refresh*: after `refresh`, a skill that came is found by words of its name, description, trigger and body, one
///   that changed by its new words, in its new version only, and one that went is not found.
/// - *watermark*: the revision of the last update taken in; 0 for an empty index.
/// - *idempotent*: an update to the watermark or to an earlier revision is passed over and changes nothing.
/// - *gap*: an update that begins after the watermark is `Invalid` and changes nothing.
/// - *anew*: an update since revision 0 to a revision after the watermark, or of another library, takes the place of
///   everything; a later update of another library is `Invalid` and changes nothing.
/// - *past*: the same holds for an update of this library with other commits than those that the index took in, as after
///   a backup was put back: [`IndexMark`](crate::domain::IndexMark) tells.
/// - *limit*: at most `limit` candidates come back, the best first; `limit` 0 gives none.
/// - *among*: with `among`, no other skill comes back, and the limit counts only those.
/// - *ties*: candidates of equal score are in the order of their skill ids.
/// - *any text*: no query text is an error: query operators, control characters and emptiness included.
#[async_trait]
pub trait Retriever: fmt::Debug + Send + Sync {
    /// The last revision taken in; of an index that other processes refresh too, by whichever.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn watermark(&self) -> Result<Revision>;

    /// Takes in what changed since the watermark.
    ///
    /// # Errors
    /// `Invalid` for an update that leaves a gap or is of another library; `Unavailable` or `Corrupt`.
    async fn refresh(&self, update: &IndexUpdate) -> Result<()>;

    /// The candidates for a query.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn search(&self, query: &Query) -> Result<Vec<Candidate>>;
}
