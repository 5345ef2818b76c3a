//! Erasing a text from all stored records; a commit records that something was erased, and not the text.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    Error, ErrorKind, Result, SkillId,
    contract::JournalEntry,
    domain::{
        Cause, Commit, CommitKey, Committed, FileRef, LibraryChange, Revision, Skill, sha256_hex,
    },
    library::SkillLibrary,
};
use rusqlite::{Connection, params};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    convert::{failed, from_json, to_json},
    database::Database,
    records::last_revision,
    statements::{count_entries, each, insert_file},
};

const ERASE: &str = "DiskStore::erase";
/// Minimum length of the text in bytes; shorter texts occur by chance.
const SHORTEST: usize = 4;

/// The result of an erasure.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// Number of commits that held the text.
    pub commits: u64,
    /// Number of journal entries that held it.
    pub entries: u64,
    /// Number of skill files that held it.
    pub files: u64,
    /// The revision of the commit that records the erasure; `None` where no record held the text.
    pub revision: Option<Revision>,
}

/// The text to erase, and the mark that replaces it.
struct Needle<'a> {
    text: &'a str,
    mark: &'static str,
}

impl<'a> Needle<'a> {
    fn new(text: &'a str) -> Result<Self> {
        // Within a name the mark must leave a valid name, so it has no brackets.
        let in_names =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let mark = match text.bytes().all(in_names) {
            true => "erased",
            false => "[erased]",
        };
        if text.trim() != text || text.len() < SHORTEST || mark.contains(text) {
            return Err(Error::invalid(
                ERASE,
                "the text is too short, has spaces around it, or is part of the mark that \
                    replaces it",
            )
            .hint(
                "give at least 4 bytes, without spaces around them, that occur in no other text",
            ));
        }
        Ok(Self { text, mark })
    }

    fn out_of(&self, text: &str) -> String {
        text.replace(self.text, self.mark)
    }

    /// Replaces the text in every string, field names included; returns whether any string held it.
    fn out_of_json(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) if text.contains(self.text) => {
                *text = self.out_of(text);
                true
            }
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |any, item| self.out_of_json(item) | any),
            Value::Object(fields) => {
                let mut any = false;
                let kept = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                    any |= self.out_of_json(&mut value) | key.contains(self.text);
                    (self.out_of(&key), value)
                });
                *fields = kept.collect();
                any
            }
            _ => false,
        }
    }

    /// The record without the text; `None` where it does not hold it.
    fn out_of_record<T: Serialize + DeserializeOwned>(&self, record: &T) -> Result<Option<T>> {
        let broken = |_| {
            Error::invalid(ERASE, "the text is part of the library's own structure").hint(
                "give a longer text, which is in no name of the library's own fields and values",
            )
        };
        let mut value = serde_json::to_value(record).map_err(broken)?;
        let before = fields(&value);
        if !self.out_of_json(&mut value) {
            return Ok(None);
        }
        if fields(&value) < before {
            return Err(
                Error::invalid(ERASE, "two names would become the same").hint("give a longer text")
            );
        }
        serde_json::from_value(value).map(Some).map_err(broken)
    }
}

/// Number of fields of a value, at all depths.
fn fields(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(fields).sum(),
        Value::Object(all) => all.len() + all.values().map(fields).sum::<usize>(),
        _ => 0,
    }
}

/// Number of skills in a library, deleted ones included.
fn number_of_skills(library: &SkillLibrary) -> usize {
    library.entries().count() + library.deleted().count()
}

impl Database {
    /// Rewrites every record that holds the text; on an error, none.
    pub(crate) fn erase(&mut self, text: &str, reason: &str) -> Result<Erased> {
        let needle = Needle::new(text)?;
        let failed = |source| failed(ERASE, source);
        // SQLite then overwrites deleted content with zeros.
        self.connection
            .pragma_update(None, "secure_delete", true)
            .map_err(failed)?;
        let mut erased = Erased::default();
        let transaction = self.write(ERASE)?;
        let before = number_of_skills(&SkillLibrary::replay(&all_commits(&transaction)?)?);
        let files = erase_files(&transaction, &needle)?;
        let skills = erase_commits(&transaction, &needle, &files, &mut erased)?;
        erased.entries = erase_entries(&transaction, &needle)?;
        erased.files = files.len() as u64;
        if erased == Erased::default() {
            return Ok(erased);
        }
        let base = last_revision(ERASE, &transaction)?;
        let trace = trace(base, &needle.out_of(reason), skills, &erased).made_on(base)?;
        put_commit(&transaction, &trace)?;
        // The rewritten commits must still replay to a library.
        if number_of_skills(&SkillLibrary::replay(&all_commits(&transaction)?)?) != before {
            return Err(Error::invalid(ERASE, "two skills would become the same")
                .hint("give a longer text"));
        }
        transaction.commit().map_err(failed)?;
        erased.revision = Some(trace.revision);
        Ok(erased)
    }

    /// Removes remaining copies of the old pages: rewrites the database and truncates its write-ahead log.
    pub(crate) fn scrub(&self) -> Result<()> {
        let failed = |source| failed(ERASE, source);
        // Pages keep copies of content that was moved out of them earlier; only a rewritten database has none.
        self.connection.execute_batch("VACUUM").map_err(failed)?;
        let busy: i64 = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(failed)?;
        if busy == 0 {
            return Ok(());
        }
        let message = "the text is erased from the records, but the write-ahead log still holds it because \
            another process is reading";
        Err(Error::new(ErrorKind::Unavailable, ERASE, message)
            .temporary()
            .hint("close the library in other processes, and erase the text again"))
    }
}

/// The commit that records an erasure without the text.
fn trace(base: Revision, reason: &str, skills: BTreeSet<SkillId>, erased: &Erased) -> Commit {
    let (commits, entries, files) = (erased.commits, erased.entries, erased.files);
    Commit::new(
        base,
        CommitKey::new(format!("erasure/{base}")),
        Cause::new(format!(
            "erased from {commits} commits, {entries} journal entries and {files} files: {reason}"
        )),
        vec![LibraryChange::Erased {
            skills: skills.into_iter().collect(),
        }],
    )
}

/// Rewrites the files that held the text; returns the new references by the old hashes.
fn erase_files(connection: &Connection, needle: &Needle<'_>) -> Result<BTreeMap<String, FileRef>> {
    let failed = |source| failed(ERASE, source);
    let mut changed = BTreeMap::new();
    each(
        ERASE,
        connection,
        "SELECT sha256, bytes FROM files",
        |row| {
            let hash: String = row.get(0).map_err(failed)?;
            let bytes: Vec<u8> = row.get(1).map_err(failed)?;
            if let Some(bytes) = bytes_without(&bytes, needle) {
                changed.insert(hash, (FileRef::of(&bytes)?, bytes));
            }
            Ok(())
        },
    )?;
    let mut refs = BTreeMap::new();
    for (hash, (file, bytes)) in changed {
        connection
            .execute("DELETE FROM files WHERE sha256 = ?1", [&hash])
            .map_err(failed)?;
        insert_file(ERASE, connection, &file, &bytes)?;
        refs.insert(hash, file);
    }
    Ok(refs)
}

/// The bytes without the text, in any encoding; `None` where they do not hold it.
fn bytes_without(bytes: &[u8], needle: &Needle<'_>) -> Option<Vec<u8>> {
    let text = needle.text.as_bytes();
    let mut left = Vec::with_capacity(bytes.len());
    let (mut at, mut any) = (0, false);
    while at < bytes.len() {
        if bytes[at..].starts_with(text) {
            left.extend_from_slice(needle.mark.as_bytes());
            at += text.len();
            any = true;
        } else {
            left.push(bytes[at]);
            at += 1;
        }
    }
    any.then_some(left)
}

/// Rewrites the commits that held the text or name a rewritten file; returns the skills whose versions changed.
fn erase_commits(
    connection: &Connection,
    needle: &Needle<'_>,
    files: &BTreeMap<String, FileRef>,
    erased: &mut Erased,
) -> Result<BTreeSet<SkillId>> {
    let mut skills = BTreeSet::new();
    for committed in all_commits(connection)? {
        let without = needle.out_of_record(&committed)?;
        let held = without.is_some();
        let mut committed = without.unwrap_or(committed);
        let mut moved = false;
        for change in &mut committed.changes {
            if let Some(skill) = change.skill_mut() {
                let changed = replace_files(files, skill);
                moved |= changed;
                if changed || held {
                    skills.insert(skill.id.clone());
                }
            }
        }
        if held || moved {
            erased.commits += u64::from(held);
            put_commit(connection, &committed)?;
        }
    }
    Ok(skills)
}

/// Replaces a skill's references to rewritten files; returns whether it had any.
fn replace_files(files: &BTreeMap<String, FileRef>, skill: &mut Skill) -> bool {
    let mut any = false;
    for file in skill.files.values_mut() {
        if let Some(instead) = files.get(&file.sha256) {
            *file = instead.clone();
            any = true;
        }
    }
    any
}

fn all_commits(connection: &Connection) -> Result<Vec<Committed>> {
    let failed = |source| failed(ERASE, source);
    let mut statement = connection
        .prepare("SELECT body, hash FROM commits ORDER BY revision")
        .map_err(failed)?;
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<(String, String)>>>)
        .map_err(failed)?;
    let read = |(body, hash): &(String, String)| from_json(ERASE, body, hash);
    rows.iter().map(read).collect()
}

fn put_commit(connection: &Connection, committed: &Committed) -> Result<()> {
    let body = to_json(ERASE, committed)?;
    let (revision, key) = (committed.revision.0 as i64, committed.key.as_str());
    connection
        .execute(
            "INSERT OR REPLACE INTO commits (revision, key, body, hash) VALUES (?1, ?2, ?3, ?4)",
            params![revision, key, body, sha256_hex(&body)],
        )
        .map_err(|source| failed(ERASE, source))?;
    Ok(())
}

/// Rewrites the journal entries that held the text; returns their number.
fn erase_entries(connection: &Connection, needle: &Needle<'_>) -> Result<u64> {
    let failed = |source| failed(ERASE, source);
    let mut statement = connection
        .prepare("SELECT run, sequence, body, hash FROM journal")
        .map_err(failed)?;
    let rows = statement
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .and_then(Iterator::collect::<rusqlite::Result<Vec<(String, i64, String, String)>>>)
        .map_err(failed)?;
    let mut count = 0;
    for (run, sequence, body, hash) in rows {
        let entry: JournalEntry = from_json(ERASE, &body, &hash)?;
        let Some(entry) = needle.out_of_record(&entry)? else {
            continue;
        };
        let body = to_json(ERASE, &entry)?;
        connection
            .execute(
                "UPDATE journal SET run = ?1, body = ?2, hash = ?3 WHERE run = ?4 AND sequence = ?5",
                params![entry.run.as_str(), body, sha256_hex(&body), run, sequence],
            )
            .map_err(failed)?;
        count += 1;
    }
    if count > 0 {
        count_entries(ERASE, connection)?;
    }
    Ok(count)
}
