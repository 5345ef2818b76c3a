//! Reading the offered skills of an untrusted archive.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufRead,
};

use journeyman::{
    Error, Result,
    domain::{Committed, FileRef, LibraryChange, Revision, Source},
    library::{Operation, SkillLibrary},
    stations::admit::offered,
};

use super::{ArchiveLimits, Kind, corrupt, file_is_missing, lines, parsed};

const READ: &str = "read_offer";
const MOST_COPIED: usize = 256 * 1024 * 1024;
const MOST_WALKED: usize = 100_000_000;

/// The offered skills of an untrusted archive: put the files, then commit all changes in one commit.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Adds each offered skill as an imported skill in quarantine ([`offered`]).
    pub changes: Vec<LibraryChange>,
    /// The files that these skills name; put them before the commit.
    pub files: Vec<Vec<u8>>,
}

/// Reads an untrusted archive to its end. Its history is used only to find the skills that it offers now, and is then
/// dropped, as is its journal: no state, trust, evidence or author is kept.
///
/// # Errors
/// `Invalid`: not an archive, over a limit, or a skill that may not be imported. `Unsupported`: another format version.
/// `Corrupt`: cut off or changed. Each error names the line where there is one.
///
/// ```
/// use journeyman::{ErrorKind, domain::{Source, Trust}};
/// use journeyman_disk::{ArchiveLimits, read_offer};
///
/// let source = Source::new("a friend", Trust::Untrusted);
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
                // Files follow all commits.
                let wanted = wanted.get_or_insert_with(|| offered_files(&folded.library));
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
    if let Some(file) = offered_files(&folded.library).iter().find(missing) {
        return Err(file_is_missing(READ, file));
    }
    Ok(Offer {
        changes: offered(&folded.library, source)?,
        files: files.into_values().collect(),
    })
}

/// Applies untrusted commits one change at a time, within bounds, so that a short line cannot cost much memory or time.
#[derive(Debug, Default)]
struct Bounded {
    library: SkillLibrary,
    /// The last commit read.
    last: Revision,
    /// Total bytes of the bodies that rollbacks copied.
    copied: usize,
    /// Number of versions and credits so far.
    kept: usize,
    /// Number of versions and credits that changes over the whole library visited.
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
                // `RetireRun` follows descent by repeated passes over everything, one for each step of descent.
                LibraryChange::RetireRun { .. } => self.walked += 8 * self.kept,
                _ => self.kept += 1,
            }
            let one = Committed::new(
                self.library.revision().next(),
                committed.key.clone(),
                committed.cause.clone(),
                vec![change],
            );
            let applied = self.library.apply(&one);
            let applied = applied.map_err(|error| corrupt(READ, error.message().to_owned()))?;
            let moves = applied.moves.iter();
            let copies = moves.filter(|moved| moved.operation == Operation::RolledBack);
            let skills = copies.filter_map(|moved| self.library.version(&moved.skill));
            self.copied += skills.map(|skill| skill.body.len()).sum::<usize>();
            if self.copied > MOST_COPIED || self.walked > MOST_WALKED {
                let message = "the archive's history exceeds the limits on work and memory";
                return Err(Error::invalid(READ, message)
                    .hint("ask for an archive of the skills alone, without their history"));
            }
        }
        Ok(())
    }
}

fn offered_files(library: &SkillLibrary) -> BTreeSet<FileRef> {
    let entries = library.entries();
    entries
        .filter(|entry| entry.skill.state.is_offered())
        .flat_map(|entry| entry.skill.files.values().cloned())
        .collect()
}
