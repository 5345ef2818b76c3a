//! Rewriting all folders from the library.

use std::time::{Duration, Instant};

use journeyman::Result;

use super::{FolderReport, Folders, disk::Disk};
use crate::database::Database;

impl Folders {
    /// Moves all folders aside and rewrites them from the library.
    ///
    /// # Errors
    /// As [`Folders::sync`].
    pub(crate) fn rebuild(
        &mut self,
        database: &mut Database,
        patience: Duration,
    ) -> Result<FolderReport> {
        let deadline = Instant::now() + patience;
        let lock = self.disk.lock_until(deadline)?;
        let lock = lock.ok_or_else(Disk::busy)?;
        let rebuilt = self.rewrite_all(database);
        drop(lock);
        if rebuilt.is_err() {
            self.shown = None;
            self.rows_as_of = None;
        }
        rebuilt
    }

    fn rewrite_all(&mut self, database: &mut Database) -> Result<FolderReport> {
        self.rows_as_of = Some(database.written_by_others()?);
        self.rows = database.rows()?;
        self.stored = self.rows.clone();
        // A folder that is missing after a crash now was not removed by a person.
        for row in self.rows.values_mut() {
            row.going = row.place.clone().map(|place| (place, row.written.clone()));
        }
        self.flush(database)?;
        self.disk.put_aside()?;
        self.pass(database, true)
    }
}
