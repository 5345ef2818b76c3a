//! Conversion between one entry of a format and one skill. Fields that the skill cannot hold are kept in its metadata.

use journeyman::{
    Error, Result, SkillId,
    domain::{Origin, Provenance, Skill, SkillDraft, Source},
    stations::admit::{Admittance, to_skill},
};
use serde_json::Value;

use super::json::Entry;

/// How one format maps its entries to skills and back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// The format's name, the prefix of its metadata keys.
    pub(super) name: &'static str,
    /// The operation that errors of reading name.
    pub(super) read: &'static str,
    /// The operation that errors of writing name.
    pub(super) write: &'static str,
    /// Makes a draft of an entry. Its metadata has only the keys that the format itself sets.
    pub(super) draft: fn(&Entry) -> Result<SkillDraft>,
    /// Makes an entry's fields of a draft.
    pub(super) fields: fn(&SkillDraft) -> Result<Entry>,
    /// Whether two drafts are equal in the part that the named field is converted to.
    pub(super) agree: fn(&str, &SkillDraft, &SkillDraft) -> bool,
}

impl Form {
    /// A metadata key of the format.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}-{name}", self.name)
    }

    fn prefix(&self) -> String {
        self.key("entry.")
    }

    /// The draft of an entry; fields that cannot be derived from it are kept in its metadata.
    fn keep(&self, entry: &Entry) -> Result<SkillDraft> {
        let mut draft = (self.draft)(entry)?;
        let given = (self.fields)(&draft)?;
        let prefix = self.prefix();
        for (field, value) in entry {
            if given.get(field) != Some(value) {
                let key = format!("{prefix}{field}");
                draft.metadata.insert(key, value.to_string());
            }
        }
        for field in given.keys().filter(|field| !entry.contains_key(*field)) {
            let key = format!("{prefix}{field}");
            draft.metadata.insert(key, String::new());
        }
        Ok(draft)
    }

    /// Makes a skill of the entry at a place of the text. The skill has not passed [`imported`](journeyman::stations::admit::imported) yet.
    pub(super) fn skill(&self, place: &str, entry: &Entry, source: &Source) -> Result<Skill> {
        let mut draft = self
            .keep(entry)
            .map_err(|error| Error::invalid(self.read, error.message()).with("place", place))?;
        draft.metadata.insert(self.key("place"), place.to_owned());
        let mut skill = self.admit(place, &draft, source)?;
        // Always kept, since the library may rename the skill.
        skill.original_name = Some(draft.title);
        Ok(skill)
    }

    /// Makes a skill of a draft.
    pub(super) fn admit(&self, place: &str, draft: &SkillDraft, source: &Source) -> Result<Skill> {
        let mut draft = draft.clone();
        let set = self.key("set");
        draft.metadata.insert(set, source.name.clone());
        let admittance = Admittance::new(SkillId::new(place), Provenance::new(Origin::Imported));
        to_skill(&draft, admittance).map_err(|error| {
            Error::invalid(self.read, error.message())
                .with("place", place)
                .hint("a skill must fit into a SKILL.md: shorten or remove what does not")
        })
    }

    /// Makes the entry of a skill, with the kept fields that are still true.
    pub(super) fn entry(&self, skill: &Skill) -> Result<Entry> {
        let draft = draft(skill);
        let given = (self.fields)(&draft)?;
        let mut kept = Entry::new();
        let mut absent = Vec::new();
        let mut whole = given.clone();
        for (key, json) in &skill.metadata {
            let Some(field) = key.strip_prefix(&self.prefix()) else {
                continue;
            };
            if json.is_empty() {
                whole.remove(field);
                absent.push(field);
            } else {
                let value: Value = serde_json::from_str(json).map_err(|_| {
                    Error::invalid(self.write, "a kept field is not JSON")
                        .with("skill", &skill.name)
                        .hint(format!("write JSON under `{key}`, or remove the line"))
                })?;
                whole.insert(field.to_owned(), value.clone());
                kept.insert(field.to_owned(), value);
            }
        }
        // A kept field that the skill's text was made of is still true while it gives the skill's present text.
        let before = (self.draft)(&whole).ok();
        let told = before
            .as_ref()
            .and_then(|before| (self.fields)(before).ok());
        let holds = |field: &str| {
            let told = told.as_ref().is_some_and(|told| told.contains_key(field));
            let agrees = |before| (self.agree)(field, before, &draft);
            !(told || given.contains_key(field)) || before.as_ref().is_some_and(agrees)
        };
        let mut entry = given.clone();
        entry.retain(|field, _| !(absent.contains(&field.as_str()) && holds(field)));
        entry.extend(kept.into_iter().filter(|(field, _)| holds(field)));
        Ok(entry)
    }
}

/// Converts a skill back to a draft.
fn draft(skill: &Skill) -> SkillDraft {
    let title = skill.original_name.as_deref();
    let title = title.unwrap_or_else(|| skill.name.as_str());
    let mut draft = SkillDraft::new(title, skill.description.as_str(), skill.body.as_str());
    draft.kind = skill.kind;
    draft.scope = skill.scope.clone();
    draft.trigger = skill.trigger.clone();
    draft.metadata = skill.metadata.clone();
    draft
}
