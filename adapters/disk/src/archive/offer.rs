//! What a stranger's archive has to offer.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufRead,
};

use journeyman::{
    Result,
    domain::{FileRef, LibraryChange, Source},
    interchange::offered,
};

use super::{ArchiveLimits, Folded, Kind, file_is_missing, lines};

const READ: &str = "read_offer";

/// What a stranger's archive has to offer: to be put and committed, all of it in one commit.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Each skill that is offered there, as an imported one that starts quarantined ([`offered`]).
    pub changes: Vec<LibraryChange>,
    /// The files that these skills name, to be put before the commit.
    pub files: Vec<Vec<u8>>,
}

/// Reads a stranger's archive to its end. Its history is used to find out what it offers now, and then dropped, and so is
/// its journal: no state, trust, evidence or author is taken over.
///
/// # Errors
/// `Invalid` for what is no archive, is over a limit or holds a skill that may not come in; `Unsupported` for one of
/// another version; `Corrupt` for one that was cut or changed. Each names the line where there is one.
///
/// ```
/// use journeyman::{ErrorKind, domain::{Source, Trust}};
/// use journeyman_disk::{ArchiveLimits, read_offer};
///
/// let source = Source { name: "a friend".into(), trust: Trust::Untrusted };
/// let error = read_offer(&b"a letter\n"[..], &source, &ArchiveLimits::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Invalid);
/// ```
pub fn read_offer(input: impl BufRead, source: &Source, limits: &ArchiveLimits) -> Result<Offer> {
    let mut folded = Folded::default();
    let mut wanted: Option<BTreeSet<FileRef>> = None;
    let mut files = BTreeMap::new();
    lines::read(READ, input, limits, |kind, body| {
        match kind {
            Kind::Commit => drop(folded.commit(READ, body)?),
            Kind::Entry | Kind::Missing => {}
            Kind::File => {
                // All commits were read by now.
                let wanted = wanted.get_or_insert_with(|| of_the_offered(&folded));
                let bytes = lines::decoded(READ, body)?;
                let file = FileRef::of(&bytes)?;
                if wanted.contains(&file) {
                    files.insert(file, bytes);
                }
            }
        }
        Ok(())
    })?;
    let missing = |file: &&FileRef| !files.contains_key(*file);
    if let Some(file) = of_the_offered(&folded).iter().find(missing) {
        return Err(file_is_missing(READ, file));
    }
    Ok(Offer {
        changes: offered(&folded.library, source)?,
        files: files.into_values().collect(),
    })
}

fn of_the_offered(folded: &Folded) -> BTreeSet<FileRef> {
    let entries = folded.library.entries();
    entries
        .filter(|entry| entry.skill.state.is_offered())
        .flat_map(|entry| entry.skill.files.values().cloned())
        .collect()
}
