//! The files that a skill brings beside its SKILL.md: scripts, references, assets. They are kept and never run (S5).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use super::find_hidden;
use crate::{
    error::{Error, Result},
    id::sha256_hex,
};

/// A file's path within its skill's folder (S6): 1 to 8 names with `/` between them, 200 bytes at most. No name is
/// empty, `.` or `..`, begins or ends with a space, ends with a dot, is a device's name on some system, or holds a
/// backslash, a colon, one of `<>"|?*`, a control or a hidden character. SKILL.md itself is none of them, and what begins
/// with `.journeyman` is the library's own.
///
/// ```
/// use journeyman::domain::FilePath;
///
/// assert!(FilePath::new("scripts/brew.sh").is_ok());
/// assert!(FilePath::new("../brew.sh").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FilePath(String);

impl FilePath {
    /// The greatest length in bytes.
    pub const MAX: usize = 200;
    /// The greatest number of names.
    pub const MAX_DEPTH: usize = 8;

    /// Checks a path.
    ///
    /// # Errors
    /// `Invalid`, saying which rule the path breaks and never repeating it.
    pub fn new(path: impl Into<String>) -> Result<Self> {
        let path = path.into();
        match fault(&path) {
            None => Ok(Self(path)),
            Some(fault) => Err(Error::invalid("FilePath::new", format!("the path {fault}"))
                .hint("use plain relative names, such as `scripts/brew.sh`")),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two paths have in common that some file system takes for the same.
    fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

fn fault(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("is empty");
    }
    if path.len() > FilePath::MAX {
        return Some("is longer than 200 bytes");
    }
    if path.starts_with('/') {
        return Some("is absolute");
    }
    if path.chars().any(char::is_control) || find_hidden(path).is_some() {
        return Some("holds a control or hidden character");
    }
    if path.contains(['\\', ':', '<', '>', '"', '|', '?', '*']) {
        return Some("holds a character that some system does not allow in names");
    }
    if path.split('/').count() > FilePath::MAX_DEPTH {
        return Some("has more than 8 names");
    }
    let first = path.split('/').next().unwrap_or_default().to_lowercase();
    if first == "skill.md" {
        return Some("is SKILL.md, which is written from the skill");
    }
    if first.starts_with(".journeyman") {
        return Some("begins with a name that the library keeps for itself");
    }
    path.split('/').find_map(|name| match name {
        "" => Some("has an empty name"),
        "." | ".." => Some("has a name `.` or `..`"),
        _ if name.starts_with(' ') || name.ends_with([' ', '.']) => {
            Some("has a name that begins or ends with a space, or ends with a dot")
        }
        _ => is_device(name).then_some("has a device's name"),
    })
}

/// Whether some system takes the name for a device, with any extension and in any case.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_ascii_lowercase();
    match stem.strip_prefix("com").or(stem.strip_prefix("lpt")) {
        Some(number) => matches!(number.as_bytes(), [b'0'..=b'9']),
        None => matches!(stem.as_str(), "con" | "prn" | "aux" | "nul"),
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for FilePath {
    type Error = Error;
    fn try_from(path: String) -> Result<Self> {
        Self::new(path)
    }
}

impl From<FilePath> for String {
    fn from(path: FilePath) -> Self {
        path.0
    }
}

/// A file by what is in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileRef {
    /// The SHA-256 of its bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
}

impl FileRef {
    /// The greatest size of one file in bytes (S7).
    pub const MAX: u64 = 1024 * 1024;
    /// The greatest number of files of one skill (S7).
    pub const MAX_FILES: usize = 200;
    /// The greatest size of all files of one skill in bytes (S7).
    pub const MAX_TOTAL: u64 = 10 * 1024 * 1024;

    /// What tells this file from others.
    ///
    /// # Errors
    /// `Invalid` for more than [`FileRef::MAX`] bytes.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        let count = bytes.len() as u64;
        if count > Self::MAX {
            return Err(too_much("a file has more than 1 MiB").with("bytes", count));
        }
        Ok(Self {
            sha256: sha256_hex(bytes),
            bytes: count,
        })
    }

    /// Checks all files of a skill: their number and sizes, and that no two paths are the same on a file system that
    /// does not tell cases apart, nor one the folder of another.
    ///
    /// # Errors
    /// `Invalid`, saying which rule is broken.
    pub fn check(files: &BTreeMap<FilePath, Self>) -> Result<()> {
        if files.len() > Self::MAX_FILES {
            return Err(too_much("a skill has more than 200 files").with("files", files.len()));
        }
        let all = files.values().map(|file| file.bytes);
        let all = all.fold(0_u64, u64::saturating_add);
        if all > Self::MAX_TOTAL || files.values().any(|file| file.bytes > Self::MAX) {
            let message = "a skill's files have more than 10 MiB in all, or one more than 1 MiB";
            return Err(too_much(message).with("bytes", all));
        }
        let folded: BTreeSet<String> = files.keys().map(FilePath::folded).collect();
        let folders = folded
            .iter()
            .flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at]));
        if folded.len() < files.len() || folders.into_iter().any(|folder| folded.contains(folder)) {
            return Err(Error::invalid(
                "FileRef::check",
                "two paths of a skill's files are the same for some file system",
            )
            .hint("rename one of them"));
        }
        Ok(())
    }
}

fn too_much(message: &str) -> Error {
    Error::invalid("FileRef::check", message.to_owned())
        .hint("a skill has at most 200 files, of 1 MiB each and 10 MiB in all")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn paths_that_leave_the_folder_or_name_something_else_are_refused() {
        for path in [
            "",
            "/etc/passwd",
            "..",
            "../x",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a\\b",
            "c:/x",
            "a\0b",
            "a\nb",
            "NUL",
            "aux.txt",
            "a/COM1.log",
            "lpt9",
            "SKILL.md",
            "skill.MD",
            "Skill.md/x",
            ".journeyman",
            ".journeyman-tmp/x",
            "a ",
            " a",
            "a.",
            "x/y./z",
            "a?b",
            "a\u{202e}b",
            "a/b/c/d/e/f/g/h/i",
            &"x".repeat(201),
        ] {
            assert!(FilePath::new(path).is_err(), "{path:?}");
        }
        for path in [
            "scripts/brew.sh",
            "references/日本語.md",
            "assets/größe.png",
            "a/b/c/d/e/f/g/h",
            ".gitignore",
            "com/x",
            "console.md",
            "comb1",
            "docs/SKILL.md",
            "x y.txt",
        ] {
            assert!(FilePath::new(path).is_ok(), "{path:?}");
        }
        assert!(serde_json::from_str::<FilePath>("\"../x\"").is_err());
    }

    #[test]
    fn files_are_bounded_and_do_not_collide() {
        let files = |paths: &[&str], bytes: &[u8]| -> BTreeMap<FilePath, FileRef> {
            let file = FileRef::of(bytes).unwrap();
            let path = |path: &&str| (FilePath::new(*path).unwrap(), file.clone());
            paths.iter().map(path).collect()
        };
        assert!(FileRef::check(&files(&["a/b", "a/c", "b"], b"x")).is_ok());
        assert!(FileRef::check(&files(&["a/b", "A/B"], b"x")).is_err());
        assert!(FileRef::check(&files(&["a", "a/b"], b"x")).is_err());
        assert!(FileRef::check(&files(&["Ä", "ä"], b"x")).is_err());
        let many: Vec<String> = (0..201).map(|n| format!("f{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(FileRef::check(&files(&many, b"x")).is_err());
        assert!(FileRef::check(&files(&many[..200], b"x")).is_ok());
        let large = vec![0; 1024 * 1024];
        assert!(FileRef::check(&files(&many[..10], &large)).is_ok());
        assert!(FileRef::check(&files(&many[..11], &large)).is_err());
        assert!(FileRef::of(&vec![0; 1024 * 1024 + 1]).is_err());
    }
}
