//! Commits, and keeping the index up to date with them.

use std::sync::{Arc, MutexGuard, PoisonError};

use super::performer::Performer;
use crate::{
    contract::{RebasedCommit, SkillStore, SkillStoreExt},
    domain::{Commit, Committed},
    error::{Error, ErrorKind, Result},
    library::SkillLibrary,
    policy::CommitDone,
};

/// How often a commit's base is moved when other writers are first.
const REBASES: u32 = 16;

impl Performer {
    /// Commits once, and brings the index up to date.
    ///
    /// # Errors
    /// What the store gives; `Conflict` when the key was committed with other changes.
    pub(crate) async fn commit(&self, commit: &Commit) -> Result<CommitDone> {
        let store = self.store()?;
        let committing = store.commit_rebased(commit, REBASES);
        let RebasedCommit { committed, rebased } = self
            .bounded("SkillStore::commit", self.limits.commit, committing)
            .await?;
        // A key is committed once. When it was, with other changes, somebody else used this run's id.
        if committed.last().map(|last| &last.changes) != Some(&commit.changes) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "SkillStore::commit",
                "another run of the same id has committed this step with other changes",
            )
            .with("key", &commit.key)
            .hint("give each session over one store a name of its own"));
        }
        self.refresh_index().await;
        Ok(CommitDone { committed, rebased })
    }

    /// Lets the index take in whatever the store has and it does not. The index is derived and can be rebuilt: a
    /// failure costs candidates, never a commit, and the next refresh begins where the last good one ended.
    pub(crate) async fn refresh_index(&self) {
        let refreshing = async {
            // Findings follow the library too, where there is no index.
            let library = self.library().await?;
            match &self.backends.retriever {
                Some(retriever) => library.refresh(retriever.as_ref()).await,
                None => Ok(()),
            }
        };
        let refreshed = self.bounded("Performer::refresh_index", self.limits.commit, refreshing);
        if let Err(error) = refreshed.await {
            tracing::warn!(%error, "library and index could not be brought up to date");
        }
    }

    /// The library as the store has it now: folded on from what was seen last.
    ///
    /// # Errors
    /// What the store gives.
    pub async fn library(&self) -> Result<SkillLibrary> {
        let mut library = self.follow().clone();
        let mut news = self.store()?.since(library.revision()).await?;
        if news.iter().any(Committed::erases) {
            library = SkillLibrary::new();
            news = self.store()?.load().await?.committed;
        }
        for committed in &news {
            library.apply(committed)?;
        }
        let mut followed = self.follow();
        if followed.revision() < library.revision() {
            *followed = library.clone();
        }
        Ok(library)
    }

    pub(crate) fn follow(&self) -> MutexGuard<'_, SkillLibrary> {
        // A library is put there whole.
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> Result<&Arc<dyn SkillStore>> {
        self.backends.store.as_ref().ok_or_else(|| {
            Error::invalid("Performer::store", "the host gave no store")
                .hint("set `Backends::store`, or let `Journeyman::open` keep the library in memory")
        })
    }
}
