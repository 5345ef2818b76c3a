//! The database's rows about folders: which skill is where, and what was written there.

use std::collections::BTreeMap;

use journeyman::{Result, SkillId, Version};
use rusqlite::params;

use crate::{convert::failed, database::Database};

const FOLDERS: &str = "DiskStore::sync_folders";

/// The row of a skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The version that it holds; 0 where it has to be written again.
    pub(super) version: Version,
    /// Its path, such as `skills/unseal-coffee`; `None` where a person removed it.
    pub(crate) place: Option<String>,
    /// The hash of the content that was last written there or committed from there.
    pub(super) written: String,
    /// The stamp of that content; empty where it is not known.
    pub(super) stamp: String,
    /// Path and content hash of a write of the folder that has begun and not ended. After a crash, they identify the
    /// half-written folder as the library's own.
    pub(super) going: Option<(String, String)>,
}

impl Row {
    /// Whether the library wrote, or was about to write, content of this hash.
    pub(super) fn wrote(&self, hash: &str) -> bool {
        self.written == hash || self.going.as_ref().is_some_and(|(_, going)| going == hash)
    }
}

pub(crate) type Rows = BTreeMap<SkillId, Row>;

impl Database {
    /// SQLite's `data_version`: changes whenever another connection wrote.
    pub(super) fn written_by_others(&self) -> Result<i64> {
        self.connection
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .map_err(|source| failed(FOLDERS, source))
    }

    pub(crate) fn rows(&self) -> Result<Rows> {
        let failed = |source| failed(FOLDERS, source);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT id, version, place, written, stamp, going_place, going FROM folders",
            )
            .map_err(failed)?;
        let rows = statement.query_map([], |row| {
            let id: String = row.get(0)?;
            let version: i64 = row.get(1)?;
            let going_place: Option<String> = row.get(5)?;
            let row = Row {
                version: Version(version.unsigned_abs()),
                place: row.get(2)?,
                written: row.get(3)?,
                stamp: row.get(4)?,
                going: going_place.zip(row.get(6)?),
            };
            Ok((SkillId::new(id), row))
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Stores rows; `None` deletes a skill's row.
    pub(super) fn put_rows(&mut self, rows: &BTreeMap<SkillId, Option<Row>>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let failed = |source| failed(FOLDERS, source);
        let transaction = self.write(FOLDERS)?;
        {
            let mut put = transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO folders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )
                .map_err(failed)?;
            let mut forget = transaction
                .prepare_cached("DELETE FROM folders WHERE id = ?1")
                .map_err(failed)?;
            for (id, row) in rows {
                match row {
                    None => forget.execute([id.as_str()]),
                    Some(row) => {
                        let (going_place, going) = row.going.clone().unzip();
                        put.execute(params![
                            id.as_str(),
                            row.version.0 as i64,
                            row.place,
                            row.written,
                            row.stamp,
                            going_place,
                            going
                        ])
                    }
                }
                .map_err(failed)?;
            }
        }
        transaction.commit().map_err(failed)
    }
}
