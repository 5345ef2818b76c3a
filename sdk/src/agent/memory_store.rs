//! A store in memory.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    contract::{KeptScores, SkillFiles, SkillStore, Snapshot, since},
    domain::{Commit, Committed, FileRef},
    error::{Error, Result},
    id::{CommitKey, Revision},
};

/// A [`SkillStore`] with [`SkillFiles`] in memory. It keeps every rule of both contracts; its content is lost when it is
/// dropped.
///
/// ```
/// use journeyman::{agent::MemoryStore, contract::SkillStore, domain::Revision};
///
/// let store = MemoryStore::new();
/// let snapshot = futures::executor::block_on(store.load())?;
/// assert_eq!(snapshot.revision, Revision(0));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The commit of revision r is at index r - 1.
    committed: Vec<Committed>,
    by_key: HashMap<CommitKey, usize>,
    /// Files by their SHA-256.
    files: HashMap<String, Vec<u8>>,
    scores: BTreeMap<String, KeptScores>,
}

impl Kept {
    fn revision(&self) -> Revision {
        Revision(self.committed.len() as u64)
    }

    fn push(&mut self, committed: Committed) {
        self.by_key
            .insert(committed.key.clone(), self.committed.len());
        self.committed.push(committed);
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// With scores that another store kept.
    #[must_use]
    pub fn with_scores(self, scores: impl IntoIterator<Item = KeptScores>) -> Self {
        let by_key = scores.into_iter().map(|one| (one.key.clone(), one));
        self.lock().scores.extend(by_key);
        self
    }

    /// A store with the commits of another one, such as those of a snapshot.
    ///
    /// # Errors
    /// `Corrupt` where the revisions do not begin at 1 or have a gap, or where a key occurs twice.
    pub fn from_committed(committed: impl IntoIterator<Item = Committed>) -> Result<Self> {
        let mut kept = Kept::default();
        for commit in committed {
            let due = kept.revision().next();
            if commit.revision != due {
                return Err(corrupt("the revisions have a gap")
                    .with("revision", commit.revision)
                    .with("expected", due));
            }
            if kept.by_key.contains_key(&commit.key) {
                return Err(corrupt("a commit's key comes twice").with("revision", commit.revision));
            }
            kept.push(commit);
        }
        Ok(Self {
            kept: Mutex::new(kept),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A commit is pushed whole or not at all, so the state is valid even where a holder of the lock panicked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn corrupt(message: &str) -> Error {
    Error::corrupt("MemoryStore::from_committed", message.to_owned())
}

#[async_trait]
impl SkillStore for MemoryStore {
    fn is_read_only(&self) -> bool {
        false
    }

    async fn load(&self) -> Result<Snapshot> {
        let kept = self.lock();
        Ok(Snapshot {
            revision: kept.revision(),
            committed: kept.committed.clone(),
        })
    }

    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        since(&self.lock().committed, revision)
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let mut kept = self.lock();
        if let Some(before) = kept.by_key.get(&commit.key) {
            return Ok(kept.committed[*before].clone());
        }
        commit.check_files(|file| {
            let bytes = kept.files.get(&file.sha256);
            Ok(bytes.is_some_and(|bytes| bytes.len() as u64 == file.bytes))
        })?;
        let committed = commit.made_on(kept.revision())?;
        kept.push(committed.clone());
        Ok(committed)
    }

    async fn kept_scores(&self) -> Result<Vec<KeptScores>> {
        Ok(self.lock().scores.values().cloned().collect())
    }

    async fn keep_scores(&self, scores: &[KeptScores]) -> Result<()> {
        let by_key = scores.iter().map(|one| (one.key.clone(), one.clone()));
        self.lock().scores.extend(by_key);
        Ok(())
    }
}

#[async_trait]
impl SkillFiles for MemoryStore {
    async fn put(&self, bytes: &[u8]) -> Result<FileRef> {
        let file = FileRef::of(bytes)?;
        self.lock()
            .files
            .insert(file.sha256.clone(), bytes.to_vec());
        Ok(file)
    }

    async fn get(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.lock().files.get(sha256).cloned())
    }
}
