//! The finished cells, one file each in the experiment's folder.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    fault::{EXPERIMENT, unreadable, unwritable},
    files::{UNFINISHED, replace},
    result::CellResult,
};

/// The version of the files' form.
const SCHEMA: u32 = 2;

/// The folder of the cells' files.
const CELLS: &str = "cells";

/// A cell's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
    schema: u32,
    pub(crate) arm: String,
    pub(crate) seed: u64,
    /// The SHA-256 of `config`.
    pub(crate) key: String,
    /// The build of the program that made the cell.
    pub(crate) build: String,
    pub(crate) seconds: f64,
    /// Everything that the result follows from, except the build.
    pub(crate) config: Value,
    pub(crate) result: CellResult,
}

impl Saved {
    pub(crate) fn new(
        (arm, seed): (&str, u64),
        (key, form): (String, &str),
        build: &str,
        seconds: f64,
        result: CellResult,
    ) -> Self {
        Self {
            schema: SCHEMA,
            arm: arm.to_owned(),
            seed,
            key,
            build: build.to_owned(),
            seconds,
            // A cell's form is always JSON.
            config: serde_json::from_str(form).unwrap_or_default(),
            result,
        }
    }
}

/// The state of a cell's file.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    /// The cell is finished.
    Done(Box<Saved>),
    /// There is no file.
    Nothing,
    /// The file is of no use.
    Stale(Stale),
}

/// Why a stored cell is of no use.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// Its file is of another version of the form.
    Version,
    /// Its file cannot be read as a cell.
    Damaged,
    /// Its key is another one: settings, recipe, library or model have changed.
    Configuration,
    /// Another build of the program made it.
    Build,
}

/// The experiment's folder, locked for one run at a time.
#[derive(Debug)]
pub(crate) struct CellStore {
    folder: PathBuf,
    _lock: File,
}

impl CellStore {
    /// Makes the folder where there is none, and removes unfinished files of a run that was killed.
    ///
    /// # Errors
    /// `Unavailable` where it cannot be written, or another run is at work there.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let cells = folder.join(CELLS);
        let failed = |source| unwritable(folder, source);
        fs::create_dir_all(&cells).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        lock.try_lock().map_err(|error| {
            if let TryLockError::Error(source) = error {
                return failed(source);
            }
            let message = "another run of an experiment is at work in this folder";
            Error::new(ErrorKind::Unavailable, EXPERIMENT, message)
                .temporary()
                .with("path", folder.display())
                .hint("wait for that run to end, or name another folder")
        })?;
        for folder in [folder, &cells] {
            for entry in folder.read_dir().map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path.extension().is_some_and(|end| end == UNFINISHED) {
                    fs::remove_file(&path).map_err(failed)?;
                }
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            _lock: lock,
        })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn cell(&self, slug: &str, seed: u64) -> PathBuf {
        self.folder
            .join(CELLS)
            .join(format!("{slug}-seed-{seed}.json"))
    }

    /// # Errors
    /// `Unavailable` for a file that is there and cannot be read.
    pub(crate) fn find(
        &self,
        slug: &str,
        seed: u64,
        key: &str,
        build: Option<&str>,
    ) -> Result<Found> {
        let path = self.cell(slug, seed);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            read => read.map_err(|source| unreadable(&path, source))?,
        };
        // A file of another version need not have this version's fields.
        #[derive(Deserialize)]
        struct Form {
            schema: u32,
        }
        match serde_json::from_slice::<Form>(&bytes) {
            Ok(form) if form.schema != SCHEMA => {
                return Ok(Found::Stale(Stale::Version));
            }
            _ => {}
        }
        Ok(match serde_json::from_slice::<Saved>(&bytes) {
            Err(_) => Found::Stale(Stale::Damaged),
            Ok(saved) if saved.key != key => Found::Stale(Stale::Configuration),
            Ok(saved) if build.is_some_and(|build| build != saved.build) => {
                Found::Stale(Stale::Build)
            }
            Ok(saved) => Found::Done(Box::new(saved)),
        })
    }

    /// Stores a cell. A reader sees the whole new file or the one before.
    pub(crate) fn keep(&self, slug: &str, saved: &Saved) -> Result<()> {
        let path = self.cell(slug, saved.seed);
        let bytes =
            serde_json::to_vec_pretty(saved).map_err(|source| unwritable(&path, source.into()))?;
        replace(&path, &bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn saved(key: &str) -> Saved {
        let form = (key.to_owned(), r#"{"seed": 7}"#);
        Saved::new(("one", 7), form, "build", 1.5, CellResult::default())
    }

    #[test]
    fn a_cell_is_found_again_and_no_other_is_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::open(folder.path()).unwrap();
        let find = |key, build| store.find("one", 7, key, build).unwrap();
        assert_eq!(find("key", None), Found::Nothing);
        let cell = saved("key");
        store.keep("one", &cell).unwrap();
        assert_eq!(
            find("key", Some("build")),
            Found::Done(Box::new(cell.clone()))
        );
        assert_eq!(find("key", None), Found::Done(Box::new(cell)));
        assert_eq!(find("other", None), Found::Stale(Stale::Configuration));
        assert_eq!(find("key", Some("later")), Found::Stale(Stale::Build));
        store.keep("one", &saved("other")).unwrap();
        assert!(matches!(find("other", None), Found::Done(_)));
    }

    #[test]
    fn a_damaged_file_is_no_cell_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::open(folder.path()).unwrap();
        store.keep("one", &saved("key")).unwrap();
        let path = folder.path().join("cells/one-seed-7.json");
        let bytes = fs::read(&path).unwrap();
        let find = || store.find("one", 7, "key", None).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert_eq!(find(), Found::Stale(Stale::Damaged));
        let later = String::from_utf8(bytes).unwrap();
        fs::write(&path, later.replacen("\"schema\": 2", "\"schema\": 3", 1)).unwrap();
        assert_eq!(find(), Found::Stale(Stale::Version));
        store.keep("one", &saved("key")).unwrap();
        assert!(matches!(find(), Found::Done(_)));
    }

    #[test]
    fn one_run_at_a_time_and_leftovers_go() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::open(folder.path()).unwrap();
        let busy = CellStore::open(folder.path()).unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::Unavailable);
        assert!(busy.message().contains("another run"), "{busy}");
        drop(store);
        let half = folder.path().join("cells/.tmp123.new");
        fs::write(&half, "{").unwrap();
        CellStore::open(folder.path()).unwrap();
        assert!(!half.exists());
    }
}
