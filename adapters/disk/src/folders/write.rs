//! Writing the folders that are out of date.

use std::collections::BTreeSet;

use journeyman::{
    Error, ErrorKind, Result, SkillId, Version, domain::Skill, library::format::SkillMd,
};

use super::{
    FolderReport, Folders,
    area::{Area, place},
    disk::{Disk, Prepared},
    people::Found,
    rows::Row,
};
use crate::{database::Database, fault, package::SkillFolder};

/// From this number of folders on, the whole file system is synced once instead of each file.
const MANY: usize = 64;

/// A skill whose folder is out of date.
#[derive(Debug)]
struct Item {
    id: SkillId,
    /// The folder to write; `None` where the skill does not exist any more.
    next: Option<Next>,
}

#[derive(Debug)]
struct Next {
    place: String,
    version: Version,
    hash: String,
    prepared: Prepared,
}

impl Folders {
    /// Writes the folders that are out of date. Returns the edits by people that it meets; their folders are left
    /// unchanged until the edits are committed.
    pub(super) fn write_pending(
        &mut self,
        database: &mut Database,
        all: bool,
        report: &mut FolderReport,
    ) -> Result<Vec<Found>> {
        let ids = self.out_of_date(all);
        let sync = ids.len() < MANY;
        let mut items = Vec::new();
        let mut pending = BTreeSet::new();
        for id in ids {
            let skill = self.library.get(&id).map(|entry| &entry.skill);
            match skill.map(|skill| content(database, skill).map(|folder| (skill, folder))) {
                None => items.push(Item { id, next: None }),
                Some(Err(error)) => {
                    report.fault(id.as_str(), error);
                    pending.insert(id);
                }
                Some(Ok((skill, folder))) => {
                    let next = Next {
                        place: place(skill),
                        version: skill.version,
                        hash: folder.hash(),
                        prepared: self.disk.prepare(&folder, sync)?,
                    };
                    items.push(Item {
                        id,
                        next: Some(next),
                    });
                }
            }
        }
        let mut found = Vec::new();
        if !items.is_empty() {
            if !sync {
                self.disk.sync_all()?;
            }
            Disk::wait_one_tick();
            fault::point("folders: prepared");
            self.announce(database, &items)?;
            fault::point("folders: announced");
            // All old folders are moved away first, so that two skills can exchange names.
            for item in &items {
                if !self.move_away(database, item, all, &mut found, report)? {
                    pending.insert(item.id.clone());
                }
            }
            for item in items {
                if pending.contains(&item.id) {
                    continue;
                }
                let id = item.id.clone();
                if !self.settle(database, item, all, &mut found, report)? {
                    pending.insert(id);
                }
            }
            self.disk.settle()?;
            self.flush(database)?;
            fault::point("folders: rows written");
        }
        // Only a full scan before the next write can tell why a folder is missing.
        let is_missing = std::mem::take(&mut self.is_missing);
        self.shown = Some(self.library.clone()).filter(|_| !is_missing);
        self.pending = pending.into_iter().collect();
        Ok(found)
    }

    /// The skills whose folders are out of date.
    fn out_of_date(&self, all: bool) -> BTreeSet<SkillId> {
        let mut ids = BTreeSet::new();
        match &self.shown {
            Some(shown) if !all => {
                ids.extend(self.library.changed_from(shown).cloned());
                ids.extend(self.pending.iter().cloned());
            }
            _ => {
                ids.extend(self.library.entries().map(|entry| entry.skill.id.clone()));
                ids.extend(self.rows.keys().cloned());
            }
        }
        ids.retain(|id| {
            let row = self.rows.get(id);
            match self.library.get(id) {
                None => row.is_some(),
                Some(entry) => !row.is_some_and(|row| is_up_to_date(row, &entry.skill)),
            }
        });
        ids
    }

    /// Stores what is about to be written or removed. After a crash these folders must not look like a person's edits,
    /// so the note and the commits behind it are synced first, whatever the durability.
    fn announce(&mut self, database: &mut Database, items: &[Item]) -> Result<()> {
        for item in items {
            let Some(next) = &item.next else {
                if let Some(row) = self.rows.get_mut(&item.id) {
                    row.going = row.place.clone().map(|place| (place, row.written.clone()));
                }
                continue;
            };
            let row = self.rows.entry(item.id.clone()).or_insert_with(|| Row {
                version: Version(0),
                place: None,
                written: String::new(),
                stamp: String::new(),
                going: None,
            });
            row.going = Some((next.place.clone(), next.hash.clone()));
        }
        database.with_full_sync(|database| self.flush(database))
    }

    /// Moves a folder away whose skill belongs elsewhere; `false` where a person changed it.
    fn move_away(
        &mut self,
        database: &Database,
        item: &Item,
        all: bool,
        found: &mut Vec<Found>,
        report: &mut FolderReport,
    ) -> Result<bool> {
        let from = self.rows.get(&item.id).and_then(|row| row.place.clone());
        let to = item.next.as_ref().map(|next| &next.place);
        let Some(from) = from.filter(|from| Some(from) != to) else {
            return Ok(true);
        };
        let Some(expected) = self.expected(&item.id, &from, found, report)? else {
            return Ok(false);
        };
        let aside = self.disk.take_away(&from, &expected)?;
        fault::point("folders: way made");
        if aside.is_none() && !all {
            self.is_missing = true;
            return Ok(false);
        }
        if let Some(aside) = aside {
            self.check_replaced(database, &item.id, &aside, &expected, found)?;
        }
        if let Some(row) = self.rows.get_mut(&item.id) {
            row.place = None;
        }
        Ok(true)
    }

    /// Moves a prepared folder into place; `false` where something unexpected is there.
    fn settle(
        &mut self,
        database: &Database,
        item: Item,
        all: bool,
        found: &mut Vec<Found>,
        report: &mut FolderReport,
    ) -> Result<bool> {
        let Some(next) = item.next else {
            self.rows.remove(&item.id);
            report.removed += 1;
            return Ok(true);
        };
        let lies = self.rows.get(&item.id).and_then(|row| row.place.as_ref());
        let is_there = self.disk.folder(&next.place)?.is_some();
        if lies.is_some() && !is_there && !all {
            self.is_missing = true;
            return Ok(false);
        }
        if lies.is_some() && is_there {
            let Some(expected) = self.expected(&item.id, &next.place, found, report)? else {
                return Ok(false);
            };
            fault::point("folders: before an exchange");
            let aside = self.disk.exchange(&next.prepared, &next.place, &expected)?;
            fault::point("folders: exchanged");
            self.check_replaced(database, &item.id, &aside, &expected, found)?;
        } else if !self.disk.put(&next.prepared, &next.place)? {
            // A person's new folder, which is committed. This skill keeps its name only if that one does not want it. A
            // folder that another skill left there is known already.
            let known = |row: &Row| row.place.as_ref() == Some(&next.place);
            if !self.rows.values().any(known) {
                self.check_folder(&next.place, None, found, report);
            }
            return Ok(false);
        }
        fault::point("folders: put");
        let row = Row {
            version: next.version,
            place: Some(next.place),
            written: next.hash,
            stamp: next.prepared.stamp,
            going: None,
        };
        self.rows.insert(item.id, row);
        report.written += 1;
        Ok(true)
    }

    /// Checks a folder that was just replaced. A folder that a person wrote and that holds a secret, which the library
    /// redacted, is not kept.
    fn check_replaced(
        &mut self,
        database: &Database,
        id: &SkillId,
        aside: &str,
        expected: &str,
        found: &mut Vec<Found>,
    ) -> Result<()> {
        if let Some(changed) = self.changed_aside(aside, expected)? {
            found.push(changed);
            return Ok(());
        }
        // Folders that the library wrote have a version; a person's have 0.
        let row = self.rows.get(id);
        if row.is_some_and(|row| row.version == Version(0))
            && let Some(dir) = self.disk.folder(aside)?
            && holds_secret(database, &SkillFolder::read_dir(&dir)?)
        {
            self.secret.push(aside.to_owned());
        }
        Ok(())
    }

    /// The hash that a folder of the library has; `None` where a person changed it, in which case it is added to
    /// `found`.
    fn expected(
        &mut self,
        id: &SkillId,
        at: &str,
        found: &mut Vec<Found>,
        report: &mut FolderReport,
    ) -> Result<Option<String>> {
        let before = (found.len(), report.faults.len());
        self.check_folder(at, Some(id), found, report);
        if before != (found.len(), report.faults.len()) {
            return Ok(None);
        }
        Ok(self.rows.get(id).map(|row| row.written.clone()))
    }

    fn check_folder(
        &mut self,
        at: &str,
        owner: Option<&SkillId>,
        found: &mut Vec<Found>,
        report: &mut FolderReport,
    ) {
        let area = Area::ALL.into_iter().find_map(|area| {
            let name = at.strip_prefix(area.folder())?.strip_prefix('/')?;
            Some((area, name))
        });
        let Some((area, name)) = area else { return };
        match self.look(area, name, at, owner) {
            Ok(changed) => found.extend(changed),
            Err(error) => report.fault(at, error),
        }
    }
}

fn is_up_to_date(row: &Row, skill: &Skill) -> bool {
    // A folder that a person removed from `held` stays removed.
    let lies = match &row.place {
        Some(at) => *at == place(skill),
        None => Area::of(skill) == Area::Held,
    };
    row.version == skill.version && row.going.is_none() && lies
}

/// Whether a file of a folder holds a secret.
pub(super) fn holds_secret(database: &Database, folder: &SkillFolder) -> bool {
    let mut files = std::iter::once(&folder.text).chain(folder.files.values());
    files.any(|bytes| {
        database
            .check_secrets("DiskStore::sync_folders", bytes)
            .is_err()
    })
}

/// The content that a skill's folder should have.
fn content(database: &Database, skill: &Skill) -> Result<SkillFolder> {
    let text = SkillMd::from(skill).write()?;
    let mut folder = SkillFolder {
        text: text.into_bytes(),
        files: std::collections::BTreeMap::new(),
    };
    for (path, file) in &skill.files {
        let bytes = database.file(&file.sha256)?.ok_or_else(|| {
            Error::new(
                ErrorKind::Corrupt,
                "DiskStore::sync_folders",
                "a file that a skill names is not in the library",
            )
            .with("path", path)
            .with("sha256", &file.sha256)
            .hint(crate::convert::DAMAGED)
        })?;
        folder.files.insert(path.clone(), bytes);
    }
    Ok(folder)
}
