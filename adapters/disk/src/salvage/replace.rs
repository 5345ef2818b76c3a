//! Replacing the damaged database with the salvaged one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use journeyman::Result;

use super::files::{SALVAGE, beside, remove};
use crate::{convert::file_failed, folders, head::Witness};

/// Replaces a database with a new one and its witness, and moves the skill folders aside. A new database with the old
/// log, the old one without its log, or one with folders that it does not know would each pass for a complete library.
/// Therefore the first step closes the library, and the step that installs the witness opens it.
pub(super) fn replace(root: &Path, place: &Path, new: &Path) -> Result<()> {
    let mut replacing = Replacing::new(root, place, new)?;
    for (number, step) in STEPS.into_iter().enumerate() {
        if let Err(error) = step(&mut replacing) {
            if number < UNDONE {
                replacing.undo();
            }
            return Err(error);
        }
    }
    Ok(())
}

/// The steps, in order.
const STEPS: [fn(&mut Replacing) -> Result<()>; 6] = [
    Replacing::close,
    Replacing::put_folders_aside,
    Replacing::put_log_aside,
    Replacing::put_database,
    Replacing::put_witness,
    Replacing::forget_log,
];
/// Number of steps that can be undone. After the next one only the copy has the old database.
const UNDONE: usize = 4;

struct Replacing {
    root: PathBuf,
    place: PathBuf,
    new: PathBuf,
    head: PathBuf,
    /// The witness's bytes before the salvage.
    said: Option<Vec<u8>>,
    /// The log's path, and the path that it is moved to.
    log: (PathBuf, PathBuf),
    /// Where the folders were put.
    aside: Option<String>,
}

impl Replacing {
    fn new(root: &Path, place: &Path, new: &Path) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            place: place.to_owned(),
            new: new.to_owned(),
            head: place.with_extension("head"),
            said: Witness::of(place).line()?,
            log: (beside(place, "-wal"), beside(new, "-wal")),
            aside: None,
        })
    }

    fn close(&mut self) -> Result<()> {
        let closed = Witness::of(&self.place).close();
        closed.map_err(|source| file_failed(SALVAGE, &self.head, source))?;
        self.settle()
    }

    fn put_folders_aside(&mut self) -> Result<()> {
        self.aside = folders::put_aside(&self.root)?;
        Ok(())
    }

    /// The new database would use the old log as its own.
    fn put_log_aside(&mut self) -> Result<()> {
        remove(&beside(&self.place, "-shm"))?;
        moved(&self.log.0, &self.log.1)
    }

    fn put_database(&mut self) -> Result<()> {
        renamed(&self.new, &self.place)
    }

    fn put_witness(&mut self) -> Result<()> {
        self.settle()?;
        renamed(&self.new.with_extension("head"), &self.head)?;
        self.settle()
    }

    fn forget_log(&mut self) -> Result<()> {
        remove(&self.log.1)
    }

    /// Where a step cannot be undone the library stays closed; the copy has everything.
    fn undo(&self) {
        let undone = moved(&self.log.1, &self.log.0).and_then(|()| match &self.aside {
            Some(aside) => folders::put_back(&self.root, aside),
            None => Ok(()),
        });
        if undone.is_ok() {
            let _ = match &self.said {
                Some(line) => fs::write(&self.head, line),
                None => fs::remove_file(&self.head),
            };
        }
    }

    /// Syncs everything to the disk, folders and their entries included.
    fn settle(&self) -> Result<()> {
        let synced = || -> io::Result<()> { Ok(rustix::fs::syncfs(File::open(&self.root)?)?) };
        synced().map_err(|source| file_failed(SALVAGE, &self.root, source))
    }
}

fn renamed(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|source| file_failed(SALVAGE, to, source))
}

/// Moves a file, if it exists.
fn moved(from: &Path, to: &Path) -> Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(file_failed(SALVAGE, to, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use futures::executor::block_on;
    use journeyman::{
        ErrorKind,
        contract::SkillStore,
        domain::{LibraryChange, Revision},
        testing::sample,
    };
    use tempfile::{TempDir, tempdir};

    use super::*;
    use crate::{DiskOptions, DiskStore, Durability};

    /// Makes a library of that many commits; the last ones are only in the log.
    fn library(root: &Path, commits: u64, durability: Durability) {
        let live = tempdir().unwrap();
        let options = DiskOptions {
            durability,
            ..DiskOptions::default()
        };
        let store = DiskStore::open(live.path(), &options).unwrap();
        for number in 0..commits {
            let skill = sample::skill(&format!("skill-{number}"));
            let change = LibraryChange::Add(Box::new(skill));
            let commit = sample::commit(number, &format!("key {number}"), vec![change]);
            block_on(store.commit(&commit)).unwrap();
        }
        fs::create_dir_all(root.join("skills/skill-0")).unwrap();
        fs::write(root.join("skills/skill-0/SKILL.md"), "a person's").unwrap();
        for name in ["library.db", "library.db-wal", "library.head"] {
            if live.path().join(name).exists() {
                fs::copy(live.path().join(name), root.join(name)).unwrap();
            }
        }
    }

    /// A library of 20 commits, and one of 3 that is to replace it.
    fn two(durability: Durability) -> TempDir {
        let folder = tempdir().unwrap();
        library(folder.path(), 20, durability);
        let saved = tempdir().unwrap();
        let store = DiskStore::open(saved.path(), &DiskOptions::default()).unwrap();
        for number in 0..3 {
            let commit =
                sample::commit(number, &format!("{number}"), vec![LibraryChange::Maintain]);
            block_on(store.commit(&commit)).unwrap();
        }
        drop(store);
        for ending in ["db", "head"] {
            let from = saved.path().join("library").with_extension(ending);
            let to = folder.path().join(format!("library.salvaged.{ending}"));
            fs::copy(from, to).unwrap();
        }
        folder
    }

    fn opened(root: &Path) -> Result<Revision> {
        let store = DiskStore::open(root, &DiskOptions::default())?;
        block_on(store.sync_folders())?;
        Ok(block_on(store.load())?.revision)
    }

    #[test]
    fn a_crash_after_any_step_loses_nothing_in_silence() {
        for durability in [Durability::Sync, Durability::Relaxed] {
            for steps in 1..=STEPS.len() {
                let folder = two(durability);
                let root = folder.path();
                let (place, new) = (root.join("library.db"), root.join("library.salvaged.db"));
                let mut replacing = Replacing::new(root, &place, &new).unwrap();
                for step in &STEPS[..steps] {
                    step(&mut replacing).unwrap();
                }
                match opened(root) {
                    // Once the witness is installed, the library is the new one, complete, without content of the old
                    // one.
                    Ok(revision) => {
                        assert!(steps > UNDONE, "{steps}");
                        assert_eq!(revision, Revision(3));
                    }
                    Err(error) => {
                        assert!(steps <= UNDONE, "{steps}");
                        assert_eq!(error.kind(), ErrorKind::Corrupt);
                    }
                }
            }
        }
    }

    #[test]
    fn what_fails_is_undone() {
        for steps in 0..=UNDONE - 1 {
            let folder = two(Durability::Sync);
            let root = folder.path();
            let (place, new) = (root.join("library.db"), root.join("library.salvaged.db"));
            let mut replacing = Replacing::new(root, &place, &new).unwrap();
            for step in &STEPS[..steps] {
                step(&mut replacing).unwrap();
            }
            replacing.undo();
            let text = fs::read_to_string(root.join("skills/skill-0/SKILL.md")).unwrap();
            assert_eq!(text, "a person's");
            fs::remove_dir_all(root.join("skills/skill-0")).unwrap();
            assert_eq!(opened(root).unwrap(), Revision(20));
        }
    }
}
