//! The journal: what happened in a run, in order.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{error::Result, id::RunId};

/// One event of a run. What it holds is the run's business: [`run`](crate::run) documents the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Of the JSON form; [`JournalEntry::SCHEMA`].
    pub schema: u32,
    /// Which run.
    pub run: RunId,
    /// From 0, without gaps, within a run.
    pub sequence: u64,
    /// The event.
    pub event: serde_json::Value,
}

impl JournalEntry {
    /// The version of the JSON form.
    pub const SCHEMA: u32 = 1;
}

/// Keeps a run's events, so that it can be read, resumed and replayed.
///
/// # Behaviour
/// - *order*: `read` gives a run's entries in order of their sequence, as they were appended.
/// - *apart*: `read` of one run gives no entry of another; of an unknown run, none.
/// - *once*: an entry whose run and sequence are there already is passed over when it is equal, and a
///   `Conflict` when it differs.
/// - *lists*: `runs` gives every run that has an entry, once, by id.
/// - *gap*: an entry that would leave a gap is `Invalid`, and nothing is kept of that call from it on.
#[async_trait]
pub trait Journal: fmt::Debug + Send + Sync {
    /// Appends entries; acknowledged only when they are kept.
    ///
    /// # Errors
    /// `Conflict`, `Invalid`, or `Unavailable` when they could not be kept.
    async fn append(&self, entries: &[JournalEntry]) -> Result<()>;

    /// A run's entries.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn read(&self, run: &RunId) -> Result<Vec<JournalEntry>>;

    /// The runs that have entries, by id.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn runs(&self) -> Result<Vec<RunId>>;
}
