//! Which code measures: results of other code are not gone on with.

use std::{env, fs, io};

use journeyman::domain::sha256_hex;

use crate::source::Sources;

/// The SHA-256 of the program that runs, in hexadecimal: every crate that is linked into it takes part, and so do the
/// compiler and its options.
///
/// # Errors
/// When the program's file cannot be read.
pub(super) fn of_this_program() -> io::Result<String> {
    // On Linux this is the program that runs even where another one has taken its file's place.
    let running = fs::read("/proc/self/exe").or_else(|_| fs::read(env::current_exe()?))?;
    Ok(sha256_hex(running))
}

/// The SHA-256 of the repository's files but its documents, in hexadecimal: the code of commands that a group runs, since they
/// are no part of the program.
///
/// # Errors
/// When the files cannot be listed or one cannot be read.
pub(crate) fn of_the_repository() -> io::Result<String> {
    let sources = Sources::list()?;
    let mut all = String::new();
    for path in sources.paths.iter().filter(|path| !is_document(path)) {
        let sha256 = sha256_hex(sources.read(path)?);
        all.push_str(&format!("{sha256} {path}\n"));
    }
    Ok(sha256_hex(all))
}

/// The parts of roles and examples that end in `.md` are code: programs read them.
fn is_document(path: &str) -> bool {
    path.starts_with("docs/") || path == "README.md"
}

/// The beginning of a hash, enough for a person.
pub(super) fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_and_a_repository_have_a_hash_that_stays() {
        for hash in [of_this_program, of_the_repository] {
            let once = hash().unwrap();
            assert_eq!(once.len(), 64);
            assert_eq!(hash().unwrap(), once);
            assert_eq!(short(&once), &once[..12]);
        }
        assert_ne!(of_this_program().unwrap(), of_the_repository().unwrap());
        assert!(
            is_document("docs/results/README.md") && !is_document("skills/role-extract/SKILL.md")
        );
    }
}
