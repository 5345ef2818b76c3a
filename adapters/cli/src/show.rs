//! `skill list`, `skill show` and `skill diff`.

use std::{collections::BTreeMap, path::Path};

use journeyman::{
    Error, ErrorKind, ModelId, Result, Version,
    domain::{Skill, SkillRef, State},
    library::{Entry, format::SkillMd},
    text::plain_terminal,
};
use serde_json::{Map, Value, json};

use crate::{
    arguments::{List, OfState},
    library::{find, read},
    output::{Answer, table, word},
};

impl OfState {
    fn state(self) -> State {
        match self {
            Self::Draft => State::Draft,
            Self::Quarantined => State::Quarantined,
            Self::Trial => State::Trial,
            Self::Active => State::Active,
            Self::Disabled => State::Disabled,
            Self::Archived => State::Archived,
        }
    }
}

pub(crate) async fn list(root: &Path, list: &List) -> Result<Answer> {
    let opened = read(root).await?;
    let states: Vec<State> = list.state.iter().map(|state| state.state()).collect();
    let mut entries: Vec<&Entry> = opened
        .library
        .entries()
        .filter(|entry| states.is_empty() || states.contains(&entry.skill.state))
        .collect();
    entries.sort_by(|one, other| one.skill.name.cmp(&other.skill.name));
    let rows: Vec<Vec<String>> = entries.iter().map(|entry| row(entry)).collect();
    let head = ["NAME", "VERSION", "STATE", "TIER", "UTILITY", "USES", "ID"];
    let text = match rows.is_empty() {
        false => table(&head, &rows),
        true if opened.library.entries().next().is_some() => {
            "No skill is in such a state. `journeyman skill list` without --state shows all.\n"
                .to_owned()
        }
        true => "The library has no skill yet: `journeyman skill import` takes some in, and `journeyman run` learns some.\n"
            .to_owned(),
    };
    Ok(Answer {
        json: json!({
            "revision": opened.library.revision(),
            "skills": entries.iter().map(|entry| summary(entry)).collect::<Vec<_>>(),
        }),
        text,
        ..Answer::default()
    })
}

fn row(entry: &Entry) -> Vec<String> {
    vec![
        entry.skill.name.to_string(),
        entry.skill.version.to_string(),
        word(&entry.skill.state),
        word(&entry.tier),
        format!("{:.3}", entry.utility),
        entry.uses.to_string(),
        entry.skill.id.to_string(),
    ]
}

fn summary(entry: &Entry) -> Value {
    let skill = &entry.skill;
    json!({
        "id": skill.id,
        "name": skill.name,
        "version": skill.version,
        "state": skill.state,
        "tier": entry.tier,
        "origin": skill.provenance.origin,
        "taint": skill.taint,
        "utility": entry.utility,
        "uses": entry.uses,
        "credits": entry.credits,
        "description": skill.description,
    })
}

pub(crate) async fn show(root: &Path, name: &str, version: Option<u64>) -> Result<Answer> {
    let opened = read(root).await?;
    let entry = find(&opened.library, name)?;
    let wanted = version.map_or(entry.skill.version, Version);
    let reference = SkillRef {
        id: entry.skill.id.clone(),
        version: wanted,
    };
    let skill = opened
        .library
        .version(&reference)
        .ok_or_else(|| no_version(entry, wanted))?;
    // A version that cannot be written as SKILL.md is still shown by its facts.
    let file = SkillMd::from(skill).write();
    let facts = facts(entry, skill);
    let mut text = lines(&facts);
    match &file {
        Ok(file) => text.push_str(&format!("\n{}", plain_terminal(file))),
        Err(error) => text.push_str(&format!(
            "\nit cannot be written as SKILL.md: {}\n",
            error.message()
        )),
    }
    let facts: Map<String, Value> = facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Ok(Answer {
        json: json!({ "skill": facts, "skill_md": file.ok() }),
        text,
        ..Answer::default()
    })
}

pub(crate) fn no_version(entry: &Entry, version: Version) -> Error {
    let message = "the skill has no such version";
    let versions = entry.versions().map(|skill| skill.version.to_string());
    Error::new(ErrorKind::NotFound, "skill", message)
        .with("name", &entry.skill.name)
        .with("version", version)
        .hint(format!(
            "it has {}",
            versions.collect::<Vec<_>>().join(", ")
        ))
}

/// The library's facts about a version, in display order.
fn facts(entry: &Entry, skill: &Skill) -> Vec<(&'static str, Value)> {
    let versions: Vec<Version> = entry.versions().map(|skill| skill.version).collect();
    let evidence = entry.evidence.iter().filter(|e| e.version == skill.version);
    let evidence: Vec<Value> = evidence
        .map(|e| json!({"attempt": e.attempt, "run": e.run, "reward": e.reward, "uses": e.uses}))
        .collect();
    let files: Vec<Value> = skill
        .files
        .iter()
        .map(|(path, file)| json!({"path": path, "sha256": file.sha256, "bytes": file.bytes}))
        .collect();
    let proven_on: Vec<&ModelId> = entry.life.proven_on(skill.version).collect();
    vec![
        ("name", json!(skill.name)),
        ("id", json!(skill.id)),
        ("version", json!(skill.version)),
        ("versions", json!(versions)),
        ("state", json!(skill.state)),
        ("tier", json!(entry.tier)),
        ("kind", json!(skill.kind)),
        ("scope", json!(skill.scope)),
        ("original_name", json!(skill.original_name)),
        ("origin", json!(skill.provenance.origin)),
        ("runs", json!(skill.provenance.runs)),
        ("tasks", json!(skill.provenance.tasks)),
        ("taint", json!(skill.taint)),
        ("parents", json!(skill.parents)),
        ("proven_on", json!(proven_on)),
        ("utility", json!(entry.utility)),
        ("uses", json!(entry.uses)),
        ("credits", json!(entry.credits)),
        ("lifetime", json!(entry.life.lifetime())),
        ("evidence", json!(evidence)),
        ("files", json!(files)),
        ("added_at", json!(entry.added_at)),
        ("changed_at", json!(entry.changed_at)),
        ("content_sha256", json!(skill.content_sha256())),
    ]
}

/// Facts as text, one line each, without absent ones.
fn lines(facts: &[(&str, Value)]) -> String {
    let rows: Vec<Vec<String>> = facts
        .iter()
        .filter(|(_, value)| !value.is_null() && *value != json!([]))
        .map(|(name, value)| vec![label(name), plain(value)])
        .collect();
    table(&[], &rows)
}

/// A fact's name as text, with what its numbers count.
fn label(name: &str) -> String {
    match name {
        "added_at" => "added at revision".to_owned(),
        "changed_at" => "changed at revision".to_owned(),
        "lifetime" => "attempts".to_owned(),
        "content_sha256" => "SHA-256 of content".to_owned(),
        name => name.replace('_', " "),
    }
}

/// A value as text: strings without quotes, lists with commas, fractions with three digits.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            format!("{:.3}", number.as_f64().unwrap_or_default())
        }
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            // In the same order, whether or not a build's maps keep that of the fields.
            let fields: BTreeMap<&String, &Value> = fields.collect();
            let fields = fields.into_iter().map(|(name, value)| {
                let name = name.replace('_', " ");
                format!("{name} {}", plain(value))
            });
            fields.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

pub(crate) async fn diff(root: &Path, name: &str, from: u64, to: u64) -> Result<Answer> {
    let opened = read(root).await?;
    let entry = find(&opened.library, name)?;
    for version in [from, to].map(Version) {
        if !entry.versions().any(|skill| skill.version == version) {
            return Err(no_version(entry, version));
        }
    }
    let id = &entry.skill.id;
    let difference = opened.library.difference(id, Version(from), Version(to))?;
    Ok(Answer {
        text: difference.to_string(),
        json: json!(difference),
        ..Answer::default()
    })
}
