//! The cells that are done, a file each in the experiment's folder.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{EXPERIMENT, result::CellResult};
use crate::files::{replace, unreadable, unwritable};

/// The version of the files' form.
const SCHEMA: u32 = 1;

/// The folder of the cells' files.
const CELLS: &str = "cells";

/// A cell's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Saved {
    schema: u32,
    pub(super) arm: String,
    pub(super) seed: u64,
    /// Of the configuration: a cell of another one is not this cell.
    pub(super) key: String,
    /// The SHA-256 of the program that made it.
    pub(super) build: String,
    pub(super) seconds: f64,
    /// What the key is of.
    pub(super) config: Value,
    pub(super) result: CellResult,
}

impl Saved {
    pub(super) fn new(
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
            // A form that is JSON, which every cell's is.
            config: serde_json::from_str(form).unwrap_or_default(),
            result,
        }
    }
}

/// What a cell's file says.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// The cell is done.
    Done(Box<Saved>),
    /// There is no file.
    Nothing,
    /// There is one, and it is of no use; why.
    Stale(&'static str),
}

/// The experiment's folder, for one run at a time.
#[derive(Debug)]
pub(super) struct CellStore {
    folder: PathBuf,
    _lock: File,
}

impl CellStore {
    /// Makes the folder where there is none, and takes away what a killed run left half written.
    ///
    /// # Errors
    /// `Unavailable` where it cannot be written, or another run is at work there.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let cells = folder.join(CELLS);
        let failed = |source| unwritable(EXPERIMENT, folder, source);
        fs::create_dir_all(&cells).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            if error != rustix::io::Errno::WOULDBLOCK {
                return failed(error.into());
            }
            let message = "another run of an experiment is at work in this folder";
            Error::new(ErrorKind::Unavailable, EXPERIMENT, message)
                .temporary()
                .with("path", folder.display())
                .hint("wait for it, or name another folder with --out")
        })?;
        for folder in [folder, &cells] {
            for entry in folder.read_dir().map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path.extension().is_some_and(|end| end == "new") {
                    fs::remove_file(&path).map_err(failed)?;
                }
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            _lock: lock,
        })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn cell(&self, slug: &str, seed: u64) -> PathBuf {
        self.folder
            .join(CELLS)
            .join(format!("{slug}-seed-{seed}.json"))
    }

    /// # Errors
    /// `Unavailable` for a file that is there and cannot be read.
    pub(super) fn find(
        &self,
        slug: &str,
        seed: u64,
        key: &str,
        build: Option<&str>,
    ) -> Result<Found> {
        let path = self.cell(slug, seed);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            read => read.map_err(|source| unreadable(EXPERIMENT, &path, source))?,
        };
        // What is of another form need not look like this one.
        #[derive(Deserialize)]
        struct Form {
            schema: u32,
        }
        match serde_json::from_slice::<Form>(&bytes) {
            Ok(form) if form.schema != SCHEMA => {
                return Ok(Found::Stale("its file is of another version"));
            }
            _ => {}
        }
        Ok(match serde_json::from_slice::<Saved>(&bytes) {
            Err(_) => Found::Stale("its file is damaged"),
            Ok(saved) if saved.key != key => Found::Stale("it was configured in another way"),
            Ok(saved) if build.is_some_and(|build| build != saved.build) => {
                Found::Stale("another build of the command made it")
            }
            Ok(saved) => Found::Done(Box::new(saved)),
        })
    }

    /// The file is there whole, or as it was before.
    pub(super) fn keep(&self, slug: &str, saved: &Saved) -> Result<()> {
        let path = self.cell(slug, saved.seed);
        let bytes = serde_json::to_vec_pretty(saved)
            .map_err(|source| unwritable(EXPERIMENT, &path, source.into()))?;
        replace(EXPERIMENT, &path, &bytes)
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
        assert_eq!(
            find("other", None),
            Found::Stale("it was configured in another way")
        );
        assert_eq!(
            find("key", Some("later")),
            Found::Stale("another build of the command made it")
        );
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
        assert_eq!(find(), Found::Stale("its file is damaged"));
        let later = String::from_utf8(bytes).unwrap();
        fs::write(&path, later.replacen("\"schema\": 1", "\"schema\": 2", 1)).unwrap();
        assert_eq!(find(), Found::Stale("its file is of another version"));
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
