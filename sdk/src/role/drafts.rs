//! What the answers of all roles that write skills have in common.

use serde_json::Value;

use super::{
    object::{Object, Read, refuse},
    values::{LINE, line},
};
use crate::{
    contract::RoleAnswer,
    domain::{Kind, SkillName},
};

/// The greatest length of a body in characters: about 5,000 tokens, the greatest length that the Agent Skills specification
/// recommends.
pub(super) const BODY: usize = 20_000;
pub(super) const KINDS: [(&str, Kind); 3] = [
    ("function", Kind::Function),
    ("workflow", Kind::Workflow),
    ("knowledge", Kind::Knowledge),
];
/// The reason for writing nothing, where the answer gives only that.
pub(super) fn nothing(object: &mut Object) -> Read<Option<RoleAnswer>> {
    Ok(reason(object, "nothing")?.map(RoleAnswer::Nothing))
}

/// The reason in this field, where the answer gives only that.
pub(super) fn reason(object: &mut Object, field: &str) -> Read<Option<String>> {
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    };
    let Some(reason) = object.get(field) else {
        return Ok(None);
    };
    let mut others = object.iter().filter(|(key, _)| *key != field);
    let written = others.any(|(_, value)| !says_nothing(value));
    match (says_nothing(reason), written) {
        (true, true) => {
            object.remove(field);
            Ok(None)
        }
        (false, true) => refuse(format!(
            "the object has `{field}` and beside it fields of a skill; write one or the other"
        )),
        (_, false) => {
            object.retain(|key, _| key == field);
            Ok(Some(line(object, field, LINE)?))
        }
    }
}

/// The name of a skill.
pub(super) fn name(object: &mut Object) -> Read<String> {
    let name = line(object, "name", SkillName::MAX)?;
    match SkillName::slug(&name) {
        Some(_) => Ok(name),
        None => refuse("name has no letter or digit"),
    }
}
