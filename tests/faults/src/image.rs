//! What a disk may hold after a loss of power: computed from what was done to it.
//!
//! A write or a cut of a file is sure to be there once the file was synced after it; before that each one may be there,
//! or not, or in part (whole sectors of it). What became of a name (a new file or folder, a renamed or removed one) is
//! sure once its folder was synced; before that the folder's changes may stop at any of them. After a failed sync, what
//! it was about may be missing for good, though later syncs of the file are done.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use journeyman::Seed;

use crate::seam::Act;

/// Bytes that are written whole or not at all.
const SECTOR: usize = 512;

/// What becomes of what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// All of it is gone.
    All,
    /// Nothing of it is, as when only the process is killed.
    Nothing,
    /// Some writes are.
    Some,
    /// Some sectors are.
    Torn,
}

impl Loss {
    /// All kinds.
    pub(crate) const ALL: [Self; 4] = [Self::All, Self::Nothing, Self::Some, Self::Torn];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sure,
    Open,
    /// A sync of it failed.
    Doubtful,
}

#[derive(Debug)]
enum Part<'a> {
    Write { at: usize, bytes: &'a [u8] },
    Cut(usize),
}

/// A name's new meaning: a file by its number, a folder, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    File(usize),
    Folder,
    Nothing,
}

/// Names that change together, and whether that is sure.
type Change = (Vec<(PathBuf, Named)>, bool);

/// A disk, as what was done to it.
#[derive(Debug, Default)]
pub(crate) struct Image<'a> {
    files: Vec<Vec<(Part<'a>, Fate)>>,
    now: BTreeMap<PathBuf, usize>,
    /// By folder.
    changes: BTreeMap<PathBuf, Vec<Change>>,
}

impl<'a> Image<'a> {
    /// Does one thing more.
    pub(crate) fn act(&mut self, act: &'a Act) {
        match act {
            Act::Write { path, at, bytes } => {
                let at = *at as usize;
                self.part(path, Part::Write { at, bytes });
            }
            Act::Cut { path, len } => self.part(path, Part::Cut(*len as usize)),
            Act::Sync { path, done } => self.sync(path, *done),
            Act::Folder { path } => self.change(path, vec![(path.clone(), Named::Folder)]),
            Act::Remove { path } => {
                self.now.remove(path);
                self.change(path, vec![(path.clone(), Named::Nothing)]);
            }
            Act::Rename { from, to } => {
                if let Some(file) = self.now.remove(from) {
                    self.now.insert(to.clone(), file);
                    let names = vec![
                        (from.clone(), Named::Nothing),
                        (to.clone(), Named::File(file)),
                    ];
                    self.change(to, names);
                }
            }
            Act::Acknowledged => {}
        }
    }

    fn part(&mut self, path: &Path, part: Part<'a>) {
        let file = match self.now.get(path) {
            Some(file) => *file,
            None => {
                let file = self.files.len();
                self.files.push(Vec::new());
                self.now.insert(path.to_path_buf(), file);
                self.change(path, vec![(path.to_path_buf(), Named::File(file))]);
                file
            }
        };
        self.files[file].push((part, Fate::Open));
    }

    fn change(&mut self, path: &Path, names: Vec<(PathBuf, Named)>) {
        let folder = path.parent().unwrap_or(path).to_path_buf();
        self.changes.entry(folder).or_default().push((names, false));
    }

    fn sync(&mut self, path: &Path, done: bool) {
        if let Some(file) = self.now.get(path) {
            let fate = if done { Fate::Sure } else { Fate::Doubtful };
            for (_, open) in &mut self.files[*file] {
                if *open == Fate::Open {
                    *open = fate;
                }
            }
        } else if let Some(changes) = self.changes.get_mut(path).filter(|_| done) {
            for (_, sure) in changes {
                *sure = true;
            }
        }
    }

    /// Writes what is there after a loss of power into another folder, which stands for `root`.
    ///
    /// # Errors
    /// When files cannot be written.
    pub(crate) fn restore(
        &self,
        root: &Path,
        target: &Path,
        loss: Loss,
        seed: Seed,
    ) -> io::Result<()> {
        let mut names: BTreeMap<&Path, Named> = BTreeMap::new();
        for (number, changes) in (0..).zip(self.changes.values()) {
            let sure = changes.iter().take_while(|(_, sure)| *sure).count();
            let open = changes.len() - sure;
            let kept = match loss {
                Loss::All => 0,
                Loss::Nothing => open,
                Loss::Some | Loss::Torn => {
                    seed.derive("names", number).index(open + 1).unwrap_or(0)
                }
            };
            for (path, named) in changes[..sure + kept].iter().flat_map(|(names, _)| names) {
                names.insert(path, *named);
            }
        }
        // In the order of paths, so a folder comes before what is in it.
        for (path, named) in names {
            let Ok(inner) = path.strip_prefix(root) else {
                continue;
            };
            let place = target.join(inner);
            if !place.parent().is_some_and(Path::is_dir) {
                continue;
            }
            match named {
                Named::Folder => fs::create_dir_all(place)?,
                Named::File(file) => {
                    let seed = seed.derive("file", file as u64);
                    fs::write(place, content(&self.files[file], loss, seed))?;
                }
                Named::Nothing => {}
            }
        }
        Ok(())
    }
}

fn content(parts: &[(Part<'_>, Fate)], loss: Loss, seed: Seed) -> Vec<u8> {
    let mut content = Vec::new();
    let chance = seed.derive("chance", 0).unit();
    for (number, (part, fate)) in (0..).zip(parts) {
        let seed = seed.derive("part", number);
        let sure = *fate == Fate::Sure || loss == Loss::Nothing;
        let kept = |seed: Seed| sure || (loss != Loss::All && seed.unit() < chance);
        match part {
            Part::Cut(len) if kept(seed) => content.resize(*len, 0),
            Part::Write { at, bytes } if sure || loss != Loss::Torn => {
                if kept(seed) {
                    put(&mut content, *at, bytes);
                }
            }
            Part::Write { at, bytes } => {
                for (sector, bytes) in (0..).zip(bytes.chunks(SECTOR)) {
                    if kept(seed.derive("sector", sector as u64)) {
                        put(&mut content, at + sector * SECTOR, bytes);
                    }
                }
            }
            Part::Cut(_) => {}
        }
    }
    content
}

fn put(content: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[at..end].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn write(path: &str, at: u64, bytes: &[u8]) -> Act {
        Act::Write {
            path: path.into(),
            at,
            bytes: bytes.to_vec(),
        }
    }

    fn sync(path: &str, done: bool) -> Act {
        let path = path.into();
        Act::Sync { path, done }
    }

    /// What the file `/d/a` holds after a loss of all that is not sure; `None` where there is no such file.
    fn check(acts: &[Act], expect: Option<&str>) {
        let mut image = Image::default();
        acts.iter().for_each(|act| image.act(act));
        let target = tempfile::tempdir().unwrap();
        let root = Path::new("/d");
        image
            .restore(root, target.path(), Loss::All, Seed(1))
            .unwrap();
        let found = fs::read_to_string(target.path().join("a")).ok();
        assert_eq!(found.as_deref(), expect, "{acts:?}");
    }

    #[test]
    fn only_what_was_synced_is_sure() {
        let first = write("/d/a", 0, b"first");
        check(&[first.clone(), sync("/d/a", true)], None);
        check(&[first.clone(), sync("/d", true)], Some(""));
        let made = [first, sync("/d/a", true), sync("/d", true)];
        check(&made, Some("first"));
        let then = |more: &[Act], expect| check(&[&made, more].concat(), expect);
        let second = write("/d/a", 0, b"other");
        then(std::slice::from_ref(&second), Some("first"));
        then(&[second.clone(), sync("/d/a", true)], Some("other"));
        let failed = [second, sync("/d/a", false), sync("/d/a", true)];
        then(&failed, Some("first"));
        let removed = Act::Remove {
            path: "/d/a".into(),
        };
        then(std::slice::from_ref(&removed), Some("first"));
        then(&[removed, sync("/d", true)], None);
        let renamed = [
            write("/d/b", 0, b"new"),
            Act::Rename {
                from: "/d/b".into(),
                to: "/d/a".into(),
            },
        ];
        then(&renamed, Some("first"));
        then(&[&renamed[..], &[sync("/d", true)]].concat(), Some(""));
    }

    #[test]
    fn a_torn_write_is_there_in_whole_sectors() {
        let bytes = vec![7; 64 * SECTOR];
        let parts = [(
            Part::Write {
                at: 0,
                bytes: &bytes,
            },
            Fate::Open,
        )];
        let torn = content(&parts, Loss::Torn, Seed(3));
        let mut sectors: Vec<_> = torn.chunks(SECTOR).map(|sector| sector[0]).collect();
        assert!(
            torn.chunks(SECTOR)
                .all(|sector| sector.iter().all(|byte| *byte == sector[0]))
        );
        sectors.sort_unstable();
        sectors.dedup();
        assert_eq!(sectors, [0, 7]);
    }
}
