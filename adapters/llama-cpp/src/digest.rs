//! SHA-256 of files, with a stamp that spares reading an unchanged file again.

use std::{
    fs::{File, Metadata},
    io::{self, Read},
    path::Path,
    time::{Duration, SystemTime},
};

use journeyman::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of a file, and the file's stamp when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileHash {
    sha256: String,
    stamp: Option<Stamp>,
}

/// Metadata that changes when a file is written to or replaced: inode number, length, and the time of its last change
/// of any kind (seconds, nanoseconds), which no program can set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    number: u64,
    length: u64,
    changed: (i64, i64),
}

/// File systems' clocks are coarse: a change more recent than this may be followed by another with the same time.
const TOO_FRESH: Duration = Duration::from_secs(2);

impl Stamp {
    #[cfg(unix)]
    fn of(metadata: &Metadata, now: SystemTime) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let now = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let settled = i64::try_from(now.checked_sub(TOO_FRESH)?.as_secs()).ok()?;
        (metadata.ctime() < settled).then(|| Self {
            number: metadata.ino(),
            length: metadata.len(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// No stamp is known on this system, so the file is always read.
    #[cfg(not(unix))]
    fn of(_: &Metadata, _: SystemTime) -> Option<Self> {
        None
    }
}

impl FileHash {
    /// Hashes the file, unless its stamp equals that of `before`.
    pub(crate) fn of(operation: &'static str, path: &Path, before: Option<&Self>) -> Result<Self> {
        Self::at(SystemTime::now(), operation, path, before)
    }

    fn at(
        now: SystemTime,
        operation: &'static str,
        path: &Path,
        before: Option<&Self>,
    ) -> Result<Self> {
        let mut file = File::open(path).map_err(|error| unreadable(operation, error))?;
        let metadata = file.metadata().ok();
        let stamp = metadata.and_then(|metadata| Stamp::of(&metadata, now));
        if let Some(before) = before
            && stamp.is_some()
            && before.stamp == stamp
        {
            return Ok(before.clone());
        }
        let sha256 = sha256(&mut file).map_err(|error| unreadable(operation, error))?;
        Ok(Self { sha256, stamp })
    }

    /// The first 12 hexadecimal digits.
    pub(crate) fn short(&self) -> &str {
        self.sha256.get(..12).unwrap_or(&self.sha256)
    }

    /// Whether both files have the same content.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.sha256 == other.sha256
    }
}

/// The SHA-256 of a file's bytes, in hexadecimal digits.
pub(crate) fn file_digest(operation: &'static str, path: &Path) -> Result<String> {
    File::open(path)
        .and_then(|mut file| sha256(&mut file))
        .map_err(|error| unreadable(operation, error))
}

fn sha256(file: &mut File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        hash.update(&buffer[..length]);
    }
    let bytes = hash.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn unreadable(operation: &'static str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        _ => ErrorKind::Unavailable,
    };
    Error::new(
        kind,
        operation,
        format!("the file cannot be read ({})", error.kind()),
    )
    .hint("check the path, and that the file and its folders may be read")
    .source_from(error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_as_it_was_is_not_read_again() {
        let path = std::env::temp_dir().join(format!("journeyman-digest-{}", std::process::id()));
        let other = path.with_extension("other");
        fs::write(&path, b"one").unwrap();
        let later = SystemTime::now() + 5 * TOO_FRESH;
        let hashed = |before: &FileHash| FileHash::at(later, "test", &path, Some(before)).unwrap();
        let one = FileHash::at(later, "test", &path, None).unwrap();
        assert_eq!(one.sha256, file_digest("test", &path).unwrap());
        // One that says something else shows where it is believed.
        let told = FileHash {
            sha256: "0".repeat(64),
            ..one.clone()
        };
        assert_eq!(hashed(&told), told);
        // Changed only just, it is read every time.
        let fresh = FileHash::of("test", &path, Some(&told)).unwrap();
        assert!(fresh.equals(&one) && fresh.stamp.is_none());
        let again = FileHash::of(
            "test",
            &path,
            Some(&FileHash {
                stamp: None,
                ..told.clone()
            }),
        );
        assert!(again.unwrap().equals(&one));
        // Another one of the same length in its place.
        fs::write(&other, b"two").unwrap();
        fs::rename(&other, &path).unwrap();
        let two = hashed(&told);
        assert_eq!(two.sha256, file_digest("test", &path).unwrap());
        assert_ne!(two.sha256, one.sha256);
        fs::remove_file(&path).unwrap();
    }
}
