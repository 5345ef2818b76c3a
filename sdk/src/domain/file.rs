//! A skill's files besides SKILL.md: scripts, references, assets. They are kept and never run (S5).

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

/// A file's path within its skill's folder (S6): 1 to 8 names of at most 255 bytes with `/` between them, 512 bytes in
/// all. No name is empty, `.` or `..`, begins or ends with a space, ends with a dot, is a device's name on some system, or
/// holds a backslash, a colon, a control or a hidden character, and the first does not begin with `~`. SKILL.md itself and
/// paths that begin with `.journeyman` are reserved.
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
    pub const MAX: usize = 512;
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
            Some((fault, hint)) => Err(Error::invalid("FilePath::new", fault).hint(hint)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path's case-folded form: two paths with the same form are one file on some file systems. Folds to upper case first,
    /// so that letters with two lower cases (`ſ` and `s`) become the same.
    pub fn folded(path: &str) -> String {
        path.chars()
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase)
            .collect()
    }
}

/// Names that are devices on Windows, whatever follows a dot.
const DEVICES: [&str; 8] = [
    "con", "prn", "aux", "nul", "conin$", "conout$", "clock$", "config$",
];
/// The greatest length of a part of a path in bytes.
const MAX_PART: usize = 255;

/// The rule that a path breaks, with a hint; `None` for a valid path.
fn fault(path: &str) -> Option<(&'static str, &'static str)> {
    const INSIDE: &str =
        "name files by their path within the skill's folder, such as `references/notes.md`";
    const PLAIN: &str = "rename the file";
    let starts = |at: usize, is: fn(u8) -> bool| path.as_bytes().get(at).copied().is_some_and(is);
    if path.is_empty() {
        return Some(("the path is empty", INSIDE));
    }
    if path.chars().any(char::is_control) || find_hidden(path).is_some() {
        return Some(("the path holds a hidden or a control character", PLAIN));
    }
    if path.contains('\\') {
        return Some(("the path holds a backslash", "put `/` between the parts"));
    }
    if path.starts_with('/') || path.starts_with('~') {
        return Some(("the path does not begin within the skill's folder", INSIDE));
    }
    if starts(0, |b| b.is_ascii_alphabetic()) && starts(1, |b| b == b':') {
        return Some(("the path begins with a drive", INSIDE));
    }
    if path.contains(':') {
        return Some((
            "the path holds a colon, which names a stream on Windows",
            PLAIN,
        ));
    }
    if path.len() > FilePath::MAX {
        return Some(("the path is longer than 512 bytes", PLAIN));
    }
    if path.split('/').count() > FilePath::MAX_DEPTH {
        return Some(("the path is deeper than 8", "put the file less deep"));
    }
    let first = FilePath::folded(path.split('/').next().unwrap_or_default());
    if first == "skill.md" {
        return Some(("the path is SKILL.md's own", PLAIN));
    }
    if first.starts_with(".journeyman") {
        return Some(("the path begins with a name of the library's own", PLAIN));
    }
    path.split('/')
        .find_map(|part| part_fault(part, INSIDE, PLAIN))
}

fn part_fault(
    part: &str,
    inside: &'static str,
    plain: &'static str,
) -> Option<(&'static str, &'static str)> {
    let stem = part.split('.').next().unwrap_or_default().trim_end();
    let stem: String = FilePath::folded(stem);
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|number| {
            let mut number = number.chars();
            matches!(number.next(), Some('0'..='9' | '¹' | '²' | '³')) && number.next().is_none()
        })
    };
    match part {
        "" => Some(("the path has an empty part", inside)),
        "." | ".." => Some(("the path leads out of its folder, or may", inside)),
        _ if part.len() > MAX_PART => Some(("a part of the path is longer than 255 bytes", plain)),
        _ if part.ends_with(['.', ' ']) || part.starts_with(' ') => Some((
            "a part of the path begins or ends with a space, or ends with a dot, which some systems drop",
            plain,
        )),
        _ if DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") => {
            Some(("a part of the path is a device on Windows", plain))
        }
        _ => None,
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

/// A file, identified by its content.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileRef {
    /// The SHA-256 of its bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// Number of its bytes.
    pub bytes: u64,
}

impl FileRef {
    /// The greatest size of one file in bytes (S7).
    pub const MAX: u64 = 1024 * 1024;
    /// The greatest number of files of one skill (S7).
    pub const MAX_FILES: usize = 200;
    /// The greatest size of all files of one skill in bytes (S7).
    pub const MAX_TOTAL: u64 = 10 * 1024 * 1024;

    /// The reference of these bytes.
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
    /// ignores case, nor one the folder of another.
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
        let folded: BTreeSet<String> = files
            .keys()
            .map(|path| FilePath::folded(path.as_str()))
            .collect();
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
            "a\u{202e}b",
            "a/b/c/d/e/f/g/h/i",
            &"x".repeat(256),
            "~/x",
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
