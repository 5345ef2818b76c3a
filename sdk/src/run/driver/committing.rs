//! Commits to the store, the performer's copy of the library, and the refresh of the retriever's index.

use std::sync::{Arc, MutexGuard, PoisonError};

use super::performer::Performer;
use crate::{
    contract::SkillStore,
    domain::{Commit, Committed, LibraryChange},
    error::{Error, ErrorKind, Result},
    id::SkillId,
    library::SkillLibrary,
    policy::CommitDone,
    telemetry,
};

/// Maximum number of rebases of one commit when other writers commit first.
const REBASES: u32 = 16;

impl Performer {
    /// Makes a commit, at most once for its key, and refreshes the index. A task's commit that brings skills is not made on top
    /// of commits that its drafts were not compared with; one of maintenance, and one of a task that ends a trial in quarantine,
    /// not on top of a person's word about a skill that it decides about ([`CommitDone::overtaken`]).
    ///
    /// # Errors
    /// The store's error; `Conflict` if the key was committed before with other changes.
    pub(crate) async fn commit(&self, commit: &Commit) -> Result<CommitDone> {
        let store = self.store()?;
        let mut dated = commit.clone();
        dated.cause.at = self.components.clock.as_ref().map(|clock| clock.now());
        let committing = self.commit_compared(store.as_ref(), dated);
        let spans = telemetry::commit(&commit.changes);
        let made = self
            .bounded("SkillStore::commit", self.limits.commit, committing)
            .await;
        spans
            .iter()
            .for_each(|span| telemetry::finished(span, &made));
        drop(spans);
        let done = made?;
        if done.overtaken {
            return Ok(done);
        }
        // The store returns the existing commit for a known key. Other changes in it mean that another run has the same id.
        if done.committed.last().map(|last| &last.changes) != Some(&commit.changes) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "SkillStore::commit",
                "another run of the same id has committed this step with other changes",
            )
            .with("key", &commit.key)
            .hint("give each session over one store a name of its own"));
        }
        self.refresh_index().await;
        Ok(done)
    }

    async fn commit_compared(
        &self,
        store: &dyn SkillStore,
        mut commit: Commit,
    ) -> Result<CommitDone> {
        let base = commit.base;
        let changes = || commit.changes.iter();
        let revises = changes().any(|change| matches!(change, LibraryChange::Revise(_)));
        let is_of_task = commit.cause.task.is_some();
        let compares = is_of_task && changes().any(brings_text);
        let ends_trial = changes().any(decides_by_evidence);
        // A new version is made of the one that its author saw: where another came first, it is passed over.
        let is_other = |change: &LibraryChange| match revises {
            true => takes_back(change),
            false => brings_text(change) || takes_back(change),
        };
        let mut rebased = 0;
        loop {
            match store.commit(&commit).await {
                Ok(done) => {
                    let mut committed = store.since(base).await?;
                    committed.retain(|commit| commit.revision <= done.revision);
                    return Ok(CommitDone {
                        committed,
                        rebased,
                        overtaken: false,
                    });
                }
                Err(error) if error.kind() == ErrorKind::Conflict && rebased < REBASES => {
                    let committed = store.since(base).await?;
                    let changes = committed.iter().flat_map(|one| &one.changes);
                    let overtaken = match is_of_task {
                        true => {
                            compares && changes.clone().any(is_other)
                                || ends_trial
                                    && (host_spoke(&committed, &commit)
                                        || revised(changes, &commit))
                        }
                        false => host_spoke(&committed, &commit),
                    };
                    if overtaken {
                        return Ok(CommitDone {
                            committed,
                            rebased: 0,
                            overtaken: true,
                        });
                    }
                    commit.base = committed.last().map_or(commit.base, |last| last.revision);
                    rebased += 1;
                }
                // Overtaken each time: another time it may be first.
                Err(error) if error.kind() == ErrorKind::Conflict => return Err(error.temporary()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Brings the retriever's index up to the store's revision. The index can be rebuilt from the store: a failure costs
    /// candidates, never a commit, and the next refresh continues from the last successful one.
    pub(crate) async fn refresh_index(&self) {
        let refreshing = async {
            // Needed without a retriever too: the findings are computed from the followed library.
            let library = self.library().await?;
            match &self.components.retriever {
                Some(retriever) => library.refresh(retriever.as_ref()).await,
                None => Ok(()),
            }
        };
        let refreshed = self.bounded("Performer::refresh_index", self.limits.commit, refreshing);
        if let Err(error) = refreshed.await {
            tracing::warn!(%error, "library and index could not be brought up to date");
        }
    }

    /// The library at the store's present revision: the last known library with the newer commits applied.
    ///
    /// # Errors
    /// The store's error.
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
        // The library is replaced as a whole, so a poisoned lock can be used.
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> Result<&Arc<dyn SkillStore>> {
        self.components.store.as_ref().ok_or_else(|| {
            Error::invalid("Performer::store", "the host gave no store").hint(
                "set `Components::store`, or let `Journeyman::open` keep the library in memory",
            )
        })
    }
}

/// Whether the host, or a person, decided about a skill that a run's commit decides about, too.
fn host_spoke(committed: &[Committed], commit: &Commit) -> bool {
    let decided = |skill: &SkillId| {
        commit.changes.iter().any(|change| match change {
            LibraryChange::Merge { sources, .. } => sources.contains(skill),
            change => change.decides_about() == Some(skill),
        })
    };
    let by_run = commit
        .cause
        .run
        .as_ref()
        .is_some_and(|run| !run.is_by_host());
    by_run
        && committed
            .iter()
            .flat_map(Committed::decided_by_host)
            .any(decided)
}

/// Whether a change brings a text that was compared with the library's.
fn brings_text(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::Add(_) | LibraryChange::Revise(_) | LibraryChange::Merge { .. }
    )
}

/// Whether a change decides about a skill by the evidence of a version.
fn decides_by_evidence(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::SetState { .. } | LibraryChange::Release { .. }
    )
}

/// Whether another commit brought a next version of a skill about whose version this one decides.
fn revised<'a>(mut changes: impl Iterator<Item = &'a LibraryChange>, commit: &Commit) -> bool {
    let decided = commit.changes.iter();
    let decided = decided.filter(|change| decides_by_evidence(change));
    let decided: Vec<&SkillId> = decided.filter_map(LibraryChange::decides_about).collect();
    changes.any(|change| match change {
        LibraryChange::Revise(skill) => decided.contains(&&skill.id),
        _ => false,
    })
}

/// Whether a change takes a skill out of use or back into it, so that drafts are decided otherwise.
fn takes_back(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::SetState { .. }
            | LibraryChange::RollBack { .. }
            | LibraryChange::Restore { .. }
            | LibraryChange::RetireRun { .. }
    )
}
