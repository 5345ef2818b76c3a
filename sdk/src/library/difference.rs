//! The difference of two versions of a skill.

use std::fmt;

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use super::SkillLibrary;
use crate::{
    domain::{Skill, SkillRef},
    error::{Error, ErrorKind, Result},
    id::{SkillId, Version},
};

/// The difference of two versions of a skill; `Display` writes it for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The first version.
    pub from: SkillRef,
    /// The second version.
    pub to: SkillRef,
    /// The fields besides the body that differ.
    pub fields: Vec<FieldChange>,
    /// The body's lines as a unified diff with three lines of context; empty where it is the same.
    pub body: String,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// The value in the first version; `None` where it has none.
    pub from: Option<String>,
    /// The value in the second version; `None` where it has none.
    pub to: Option<String>,
}

impl SkillLibrary {
    /// The difference of two versions of a skill, in either order.
    ///
    /// # Errors
    /// `NotFound` for a version that the library does not know.
    pub fn difference(&self, skill: &SkillId, from: Version, to: Version) -> Result<Difference> {
        let version = |version: Version| {
            let wanted = SkillRef {
                id: skill.clone(),
                version,
            };
            self.version(&wanted).ok_or_else(|| {
                Error::new(
                    ErrorKind::NotFound,
                    "SkillLibrary::difference",
                    "the skill has no such version",
                )
                .with("skill", skill)
                .with("version", version)
                .hint("versions count from 1; `Entry::versions` lists those of a skill")
            })
        };
        Ok(Difference::of(version(from)?, version(to)?))
    }
}

impl Difference {
    fn of(from: &Skill, to: &Skill) -> Self {
        let fields = fields(from)
            .into_iter()
            .zip(fields(to))
            .filter(|((_, from), (_, to))| from != to)
            .map(|((field, from), (_, to))| FieldChange {
                field: field.to_owned(),
                from,
                to,
            });
        let mut all: Vec<FieldChange> = fields.collect();
        let keys = from.metadata.keys().chain(to.metadata.keys());
        let keys: std::collections::BTreeSet<&String> = keys.collect();
        all.extend(keys.into_iter().filter_map(|key| {
            let value = |skill: &Skill| skill.metadata.get(key).cloned();
            let (from, to) = (value(from), value(to));
            (from != to).then(|| FieldChange {
                field: format!("metadata.{key}"),
                from,
                to,
            })
        }));
        let label = |skill: &Skill| format!("{} version {}", skill.name, skill.version);
        let body = TextDiff::from_lines(&from.body, &to.body)
            .unified_diff()
            .context_radius(3)
            .header(&label(from), &label(to))
            .to_string();
        Self {
            from: from.reference(),
            to: to.reference(),
            fields: all,
            body: if from.body == to.body {
                String::new()
            } else {
                body
            },
        }
    }
}

fn fields(skill: &Skill) -> Vec<(&'static str, Option<String>)> {
    let word = |value: &dyn fmt::Debug| Some(format!("{value:?}").to_lowercase());
    vec![
        ("name", Some(skill.name.to_string())),
        ("original_name", skill.original_name.clone()),
        ("description", Some(skill.description.clone())),
        ("kind", word(&skill.kind)),
        ("scope", word(&skill.scope)),
        ("state", word(&skill.state)),
        ("trigger", skill.trigger.clone()),
        ("allowed_tools", Some(skill.allowed_tools.join(" "))),
        ("license", skill.license.clone()),
        ("compatibility", skill.compatibility.clone()),
        ("taint", word(&skill.taint)),
        ("origin", word(&skill.provenance.origin)),
        (
            "proven_on",
            skill.proven_on.as_ref().map(ToString::to_string),
        ),
    ]
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".to_owned());
        for change in &self.fields {
            let (from, to) = (shown(&change.from), shown(&change.to));
            writeln!(f, "{}: {from} -> {to}", change.field)?;
        }
        f.write_str(&self.body)
    }
}
