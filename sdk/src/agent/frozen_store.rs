//! A store of a library at one revision, which accepts no commit.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    contract::{KeptScores, SkillStore, Snapshot},
    domain::{Commit, Committed},
    error::{Error, ErrorKind, Result},
    id::Revision,
};

/// A [`SkillStore`] of a library at one revision, for evaluation: any number of runs may read it at once. Every commit is
/// refused, so a run cannot learn with it (HiSME 4.1: held-out tasks read a frozen repository). Of the contract's rules it
/// keeps those of `load` and `since`.
///
/// ```
/// use journeyman::{agent::{FrozenStore, MemoryStore}, contract::SkillStore, testing::sample, ErrorKind};
///
/// # futures::executor::block_on(async {
/// let frozen = FrozenStore::new(MemoryStore::new().load().await?);
/// let refused = frozen.commit(&sample::commit(0, "late", Vec::new())).await;
/// assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
/// # Ok::<(), journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct FrozenStore {
    snapshot: Snapshot,
    scores: Option<Arc<dyn SkillStore>>,
}

impl FrozenStore {
    /// A store of this snapshot.
    pub fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            scores: None,
        }
    }

    /// With the scores that this store keeps, which are no part of a library's history: it is read, and given the new ones.
    #[must_use]
    pub fn with_scores_of(mut self, store: Arc<dyn SkillStore>) -> Self {
        self.scores = Some(store);
        self
    }
}

#[async_trait]
impl SkillStore for FrozenStore {
    async fn load(&self) -> Result<Snapshot> {
        Ok(self.snapshot.clone())
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        self.snapshot.since(revision)
    }

    async fn commit(&self, _: &Commit) -> Result<Committed> {
        Err(Error::new(
            ErrorKind::Unsupported,
            "SkillStore::commit",
            "this library is frozen, and nothing can be committed to it",
        )
        .hint("call `Journeyman::evaluate` or `Journeyman::begin`; to learn, open the library itself, such as with `DiskStore`"))
    }

    async fn kept_scores(&self) -> Result<Vec<KeptScores>> {
        match &self.scores {
            Some(store) => store.kept_scores().await,
            None => Ok(Vec::new()),
        }
    }

    async fn keep_scores(&self, scores: &[KeptScores]) -> Result<()> {
        match &self.scores {
            Some(store) => store.keep_scores(scores).await,
            None => Ok(()),
        }
    }
}
