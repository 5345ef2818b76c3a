//! The digests of the loaded adapters, which tell files of one name apart.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use journeyman::ModelId;

/// The SHA-256 of each loaded adapter's file, by the adapter's name.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdapterDigests(Arc<Mutex<BTreeMap<String, String>>>);

impl AdapterDigests {
    /// Sets all digests.
    pub(crate) fn set(&self, digests: BTreeMap<String, String>) {
        *self.lock() = digests;
    }

    /// The digest of a file under a name, or none; the one before.
    pub(crate) fn put(&self, name: &str, digest: Option<String>) -> Option<String> {
        match digest {
            Some(digest) => self.lock().insert(name.to_owned(), digest),
            None => self.lock().remove(name),
        }
    }

    /// The id of a model with an adapter: two files that were loaded under one name have two.
    pub(crate) fn weights(&self, model: &ModelId, adapter: Option<&str>) -> ModelId {
        let Some(name) = adapter else {
            return model.clone();
        };
        let digests = self.lock();
        let digest = digests.get(name).and_then(|digest| digest.get(..12));
        ModelId::new(match digest {
            Some(digest) => format!("{model}+{name}@{digest}"),
            None => format!("{model}+{name}"),
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
