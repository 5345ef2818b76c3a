//! A store in memory over a library that it does not change.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    contract::{KeptScores, SkillStore, Snapshot, since},
    domain::{Commit, Committed},
    error::Result,
    id::{CommitKey, Revision},
    library::{Fork, SkillLibrary},
};

/// A [`SkillStore`] in memory that begins with the commits of another store and keeps its own apart: a library for one rollout,
/// of which hundreds can exist at once (SkillOS, training regime; row K3). All stores over one base share its commits and its
/// folded library; each keeps its own commits alone. It keeps every rule of the contract. It has no files: skills that name files
/// find them in the base's store.
///
/// ```
/// use journeyman::{
///     agent::{ForkStore, MemoryStore},
///     contract::SkillStore,
///     domain::LibraryChange,
///     testing::sample,
/// };
///
/// # futures::executor::block_on(async {
/// let store = MemoryStore::new();
/// let add = |name: &str| vec![LibraryChange::Add(Box::new(sample::skill(name)))];
/// store.commit(&sample::commit(0, "shipped", add("open-jars"))).await?;
///
/// let one = ForkStore::new(store.load().await?)?;
/// let other = one.another();
/// one.commit(&sample::commit(1, "tried", add("close-jars"))).await?;
///
/// // Each has its own changes, and the store that they began with has none of them.
/// assert_eq!(one.fork()?.changes(), add("close-jars"));
/// assert!(other.fork()?.changes().is_empty());
/// assert_eq!(store.load().await?.revision.0, 1);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct ForkStore {
    base: Arc<Base>,
    scores: Option<Arc<dyn SkillStore>>,
    own: Mutex<Own>,
}

/// The commits that a store begins with, and their fold.
#[derive(Debug)]
struct Base {
    committed: Vec<Committed>,
    by_key: HashMap<CommitKey, usize>,
    library: SkillLibrary,
}

/// The commits since.
#[derive(Debug, Default)]
struct Own {
    committed: Vec<Committed>,
    by_key: HashMap<CommitKey, usize>,
}

impl ForkStore {
    /// A store that begins with a snapshot.
    ///
    /// # Errors
    /// As [`SkillLibrary::apply`], for a snapshot that no store gives: its revisions do not begin at 1 or have a gap, or a
    /// change breaks a rule.
    pub fn new(snapshot: Snapshot) -> Result<Self> {
        let library = SkillLibrary::replay(&snapshot.committed)?;
        let keys = snapshot.committed.iter().map(|one| one.key.clone());
        Ok(Self {
            base: Arc::new(Base {
                by_key: keys.zip(0..).collect(),
                committed: snapshot.committed,
                library,
            }),
            scores: None,
            own: Mutex::default(),
        })
    }

    /// With the scores that this store keeps, which are no part of a library's history: it is read, and given the new ones.
    #[must_use]
    pub fn with_scores_of(mut self, store: Arc<dyn SkillStore>) -> Self {
        self.scores = Some(store);
        self
    }

    /// Another store over the same base, without the commits of this one.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            base: Arc::clone(&self.base),
            scores: self.scores.clone(),
            own: Mutex::default(),
        }
    }

    /// The library that it began with; a copy shares everything with it.
    pub fn base(&self) -> &SkillLibrary {
        &self.base.library
    }

    /// The library as a fork of the base, with this store's commits as its changes.
    ///
    /// # Errors
    /// `Internal`, where a commit does not fold, which no commit of a store does.
    pub fn fork(&self) -> Result<Fork> {
        let mut fork = self.base.library.fork();
        for committed in &self.lock().committed {
            fork.fold(committed)?;
        }
        Ok(fork)
    }

    fn lock(&self) -> MutexGuard<'_, Own> {
        // A commit is pushed whole or not at all, so the state is valid even where a holder of the lock panicked.
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self, own: &Own) -> Revision {
        Revision((self.base.committed.len() + own.committed.len()) as u64)
    }
}

#[async_trait]
impl SkillStore for ForkStore {
    fn is_read_only(&self) -> bool {
        false
    }

    async fn load(&self) -> Result<Snapshot> {
        let own = self.lock();
        Ok(Snapshot {
            revision: self.last(&own),
            committed: [self.base.committed.as_slice(), &own.committed].concat(),
        })
    }

    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        let own = self.lock();
        let base = self.base.committed.len() as u64;
        match revision.0.checked_sub(base) {
            // Only this store's own commits are copied, however many the base has.
            Some(behind) if revision <= self.last(&own) => since(&own.committed, Revision(behind)),
            _ => {
                let all = [self.base.committed.as_slice(), &own.committed].concat();
                since(&all, revision)
            }
        }
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let mut own = self.lock();
        let before = self.base.by_key.get(&commit.key);
        let before = before.and_then(|place| self.base.committed.get(*place));
        let place = own.by_key.get(&commit.key);
        let before = before.or_else(|| own.committed.get(*place?));
        if let Some(before) = before {
            return Ok(before.clone());
        }
        let committed = commit.made_on(self.last(&own))?;
        let place = own.committed.len();
        own.by_key.insert(committed.key.clone(), place);
        own.committed.push(committed.clone());
        Ok(committed)
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
