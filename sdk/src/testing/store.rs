//! A store whose commits fail as a script says.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;

use super::play::Calls;
use crate::{
    contract::{KeptScores, SkillStore, Snapshot},
    domain::{Cause, Commit, Committed},
    error::{Error, Result},
    id::{CommitKey, Revision},
};

/// The fault of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFault {
    /// Nothing is kept, and the answer is `Unavailable`.
    Refused,
    /// The commit is kept, and the answer is `Unavailable`, as where an answer is lost.
    AnswerLost,
    /// Another writer's commit, which changes nothing, comes first.
    Overtaken,
    /// The commit is kept, and no answer comes.
    Hangs,
}

/// A [`SkillStore`] around another one, with a fault for chosen commits, counted from 0.
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     agent::MemoryStore,
///     contract::SkillStore,
///     domain::LibraryChange,
///     testing::{FaultyStore, StoreFault, sample},
/// };
///
/// # futures::executor::block_on(async {
/// let store = FaultyStore::new(Arc::new(MemoryStore::new()), [(0, StoreFault::Refused)]);
/// let add = LibraryChange::Add(Box::new(sample::skill("close-ticket")));
/// let commit = sample::commit(0, "first", vec![add]);
/// assert!(store.commit(&commit).await.is_err());
/// assert!(store.commit(&commit).await.is_ok());
/// # });
/// ```
#[derive(Debug)]
pub struct FaultyStore {
    inner: Arc<dyn SkillStore>,
    faults: BTreeMap<usize, StoreFault>,
    commits: Calls,
}

impl FaultyStore {
    /// A store around `inner` with these faults.
    pub fn new(
        inner: Arc<dyn SkillStore>,
        faults: impl IntoIterator<Item = (usize, StoreFault)>,
    ) -> Self {
        Self {
            inner,
            faults: faults.into_iter().collect(),
            commits: Calls::default(),
        }
    }

    /// The number of commits that were tried.
    pub fn commits(&self) -> usize {
        self.commits.count()
    }
}

fn unavailable() -> Error {
    Error::unavailable("SkillStore::commit", "a scripted fault").temporary()
}

#[async_trait]
impl SkillStore for FaultyStore {
    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    async fn load(&self) -> Result<Snapshot> {
        self.inner.load().await
    }

    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        self.inner.since(revision).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let number = self.commits.next();
        match self.faults.get(&number) {
            None => self.inner.commit(commit).await,
            Some(StoreFault::Refused) => Err(unavailable()),
            Some(StoreFault::AnswerLost) => {
                self.inner.commit(commit).await?;
                Err(unavailable())
            }
            Some(StoreFault::Hangs) => {
                self.inner.commit(commit).await?;
                futures::future::pending().await
            }
            Some(StoreFault::Overtaken) => {
                let rival = Commit {
                    base: self.inner.load().await?.revision,
                    key: CommitKey::new(format!("rival-{number}")),
                    cause: Cause {
                        run: None,
                        task: None,
                        reason: "another writer".to_owned(),
                        at: None,
                    },
                    changes: Vec::new(),
                };
                self.inner.commit(&rival).await?;
                self.inner.commit(commit).await
            }
        }
    }

    async fn kept_scores(&self) -> Result<Vec<KeptScores>> {
        self.inner.kept_scores().await
    }

    async fn keep_scores(&self, scores: &[KeptScores]) -> Result<()> {
        self.inner.keep_scores(scores).await
    }
}
