//! [`LlamaCpp`]'s calls that save, restore and drop cached prefixes.

use std::path::PathBuf;

use journeyman::Result;

use crate::{
    loaded::LlamaCpp,
    saved::{RESTORE, SAVE},
    worker::Prefixes,
};

pub(crate) const FORGET: &str = "LlamaCpp::forget_prefixes";

impl LlamaCpp {
    /// Writes the cached prefixes to a folder, which is created where it does not exist. Prefixes saved there before
    /// are replaced; other files are left alone. Returns the number of tokens.
    ///
    /// # Errors
    /// `Unavailable` where the folder cannot be written.
    pub async fn save_prefixes(&self, folder: impl Into<PathBuf>) -> Result<usize> {
        let folder = folder.into();
        self.worker.prefixes(SAVE, Prefixes::Save(folder)).await
    }

    /// Reads prefixes that [`LlamaCpp::save_prefixes`] wrote for the same model and the loaded adapters, as many as
    /// memory has room for, so that they are not decoded again. Returns the number of tokens. In deterministic mode
    /// none are read, and the number is 0.
    ///
    /// # Errors
    /// - `NotFound`: no prefixes were saved there.
    /// - `Unsupported`: they were saved for another model or other memory parameters.
    /// - `Corrupt`: a file is damaged. Prefixes read before it are kept.
    pub async fn restore_prefixes(&self, folder: impl Into<PathBuf>) -> Result<usize> {
        let folder = folder.into();
        let what = Prefixes::Restore(folder);
        self.worker.prefixes(RESTORE, what).await
    }

    /// Drops the cached prefixes. Returns the number of their tokens.
    ///
    /// # Errors
    /// `Unavailable` where the worker has ended.
    pub async fn forget_prefixes(&self) -> Result<usize> {
        self.worker.prefixes(FORGET, Prefixes::Forget).await
    }
}
