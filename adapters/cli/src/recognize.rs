//! Recognizes the format of a path that is imported.

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

use journeyman::{Error, Result};
use journeyman_disk::is_misnamed_skill;
use serde_json::Value;

use crate::{arguments::Format, files::unreadable, incoming::IMPORT, validate::SKILL_MD};

/// Maximum bytes of a bank or document.
const MOST_TEXT: u64 = 10 * 1024 * 1024;
/// The first bytes of an archive.
const ARCHIVE: &[u8] = b"{\"format\":\"journeyman-library\"";

/// The format of a path's content.
pub(crate) fn recognized(path: &Path) -> Result<Format> {
    let unread = |source| unreadable(IMPORT, path, source);
    let data = fs::metadata(path).map_err(unread)?;
    if data.is_dir() {
        if path.join("library.db").is_file() {
            return Err(unknown(path, "this is a library, not a skill")
                .hint("import the skills that it offers with `journeyman library merge`"));
        }
        return Ok(Format::SkillFolder);
    }
    // One by another name is a skill's file too: reading it says what its name should be.
    if path.ends_with(SKILL_MD) || is_misnamed_skill(path) {
        return Ok(Format::SkillFolder);
    }
    if !data.is_file() {
        // Reading a pipe would consume it.
        return Err(
            unknown(path, "this is not a regular file").hint("give its format with --format")
        );
    }
    let mut begin = Vec::new();
    let file = File::open(path).map_err(unread)?;
    let read = file.take(ARCHIVE.len() as u64).read_to_end(&mut begin);
    read.map_err(unread)?;
    if begin == ARCHIVE {
        return Ok(Format::Archive);
    }
    if is_packed(&begin) {
        return Err(unknown(path, "this is a packed archive")
            .hint("unpack it, and name the skills' folder"));
    }
    of_json(path, &text(path)?)
}

/// Whether a file's first bytes are those of a packed archive: zip, gzip, xz, bzip2, zstd, 7z or RAR.
pub(crate) fn is_packed(begin: &[u8]) -> bool {
    const PACKED: [&[u8]; 7] = [
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"\xfd7zXZ\0",
        b"BZh",
        b"\x28\xb5\x2f\xfd",
        b"7z\xbc\xaf\x27\x1c",
        b"Rar!",
    ];
    PACKED.iter().any(|mark| begin.starts_with(mark))
}

/// The format of a JSON text.
fn of_json(path: &Path, text: &str) -> Result<Format> {
    let value = serde_json::from_str::<Value>(text);
    if let Err(error) = &value
        && text.trim_start().starts_with(['{', '['])
    {
        return Err(unknown(path, "the file is not valid JSON")
            .with("line", error.line())
            .with("column", error.column())
            .hint("correct it, and import it again"));
    }
    let has = |keys: &[&str]| {
        let has = |value: &Value| keys.iter().any(|key| value.get(key).is_some());
        value.as_ref().is_ok_and(has)
    };
    if has(&["general_skills", "task_specific_skills", "common_mistakes"]) {
        return Ok(Format::Skillrl);
    }
    if has(&["skill_name", "cache", "reservoir"]) || value.as_ref().is_ok_and(Value::is_array) {
        return Ok(Format::Arise);
    }
    Err(unknown(path, "the format of this file is not recognized").hint(
        "name a skill's folder, a SkillRL bank, ARISE documents or an archive; or give the format with --format",
    ))
}

pub(crate) fn unknown(path: &Path, message: &str) -> Error {
    Error::invalid(IMPORT, message.to_owned()).with("path", path.display())
}

pub(crate) fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_TEXT + 1).read_to_end(&mut bytes))
        .map_err(|source| unreadable(IMPORT, path, source))?;
    // Checked before UTF-8: the cut may lie within a character.
    if bytes.len() as u64 > MOST_TEXT {
        return Err(unknown(path, "the file has more than 10 MiB").hint("split it"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| unknown(path, "the file is not UTF-8").hint("save it as UTF-8 text"))?;
    if text.starts_with('\u{feff}') {
        return Err(unknown(path, "the file begins with a byte order mark")
            .hint("save it as UTF-8 text without one"));
    }
    Ok(text)
}
