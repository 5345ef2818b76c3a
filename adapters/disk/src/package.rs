//! A skill's folder: SKILL.md and the files beside it, accessed through directory handles that cannot escape the folder
//! (S6, S7).

use std::{
    collections::BTreeMap,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata, MetadataExt as _},
};
use journeyman::{
    Error, ErrorKind, Result,
    domain::{FilePath, FileRef, sha256_hex},
    library::format::SkillMd,
};

use crate::convert::file_failed;

/// The file that every skill folder has.
pub(crate) const SKILL_MD: &str = "SKILL.md";
const READ: &str = "SkillFolder::read";
const MISNAMED: &str =
    "rename the file to SKILL.md, in exactly this spelling: it is read under no other name";
/// Maximum size of a SKILL.md in bytes; the parser has finer limits.
const MAX_TEXT: u64 = (SkillMd::MAX_BODY + SkillMd::MAX_FRONTMATTER + 1024) as u64;

/// Whether a path's last part is meant to be SKILL.md and is not: in other letters, or with the ending that an editor adds.
/// Such a file would be read on a system that ignores case, and passed over on others.
///
/// ```
/// use std::path::Path;
///
/// use journeyman_disk::is_misnamed_skill;
///
/// assert!(is_misnamed_skill(Path::new("kettle/skill.md")));
/// assert!(!is_misnamed_skill(Path::new("kettle/SKILL.md")));
/// assert!(!is_misnamed_skill(Path::new("kettle/README.md")));
/// ```
pub fn is_misnamed_skill(path: &Path) -> bool {
    const MEANT: [&str; 3] = ["skill.md", "skill.md.txt", "skill.markdown"];
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        name != SKILL_MD
            && MEANT
                .iter()
                .any(|meant| name.trim().eq_ignore_ascii_case(meant))
    })
}

/// The content of a skill's folder.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    /// The bytes of SKILL.md.
    pub text: Vec<u8>,
    /// The other files by path. They are stored and never executed (S5).
    pub files: BTreeMap<FilePath, Vec<u8>>,
}

impl SkillFolder {
    /// The bytes of a SKILL.md, and of the files beside it.
    pub fn new(text: impl Into<Vec<u8>>, files: BTreeMap<FilePath, Vec<u8>>) -> Self {
        Self {
            text: text.into(),
            files,
        }
    }
}

impl SkillFolder {
    /// Reads a folder.
    ///
    /// # Errors
    /// `NotFound` for a folder without a SKILL.md, with the `path` of a file that is misnamed, if any; `Invalid` for links, devices, names that [`FilePath`] refuses, paths
    /// that collide on some file systems, and more or larger files than [`FileRef`] allows (S7); `Unavailable` where
    /// the folder cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let folder = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|source| file_failed(READ, path, source))?;
        // Told first: the limits are of a skill's files, and this is no skill.
        let read = match folder.symlink_metadata(SKILL_MD) {
            Ok(_) => Self::read_dir(&folder),
            Err(_) => Err(no_skill_md(&folder)),
        };
        read.map_err(|error| error.with("folder", path.display()))
    }

    pub(crate) fn read_dir(folder: &Dir) -> Result<Self> {
        let mut all = Vec::new();
        list(folder, &PathBuf::new(), &mut all)?;
        let mut text = None;
        let mut files = BTreeMap::new();
        let mut total = 0_u64;
        for (path, metadata) in &all {
            if path == Path::new(SKILL_MD) {
                text = Some(read_file(folder, path, MAX_TEXT)?);
                continue;
            }
            // The limit is checked before the file is read.
            total = total.saturating_add(metadata.len());
            if total > FileRef::MAX_TOTAL || files.len() >= FileRef::MAX_FILES {
                return Err(refused("the folder has more than 200 files or 10 MiB"));
            }
            let bytes = read_file(folder, path, FileRef::MAX)?;
            files.insert(file_path(path)?, bytes);
        }
        let text = text.ok_or_else(|| no_skill_md(folder))?;
        let folder = Self { text, files };
        FileRef::check(&folder.refs()?)?;
        Ok(folder)
    }

    /// The references of the files, by path.
    ///
    /// # Errors
    /// `Invalid` for a file that is too large.
    pub fn refs(&self) -> Result<BTreeMap<FilePath, FileRef>> {
        let files = self.files.iter();
        files
            .map(|(path, bytes)| Ok((path.clone(), FileRef::of(bytes)?)))
            .collect()
    }

    /// A hash of the folder's whole content.
    pub(crate) fn hash(&self) -> String {
        let mut all = sha256_hex(&self.text);
        for (path, bytes) in &self.files {
            all.push_str(&format!("\n{} {path}", sha256_hex(bytes)));
        }
        sha256_hex(all)
    }

    /// Writes the content into an empty folder, and syncs it to the disk where `sync` is true.
    pub(crate) fn write(&self, folder: &Dir, sync: bool) -> io::Result<()> {
        for (path, bytes) in &self.files {
            let path = Path::new(path.as_str());
            if let Some(parent) = path.parent()
                && parent != Path::new("")
            {
                folder.create_dir_all(parent)?;
            }
            write_file(folder, path, bytes, sync)?;
        }
        write_file(folder, Path::new(SKILL_MD), &self.text, sync)?;
        if !sync {
            return Ok(());
        }
        let mut folders: Vec<&Path> = self.files.keys().flat_map(parents).collect();
        folders.sort_unstable();
        folders.dedup();
        for within in folders {
            sync_dir(&folder.open_dir(within)?)?;
        }
        sync_dir(folder)
    }
}

/// The parent folders of a file, without the skill's own folder.
fn parents(path: &FilePath) -> impl Iterator<Item = &Path> {
    let ancestors = Path::new(path.as_str()).ancestors().skip(1);
    ancestors.filter(|path| *path != Path::new(""))
}

/// Syncs a folder's entries to the disk.
pub(crate) fn sync_dir(folder: &Dir) -> io::Result<()> {
    // The directory handle is a path handle, which cannot be synced; an opened file can.
    folder.open(".")?.sync_all()
}

/// A hash of each file's path, inode, size and times. Any write in the folder changes it.
pub(crate) fn stamp(folder: &Dir) -> Result<String> {
    let mut all = Vec::new();
    list(folder, &PathBuf::new(), &mut all)?;
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut stamp = String::new();
    for (path, data) in all {
        stamp.push_str(&format!(
            "{} {} {} {}.{} {}.{}\n",
            path.display(),
            data.ino(),
            data.len(),
            data.mtime(),
            data.mtime_nsec(),
            data.ctime(),
            data.ctime_nsec()
        ));
    }
    Ok(sha256_hex(stamp))
}

/// Lists every file below a folder. Refuses anything that is neither file nor folder, and more files than allowed.
fn list(folder: &Dir, within: &Path, all: &mut Vec<(PathBuf, Metadata)>) -> Result<()> {
    let failed = |source| file_failed(READ, within, source);
    for entry in folder.entries().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = within.join(entry.file_name());
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            if path.components().count() > FilePath::MAX_DEPTH {
                return Err(refused("folders are nested more than 8 deep"));
            }
            list(&entry.open_dir().map_err(failed)?, &path, all)?;
        } else if kind.is_file() {
            let metadata = entry.metadata().map_err(failed)?;
            all.push((path, metadata));
        } else {
            return Err(refused("the folder holds a link, a device or a socket")
                .with("path", path.display()));
        }
        if all.len() > FileRef::MAX_FILES + 1 {
            return Err(refused("the folder has more than 200 files"));
        }
    }
    Ok(())
}

fn file_path(path: &Path) -> Result<FilePath> {
    let text = path.to_str();
    FilePath::new(text.ok_or_else(|| refused("a file's name is not UTF-8"))?)
}

/// Reads a file of at most `most` bytes, whatever size its metadata claims.
fn read_file(folder: &Dir, path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |source| file_failed(READ, path, source);
    let mut bytes = Vec::new();
    let file = folder.open(path).map_err(failed)?;
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(refused("a file has more than 1 MiB").with("path", path.display()));
    }
    Ok(bytes)
}

fn write_file(folder: &Dir, path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut file: File = folder.create(path)?;
    file.write_all(bytes)?;
    if sync { file.sync_all() } else { Ok(()) }
}

fn no_skill_md(folder: &Dir) -> Error {
    let error = Error::new(ErrorKind::NotFound, READ, "the folder has no SKILL.md");
    let names = folder.entries().into_iter().flatten().flatten();
    let misnamed = names
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|name| is_misnamed_skill(name));
    match misnamed.min() {
        None => error
            .hint("add a SKILL.md that begins with `name` and `description` between `---` lines"),
        Some(name) => error.with("path", name.display()).hint(MISNAMED),
    }
}

fn refused(message: &str) -> Error {
    Error::invalid(READ, message.to_owned())
        .hint("a skill's folder holds at most 200 plain files, of 1 MiB each and 10 MiB in all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_by_another_name_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = SkillFolder::read(folder.path()).unwrap_err();
        assert_eq!(
            (error.kind(), error.fact("path")),
            (ErrorKind::NotFound, None)
        );
        std::fs::write(folder.path().join("Skill.md"), "").unwrap();
        std::fs::write(folder.path().join("notes.md"), "").unwrap();
        let error = SkillFolder::read(folder.path()).unwrap_err();
        assert_eq!(error.fact("path"), Some("Skill.md"));
        assert!(
            error
                .hint_text()
                .unwrap()
                .contains("rename the file to SKILL.md")
        );
        std::fs::rename(folder.path().join("Skill.md"), folder.path().join(SKILL_MD)).unwrap();
        assert!(SkillFolder::read(folder.path()).is_ok());
    }
}
