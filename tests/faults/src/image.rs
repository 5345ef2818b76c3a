//! What a disk may hold after a loss of power: computed from what was done to it.
//!
//! A write or a cut of a file is sure to be there once the file was synced after it; before that each one may be there,
//! or not, or in part (whole sectors of it). What became of a name (a new file or folder, a renamed or removed one) is
//! sure once its folder was synced; before that the folder's changes may stop at any of them. After a failed sync, what
//! it was about may be missing for good, though later syncs of the file are done.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
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

#[derive(Debug)]
enum Node<'a> {
    File(Vec<(Part<'a>, Fate)>),
    Folder,
}

/// A name in a folder, and what it means from then on, by its number.
type Named = (usize, OsString, Option<usize>);

/// Names that change together, and whether that is sure.
#[derive(Debug)]
struct Change {
    number: usize,
    names: Vec<Named>,
    sure: bool,
}

/// A disk, as what was done to it.
#[derive(Debug, Default)]
pub(crate) struct Image<'a> {
    /// Files and folders.
    nodes: Vec<Node<'a>>,
    now: BTreeMap<PathBuf, usize>,
    /// By the folder that they are of; of those of two, by the one that something came to.
    changes: BTreeMap<usize, Vec<Change>>,
    count: usize,
    /// Folders that were put in place before all of them was sure.
    pub(crate) too_early: Vec<PathBuf>,
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
            Act::SyncAll => {
                let paths: Vec<PathBuf> = self.now.keys().cloned().collect();
                paths.iter().for_each(|path| self.sync(path, true));
            }
            Act::Folder { path } => {
                self.made(path, Node::Folder);
            }
            Act::Remove { path } => {
                self.now.remove(path);
                let name = self.name(path, None);
                self.change(vec![name]);
            }
            Act::Rename { from, to, traded } => self.rename(from, to, *traded),
            Act::Acknowledged => {}
        }
    }

    fn rename(&mut self, from: &Path, to: &Path, traded: bool) {
        let Some(node) = self.now.get(from).copied() else {
            return;
        };
        if matches!(self.nodes[node], Node::Folder) && !self.is_sure(from) {
            self.too_early.push(to.to_path_buf());
        }
        let other = self.now.get(to).copied().filter(|_| traded);
        let coming = self.taken(from);
        let going = self.taken(to);
        for (inner, node) in coming {
            self.now.insert(joined(to, &inner), node);
        }
        for (inner, node) in going.into_iter().filter(|_| traded) {
            self.now.insert(joined(from, &inner), node);
        }
        let names = vec![self.name(from, other), self.name(to, Some(node))];
        self.change(names);
    }

    /// Whether all below a folder is on the disk, its names too.
    fn is_sure(&self, path: &Path) -> bool {
        let below = self.now.iter().filter(|(known, _)| known.starts_with(path));
        below.into_iter().all(|(_, node)| match &self.nodes[*node] {
            Node::File(parts) => parts.iter().all(|(_, fate)| *fate == Fate::Sure),
            Node::Folder => {
                let mut changes = self.changes.get(node).into_iter().flatten();
                changes.all(|change| change.sure)
            }
        })
    }

    /// Takes out what has this path, and all below it, by the paths within.
    fn taken(&mut self, path: &Path) -> Vec<(PathBuf, usize)> {
        let below = |(known, node): (&PathBuf, &usize)| {
            Some((known.strip_prefix(path).ok()?.to_path_buf(), *node))
        };
        let taken: Vec<_> = self.now.iter().filter_map(below).collect();
        self.now.retain(|known, _| !known.starts_with(path));
        taken
    }

    fn made(&mut self, path: &Path, node: Node<'a>) -> usize {
        let number = self.nodes.len();
        self.nodes.push(node);
        self.now.insert(path.to_path_buf(), number);
        let name = self.name(path, Some(number));
        self.change(vec![name]);
        number
    }

    fn part(&mut self, path: &Path, part: Part<'a>) {
        let file = match self.now.get(path) {
            Some(file) => *file,
            None => self.made(path, Node::File(Vec::new())),
        };
        if let Node::File(parts) = &mut self.nodes[file] {
            parts.push((part, Fate::Open));
        }
    }

    /// A name in its folder, which was there before where nobody made it.
    fn name(&mut self, path: &Path, node: Option<usize>) -> Named {
        let parent = path.parent().unwrap_or(path);
        let folder = self.now.get(parent).copied().unwrap_or_else(|| {
            self.nodes.push(Node::Folder);
            self.now.insert(parent.to_path_buf(), self.nodes.len() - 1);
            self.nodes.len() - 1
        });
        let name = path.file_name().unwrap_or_default();
        (folder, name.to_os_string(), node)
    }

    fn change(&mut self, names: Vec<Named>) {
        let Some((folder, ..)) = names.last() else {
            return;
        };
        self.count += 1;
        let change = Change {
            number: self.count,
            sure: false,
            names: names.clone(),
        };
        self.changes.entry(*folder).or_default().push(change);
    }

    fn sync(&mut self, path: &Path, done: bool) {
        let Some(node) = self.now.get(path).copied() else {
            return;
        };
        match &mut self.nodes[node] {
            Node::File(parts) => {
                let fate = if done { Fate::Sure } else { Fate::Doubtful };
                let open = parts.iter_mut().filter(|(_, open)| *open == Fate::Open);
                open.for_each(|(_, open)| *open = fate);
            }
            Node::Folder if done => {
                for change in self.changes.values_mut().flatten() {
                    change.sure |= change.names.iter().any(|(folder, ..)| *folder == node);
                }
            }
            Node::Folder => {}
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
        let mut kept = Vec::new();
        for (number, changes) in (0..).zip(self.changes.values()) {
            let open = changes.iter().filter(|change| !change.sure).count();
            let mut left = match loss {
                Loss::All => 0,
                Loss::Nothing => open,
                Loss::Some | Loss::Torn => {
                    seed.derive("names", number).index(open + 1).unwrap_or(0)
                }
            };
            kept.extend(changes.iter().filter(|change| {
                let is_kept = change.sure || left > 0;
                left -= usize::from(is_kept && !change.sure);
                is_kept
            }));
        }
        // What belongs to several folders is done in the order in which it was, and nothing is in two places.
        kept.sort_by_key(|change| change.number);
        let mut tree: BTreeMap<(usize, &OsStr), usize> = BTreeMap::new();
        for (folder, name, node) in kept.into_iter().flat_map(|change| &change.names) {
            match node {
                None => tree.remove(&(*folder, name.as_os_str())),
                Some(node) => {
                    tree.retain(|_, known| known != node);
                    tree.insert((*folder, name), *node)
                }
            };
        }
        match self.now.get(root) {
            Some(folder) => self.lay(*folder, target, &tree, loss, seed),
            None => Ok(()),
        }
    }

    fn lay(
        &self,
        folder: usize,
        target: &Path,
        tree: &BTreeMap<(usize, &OsStr), usize>,
        loss: Loss,
        seed: Seed,
    ) -> io::Result<()> {
        fs::create_dir_all(target)?;
        for ((_, name), node) in tree.iter().filter(|((within, _), _)| *within == folder) {
            let place = target.join(name);
            match &self.nodes[*node] {
                Node::Folder => self.lay(*node, &place, tree, loss, seed)?,
                Node::File(parts) => {
                    let seed = seed.derive("file", *node as u64);
                    fs::write(place, content(parts, loss, seed))?;
                }
            }
        }
        Ok(())
    }
}

/// `join` would end an empty path with a slash.
fn joined(path: &Path, inner: &Path) -> PathBuf {
    path.components().chain(inner.components()).collect()
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
mod tests;
