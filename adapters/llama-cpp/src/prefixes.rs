//! Saving, restoring and forgetting the cached prefixes of a loaded model.

use std::path::PathBuf;

use journeyman::Result;

use crate::{
    loaded::LlamaCpp,
    saved::{RESTORE, SAVE},
    worker::Prefixes,
};

pub(crate) const FORGET: &str = "LlamaCpp::forget_prefixes";

impl LlamaCpp {
    /// Writes the cached prefixes to a folder, which is made where it is not there; what was saved there before is
    /// replaced, and other files stay. The number of tokens is returned.
    ///
    /// # Errors
    /// `Unavailable` where the folder cannot be written.
    pub async fn save_prefixes(&self, folder: impl Into<PathBuf>) -> Result<usize> {
        let folder = folder.into();
        self.worker.prefixes(SAVE, Prefixes::Save(folder)).await
    }

    /// Reads what [`LlamaCpp::save_prefixes`] wrote for the same model and the adapters that are loaded, as much as memory
    /// has room for, so that it is not decoded again. The number of tokens is returned. In deterministic mode there is no cache, and it is 0.
    ///
    /// # Errors
    /// - `NotFound`: nothing was saved there.
    /// - `Unsupported`: it was saved for another model or another kind of memory.
    /// - `Corrupt`: a file is damaged. What was read before it is kept.
    pub async fn restore_prefixes(&self, folder: impl Into<PathBuf>) -> Result<usize> {
        let folder = folder.into();
        let what = Prefixes::Restore(folder);
        self.worker.prefixes(RESTORE, what).await
    }

    /// Forgets the cached prefixes. The number of their tokens is returned.
    ///
    /// # Errors
    /// `Unavailable` where the worker has ended.
    pub async fn forget_prefixes(&self) -> Result<usize> {
        self.worker.prefixes(FORGET, Prefixes::Forget).await
    }
}
