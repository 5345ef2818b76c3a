//! Extracts the object of a role's answer: finds it, unwraps it, and keeps only the role's fields.

use serde_json::{Map, Value};

use crate::{
    contract::RoleTask,
    domain::{Role, find_hidden},
    format::{SchemaRefusal, SchemaStage},
    text::{Candidate, NoObject, candidates},
};

type Read<T> = Result<T, SchemaRefusal>;
pub(super) type Object = Map<String, Value>;

/// The fields of a skill that a model writes.
const DRAFT: &[&str] = &["nothing", "name", "kind", "description", "trigger", "body"];
pub(super) const CASE: &[&str] = &["kind", "from", "about"];
/// Field names that models use for an object around the answer.
const WRAPPERS: [&str; 22] = [
    "skill",
    "new_skill",
    "refined_skill",
    "updated_skill",
    "mended_skill",
    "skill_document",
    "draft",
    "document",
    "answer",
    "final_answer",
    "result",
    "response",
    "output",
    "object",
    "json",
    "data",
    "summarize",
    "extract",
    "refactor",
    "refine",
    "attribute",
    "evolve",
];
/// Words in a field name that claim more than a role may decide: a skill's identity, permissions or state.
const NO_SAY: [&str; 49] = [
    "activate",
    "active",
    "allow",
    "allowed",
    "archive",
    "delete",
    "deleted",
    "demote",
    "disable",
    "disabled",
    "enable",
    "enabled",
    "erase",
    "file",
    "files",
    "forget",
    "grant",
    "id",
    "ids",
    "install",
    "license",
    "merge",
    "meta",
    "metadata",
    "origin",
    "overwrite",
    "permission",
    "permissions",
    "promote",
    "provenance",
    "quarantine",
    "release",
    "released",
    "remove",
    "rename",
    "replace",
    "script",
    "scripts",
    "skills",
    "state",
    "status",
    "taint",
    "tainted",
    "tier",
    "tools",
    "trust",
    "trusted",
    "utility",
    "version",
];

/// Such names written without a gap between words.
const CLAIMS: [&str; 5] = [
    "allowedtools",
    "skillid",
    "skillids",
    "deleteskill",
    "deleteskills",
];
/// Fields that a refined skill keeps and that the role refine cannot change.
const RENAMES: [&str; 7] = [
    "name",
    "title",
    "kind",
    "type",
    "scope",
    "skill_name",
    "new_name",
];

pub(super) fn refuse<T>(reason: impl Into<String>) -> Read<T> {
    Err(SchemaRefusal::new(SchemaStage::Parse, reason))
}

/// The fields of a role's answer.
pub(super) fn fields(role: Role) -> &'static [&'static str] {
    match role {
        Role::Summarize => &[
            "skill_name",
            "problem_type",
            "key_insight",
            "method",
            "check",
        ],
        Role::Extract | Role::Refactor => DRAFT,
        Role::Refine => &["nothing", "change", "description", "trigger", "body"],
        Role::Attribute => &["reason", "scope", "judgement"],
        Role::Bundle => &["cases"],
        Role::Evolve => &["analysis", "summary", "rules"],
        Role::Segment => &["subgoals"],
        Role::DistilPrototype => &[
            "title",
            "use_context",
            "objectives",
            "pattern",
            "checklist",
            "traps",
        ],
        Role::Route => &["reason", "prototype", "confidence"],
        Role::Score => &["reason", "score"],
        Role::Curate => &["calls"],
        Role::Tag => &["tags"],
        Role::Lesson => &["step", "flawed", "should", "principle"],
        Role::DistilBank => &["skills"],
    }
}

/// Reads the object of an answer. Of several objects the first is the answer, unless another one is valid and different:
/// then the answer is ambiguous and refused.
pub(super) fn read<T: PartialEq>(
    task: &RoleTask,
    text: &str,
    parse: impl Fn(Object) -> Read<T>,
) -> Read<T> {
    read_fields(fields(task.role()), text, parse)
}

/// As [`read`], for these fields.
pub(super) fn read_fields<T: PartialEq>(
    fields: &[&str],
    text: &str,
    parse: impl Fn(Object) -> Read<T>,
) -> Read<T> {
    let objects = |value: &Value| match value {
        Value::Array(items) => items.iter().any(Value::is_object),
        _ => value.is_object(),
    };
    let found = candidates(text, objects).map_err(no_object)?;
    let mut found = found.list.into_iter();
    let Some(first) = found.next() else {
        return Err(no_object(NoObject::Absent));
    };
    let one = |candidate: Candidate<'_>| {
        let value = candidate.value.map_err(no_object)?;
        parse(cleaned(unwrapped(value, fields)?, fields)?)
    };
    let answer = one(first)?;
    match found
        .filter_map(|other| one(other).ok())
        .all(|other| other == answer)
    {
        true => Ok(answer),
        false => refuse("the answer holds two objects that say different things; write one"),
    }
}

fn no_object(fault: NoObject) -> SchemaRefusal {
    let stage = match fault {
        NoObject::Absent | NoObject::TooLong => SchemaStage::Extract,
        // There is an object, and its JSON has a fault.
        _ => SchemaStage::Parse,
    };
    SchemaRefusal::new(stage, fault.to_string())
}

/// Takes the object out of an array of one item, or out of an object with one field that only names it.
fn unwrapped(mut value: Value, fields: &[&str]) -> Read<Object> {
    for _ in 0..3 {
        match value {
            Value::Array(mut items) => {
                let count = items.len();
                match (items.pop(), count) {
                    (Some(item), 1) => value = item,
                    _ => {
                        return refuse(format!(
                            "the answer is an array of {count} values; write one object"
                        ));
                    }
                }
            }
            Value::Object(object) => match wrapped(&object, fields) {
                Some(inner) => value = inner,
                None => return Ok(object),
            },
            _ => break,
        }
    }
    refuse("the answer is no JSON object")
}

fn wrapped(object: &Object, fields: &[&str]) -> Option<Value> {
    let mut entries = object.iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return None;
    };
    let key = plain(key);
    let wraps = WRAPPERS.contains(&key.as_str()) && !fields.contains(&key.as_str());
    let holds = matches!(value, Value::Object(_) | Value::Array(_));
    (wraps && holds).then(|| value.clone())
}

/// The object with only these fields, each under its exact name, and its texts without zero-width characters. A field that
/// claims more than a role may decide is refused, and its name is not repeated.
pub(super) fn cleaned(object: Object, fields: &[&str]) -> Read<Object> {
    let exact = |key: &str| fields.contains(&key);
    let mut clean = Object::new();
    let (own, others): (Vec<_>, Vec<_>) = object.into_iter().partition(|(key, _)| exact(key));
    for (key, value) in own {
        clean.insert(key, visible(value));
    }
    for (key, value) in others {
        let key = match plain(&key).as_str() {
            "judgment" => "judgement".to_owned(),
            key => key.to_owned(),
        };
        if exact(&key) {
            let value = visible(value);
            if clean.get(&key).is_some_and(|before| *before != value) {
                return refuse(format!("{key} stands twice, with different values"));
            }
            clean.insert(key, value);
        } else if has_no_say(&key, fields) {
            return refuse(format!(
                "the object has a field that this role has no say in; its fields are {}",
                fields.join(", ")
            ));
        }
    }
    Ok(clean)
}

/// Whether a field claims more than the role may decide. Other fields, such as `confidence` or `notes`, are ignored.
fn has_no_say(key: &str, fields: &[&str]) -> bool {
    let mends = fields.contains(&"change");
    let renames = mends && RENAMES.contains(&key);
    let claims = |word: &str| NO_SAY.contains(&word);
    renames || key.split('_').any(claims) || CLAIMS.contains(&key.replace('_', "").as_str())
}

/// A field's name in lower case with underscores between its words.
fn plain(key: &str) -> String {
    let mut name = String::new();
    let mut lower = false;
    for c in key.trim().chars() {
        let inner = lower && c.is_uppercase();
        if (inner || !c.is_alphanumeric()) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if c.is_alphanumeric() {
            name.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    name.trim_end_matches('_').to_owned()
}

/// A value whose texts have no zero-width spaces, word joiners and byte order marks, where these are hidden characters.
fn visible(value: Value) -> Value {
    match value {
        Value::String(text) => match find_hidden(&text) {
            None => Value::String(text),
            Some(_) => Value::String(text.replace(['\u{200B}', '\u{2060}', '\u{FEFF}'], "")),
        },
        Value::Array(items) => items.into_iter().map(visible).collect(),
        value => value,
    }
}
