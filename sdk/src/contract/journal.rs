//! The journal: a run's events in order.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{error::Result, id::RunId};

/// One event of a run. [`run`](crate::run) documents the events.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Version of the JSON form: [`JournalEntry::SCHEMA`].
    pub schema: u32,
    /// The run.
    pub run: RunId,
    /// The entry's number within its run: from 0, without gaps.
    pub sequence: u64,
    /// The event.
    pub event: serde_json::Value,
}

impl JournalEntry {
    /// An event of a run, in the schema of this version.
    pub fn new(run: impl Into<RunId>, sequence: u64, event: impl Into<serde_json::Value>) -> Self {
        Self {
            schema: Self::SCHEMA,
            run: run.into(),
            sequence,
            event: event.into(),
        }
    }
}

impl JournalEntry {
    /// The version of the JSON form.
    pub const SCHEMA: u32 = 2;
}

/// Keeps runs' events, so that a run can be read, resumed and replayed.
///
/// ```
/// use std::{collections::BTreeMap, sync::{Arc, Mutex}};
/// use journeyman::{Error, ErrorKind, Result, RunId, async_trait};
/// use journeyman::contract::{Journal, JournalEntry};
///
/// #[derive(Debug, Default)]
/// struct InMemory(Mutex<BTreeMap<RunId, Vec<JournalEntry>>>);
///
/// #[async_trait]
/// impl Journal for InMemory {
///     async fn append(&self, entries: &[JournalEntry]) -> Result<()> {
///         let (mut runs, at) = (self.0.lock().unwrap(), "InMemory::append");
///         for entry in entries {
///             let kept = runs.get(&entry.run).map_or(&[][..], |kept| kept);
///             match kept.get(entry.sequence as usize) {
///                 Some(same) if same == entry => {}
///                 Some(_) => return Err(Error::new(ErrorKind::Conflict, at, "another entry is there")),
///                 None if entry.sequence == kept.len() as u64 => {
///                     runs.entry(entry.run.clone()).or_default().push(entry.clone());
///                 }
///                 None => return Err(Error::invalid(at, "the entry before this one is missing")),
///             }
///         }
///         Ok(())
///     }
///
///     async fn read(&self, run: &RunId) -> Result<Vec<JournalEntry>> {
///         Ok(self.0.lock().unwrap().get(run).cloned().unwrap_or_default())
///     }
///
///     async fn runs(&self) -> Result<Vec<RunId>> {
///         Ok(self.0.lock().unwrap().keys().cloned().collect())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// // The suite of the contract has a case for each rule.
/// let fresh = async || Ok(Arc::new(InMemory::default()) as Arc<dyn Journal>);
/// journeyman::testing::conformance::journal::check(fresh).await.into_result()?;
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
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
