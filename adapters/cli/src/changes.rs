//! Sets fields of a recipe or a universe by their paths in its JSON form. A policy of a recipe is an object with a name and
//! options: one of another name takes the place of the policy that was there, and its options.

use std::ops::Range;

use journeyman::{Error, recipe::Recipe};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// A value and the path of its field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    /// Names of fields, separated by dots.
    pub(crate) path: String,
    /// None removes the value of a field that may be absent. The fields of an object are set one by one, and others stay.
    pub(crate) value: Option<Value>,
    /// Whether an object takes the place of the one that was there.
    pub(crate) replaces: bool,
    /// The change's place in the file.
    pub(crate) span: Range<usize>,
}

/// A change that cannot be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Change {
    /// Gives the field at `path` the value of another recipe's field.
    pub(crate) fn taken(
        path: &str,
        (from, at): (&Recipe, &str),
        span: Range<usize>,
    ) -> Result<Self, Refusal> {
        let form = written(from)?;
        let at: Vec<&str> = at.split('.').collect();
        let value = look(&form, &at).ok_or_else(|| unknown(&form, &at))?;
        Ok(Self {
            path: path.to_owned(),
            value: (!value.is_null()).then(|| value.clone()),
            replaces: true,
            span,
        })
    }

    /// Makes the change. Deserializing ignores unknown fields, so the change is accepted only if the result has the value
    /// at the path.
    pub(crate) fn make<T>(&self, base: &T) -> Result<T, Refusal>
    where
        T: Serialize + DeserializeOwned,
    {
        let form = written(base)?;
        let path: Vec<&str> = self.path.split('.').collect();
        let Some(value) = &self.value else {
            if look(&form, &path).is_none() {
                return Err(unknown(&form, &path));
            }
            return read(with(&form, &path, Value::Null));
        };
        let base = match self.replaces && look(&form, &path).is_some() {
            true => with(&form, &path, Value::Null),
            false => form.clone(),
        };
        let change = path
            .iter()
            .rev()
            .fold(value.clone(), |inner, name| json!({ *name: inner }));
        let merged = read(merged(&base, &change, false));
        // A place may be an enumeration, whose variant is its only field: a new variant replaces the old one.
        let made: T = merged.or_else(|refusal| {
            let switched = read(self::merged(&base, &change, true));
            // That the old variant stands beside the new one says nothing of what was given.
            let is_of_both = refusal.message.contains("single key");
            switched.map_err(|of_new| if is_of_both { of_new } else { refusal })
        })?;
        let result = written(&made)?;
        for (at, leaf) in leaves(value) {
            let at: Vec<&str> = path.iter().copied().chain(at).collect();
            if !look(&result, &at).is_some_and(|found| same(found, leaf)) {
                return Err(unknown(&form, &at));
            }
        }
        Ok(made)
    }
}

/// The fields of a change in place of those of a form. A policy gives way to one of another name. With `switches`, an object with
/// one field gives way to another with one.
fn merged(form: &Value, change: &Value, switches: bool) -> Value {
    let (Value::Object(old), Value::Object(new)) = (form, change) else {
        return change.clone();
    };
    let has_other = new.len() == 1 && old.len() == 1 && !new.keys().eq(old.keys());
    let name = new.get("name");
    let is_renamed = is_policy(old) && name.is_some() && name != old.get("name");
    let mut fields = match is_renamed || (switches && has_other) {
        true => Map::new(),
        false => old.clone(),
    };
    for (name, value) in new {
        let inner = fields.get(name).cloned().unwrap_or(Value::Null);
        fields.insert(name.clone(), merged(&inner, value, switches));
    }
    Value::Object(fields)
}

/// Whether an object is a policy: it has a name, and nothing but options beside it.
fn is_policy(fields: &Map<String, Value>) -> bool {
    let mut names = fields.keys().map(String::as_str);
    fields.contains_key("name") && names.all(|name| matches!(name, "name" | "options"))
}

/// The values of an object that are no objects, with their paths; any other value itself.
fn leaves(value: &Value) -> Vec<(Vec<&str>, &Value)> {
    let Value::Object(fields) = value else {
        return vec![(Vec::new(), value)];
    };
    let of = |(name, inner)| {
        let inner: Vec<(Vec<&str>, &Value)> = leaves(inner);
        inner.into_iter().map(move |(path, leaf)| {
            let path = std::iter::once(String::as_str(name)).chain(path);
            (path.collect(), leaf)
        })
    };
    fields.iter().flat_map(of).collect()
}

fn written(base: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(base).map_err(|error| refusal(&error))
}

fn read<T: DeserializeOwned>(form: Value) -> Result<T, Refusal> {
    serde_json::from_value(form).map_err(|error| refusal(&error))
}

fn refusal(error: &serde_json::Error) -> Refusal {
    let said = expected(&error.to_string());
    let known = said.strip_prefix("unknown field ");
    let known = known.and_then(|said| said.split_once(", expected "));
    Refusal {
        message: match known {
            Some((_, known)) => format!("there is no such field: expected {known}"),
            None => said,
        },
        hint: "see the field's documentation for what it takes".to_owned(),
    }
}

/// An error about a recipe, with the reason behind it: which option a policy has not, for one.
pub(crate) fn with_reason(error: &Error) -> String {
    match std::error::Error::source(error) {
        None => error.message().to_owned(),
        Some(reason) => format!("{}: {}", error.message(), expected(&reason.to_string())),
    }
}

/// A deserializer's message without the value that it repeats (S11).
pub(crate) fn expected(said: &str) -> String {
    match said.split_once(", expected ") {
        Some((before, expected)) if before.starts_with("invalid ") => {
            format!("the value does not fit: expected {}", in_words(expected))
        }
        Some((before, expected)) if before.starts_with("unknown variant ") => {
            format!("there is no such choice: expected {expected}")
        }
        _ => said.to_owned(),
    }
}

/// What a deserializer expected, without the names of Rust's types.
fn in_words(expected: &str) -> String {
    let whole = |kind: &str| {
        let number = kind.strip_prefix(['u', 'i']).unwrap_or_default();
        kind == "usize" || number.parse::<u8>().is_ok()
    };
    match expected.strip_prefix("a nonzero ") {
        Some(kind) if whole(kind) => "a whole number from 1".to_owned(),
        _ if whole(expected) => "a whole number".to_owned(),
        _ if expected == "f64" || expected == "f32" => "a number".to_owned(),
        _ if expected == "a boolean" => "true or false".to_owned(),
        _ => expected.to_owned(),
    }
}

/// The refusal of an unknown path, with the fields that exist at its deepest known place.
fn unknown(form: &Value, path: &[&str]) -> Refusal {
    let mut place = form;
    let mut known = Vec::new();
    for name in path {
        match place.get(name) {
            Some(inner) if inner.is_object() => {
                place = inner;
                known.push(*name);
            }
            _ => break,
        }
    }
    let mut names: Vec<&str> = place.as_object().map_or_else(Vec::new, |fields| {
        fields.keys().map(String::as_str).collect()
    });
    names.sort_unstable();
    let place = match known.is_empty() {
        true => "at the top".to_owned(),
        false => format!("at `{}`", known.join(".")),
    };
    Refusal {
        message: "there is no such field".to_owned(),
        hint: format!("{place} there are: {}", names.join(", ")),
    }
}

fn look<'a>(form: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(form, |place, name| place.get(name))
}

fn with(form: &Value, path: &[&str], value: Value) -> Value {
    let Some((name, rest)) = path.split_first() else {
        return value;
    };
    let mut fields = form.as_object().cloned().unwrap_or_else(Map::new);
    let inner = fields.get(*name).cloned().unwrap_or(Value::Null);
    fields.insert((*name).to_owned(), with(&inner, rest, value));
    Value::Object(fields)
}

/// Equality up to the precision of a field's number type.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => (one - other).abs() <= 1e-6 * other.abs(),
            _ => false,
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::num::NonZeroUsize;

    use journeyman::{
        recipe::{self, Recipe},
        stations::{
            propose::WriteWhen,
            select::{Candidates, Random, Top},
        },
    };

    use super::*;

    fn made(base: &Recipe, path: &str, value: Option<Value>) -> Result<Recipe, Refusal> {
        let change = Change {
            path: path.to_owned(),
            value,
            replaces: false,
            span: 0..0,
        };
        change.make(base)
    }

    #[test]
    fn values_go_to_their_paths() {
        let arise = recipe::arise();
        let gate = |recipe: &Recipe| recipe.gate().unwrap();
        let set = |path, value| made(&arise, path, Some(value)).unwrap();
        let changed = set("select.selector.options.relative", json!(0.15));
        assert_eq!(gate(&changed).relative, Some(0.15));
        assert_eq!(gate(&changed).epsilon, 0.1);
        assert_eq!(
            set("attempts.temperature", json!(0.3)).attempts.temperature,
            0.3
        );
        assert_eq!(set("tiers.cache", json!(5)).tiers.cache, 5);
        assert_eq!(
            set("select.skill_tokens", json!(200)).select.skill_tokens,
            NonZeroUsize::new(200)
        );
        assert_eq!(
            set("select.selector.name", json!("random")).select.selector,
            Random.into()
        );
        assert_eq!(
            set("write.when.below", json!(0.5)).write.when,
            WriteWhen::Below(0.5)
        );
        assert_eq!(
            set("select.candidates.search.limit", json!(3))
                .select
                .candidates,
            Candidates::Search {
                limit: NonZeroUsize::new(3).unwrap()
            }
        );
        let top = Top {
            limit: NonZeroUsize::new(2).unwrap(),
        };
        let named = json!({"name": "top", "options": {"limit": 2}});
        assert_eq!(set("select.selector", named).select.selector, top.into());
        let several = json!({"epsilon": 0.0, "relative": 0.2});
        let both = gate(&set("select.selector.options", several));
        assert_eq!(
            (both.epsilon, both.relative, both.temperature),
            (0.0, Some(0.2), 1.0)
        );
        let named = json!({"name": "gate", "options": {"epsilon": 0.2}});
        let still = gate(&set("select.selector", named));
        assert_eq!((still.epsilon, still.relative), (0.2, Some(0.35)));
        let open = made(&arise, "select.selector.options.relative", None).unwrap();
        assert_eq!(gate(&open).relative, None);
    }

    #[test]
    fn one_form_takes_the_place_of_another() {
        #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum When {
            Below(f64),
            Every(u64),
        }
        #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
        struct Schedule {
            write: When,
        }
        let change = Change {
            path: "write.every".to_owned(),
            value: Some(json!(5)),
            replaces: false,
            span: 0..0,
        };
        let base = Schedule {
            write: When::Below(0.5),
        };
        assert_eq!(change.make(&base).unwrap().write, When::Every(5));
    }

    #[track_caller]
    fn refused(path: &str, value: Option<Value>, message: &str, hint: &str) {
        let refusal = made(&recipe::standard(), path, value).unwrap_err();
        assert!(refusal.message.contains(message), "{refusal:?}");
        assert!(refusal.hint.contains(hint), "{refusal:?}");
    }

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        let no_field = "there is no such field";
        refused(
            "tiers.caches",
            Some(json!(5)),
            no_field,
            "at `tiers` there are: beta, cache",
        );
        refused(
            "tiers",
            Some(json!({"cache": 5, "caches": 1})),
            no_field,
            "at `tiers` there are: beta, cache",
        );
        refused("gruop", Some(json!(2)), no_field, "at the top there are: ");
        refused(
            "reward.binary",
            Some(json!(true)),
            "there is no such field: expected `by` or `skill_use`",
            "",
        );
        refused(
            "select.selector.gate.relative",
            None,
            no_field,
            "at `select.selector`",
        );
        refused(
            "select.per",
            Some(json!("tasks")),
            "there is no such choice: expected one of `query`, `rollout`",
            "",
        );
        refused(
            "select.candidates.search.limit",
            Some(json!(0)),
            "the value does not fit: expected a whole number from 1",
            "",
        );
        refused(
            "select.selector",
            Some(json!("random")),
            r#"a policy is {"name": "top", "options": {"limit": 3}}"#,
            "",
        );
        refused(
            "select.selector.top.limit",
            Some(json!(1)),
            "expected `name` or `options`",
            "",
        );
        refused(
            "attempts.group",
            Some(json!("eight")),
            "the value does not fit: expected a whole number from 1",
            "",
        );
        refused("attempts.group", None, "expected a whole number from 1", "");
    }

    #[test]
    fn options_of_another_policy_are_told_with_the_reason() {
        let check = |path, value, reason: &str| {
            let changed = made(&recipe::standard(), path, Some(value)).unwrap();
            let error = changed.validate().unwrap_err();
            let told = with_reason(&error);
            assert!(told.contains("not the options of this policy"), "{told}");
            assert!(told.contains(reason), "{told}");
        };
        let unknown = "unknown field `threshold`, expected one of `score`";
        check("select.selector.options.threshold", json!(0.15), unknown);
        let top = json!({"name": "top", "options": {"limit": 0}});
        check("select.selector", top, "expected a whole number from 1");
    }
}
