//! Writing all folders anew.

use std::time::{Duration, Instant};

use journeyman::Result;

use super::{FolderReport, Folders, disk::Disk};
use crate::database::Database;

impl Folders {
    /// Puts everything that lies in the folders aside and writes them anew from the library.
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
        let rebuilt = self.anew(database);
        drop(lock);
        if rebuilt.is_err() {
            self.shown = None;
            self.rows_as_of = None;
        }
        rebuilt
    }

    fn anew(&mut self, database: &mut Database) -> Result<FolderReport> {
        self.rows_as_of = Some(database.written_by_others()?);
        self.rows = database.rows()?;
        self.stored = self.rows.clone();
        // What is being written was not taken away by a person, should a crash come now.
        for row in self.rows.values_mut() {
            row.going = row.place.clone().map(|place| (place, row.written.clone()));
        }
        self.flush(database)?;
        self.disk.put_aside()?;
        self.pass(database, true)
    }
}
