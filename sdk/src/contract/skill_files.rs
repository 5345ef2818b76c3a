//! Storage of skills' files.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{domain::FileRef, error::Result};

/// Content-addressed storage of skills' files. A writer puts the files, then commits the skill that names them.
///
/// ```
/// use std::{collections::BTreeMap, sync::Mutex};
/// use journeyman::{Result, async_trait, contract::SkillFiles, domain::FileRef};
///
/// #[derive(Debug, Default)]
/// struct InMemory(Mutex<BTreeMap<String, Vec<u8>>>);
///
/// #[async_trait]
/// impl SkillFiles for InMemory {
///     async fn put(&self, bytes: &[u8]) -> Result<FileRef> {
///         let file = FileRef::of(bytes)?;
///         self.0.lock().unwrap().insert(file.sha256.clone(), bytes.to_vec());
///         Ok(file)
///     }
///
///     async fn get(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
///         Ok(self.0.lock().unwrap().get(sha256).cloned())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let files = InMemory::default();
/// let file = files.put(b"echo brewed").await?;
/// assert_eq!(files.get(&file.sha256).await?.as_deref(), Some(&b"echo brewed"[..]));
/// assert_eq!(files.get("unknown").await?, None);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *content*: `get` gives the bytes that were put, whatever they are, and `put` says their SHA-256 and their number.
/// - *again*: bytes that are put again are kept once, and both calls give the same.
/// - *absent*: for what was never put `get` gives nothing.
/// - *size*: more than [`FileRef::MAX`] bytes are `Invalid`.
/// - *named*: a store that keeps both refuses a commit that names a file it does not have, as `Invalid`.
#[async_trait]
pub trait SkillFiles: fmt::Debug + Send + Sync {
    /// Keeps a file's bytes.
    ///
    /// # Errors
    /// `Invalid` for too many bytes; `Unavailable` when they could not be kept.
    async fn put(&self, bytes: &[u8]) -> Result<FileRef>;

    /// A file's bytes by their SHA-256, in lower-case hexadecimal.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn get(&self, sha256: &str) -> Result<Option<Vec<u8>>>;
}

#[async_trait]
impl<T: SkillFiles + ?Sized> SkillFiles for Arc<T> {
    async fn put(&self, bytes: &[u8]) -> Result<FileRef> {
        (**self).put(bytes).await
    }

    async fn get(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        (**self).get(sha256).await
    }
}
