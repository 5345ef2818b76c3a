//! Finding the edits that people made in the folders.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{Error, Result, SkillId, Version, domain::SkillName};

use super::{
    FolderReport, Folders,
    area::Area,
    people::{Found, named_id},
    rows::Row,
};
use crate::package::{self, SkillFolder};

/// The findings of a scan of all folders.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) found: Vec<Found>,
    /// Skills whose folders a person removed.
    pub(super) missing: Vec<SkillId>,
}

impl Folders {
    /// Checks every folder. Only folders whose stamp changed are read.
    pub(super) fn scan(&mut self, report: &mut FolderReport) -> Result<Scan> {
        let mut owners: BTreeMap<String, BTreeSet<SkillId>> = BTreeMap::new();
        for (id, row) in &self.rows {
            let going = row.going.as_ref().map(|(place, _)| place);
            for place in row.place.iter().chain(going) {
                owners.entry(place.clone()).or_default().insert(id.clone());
            }
        }
        let mut scan = Scan::default();
        let mut seen = BTreeSet::new();
        let mut filled = BTreeSet::new();
        for area in Area::ALL {
            for name in self.disk.names(area)? {
                filled.insert(area);
                let place = format!("{}/{name}", area.folder());
                let owner = owners
                    .get(&place)
                    .and_then(|ids| self.owner(&name, &place, ids));
                let before = owner.as_ref().and_then(|id| self.rows.get(id)).cloned();
                match self.look(area, &name, &place, owner.as_ref()) {
                    Ok(Some(found)) => scan.found.push(found),
                    Ok(None) => {
                        // A crash left a moved folder at both paths: only the entry of the new one was on the disk.
                        let known = owner.as_ref().is_some_and(|id| seen.contains(id));
                        if let Some(Row {
                            place: Some(other),
                            written,
                            ..
                        }) = before.filter(|_| known)
                            && other != place
                        {
                            self.disk.take_away(&other, &written)?;
                        }
                    }
                    Err(error) => report.fault(place, error),
                }
                seen.extend(owner);
            }
        }
        let mut moved = moved(&mut scan.found, &seen);
        let lost: Vec<SkillId> = self
            .rows
            .iter()
            .filter(|(id, row)| row.place.is_some() && !seen.contains(*id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in lost {
            if let Some(at) = moved.remove(&id) {
                scan.found[at].from = self.area_of(&id);
                scan.found[at].owner = Some(id);
            } else if self.was_removed_by_a_person(&id, &filled) {
                scan.missing.push(id);
            } else if let Some(row) = self.rows.get_mut(&id) {
                row.version = Version(0);
            }
        }
        Ok(scan)
    }

    /// The skill whose folder it is, among those whose rows name the path: a crash while two skills exchange names
    /// leaves two.
    fn owner(&self, name: &str, place: &str, claimants: &BTreeSet<SkillId>) -> Option<SkillId> {
        if claimants.len() > 1
            && let Ok(Some(dir)) = self.disk.folder(place)
            && let Ok(folder) = SkillFolder::read_dir(&dir)
        {
            let hash = folder.hash();
            let row = |id: &&SkillId| self.rows.get(*id);
            let wrote = |id: &&SkillId| row(id).is_some_and(|row| row.wrote(&hash));
            let named = SkillName::new(name).ok();
            let named = named.and_then(|name| named_id(&folder, &name));
            let lies =
                |id: &&SkillId| row(id).is_some_and(|row| row.place.as_deref() == Some(place));
            let found = claimants.iter().find(wrote);
            let found = found.or_else(|| claimants.get(&named?));
            let found = found.or_else(|| claimants.iter().find(lies));
            return found.cloned();
        }
        claimants.first().cloned()
    }

    /// The area in which the library put a skill's folder.
    fn area_of(&self, id: &SkillId) -> Option<Area> {
        let place = self.rows.get(id)?.place.as_ref()?;
        Area::ALL
            .into_iter()
            .find(|area| place.starts_with(area.folder()))
    }

    /// Whether a person removed a folder; not so after a crash or the loss of a whole area.
    fn was_removed_by_a_person(&self, id: &SkillId, filled: &BTreeSet<Area>) -> bool {
        let Some(row) = self.rows.get(id) else {
            return false;
        };
        let area = |place: &String| {
            let mut all = Area::ALL.into_iter();
            all.find(|area| place.starts_with(area.folder()))
        };
        let area = row.place.as_ref().and_then(area);
        let others = self.rows.values().filter_map(|row| row.place.as_ref());
        let several =
            others.filter(|place| area.is_some_and(|area| place.starts_with(area.folder())));
        let emptied = area.is_some_and(|area| !filled.contains(&area)) && several.count() > 1;
        row.going.is_none() && !emptied
    }

    /// Reads a folder; `None` where it holds what the library wrote there.
    pub(super) fn look(
        &mut self,
        area: Area,
        name: &str,
        place: &str,
        owner: Option<&SkillId>,
    ) -> Result<Option<Found>> {
        let Some(dir) = self.disk.folder(place)? else {
            return Ok(None);
        };
        let stamp = package::stamp(&dir)?;
        let from = owner.and_then(|id| self.area_of(id));
        let row = owner.and_then(|id| self.rows.get_mut(id));
        if row
            .as_ref()
            .is_some_and(|row| row.going.is_none() && row.stamp == stamp)
        {
            return Ok(None);
        }
        let named = SkillName::new(name).map_err(|error| {
            Error::invalid("DiskStore::sync_folders", error.message().to_owned())
                .hint("name the folder with 1 to 64 lowercase letters, digits and single hyphens")
        })?;
        let folder = SkillFolder::read_dir(&dir)?;
        let hash = folder.hash();
        if let Some(row) = row
            && row.wrote(&hash)
        {
            // A folder that a crash left half written is written again; one that was only touched is not.
            if row.going.is_some() {
                row.version = Version(0);
                row.place = Some(place.to_owned());
                row.written = hash;
            }
            row.stamp = stamp;
            return Ok(None);
        }
        Ok(Some(Found {
            area,
            name: named,
            folder_name: name.to_owned(),
            folder,
            hash,
            stamp,
            owner: owner.cloned(),
            from,
            aside: None,
        }))
    }

    /// Edits in folders that were replaced already. Unchanged ones are removed once they are old.
    pub(super) fn edits_in_replaced(&mut self, report: &mut FolderReport) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        let mut old = Vec::new();
        for (place, expected) in self.disk.previous()? {
            match self.changed_aside(&place, &expected) {
                Ok(None) if self.disk.is_old(&place) => old.push(place),
                Ok(None) => {}
                Ok(Some(late)) => found.push(late),
                Err(error) => report.fault(place, error),
            }
        }
        self.disk.forget(&old)?;
        Ok(found)
    }

    /// Reads a replaced folder; `None` where it holds what was written there.
    pub(super) fn changed_aside(&mut self, place: &str, expected: &str) -> Result<Option<Found>> {
        let Some(dir) = self.disk.folder(place)? else {
            return Ok(None);
        };
        let stamp = package::stamp(&dir)?;
        let folder = SkillFolder::read_dir(&dir)?;
        let hash = folder.hash();
        // SKILL.md names its skill; a folder whose SKILL.md does not becomes a new skill.
        let owner = named_id(&folder, &SkillName::default());
        let ours = owner.as_ref().and_then(|id| self.rows.get(id));
        if hash == expected {
            return Ok(None);
        }
        if ours.is_some_and(|row| row.wrote(&hash)) {
            // A crash came before the folder was moved into place. Its name is the only record that the library wrote
            // it.
            self.disk.keep(place, &hash)?;
            return Ok(None);
        }
        let entry = owner.as_ref().and_then(|id| self.library.get(id));
        let name = entry.map(|entry| entry.skill.name.clone());
        let area = entry.map_or(Area::Held, |entry| Area::of(&entry.skill));
        let name = name.unwrap_or_default();
        Ok(Some(Found {
            area,
            folder_name: name.to_string(),
            name,
            folder,
            hash,
            stamp,
            owner,
            from: None,
            aside: Some(place.to_owned()),
        }))
    }
}

/// Folders without an owner whose SKILL.md names a skill that has no folder: a person moved them. Index by skill.
fn moved(found: &mut [Found], seen: &BTreeSet<SkillId>) -> BTreeMap<SkillId, usize> {
    let mut moved = BTreeMap::new();
    for (at, found) in found.iter().enumerate() {
        if found.owner.is_none()
            && let Some(id) = named_id(&found.folder, &found.name)
            && !seen.contains(&id)
        {
            moved.entry(id).or_insert(at);
        }
    }
    moved
}
