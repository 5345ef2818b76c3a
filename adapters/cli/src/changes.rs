//! Sets fields of a recipe or a universe by their paths in its JSON form. A policy of a recipe is an object with a name and
//! options: one of another name takes the place of the policy that was there, and its options. Into a list of policies, or of
//! programs with their schedules, a path steps by a policy's name: `maintenance.programs.micro.every`.

use std::ops::Range;

use journeyman::{Error, recipe::Recipe};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// A value and the path of its field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    /// Names of fields, and of policies in lists, separated by dots.
    pub(crate) path: String,
    /// None removes the value of a field that may be absent, or an element of a list. The fields of an object are set one by one, and
    /// others stay; an element that a list has not is added, if the value is all of it.
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
            return read(without(&form, &path));
        };
        let change = path
            .iter()
            .rev()
            .fold(value.clone(), |inner, name| json!({ *name: inner }));
        let how = Merging {
            replaces: self.replaces.then_some(path.len()),
            switches: false,
        };
        let merged = read(merged(&form, &change, how));
        // A place may be an enumeration, whose variant is its only field: a new variant replaces the old one.
        let made: T = merged.or_else(|refusal| {
            let how = Merging {
                switches: true,
                ..how
            };
            let switched = read(self::merged(&form, &change, how));
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

/// How a change is merged into a form.
#[derive(Clone, Copy)]
struct Merging {
    /// Number of names above the value that takes the place of the one that was there; `None` where its fields are set one by one.
    replaces: Option<usize>,
    /// Whether an object with one field gives way to another with one.
    switches: bool,
}

/// The fields of a change in place of those of a form. A policy gives way to one of another name.
fn merged(form: &Value, change: &Value, how: Merging) -> Value {
    if how.replaces == Some(0) {
        return change.clone();
    }
    let below = Merging {
        replaces: how.replaces.map(|names| names - 1),
        ..how
    };
    let (old, new) = match (form, change) {
        (Value::Object(old), Value::Object(new)) => (old, new),
        (Value::Array(old), Value::Object(new)) if names(form).is_some() => {
            return Value::Array(merged_elements(old, new, below));
        }
        _ => return change.clone(),
    };
    let has_other = new.len() == 1 && old.len() == 1 && !new.keys().eq(old.keys());
    let name = new.get("name");
    let is_renamed = is_policy(old) && name.is_some() && name != old.get("name");
    let mut fields = match is_renamed || (how.switches && has_other) {
        true => Map::new(),
        false => old.clone(),
    };
    for (name, value) in new {
        let inner = fields.get(name).cloned().unwrap_or(Value::Null);
        fields.insert(name.clone(), merged(&inner, value, below));
    }
    Value::Object(fields)
}

/// The elements of a list of policies, each with the fields that a change has under its policy's name. One that is not there is
/// added where the change is all of it: it has a policy of that name.
fn merged_elements(old: &[Value], new: &Map<String, Value>, how: Merging) -> Vec<Value> {
    let mut elements = old.to_vec();
    for (name, value) in new {
        let is_named = |one: &Value| name_of(one) == Some(name.as_str());
        match elements.iter_mut().find(|one| is_named(one)) {
            Some(known) => *known = merged(known, value, how),
            None if is_named(value) => elements.push(value.clone()),
            None => {}
        }
    }
    elements
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
        // The name that follows is a type's.
        None if said.starts_with("data did not match any variant") => {
            "the value has none of the forms that are allowed here".to_owned()
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
        _ if expected == "a sequence" => "a list".to_owned(),
        _ if expected == "a map" || expected.starts_with("struct ") => {
            "a table of fields".to_owned()
        }
        _ if expected.contains("enum ") => "one of the field's choices".to_owned(),
        _ => expected.to_owned(),
    }
}

/// The refusal of an unknown path, with the names that exist at its deepest known place.
fn unknown(form: &Value, path: &[&str]) -> Refusal {
    let mut place = form;
    let mut known = Vec::new();
    for name in path {
        match step(place, name).filter(|inner| names(inner).is_some()) {
            Some(inner) => {
                place = inner;
                known.push(*name);
            }
            None => break,
        }
    }
    let mut names = names(place).unwrap_or_default();
    names.sort_unstable();
    let place = match known.is_empty() {
        true => "at the top".to_owned(),
        false => format!("at `{}`", known.join(".")),
    };
    let names = match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    Refusal {
        message: "there is no such field".to_owned(),
        hint: format!("{place} there are: {names}"),
    }
}

/// The names by which a path goes on from a place: an object's fields, or the policies of a list. `None` for any other value.
fn names(place: &Value) -> Option<Vec<&str>> {
    match place {
        Value::Object(fields) => Some(fields.keys().map(String::as_str).collect()),
        Value::Array(elements) => elements.iter().map(name_of).collect(),
        _ => None,
    }
}

/// The name of a list's element, which is a policy or schedules one.
fn name_of(element: &Value) -> Option<&str> {
    let policy = element.get("program").unwrap_or(element);
    policy.get("name")?.as_str()
}

/// Where a path's next name leads.
fn step<'a>(place: &'a Value, name: &str) -> Option<&'a Value> {
    match place {
        Value::Array(elements) => elements.iter().find(|one| name_of(one) == Some(name)),
        _ => place.get(name),
    }
}

fn look<'a>(form: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(form, |place, name| step(place, name))
}

/// The form without what a path leads to: null in a field's place, and a list without that element.
fn without(form: &Value, path: &[&str]) -> Value {
    let Some((name, rest)) = path.split_first() else {
        return Value::Null;
    };
    if let Value::Array(elements) = form {
        let kept = |one: &Value| match name_of(one) == Some(*name) {
            true if rest.is_empty() => None,
            true => Some(without(one, rest)),
            false => Some(one.clone()),
        };
        return Value::Array(elements.iter().filter_map(kept).collect());
    }
    let mut fields = form.as_object().cloned().unwrap_or_default();
    let inner = fields
        .get(*name)
        .map_or(Value::Null, |inner| without(inner, rest));
    fields.insert((*name).to_owned(), inner);
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

    use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

    use journeyman::{
        papers::hisme::MicroPolicy,
        recipe::{self, Recipe},
        stations::{
            propose::WriteWhen,
            select::{Candidates, Random, Top},
        },
    };

    use super::*;
    use crate::recipes::check;

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
        let top = Top::new(NonZeroUsize::new(2).unwrap());
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

    /// The programs of a recipe, in the order in which they run, each with the number of tasks between two runs.
    fn programs(recipe: &Recipe) -> Vec<(&str, u64)> {
        let programs = recipe.maintenance.programs.iter();
        let named = programs.map(|one| {
            (
                one.program.name.as_str(),
                one.every.map_or(0, NonZeroU64::get),
            )
        });
        named.collect()
    }

    #[test]
    fn a_path_steps_into_a_list_by_the_name_of_a_policy() {
        let hisme = recipe::hisme();
        let micro = |recipe: &Recipe| recipe.maintenance.get::<MicroPolicy>().unwrap();
        let set = |path: &str, value| made(&hisme, path, Some(value)).unwrap();
        assert_eq!(programs(&hisme), [("micro", 5), ("macro", 5)]);
        let changed = set("maintenance.programs.micro.every", json!(7));
        assert_eq!(programs(&changed), [("micro", 7), ("macro", 5)]);
        assert_eq!(micro(&changed), micro(&hisme));
        let options = "maintenance.programs.micro.program.options";
        let changed = set(&format!("{options}.bundles.tasks"), json!(4));
        let mut expected = micro(&hisme);
        expected.bundles.as_mut().unwrap().tasks = NonZeroU32::new(4).unwrap();
        assert_eq!(micro(&changed), expected);
        let several = json!({"programs": {
            "macro": {"every": 9},
            "micro": {"program": {"options": {"bundles": {"tasks": 4}}}},
        }});
        let changed = set("maintenance", several);
        assert_eq!(programs(&changed), [("micro", 5), ("macro", 9)]);
        assert_eq!(micro(&changed), expected);
        let bare = made(&hisme, &format!("{options}.refine"), None).unwrap();
        assert_eq!(micro(&bare).refine, None);
        assert_eq!(micro(&bare).bundles, micro(&hisme).bundles);
        let alone = made(&hisme, "maintenance.programs.micro", None).unwrap();
        assert_eq!(programs(&alone), [("macro", 5)]);
        // A whole one is added, and a list takes the place of another.
        let gains = json!({"every": 20, "program": {"name": "gains"}});
        let more = set("maintenance.programs.gains", gains.clone());
        assert_eq!(programs(&more), [("micro", 5), ("macro", 5), ("gains", 20)]);
        let other = set("maintenance.programs", json!([gains]));
        assert_eq!(programs(&other), [("gains", 20)]);
    }

    #[test]
    fn what_is_taken_into_a_list_has_the_place_of_what_was_there() {
        let taken = |base: &Recipe, path: &str, from: &Recipe| {
            let change = Change::taken(path, (from, path), 0..0).unwrap();
            change.make(base)
        };
        let (hisme, robust) = (recipe::hisme(), recipe::hisme_robust());
        let at = "maintenance.programs.micro";
        let micro = |recipe: &Recipe| recipe.maintenance.get::<MicroPolicy>();
        let every = made(&hisme, &format!("{at}.every"), Some(json!(7))).unwrap();
        let whole = taken(&every, at, &robust).unwrap();
        assert_eq!(programs(&whole), [("micro", 5), ("macro", 5)]);
        assert_eq!(micro(&whole), micro(&robust));
        let program = taken(&every, &format!("{at}.program"), &robust).unwrap();
        assert_eq!(programs(&program), [("micro", 7), ("macro", 5)]);
        assert_eq!(micro(&program), micro(&robust));
        // An option that the other has not is gone.
        let bare = made(&robust, &format!("{at}.program.options.refine"), None).unwrap();
        let options = taken(&every, &format!("{at}.program.options"), &bare).unwrap();
        assert_eq!(micro(&options), micro(&bare));
        // Into a recipe without programs.
        let added = taken(&recipe::skillos(), at, &hisme).unwrap();
        assert_eq!(programs(&added), [("micro", 5)]);
        assert_eq!(micro(&added), micro(&hisme));
        let skillrl = recipe::skillrl();
        let bank = Change::taken(at, (&skillrl, "maintenance.programs.bank"), 0..0).unwrap();
        assert!(bank.make(&hisme).is_err(), "it has another name");
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
        let none = "there is no such field: expected one of `name`, `select`";
        refused("gruop", Some(json!(2)), none, "");
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
        let micro = "maintenance.programs.micro";
        let none = "at `maintenance.programs` there are: none";
        refused(&format!("{micro}.every"), Some(json!(5)), no_field, none);
        refused(micro, None, no_field, none);
        let other = json!({"every": 5, "program": {"name": "macro"}});
        refused(micro, Some(other), no_field, none);
        let bank = json!({"programs": {"bank": {"every": 5}}});
        let hisme = recipe::hisme();
        let refusal = made(&hisme, "maintenance", Some(bank)).unwrap_err();
        assert_eq!(refusal.message, no_field);
        assert_eq!(
            refusal.hint,
            "at `maintenance.programs` there are: macro, micro"
        );
        let within = made(&hisme, &format!("{micro}.each"), Some(json!(5))).unwrap_err();
        let known = "there is no such field: expected one of `every`, `first`, `program`";
        assert_eq!(within.message, known);
    }

    #[test]
    fn what_does_not_fit_is_told_without_the_names_of_rusts_types() {
        for (said, told) in [
            ("invalid type: string \"x\", expected f64", "a number"),
            (
                "invalid type: integer `3`, expected struct ModelForm",
                "a table of fields",
            ),
            (
                "invalid type: integer `3`, expected a map",
                "a table of fields",
            ),
            (
                "invalid type: boolean `true`, expected a sequence",
                "a list",
            ),
            (
                "invalid type: integer `3`, expected string or table, or enum Protocol",
                "one of the field's choices",
            ),
        ] {
            let due = format!("the value does not fit: expected {told}");
            assert_eq!(expected(said), due);
        }
        let untagged = expected("data did not match any variant of untagged enum HeldOut");
        assert!(!untagged.contains("HeldOut"), "{untagged}");
    }

    #[test]
    fn options_of_another_policy_are_told_with_the_reason() {
        let told = |base: &Recipe, path: &str, value, reason: &str| {
            let changed = made(base, path, Some(value)).unwrap();
            let told = with_reason(&check(&changed).unwrap_err());
            assert!(told.contains("not the options of this policy"), "{told}");
            assert!(told.contains(reason), "{told}");
        };
        let standard = recipe::standard();
        let unknown = "unknown field `threshold`, expected one of `score`";
        let threshold = "select.selector.options.threshold";
        told(&standard, threshold, json!(0.15), unknown);
        let top = json!({"name": "top", "options": {"limit": 0}});
        let from_one = "expected a whole number from 1";
        told(&standard, "select.selector", top, from_one);
        let hisme = recipe::hisme();
        let unknown = "unknown field `bundels`, expected one of `bundles`";
        let bundels = "maintenance.programs.micro.program.options.bundels";
        told(&hisme, bundels, json!({"tasks": 2}), unknown);
        let round = "maintenance.programs.bank.program.options.round";
        told(&recipe::skillrl(), round, json!(0), from_one);
        let unknown = "unknown field `frist`, expected one of `by`";
        let frist = "assess.options.frist";
        told(&recipe::scribe(), frist, json!(5), unknown);
    }
}
