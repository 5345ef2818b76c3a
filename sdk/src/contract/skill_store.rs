//! Storage of a library's committed changes.

use std::fmt;

use async_trait::async_trait;

use super::KeptScores;
use crate::{
    domain::{Commit, Committed},
    error::{Error, Result},
    id::Revision,
};

/// All commits of a store.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The last revision; 0 for an empty store.
    pub revision: Revision,
    /// The commits, in order of revisions, from 1, without gaps.
    pub committed: Vec<Committed>,
}

impl Snapshot {
    /// Commits up to a revision.
    pub fn new(revision: Revision, committed: Vec<Committed>) -> Self {
        Self {
            revision,
            committed,
        }
    }
}

impl Snapshot {
    /// The commits after a revision.
    ///
    /// # Errors
    /// `Invalid` for a revision that is not in it.
    pub fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        since(&self.committed, revision)
    }
}

pub(crate) fn since(committed: &[Committed], revision: Revision) -> Result<Vec<Committed>> {
    let from = usize::try_from(revision.0).ok();
    let news = from.and_then(|from| committed.get(from..));
    news.map(<[Committed]>::to_vec).ok_or_else(|| {
        Error::invalid("SkillStore::since", "there is no such revision yet")
            .with("revision", revision)
            .with("last", committed.len())
            .hint("load the store again; this revision came from another one")
    })
}

/// Keeps a library's committed changes. The library is a fold over them.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use journeyman::{Result, domain::Revision, async_trait, contract::{SkillStore, Snapshot}};
/// use journeyman::domain::{Commit, Committed};
///
/// #[derive(Debug, Default)]
/// struct InMemory(Mutex<Snapshot>);
///
/// #[async_trait]
/// impl SkillStore for InMemory {
///     async fn load(&self) -> Result<Snapshot> {
///         Ok(self.0.lock().unwrap().clone())
///     }
///
///     async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
///         self.0.lock().unwrap().since(revision)
///     }
///
///     async fn commit(&self, commit: &Commit) -> Result<Committed> {
///         let mut kept = self.0.lock().unwrap();
///         if let Some(before) = kept.committed.iter().find(|before| before.key == commit.key) {
///             return Ok(before.clone());
///         }
///         let committed = commit.made_on(kept.revision)?;
///         kept.revision = committed.revision;
///         kept.committed.push(committed.clone());
///         Ok(committed)
///     }
///
///     fn is_read_only(&self) -> bool {
///         false
///     }
/// }
///
/// # futures::executor::block_on(async {
/// // The suite of the contract has a case for each rule.
/// let fresh = async || Ok(Arc::new(InMemory::default()) as Arc<dyn SkillStore>);
/// journeyman::testing::conformance::skill_store::check(fresh).await.into_result()?;
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *order*: revisions begin at 1 and have no gaps; `load` and `since` give them in order.
/// - *base*: a commit whose base is not the last revision is a `Conflict`, and nothing is changed.
/// - *once*: a commit whose key was committed before gives what was committed then, whatever its base.
/// - *valid*: a commit with a change that breaks [`LibraryChange::validate`](crate::domain::LibraryChange::validate) is
///   `Invalid`, and nothing is changed: no library could be read any more.
/// - *together*: a commit's changes are all there or none.
/// - *since*: `since(r)` gives what came after `r`; after the last revision nothing; beyond it, `Invalid`.
/// - *at once*: of many commits on one base at the same time, exactly one is accepted.
/// - *scores*: `kept_scores` gives of each key that was given to `keep_scores` the last scores, or nothing; commits and revisions do not change.
#[async_trait]
pub trait SkillStore: fmt::Debug + Send + Sync {
    /// All commits.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn load(&self) -> Result<Snapshot>;

    /// The commits after a revision.
    ///
    /// # Errors
    /// `Invalid` for a revision that does not exist; `Unavailable` or `Corrupt`.
    async fn since(&self, revision: Revision) -> Result<Vec<Committed>>;

    /// Commits. The store acknowledges a commit only when it is kept.
    ///
    /// # Errors
    /// `Conflict` when the base is not the last revision; `Unavailable` when it could not be kept.
    async fn commit(&self, commit: &Commit) -> Result<Committed>;

    /// Whether the store refuses every commit: a run then learns nothing and tries no commit. There is no default, so that a
    /// store around another one has to pass the question on.
    fn is_read_only(&self) -> bool;

    /// The scores that [`keep_scores`](Self::keep_scores) was given. They can be computed again, so a store may lose them, or keep
    /// none, as the default does.
    ///
    /// # Errors
    /// `Unavailable`; the session then computes them.
    async fn kept_scores(&self) -> Result<Vec<KeptScores>> {
        Ok(Vec::new())
    }

    /// Keeps scores beside the library, outside its history. Of equal keys the last one counts.
    ///
    /// # Errors
    /// `Unavailable` where they could not be kept; the session goes on without.
    async fn keep_scores(&self, scores: &[KeptScores]) -> Result<()> {
        let _ = scores;
        Ok(())
    }
}

/// A commit with those that other writers made before it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct RebasedCommit {
    /// The commits since the commit's own base, in order of revisions; its own is the last.
    pub committed: Vec<Committed>,
    /// How many times the base was moved forward.
    pub rebased: u32,
}

/// Methods of every store.
#[async_trait]
pub trait SkillStoreExt: SkillStore {
    /// Commits, and moves the base forward when another writer was first, at most `attempts` times. Changes record
    /// inputs, so they hold on any later base.
    ///
    /// # Errors
    /// `Conflict` when it was overtaken each time; else as [`SkillStore::commit`].
    async fn commit_rebased(&self, commit: &Commit, attempts: u32) -> Result<RebasedCommit>;
}

#[async_trait]
impl<S: SkillStore + ?Sized> SkillStoreExt for S {
    async fn commit_rebased(&self, commit: &Commit, attempts: u32) -> Result<RebasedCommit> {
        let mut commit = commit.clone();
        let base = commit.base;
        let mut rebased = 0;
        loop {
            match self.commit(&commit).await {
                Ok(done) => {
                    let mut committed = self.since(base).await?;
                    committed.retain(|commit| commit.revision <= done.revision);
                    return Ok(RebasedCommit { committed, rebased });
                }
                Err(error)
                    if error.kind() == crate::error::ErrorKind::Conflict && rebased < attempts =>
                {
                    rebased += 1;
                    commit.base = self
                        .since(commit.base)
                        .await?
                        .last()
                        .map_or(commit.base, |last| last.revision);
                }
                // Overtaken each time: another time it may be first.
                Err(error) if error.kind() == crate::error::ErrorKind::Conflict => {
                    return Err(error.temporary());
                }
                Err(error) => return Err(error),
            }
        }
    }
}
