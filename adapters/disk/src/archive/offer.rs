//! What a stranger's archive has to offer.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufRead,
};

use journeyman::{
    Error, Result, Revision,
    domain::{Committed, FileRef, LibraryChange, Source},
    interchange::offered,
    library::{Operation, SkillLibrary},
};

use super::{ArchiveLimits, Kind, corrupt, file_is_missing, lines, parsed};

const READ: &str = "read_offer";
const MOST_COPIED: usize = 256 * 1024 * 1024;
const MOST_WALKED: usize = 100_000_000;

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
    let mut folded = Bounded::default();
    let mut wanted: Option<BTreeSet<FileRef>> = None;
    let mut files = BTreeMap::new();
    lines::read(READ, input, limits, |kind, body| {
        match kind {
            Kind::Commit => folded.commit(body)?,
            Kind::Entry | Kind::Missing => {}
            Kind::File => {
                // All commits were read by now.
                let wanted = wanted.get_or_insert_with(|| of_the_offered(&folded.library));
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
    if let Some(file) = of_the_offered(&folded.library).iter().find(missing) {
        return Err(file_is_missing(READ, file));
    }
    Ok(Offer {
        changes: offered(&folded.library, source)?,
        files: files.into_values().collect(),
    })
}

/// A stranger's commits folded one change at a time, so that a short line cannot ask for much memory or time.
#[derive(Debug, Default)]
struct Bounded {
    library: SkillLibrary,
    /// The last commit read.
    last: Revision,
    /// What versions that were brought back hold, in bytes.
    copied: usize,
    /// How many versions and credits there are.
    kept: usize,
    /// How many of them were looked at by changes that look at all.
    walked: usize,
}

impl Bounded {
    fn commit(&mut self, body: &str) -> Result<()> {
        let committed: Committed = parsed(READ, body)?;
        let (next, revision) = (self.last.next(), committed.revision);
        if revision != next {
            let message = format!("the next revision is {next}, and the commit's is {revision}");
            return Err(corrupt(READ, message));
        }
        self.last = next;
        for change in committed.changes {
            match change {
                LibraryChange::Maintain => self.walked += self.kept,
                // What came from what is found by going over all as often as there are steps between.
                LibraryChange::RetireRun { .. } => self.walked += 8 * self.kept,
                _ => self.kept += 1,
            }
            let one = Committed {
                revision: self.library.revision().next(),
                key: committed.key.clone(),
                cause: committed.cause.clone(),
                changes: vec![change],
            };
            let applied = self.library.apply(&one);
            let applied = applied.map_err(|error| corrupt(READ, error.message().to_owned()))?;
            let moves = applied.moves.iter();
            let copies = moves.filter(|moved| moved.operation == Operation::RolledBack);
            let skills = copies.filter_map(|moved| self.library.version(&moved.skill));
            self.copied += skills.map(|skill| skill.body.len()).sum::<usize>();
            if self.copied > MOST_COPIED || self.walked > MOST_WALKED {
                let message = "the archive's history does more than a library's does";
                return Err(Error::invalid(READ, message)
                    .hint("ask for an archive of the skills alone, without their history"));
            }
        }
        Ok(())
    }
}

fn of_the_offered(library: &SkillLibrary) -> BTreeSet<FileRef> {
    let entries = library.entries();
    entries
        .filter(|entry| entry.skill.state.is_offered())
        .flat_map(|entry| entry.skill.files.values().cloned())
        .collect()
}
