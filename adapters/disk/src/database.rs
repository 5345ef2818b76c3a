//! The database: opening it, its form, and how it is waited for.

use std::{
    ops::Deref,
    path::Path,
    time::{Duration, Instant},
};

use journeyman::{Error, ErrorKind, Result, text::Redactor};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};

use crate::{
    DiskOptions, Durability,
    convert::{DAMAGED, failed, is_empty},
    fault,
    form::{APPLICATION, FIRST_TABLES, FORM, SECOND_TABLES, has_tables_of_this_form, keep_copy},
    head::{self, Witness},
};

/// Pages of write-ahead log after which it is folded into the database.
const LOG_PAGES: i64 = 1000;

/// One connection.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    patience: Duration,
    pub(crate) redactor: Redactor,
    pub(crate) witness: Witness,
    durability: Durability,
}

/// A transaction that writes.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    transaction: Transaction<'a>,
    /// Told of what is sure to be on the disk.
    witness: Option<&'a Witness>,
    changes: u64,
}

impl<'a> Deref for Writing<'a> {
    type Target = Transaction<'a>;

    fn deref(&self) -> &Self::Target {
        &self.transaction
    }
}

impl Writing<'_> {
    /// Keeps what was written, if anything was.
    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        if self.transaction.total_changes() == self.changes {
            return Ok(());
        }
        let writes = head::advance(&self.transaction)?;
        self.transaction.commit()?;
        if let Some(witness) = self.witness {
            witness.note(writes);
        }
        Ok(())
    }
}

impl Database {
    /// Opens the database, makes its tables where there are none, and refuses what is not a library or is of a later
    /// version.
    pub(crate) fn open(path: &Path, options: &DiskOptions) -> Result<Self> {
        const OPEN: &str = "DiskStore::open";
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if options.create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let named = |error: Error| error.with("path", path.display());
        let witness = Witness::of(path);
        // Read before the database, which other processes may be adding to.
        let acknowledged = witness.writes().map_err(named)?;
        // SQLite would take it for a new one, and remove its log.
        if acknowledged > 0 && std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
            return Err(named(witness.missing(acknowledged, 0)));
        }
        refuse_emptied(OPEN, path)?;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|source| named(failed(OPEN, source)))?;
        let mut database = Self {
            connection,
            patience: options.patience,
            redactor: options.redactor.clone(),
            witness,
            durability: options.durability,
        };
        database
            .prepare(path, acknowledged, options.create)
            .map_err(named)?;
        Ok(database)
    }

    /// A connection that is there already.
    pub(crate) fn of(connection: Connection, path: &Path, patience: Duration) -> Result<Self> {
        connection
            .busy_timeout(patience)
            .map_err(|source| failed("DiskStore::open", source))?;
        Ok(Self {
            connection,
            patience,
            redactor: Redactor::default(),
            witness: Witness::of(path),
            durability: Durability::default(),
        })
    }

    fn prepare(&mut self, path: &Path, acknowledged: u64, create: bool) -> Result<()> {
        const OPEN: &str = "DiskStore::open";
        let failed = |source| failed(OPEN, source);
        let synchronous = self.synchronous();
        let connection = &self.connection;
        connection.busy_timeout(self.patience).map_err(failed)?;
        // Of a foreign database not even the journal mode is changed.
        let form = self.form()?;
        self.check_head(form, acknowledged)?;
        if form == 0 && !create {
            return Err(is_empty(OPEN));
        }
        self.patiently(OPEN, || {
            connection.pragma_update(None, "journal_mode", "WAL")
        })?;
        connection
            .pragma_update(None, "synchronous", synchronous)
            .and_then(|()| connection.pragma_update(None, "trusted_schema", false))
            .and_then(|()| connection.pragma_update(None, "mmap_size", 0))
            .and_then(|()| connection.pragma_update(None, "wal_autocheckpoint", 0))
            .map_err(failed)?;
        if form == 0 {
            fault::point("open: before the tables");
            self.upgrade()?;
        } else if form < FORM {
            keep_copy(&self.connection, path, form)?;
            self.upgrade()?;
        }
        Ok(())
    }

    /// The form of what is there; 0 for an empty database.
    pub(crate) fn form(&self) -> Result<i64> {
        const OPEN: &str = "DiskStore::open";
        // One view of it: another process may be making it just now.
        let (application, form, tables, is_this) = self.patiently(OPEN, || {
            let view = self.connection.unchecked_transaction()?;
            let number =
                |pragma: &str| view.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
            let tables = "SELECT count(*) FROM sqlite_schema";
            let tables: i64 = view.query_row(tables, [], |row| row.get(0))?;
            let (application, form) = (number("application_id")?, number("user_version")?);
            let known = application == APPLICATION && form == FORM;
            Ok((
                application,
                form,
                tables,
                known || has_tables_of_this_form(&view)?,
            ))
        })?;
        if application == 0 && form == 0 && tables == 0 {
            return Ok(0);
        }
        if is_this && (application != APPLICATION || form != FORM) {
            let message = "the database's first page is damaged";
            return Err(Error::new(ErrorKind::Corrupt, OPEN, message).hint(DAMAGED));
        }
        if application != APPLICATION {
            return Err(Error::invalid(OPEN, "this database is no skill library")
                .hint("name a library's folder, or one that does not exist yet"));
        }
        if form > FORM {
            return Err(
                Error::unsupported(OPEN, "the library was written by a newer version")
                    .with("form", form)
                    .with("newest_known", FORM)
                    .hint("open it with that version, or upgrade this one"),
            );
        }
        Ok(form)
    }

    /// Refuses a library that has less than was acknowledged, and leaves all its files as they are.
    fn check_head(&self, form: i64, acknowledged: u64) -> Result<()> {
        let failed = |source| failed("DiskStore::open", source);
        let found = match form {
            0 | 1 => 0,
            _ => head::writes(&self.connection).map_err(failed)?,
        };
        if found < acknowledged {
            self.connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
                .map_err(failed)?;
            return Err(self.witness.missing(acknowledged, found));
        }
        Ok(())
    }

    /// Makes the tables that are not there yet.
    fn upgrade(&mut self) -> Result<()> {
        let transaction = self.write("DiskStore::open")?;
        let failed = |source| failed("DiskStore::open", source);
        // Another process may have been first.
        let form: i64 = transaction
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(failed)?;
        let lacking = match form {
            0 => [FIRST_TABLES, SECOND_TABLES, head::TABLE].concat(),
            1 => [SECOND_TABLES, head::TABLE].concat(),
            _ => return Ok(()),
        };
        transaction
            .execute_batch(&lacking)
            .and_then(|()| transaction.pragma_update(None, "application_id", APPLICATION))
            .and_then(|()| transaction.pragma_update(None, "user_version", FORM))
            .map_err(failed)?;
        fault::point("open: the tables are written");
        transaction.commit().map_err(failed)
    }

    fn synchronous(&self) -> &'static str {
        match self.durability {
            Durability::Sync => "FULL",
            Durability::Relaxed => "NORMAL",
        }
    }

    /// Has a write, and all before it, be on the disk when it is done, whatever the durability.
    pub(crate) fn surely<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let set = |database: &Self, to: &str| {
            let set = database.connection.pragma_update(None, "synchronous", to);
            set.map_err(|source| failed("DiskStore::sync_folders", source))
        };
        set(self, "FULL")?;
        let written = write(self);
        set(self, self.synchronous())?;
        written
    }

    /// Begins to write; other writers are waited for.
    pub(crate) fn write(&mut self, operation: &'static str) -> Result<Writing<'_>> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| failed(operation, source))?;
        Ok(Writing {
            changes: transaction.total_changes(),
            transaction,
            witness: (self.durability == Durability::Sync).then_some(&self.witness),
        })
    }

    /// Tries again while other processes are at it, where SQLite itself does not wait: opening and changing the journal
    /// mode.
    fn patiently<T>(
        &self,
        operation: &'static str,
        mut attempt: impl FnMut() -> rusqlite::Result<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + self.patience;
        loop {
            match attempt() {
                Err(source) if is_busy(&source) && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(source) => return Err(failed(operation, source)),
                Ok(value) => return Ok(value),
            }
        }
    }

    /// Folds the write-ahead log into the database once it is long; done when nobody waits for an answer.
    pub(crate) fn tidy(&self) -> Result<()> {
        let pages: i64 = self
            .connection
            .query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))
            .unwrap_or(LOG_PAGES);
        if pages >= LOG_PAGES {
            fault::point("tidy: before the log is folded in");
            self.connection
                .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
                .map_err(|source| failed("DiskStore::tidy", source))?;
        }
        Ok(())
    }
}

/// Whether nothing is left of a database that had a log: SQLite makes none beside an empty one.
pub(crate) fn is_emptied(path: &Path) -> bool {
    let len = |path: &Path| path.metadata().map_or(0, |data| data.len());
    len(path) == 0 && len(&path.with_extension("db-wal")) > 0
}

/// SQLite would take an emptied database for a new one, and remove its log.
pub(crate) fn refuse_emptied(operation: &'static str, path: &Path) -> Result<()> {
    if !is_emptied(path) {
        return Ok(());
    }
    let message = "the library's database is empty, and its log is not";
    Err(Error::new(ErrorKind::Corrupt, operation, message)
        .with("path", path.display())
        .hint(DAMAGED))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}
