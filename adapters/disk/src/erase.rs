//! Erasing: a text is taken out of everything that was ever committed, and what is left says that it was.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    CommitKey, Error, ErrorKind, Result, Revision, SkillId,
    contract::JournalEntry,
    domain::{Cause, Commit, Committed, FileRef, LibraryChange, Skill},
    library::SkillLibrary,
    sha256_hex,
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
/// Shorter texts occur in others by chance.
const SHORTEST: usize = 4;

/// What an erasure did.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// How many commits held the text.
    pub commits: u64,
    /// How many journal entries.
    pub entries: u64,
    /// How many skills' files.
    pub files: u64,
    /// The revision that says so; `None` where the text was nowhere.
    pub revision: Option<Revision>,
}

/// A text and what comes in its place.
struct Needle<'a> {
    text: &'a str,
    mark: &'static str,
}

impl<'a> Needle<'a> {
    fn new(text: &'a str) -> Result<Self> {
        // A part of a name leaves a name.
        let in_names =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let mark = match text.bytes().all(in_names) {
            true => "erased",
            false => "[erased]",
        };
        if text.trim() != text || text.len() < SHORTEST || mark.contains(text) {
            return Err(
                Error::invalid(ERASE, "the text cannot be told from others").hint(
                    "give at least 4 bytes, without blanks around them, that occur in nothing else",
                ),
            );
        }
        Ok(Self { text, mark })
    }

    fn out_of(&self, text: &str) -> String {
        text.replace(self.text, self.mark)
    }

    /// Takes the text out of every string, the names of fields included; whether there was any.
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

    /// A record without the text; `None` where it does not hold it.
    fn out_of_record<T: Serialize + DeserializeOwned>(&self, record: &T) -> Result<Option<T>> {
        let broken = |_| {
            Error::invalid(ERASE, "the text is part of what holds the library together").hint(
                "give more of what is to be erased, so that no word of the library's own is meant",
            )
        };
        let mut value = serde_json::to_value(record).map_err(broken)?;
        let before = fields(&value);
        if !self.out_of_json(&mut value) {
            return Ok(None);
        }
        if fields(&value) < before {
            return Err(Error::invalid(ERASE, "two names would become one")
                .hint("give more of what is to be erased"));
        }
        serde_json::from_value(value).map(Some).map_err(broken)
    }
}

/// How many fields a value has, at all depths.
fn fields(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(fields).sum(),
        Value::Object(all) => all.len() + all.values().map(fields).sum::<usize>(),
        _ => 0,
    }
}

/// How many skills a library has or had.
fn number_of_skills(library: &SkillLibrary) -> usize {
    library.entries().count() + library.deleted().count()
}

impl Database {
    /// Rewrites every record that holds the text, or none.
    pub(crate) fn erase(&mut self, text: &str, reason: &str) -> Result<Erased> {
        let needle = Needle::new(text)?;
        let failed = |source| failed(ERASE, source);
        // What is overwritten is overwritten with zeros.
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
        // What is left must still be a library.
        if number_of_skills(&SkillLibrary::replay(&all_commits(&transaction)?)?) != before {
            return Err(Error::invalid(ERASE, "two skills would become one")
                .hint("give more of what is to be erased"));
        }
        transaction.commit().map_err(failed)?;
        erased.revision = Some(trace.revision);
        Ok(erased)
    }

    /// Puts the new pages in the place of the old ones, which the write-ahead log holds still.
    pub(crate) fn scrub(&self) -> Result<()> {
        let failed = |source| failed(ERASE, source);
        // Pages keep copies of what was moved out of them before: only a database that is written anew has none.
        self.connection.execute_batch("VACUUM").map_err(failed)?;
        let busy: i64 = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(failed)?;
        if busy == 0 {
            return Ok(());
        }
        let message = "the text is erased, and the write-ahead log still holds it: another process is reading";
        Err(Error::new(ErrorKind::Unavailable, ERASE, message)
            .temporary()
            .hint("erase it again once other processes are done"))
    }
}

/// The commit that says that something was erased, and not what.
fn trace(base: Revision, reason: &str, skills: BTreeSet<SkillId>, erased: &Erased) -> Commit {
    let (commits, entries, files) = (erased.commits, erased.entries, erased.files);
    Commit {
        base,
        key: CommitKey::new(format!("erasure/{base}")),
        cause: Cause {
            run: None,
            task: None,
            reason: format!(
                "erased from {commits} commits, {entries} journal entries and {files} files: {reason}"
            ),
        },
        changes: vec![LibraryChange::Erased {
            skills: skills.into_iter().collect(),
        }],
    }
}

/// The files that held the text, by their old hashes.
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

/// Bytes without the text, whatever else they are; `None` where they do not hold it.
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

/// The skills whose versions changed.
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
                let changed = point_to(files, skill);
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

/// Lets a skill name the files that took the place of others; whether it named any.
fn point_to(files: &BTreeMap<String, FileRef>, skill: &mut Skill) -> bool {
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

/// How many entries held the text.
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
