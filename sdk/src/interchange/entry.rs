//! One entry of a form and one skill: what the skill's own fields give back, and what is kept beside them.

use serde_json::Value;

use super::json::Entry;
use crate::{
    admit::{Admittance, to_skill},
    domain::{Origin, Provenance, Skill, SkillDraft, Source, Taint},
    error::{Error, Result},
    id::{SkillId, Version},
};

/// How the entries of a form and skills are told as each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Before each key of the metadata.
    pub(super) name: &'static str,
    /// For errors.
    pub(super) read: &'static str,
    /// For errors.
    pub(super) write: &'static str,
    /// The draft that an entry's fields give. The metadata holds nothing but what the form itself puts there.
    pub(super) draft: fn(&Entry) -> Result<SkillDraft>,
    /// The fields that a draft gives back.
    pub(super) fields: fn(&SkillDraft) -> Result<Entry>,
    /// Whether two drafts agree in what a field goes into.
    pub(super) agree: fn(&str, &SkillDraft, &SkillDraft) -> bool,
}

impl Form {
    /// The metadata's key for what is the form's and no field of an entry.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}-{name}", self.name)
    }

    fn prefix(&self) -> String {
        self.key("entry.")
    }

    /// The draft of an entry, with what its own fields do not give back.
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

    /// The skill of an entry at a place. It is not yet [`imported`](super::imported).
    pub(super) fn skill(&self, place: &str, entry: &Entry, source: &Source) -> Result<Skill> {
        let mut draft = self
            .keep(entry)
            .map_err(|error| Error::invalid(self.read, error.message()).with("place", place))?;
        draft.metadata.insert(self.key("place"), place.to_owned());
        let mut skill = self.admit(place, &draft, source)?;
        // Kept whatever the title: the library may give the skill another name.
        skill.original_name = Some(draft.title);
        Ok(skill)
    }

    /// The skill of a draft.
    pub(super) fn admit(&self, place: &str, draft: &SkillDraft, source: &Source) -> Result<Skill> {
        let mut draft = draft.clone();
        let set = self.key("set");
        draft.metadata.insert(set, source.name.clone());
        let admittance = Admittance {
            id: SkillId::new(place),
            version: Version(1),
            provenance: Provenance {
                origin: Origin::Imported,
                runs: Vec::new(),
                tasks: Vec::new(),
            },
            taint: Taint::Clean,
            parents: Vec::new(),
        };
        to_skill(&draft, admittance).map_err(|error| {
            Error::invalid(self.read, error.message())
                .with("place", place)
                .hint("a skill must fit into a SKILL.md: shorten or remove what does not")
        })
    }

    /// The entry of a skill.
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
        // A kept field that goes into the skill's text holds as long as it still gives the text that the skill has.
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

/// A skill as a draft again.
fn draft(skill: &Skill) -> SkillDraft {
    SkillDraft {
        title: skill
            .original_name
            .clone()
            .unwrap_or_else(|| skill.name.as_str().to_owned()),
        description: skill.description.clone(),
        kind: skill.kind,
        scope: skill.scope.clone(),
        trigger: skill.trigger.clone(),
        body: skill.body.clone(),
        metadata: skill.metadata.clone(),
    }
}
