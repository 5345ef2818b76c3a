//! The SQLite database: opening it, upgrading its schema, and waiting for other writers.

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

/// Length of the write-ahead log, in pages, from which it is checkpointed into the database.
const LOG_PAGES: i64 = 1000;

/// One connection to the database, with the witness file of its acknowledged writes.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    patience: Duration,
    pub(crate) redactor: Redactor,
    pub(crate) witness: Witness,
    durability: Durability,
}

/// A write transaction.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    transaction: Transaction<'a>,
    /// Records the number of writes that are on the disk; `None` under `Durability::Relaxed`.
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
    /// Commits, if anything was written, and counts the write.
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
    /// Opens the database and creates or upgrades its tables. Refuses a database that is not a library or has a later
    /// schema.
    pub(crate) fn open(path: &Path, options: &DiskOptions) -> Result<Self> {
        const OPEN: &str = "DiskStore::open";
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if options.create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let named = |error: Error| error.with("path", path.display());
        let witness = Witness::of(path);
        // Read before the database: other processes may add writes in between.
        let acknowledged = witness.writes().map_err(named)?;
        // SQLite would treat the empty file as a new database and remove its log.
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

    /// Wraps an open connection, for reading.
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
        // The schema is checked first, so that a foreign database is left unchanged, its journal mode included.
        let form = self.form()?;
        self.check_head(form, acknowledged)?;
        if form == 0 && !create {
            return Err(is_empty(OPEN));
        }
        self.retry_while_busy(OPEN, || {
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

    /// The schema version of the database; 0 for an empty one.
    pub(crate) fn form(&self) -> Result<i64> {
        const OPEN: &str = "DiskStore::open";
        // Read in one transaction: another process may be creating the tables.
        let (application, form, tables, is_this) = self.retry_while_busy(OPEN, || {
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
            return Err(Error::invalid(OPEN, "the database is not a skill library")
                .hint("name the folder of a library, or a folder that does not exist yet"));
        }
        if form > FORM {
            return Err(
                Error::unsupported(OPEN, "the library was written by a newer release")
                    .with("form", form)
                    .with("newest_known", FORM)
                    .hint("open it with that release, or upgrade this one"),
            );
        }
        Ok(form)
    }

    /// Refuses a library with fewer writes than were acknowledged, and leaves all its files unchanged.
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

    /// Creates the tables that the present schema version has and the database lacks.
    fn upgrade(&mut self) -> Result<()> {
        let transaction = self.write("DiskStore::open")?;
        let failed = |source| failed("DiskStore::open", source);
        // Another process may have upgraded it meanwhile.
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

    /// Runs a write with full sync: it and all writes before it are on the disk afterwards, whatever the durability.
    pub(crate) fn with_full_sync<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let set = |database: &Self, to: &str| {
            let set = database.connection.pragma_update(None, "synchronous", to);
            set.map_err(|source| failed("DiskStore::sync_folders", source))
        };
        set(self, "FULL")?;
        let written = write(self);
        set(self, self.synchronous())?;
        written
    }

    /// Begins a write transaction; waits for other writers.
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

    /// Retries while the database is busy, for calls in which SQLite does not wait by itself: opening, and changing the
    /// journal mode.
    fn retry_while_busy<T>(
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

    /// Checkpoints the write-ahead log once it is long. Called when no request waits.
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

/// Whether the database file is empty and its write-ahead log is not: SQLite writes no log for an empty database.
pub(crate) fn is_emptied(path: &Path) -> bool {
    let len = |path: &Path| path.metadata().map_or(0, |data| data.len());
    len(path) == 0 && len(&path.with_extension("db-wal")) > 0
}

/// Refuses an emptied database: SQLite would treat it as new and remove its log.
pub(crate) fn refuse_emptied(operation: &'static str, path: &Path) -> Result<()> {
    if !is_emptied(path) {
        return Ok(());
    }
    let message = "the library's database is empty but its write-ahead log is not";
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
