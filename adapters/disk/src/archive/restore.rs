//! Restoring an archive into an empty library.

use std::{collections::BTreeSet, io::BufRead};

use journeyman::{Error, Result, domain::FileRef};

use super::{ArchiveLimits, Archived, Kind, Replay, file_is_missing, lines, parsed};
use crate::{
    DiskStore,
    convert::failed,
    database::Database,
    statements::{count_entries, has_file, insert_commit, insert_entry, insert_file},
    worker::WorkerState,
};

const RESTORE: &str = "DiskStore::restore";

impl DiskStore {
    /// Restores an archive into this library, which must be empty: the same commits with the same revisions and keys,
    /// the same files and, where the archive holds them, the same journal entries. On an error nothing is kept.
    ///
    /// Records are restored byte for byte, without redaction ([`DiskOptions::redactor`](crate::DiskOptions::redactor)):
    /// secrets in the archive come into the library and its folders.
    ///
    /// Read an untrusted archive with [`read_offer`](crate::read_offer) instead.
    ///
    /// # Errors
    /// `Invalid`: the library is not empty, or the input is not an archive or over a limit. `Unsupported`: another
    /// format version. `Corrupt`: the archive was cut off or changed; the error names the line. `Unavailable`: it could
    /// not be read or stored.
    pub async fn restore(
        &self,
        input: impl BufRead + Send + 'static,
        limits: ArchiveLimits,
    ) -> Result<Archived> {
        let restore = move |state: &mut WorkerState| state.database.restore(input, &limits);
        self.worker.ask(RESTORE, restore).await
    }
}

impl Database {
    fn restore(&mut self, input: impl BufRead, limits: &ArchiveLimits) -> Result<Archived> {
        let transaction = self.write(RESTORE)?;
        let taken: bool = transaction
            .query_row(
                "SELECT EXISTS (SELECT 1 FROM commits) OR EXISTS (SELECT 1 FROM journal)",
                [],
                |row| row.get(0),
            )
            .map_err(|source| failed(RESTORE, source))?;
        if taken {
            return Err(Error::invalid(RESTORE, "the library is not empty")
                .hint("restore into a new folder, or import the skills that the archive offers"));
        }
        let mut folded = Replay::default();
        let mut missing = BTreeSet::new();
        let archived = lines::read(RESTORE, input, limits, |kind, body| match kind {
            Kind::Commit => {
                let committed = folded.commit(RESTORE, body)?;
                insert_commit(RESTORE, &transaction, &committed, body)
            }
            Kind::Entry => {
                let entry = folded.entry(RESTORE, body)?;
                insert_entry(RESTORE, &transaction, &entry, body)
            }
            Kind::File => {
                let bytes = lines::decoded(RESTORE, body)?;
                insert_file(RESTORE, &transaction, &FileRef::of(&bytes)?, &bytes)
            }
            Kind::Missing => {
                missing.insert(parsed(RESTORE, body)?);
                Ok(())
            }
        })?;
        for file in folded.files.difference(&missing) {
            if !has_file(RESTORE, &transaction, file)? {
                return Err(file_is_missing(RESTORE, file));
            }
        }
        count_entries(RESTORE, &transaction)?;
        transaction
            .commit()
            .map_err(|source| failed(RESTORE, source))?;
        Ok(archived)
    }
}
