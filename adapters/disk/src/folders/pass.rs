//! One pass over the folders: commits the edits that people made, then writes what the library holds.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    ErrorKind, Result, SkillId, Version,
    domain::{LibraryChange, State},
};

use super::{
    FolderReport, Folders,
    area::Area,
    people::{self, FolderChanges, Found},
    rows::Row,
    write::holds_secret,
};
use crate::{database::Database, fault};

/// Maximum rounds of one pass: edits that are found while writing are committed in the next round; later ones wait for
/// the next pass.
const ROUNDS: usize = 4;

impl Folders {
    pub(super) fn pass(&mut self, database: &mut Database, full: bool) -> Result<FolderReport> {
        let mut report = FolderReport::default();
        self.follow(database)?;
        let as_of = Some(database.written_by_others()?);
        if self.rows_as_of != as_of {
            self.rows = database.rows()?;
            self.stored = self.rows.clone();
            self.rows_as_of = as_of;
        }
        for id in std::mem::take(&mut self.erased) {
            if let Some(row) = self.rows.get_mut(&id) {
                row.version = Version(0);
            }
            self.pending.push(id);
        }
        self.disk.sweep()?;
        // Folders that a failed pass left there are removed once they are old.
        self.secret.clear();
        let mut all = full || self.shown.is_none();
        let mut found = self.edits_in_replaced(&mut report)?;
        let mut missing = Vec::new();
        if all {
            let scan = self.scan(&mut report)?;
            found.extend(scan.found);
            missing = scan.missing;
        }
        for _ in 0..ROUNDS {
            self.commit_edits(database, found, &missing, &mut report)?;
            found = self.write_pending(database, all, &mut report)?;
            if found.is_empty() {
                break;
            }
            (all, missing) = (false, Vec::new());
        }
        // Only now: removing sweeps away prepared folders too.
        self.disk.forget(&std::mem::take(&mut self.secret))?;
        Ok(report)
    }

    /// Commits the edits and removals that people made.
    fn commit_edits(
        &mut self,
        database: &mut Database,
        mut found: Vec<Found>,
        missing: &[SkillId],
        report: &mut FolderReport,
    ) -> Result<()> {
        self.take_away(database, missing, report)?;
        // Two edits of one skill become two versions, one after the other.
        while !found.is_empty() {
            let mut owners = BTreeSet::new();
            let (batch, rest) = found.into_iter().partition(|found: &Found| {
                found
                    .owner
                    .as_ref()
                    .is_none_or(|id| owners.insert(id.clone()))
            });
            self.commit_batch(database, batch, report)?;
            found = rest;
        }
        self.flush(database)
    }

    fn commit_batch(
        &mut self,
        database: &mut Database,
        batch: Vec<Found>,
        report: &mut FolderReport,
    ) -> Result<()> {
        let mut readable = Vec::new();
        let rows = self.rows.clone();
        for found in batch {
            let reading = people::read(&found, &self.library, &rows);
            match reading.and_then(|reading| prepare(database, &found, &reading)) {
                Err(error) if error.kind() == ErrorKind::Invalid => {
                    report.fault(found.place(), error);
                }
                Err(error) => return Err(error),
                Ok(()) => readable.push(found),
            }
        }
        let hashes: Vec<&str> = readable.iter().map(|found| found.hash.as_str()).collect();
        let hashes = hashes.join("\n");
        let library = |folders: &mut Self, database: &mut Database| {
            folders.commit(database, &hashes, |library| {
                let read = |found| people::read(found, library, &rows);
                readable.iter().map(read).collect()
            })
        };
        let all_changes = library(self, database)?;
        for (found, reading) in readable.into_iter().zip(all_changes) {
            if !reading.changes.is_empty() {
                report.taken_in.push(found.place());
            }
            self.note(database, found, &reading.id)?;
        }
        Ok(())
    }

    /// Commits the changes that `read` derives from the library; repeats where another process committed first.
    fn commit(
        &mut self,
        database: &mut Database,
        hashes: &str,
        read: impl Fn(&journeyman::library::SkillLibrary) -> Result<Vec<FolderChanges>>,
    ) -> Result<Vec<FolderChanges>> {
        loop {
            let base = self.follow(database)?;
            let all_changes = read(&self.library)?;
            let changes: Vec<LibraryChange> = all_changes
                .iter()
                .flat_map(|reading| reading.changes.iter().cloned())
                .collect();
            if changes.is_empty() {
                return Ok(all_changes);
            }
            match database.commit(&people::commit(base, changes, hashes)) {
                Ok(_) => {
                    fault::point("folders: taken in");
                    self.follow(database)?;
                    return Ok(all_changes);
                }
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Stores the row of a folder whose edit was committed.
    fn note(&mut self, database: &Database, found: Found, id: &SkillId) -> Result<()> {
        if let Some(place) = &found.aside {
            let kept = self.disk.keep(place, &found.hash)?;
            if holds_secret(database, &found.folder) {
                self.secret.push(kept);
            }
            return Ok(());
        }
        let entry = self.library.get(id);
        let same = entry.filter(|entry| found.agrees(&entry.skill));
        let row = Row {
            version: same.map_or(Version(0), |entry| entry.skill.version),
            place: Some(found.place()),
            written: found.hash,
            stamp: found.stamp,
            going: None,
        };
        self.rows.insert(id.clone(), row);
        Ok(())
    }

    /// Archives the skills whose folders a person removed. A skill that was in `held` already gets no folder any more.
    fn take_away(
        &mut self,
        database: &mut Database,
        missing: &[SkillId],
        report: &mut FolderReport,
    ) -> Result<()> {
        let hashes: Vec<&str> = missing.iter().map(SkillId::as_str).collect();
        self.commit(database, &hashes.join("\n"), |library| {
            let archived = |id: &SkillId| {
                let entry = library.get(id);
                let entry = entry.filter(|entry| entry.skill.state != State::Archived);
                let change = entry.map(|_| LibraryChange::SetState {
                    skill: id.clone(),
                    state: State::Archived,
                    reason: "a person took its folder away".to_owned(),
                });
                FolderChanges {
                    id: id.clone(),
                    changes: change.into_iter().collect(),
                }
            };
            Ok(missing.iter().map(archived).collect())
        })?;
        for id in missing {
            let version = self.library.get(id).map(|entry| entry.skill.version);
            let Some(row) = self.rows.get_mut(id) else {
                continue;
            };
            let place = row.place.take().unwrap_or_default();
            let was_held = place.starts_with(Area::Held.folder());
            row.version = version.filter(|_| was_held).unwrap_or(Version(0));
            report.taken_in.push(place);
        }
        Ok(())
    }

    /// Stores the rows that changed.
    pub(super) fn flush(&mut self, database: &mut Database) -> Result<()> {
        let mut changed = BTreeMap::new();
        for (id, row) in &self.rows {
            if self.stored.get(id) != Some(row) {
                changed.insert(id.clone(), Some(row.clone()));
            }
        }
        for id in self.stored.keys() {
            if !self.rows.contains_key(id) {
                changed.insert(id.clone(), None);
            }
        }
        database.put_rows(&changed)?;
        if !changed.is_empty() {
            self.stored = self.rows.clone();
        }
        Ok(())
    }
}

/// Checks and prepares an edit before it is committed with others: a secret must be removable, and the files must be
/// stored.
fn prepare(database: &mut Database, found: &Found, reading: &FolderChanges) -> Result<()> {
    for change in &reading.changes {
        database.redacted("DiskStore::sync_folders", change, LibraryChange::ids)?;
    }
    for bytes in found.folder.files.values() {
        database.put_file(bytes)?;
    }
    Ok(())
}
