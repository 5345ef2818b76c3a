//! File operations on the skill folders, through directory handles that cannot escape the library's folder.

use std::{
    fs::{File, TryLockError},
    io::{self, ErrorKind as Io},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, MetadataExt as _},
};
use journeyman::{Error, ErrorKind, Result};
use rustix::fs::{RenameFlags, renameat_with};

use super::area::Area;
use crate::{
    convert::file_failed,
    fault,
    package::{self, SkillFolder},
};

const SYNC: &str = "DiskStore::sync_folders";
/// Folders that are being written; worthless after a crash.
const NEXT: &str = ".journeyman/next";
/// Replaced folders, each named by the hash of the content that the library expects in it.
const PREVIOUS: &str = ".journeyman/previous";
/// Folders that were moved aside before a rebuild or a salvage.
const REPLACED: &str = ".journeyman/replaced";
const LOCK: &str = ".journeyman/lock";
/// How long a replaced folder is kept, so that an editor that had it open can finish.
const KEEP: Duration = Duration::from_secs(2);
/// Upper bound on the time resolution of file systems: a write later than this gets another stamp.
const TICK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Disk {
    root: Dir,
    path: PathBuf,
    /// Makes the names of this opening unique.
    token: String,
    count: u64,
}

/// The lock on the skill folders; dropping it unlocks them.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "dropping it unlocks")] File);

/// A folder that was written to a temporary place.
#[derive(Debug)]
pub(super) struct Prepared {
    name: String,
    pub(super) stamp: String,
}

impl Disk {
    pub(super) fn open(root: &Path) -> Result<Self> {
        let failed = |source| file_failed(SYNC, root, source);
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(failed)?;
        for area in Area::ALL {
            dir.create_dir_all(area.folder()).map_err(failed)?;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_nanos());
        Ok(Self {
            root: dir,
            path: root.to_owned(),
            token: format!("{}-{now}", std::process::id()),
            count: 0,
        })
    }

    pub(super) fn failed(&self, place: &str, source: io::Error) -> Error {
        file_failed(SYNC, &self.path.join(place), source)
    }

    pub(super) fn busy() -> Error {
        Error::new(
            ErrorKind::Unavailable,
            SYNC,
            "another process kept the skill folders locked for too long",
        )
        .temporary()
        .hint("try again, or raise `DiskOptions::patience`")
    }

    /// Locks the folders; recreates the library's hidden folders where somebody removed them. `None` where another
    /// process has the lock.
    pub(super) fn lock(&self) -> Result<Option<Lock>> {
        let failed = |source| self.failed(LOCK, source);
        let mut made = [NEXT, PREVIOUS].into_iter();
        let file = made
            .try_for_each(|folder| self.root.create_dir_all(folder))
            .and_then(|()| self.root.create(LOCK))
            .map_err(failed)?
            .into_std();
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Locks the folders; waits for other processes until the deadline.
    pub(super) fn lock_until(&self, deadline: Instant) -> Result<Option<Lock>> {
        loop {
            match self.lock()? {
                None if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                lock => return Ok(lock),
            }
        }
    }

    /// The names of the folders in an area, which is created where it is missing. Files and names that begin with a dot
    /// are skipped.
    pub(super) fn names(&self, area: Area) -> Result<Vec<String>> {
        let failed = |source| self.failed(area.folder(), source);
        self.root.create_dir_all(area.folder()).map_err(failed)?;
        let mut names = Vec::new();
        for entry in self.root.read_dir(area.folder()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && !entry.file_type().map_err(failed)?.is_file() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a folder by its path; `None` where it does not exist.
    pub(super) fn folder(&self, place: &str) -> Result<Option<Dir>> {
        if self
            .root
            .symlink_metadata(place)
            .is_ok_and(|data| data.is_symlink())
        {
            return Err(Error::invalid(SYNC, "the folder is a link")
                .with("path", self.path.join(place).display())
                .hint("replace the link with the folder itself"));
        }
        match self.root.open_dir(place) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == Io::NotFound => Ok(None),
            Err(error) => Err(self.failed(place, error)),
        }
    }

    /// Writes a folder to a temporary place, and syncs it to the disk where `sync` is true.
    pub(super) fn prepare(&mut self, folder: &SkillFolder, sync: bool) -> Result<Prepared> {
        let name = format!("{NEXT}/{}", self.fresh());
        let write = || {
            self.root.create_dir(&name)?;
            let dir = self.root.open_dir(&name)?;
            folder.write(&dir, sync)?;
            Ok(dir)
        };
        let dir = write().map_err(|source| self.failed(&name, source))?;
        let stamp = package::stamp(&dir)?;
        Ok(Prepared { name, stamp })
    }

    /// Waits until later writes get a later time than the prepared folders have.
    pub(super) fn wait_one_tick() {
        std::thread::sleep(TICK);
    }

    /// Moves a prepared folder to a free path; `false` where something is there.
    pub(super) fn put(&self, prepared: &Prepared, place: &str) -> Result<bool> {
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&self.root, &prepared.name, &self.root, place, flags) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::EXIST | rustix::io::Errno::NOTEMPTY) => Ok(false),
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                self.put_if_free(prepared, place)
            }
            Err(error) => Err(self.failed(place, error.into())),
        }
    }

    /// Fallback where the file system has no `RENAME_NOREPLACE`. Other processes of the library wait for the lock
    /// meanwhile, and a rename does not replace a folder that is not empty.
    fn put_if_free(&self, prepared: &Prepared, place: &str) -> Result<bool> {
        if self.root.symlink_metadata(place).is_ok() {
            return Ok(false);
        }
        match self.root.rename(&prepared.name, &self.root, place) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), Io::DirectoryNotEmpty | Io::NotADirectory) => {
                Ok(false)
            }
            Err(error) => Err(self.failed(place, error)),
        }
    }

    /// Exchanges a prepared folder with the one at `place`, in one step where the file system can; returns the path of
    /// the replaced folder. `expected` is the hash that its content should have.
    pub(super) fn exchange(
        &mut self,
        prepared: &Prepared,
        place: &str,
        expected: &str,
    ) -> Result<String> {
        let aside = self.aside(expected);
        let failed = |source: io::Error| self.failed(place, source);
        // First to its final name among the replaced folders: after a crash its hash shows that the library wrote it.
        self.root
            .rename(&prepared.name, &self.root, &aside)
            .map_err(failed)?;
        fault::point("folders: ready to exchange");
        let flags = RenameFlags::EXCHANGE;
        match renameat_with(&self.root, &aside, &self.root, place, flags) {
            Ok(()) => Ok(aside),
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                let other = self.aside(expected);
                let failed = |source: io::Error| self.failed(place, source);
                let rename = |from: &str, to: &str| self.root.rename(from, &self.root, to);
                rename(place, &other).map_err(failed)?;
                rename(&aside, place).map_err(failed)?;
                Ok(other)
            }
            Err(error) => Err(failed(error.into())),
        }
    }

    /// Moves a folder to the replaced ones; returns its new path.
    pub(super) fn take_away(&mut self, place: &str, expected: &str) -> Result<Option<String>> {
        let aside = self.aside(expected);
        match self.root.rename(place, &self.root, &aside) {
            Ok(()) => Ok(Some(aside)),
            Err(error) if error.kind() == Io::NotFound => Ok(None),
            Err(error) => Err(self.failed(place, error)),
        }
    }

    /// Syncs the entries of both areas and of the library's folder to the disk.
    pub(super) fn settle(&self) -> Result<()> {
        for folder in Area::ALL.map(Area::folder).into_iter().chain(["."]) {
            let dir = self.root.open_dir(folder);
            dir.and_then(|dir| package::sync_dir(&dir))
                .map_err(|source| self.failed(folder, source))?;
        }
        Ok(())
    }

    /// Renames a replaced folder to the hash of its present content, which the library now has; returns its new path.
    pub(super) fn keep(&mut self, place: &str, hash: &str) -> Result<String> {
        let aside = self.aside(hash);
        let renamed = self.root.rename(place, &self.root, &aside);
        renamed.map_err(|source| self.failed(place, source))?;
        Ok(aside)
    }

    /// Syncs the whole file system to the disk.
    pub(super) fn sync_all(&self) -> Result<()> {
        let all = || Ok(rustix::fs::syncfs(self.root.open(".")?)?);
        all().map_err(|source| self.failed(NEXT, source))
    }

    /// The replaced folders that are still kept: path and expected hash.
    pub(super) fn previous(&self) -> Result<Vec<(String, String)>> {
        let failed = |source| self.failed(PREVIOUS, source);
        let mut all = Vec::new();
        for entry in self.root.read_dir(PREVIOUS).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            let hash = name.split('.').next().unwrap_or_default();
            all.push((format!("{PREVIOUS}/{name}"), hash.to_owned()));
        }
        Ok(all)
    }

    /// Whether a folder was replaced long enough ago that no editor writes into it any more.
    pub(super) fn is_old(&self, place: &str) -> bool {
        let changed = self.root.metadata(place).map(|data| data.ctime());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let (Ok(changed), Ok(now)) = (changed, now) else {
            return false;
        };
        // If the clock was set back, the folder is kept longer.
        now.as_secs() > changed.unsigned_abs() + KEEP.as_secs()
    }

    /// Removes folders that the library wrote. Each is first moved to `next`, and that is synced, before any file in it
    /// is removed: a folder that lacks a file would look like a person's edit.
    pub(super) fn forget(&mut self, places: &[String]) -> Result<()> {
        let at = self.path.join(PREVIOUS);
        let failed = |source| file_failed(SYNC, &at, source);
        for place in places {
            let name = format!("{NEXT}/{}", self.fresh());
            self.root.rename(place, &self.root, name).map_err(failed)?;
        }
        if places.is_empty() {
            return Ok(());
        }
        let dir = self.root.open_dir(NEXT);
        dir.and_then(|dir| package::sync_dir(&dir))
            .map_err(failed)?;
        self.sweep()
    }

    /// Removes folders that were begun and never moved into place, or that are to be removed.
    pub(super) fn sweep(&self) -> Result<()> {
        let failed = |source| self.failed(NEXT, source);
        for entry in self.root.read_dir(NEXT).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let place = format!("{NEXT}/{}", name.to_string_lossy());
            match self.root.remove_dir_all(&place) {
                // A file that somebody put there.
                Err(error) if error.kind() == Io::NotADirectory => self.root.remove_file(&place),
                removed => removed,
            }
            .map_err(failed)?;
        }
        Ok(())
    }

    /// Moves both areas aside; returns the path where they are now.
    pub(super) fn put_aside(&mut self) -> Result<String> {
        let aside = format!("{REPLACED}/{}", self.fresh());
        let failed = |source| self.failed(&aside, source);
        self.root.create_dir_all(&aside).map_err(failed)?;
        for area in Area::ALL {
            let to = format!("{aside}/{}", area.folder());
            match self.root.rename(area.folder(), &self.root, &to) {
                Err(error) if error.kind() != Io::NotFound => {
                    self.put_back(&aside)?;
                    return Err(failed(error));
                }
                _ => {}
            }
        }
        Ok(aside)
    }

    /// Moves both areas back from a path that `put_aside` returned; the areas must be empty.
    pub(super) fn put_back(&self, aside: &str) -> Result<()> {
        for area in Area::ALL {
            let from = format!("{aside}/{}", area.folder());
            match self.root.rename(&from, &self.root, area.folder()) {
                Err(error) if error.kind() != Io::NotFound => {
                    return Err(self.failed(area.folder(), error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes everything that was moved aside.
    pub(super) fn forget_replaced(&mut self) -> Result<()> {
        match self.root.symlink_metadata(REPLACED) {
            Ok(_) => self.forget(&[REPLACED.to_owned()]),
            Err(_) => Ok(()),
        }
    }

    fn aside(&mut self, expected: &str) -> String {
        format!("{PREVIOUS}/{expected}.{}", self.fresh())
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("{}-{}", self.token, self.count)
    }
}

#[cfg(test)]
mod tests;
