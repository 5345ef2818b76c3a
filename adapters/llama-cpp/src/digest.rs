//! What a file holds, told by its sha256.

use std::{
    fs::{File, Metadata},
    io::{self, Read},
    path::Path,
    time::SystemTime,
};

use journeyman::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A file as it was when it was read for its sha256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hashed {
    sha256: String,
    stamp: Option<Stamp>,
}

/// What changes where a file is written to or replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    length: u64,
    modified: SystemTime,
    /// The file's number, and when it was last changed in any way, which nobody can set: seconds and nanoseconds.
    changed: Option<(u64, i64, i64)>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Option<Self> {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let changed = None;
        Some(Self {
            length: metadata.len(),
            modified: metadata.modified().ok()?,
            changed,
        })
    }
}

impl Hashed {
    /// Reads the file, unless it is to all appearance the one that was hashed `before`.
    pub(crate) fn of(operation: &'static str, path: &Path, before: Option<&Self>) -> Result<Self> {
        let mut file = File::open(path).map_err(|error| unreadable(operation, error))?;
        let stamp = file.metadata().ok().as_ref().and_then(Stamp::of);
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

    /// Whether both files hold the same.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.sha256 == other.sha256
    }
}

/// The sha256 of a file's bytes, in hexadecimal digits.
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

    #[test]
    fn a_file_that_is_as_it_was_is_not_read_again() {
        let path = std::env::temp_dir().join(format!("journeyman-digest-{}", std::process::id()));
        fs::write(&path, b"one").unwrap();
        let hashed = |before: Option<&Hashed>| Hashed::of("test", &path, before).unwrap();
        let one = hashed(None);
        assert_eq!(one.sha256, file_digest("test", &path).unwrap());
        // One that says something else shows where it is believed.
        let told = Hashed {
            sha256: "0".repeat(64),
            ..one.clone()
        };
        assert_eq!(hashed(Some(&told)), told);
        // As long, and with the time of the one before.
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, b"two").unwrap();
        File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(time))
            .unwrap();
        let two = hashed(Some(&told));
        assert_eq!(two.sha256, file_digest("test", &path).unwrap());
        assert_ne!(two.sha256, one.sha256);
        let unstamped = Hashed {
            stamp: None,
            ..told
        };
        assert!(hashed(Some(&unstamped)).equals(&two));
        fs::remove_file(&path).unwrap();
    }
}
