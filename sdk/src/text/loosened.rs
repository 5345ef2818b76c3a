//! A foreign schema, without what makes it unusable.

use serde_json::{Map, Value, json};

mod places;

use places::{
    Below, below, child, child_mut, each, each_mut, is_known, leads_somewhere, pointer, tokens,
};

use super::schema::{self, MAX_BYTES, MAX_DEPTH, clipped};

/// The greatest number of flaws that are taken out one by one.
const ROUNDS: usize = 100;
/// A list of findings names at most this many flaws.
const TOLD: usize = 16;
/// A schema longer than this is not searched for flaws, in bytes of JSON.
const SEARCHED: usize = 16 * MAX_BYTES;
/// What of a description is kept where a schema is too long, in characters; the first that suffices.
const KEPT: [usize; 3] = [1_000, 200, 0];
/// The levels below the place at which a schema that is nested too deep is cut.
const BELOW: usize = 4;
/// Keywords that stand for fewer values when what is within them stands for more: they go as a whole.
const TURNED: [&str; 3] = ["not", "if", "contains"];
/// Keywords about what no other one took.
const UNEVALUATED: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords that no value is checked against.
const NOTES: [&str; 6] = [
    "description",
    "title",
    "$comment",
    "default",
    "examples",
    "example",
];

/// The schema of a foreign server as [`JsonSchema::new`](super::JsonSchema::new) takes it: only the keywords that it refuses
/// are left out, so that every value of the schema as it was meant is one of the loosened schema. With it what was left out:
/// the place (a JSON pointer) and why, at most 16, each of bounded length and on one line. Nothing is left out of a schema that
/// is taken as it is.
///
/// A keyword in `not`, `if` or `contains` takes that one with it, and `oneOf` becomes `anyOf`: there a looser part would make a
/// stricter whole. That holds for the schema as it is written, not for what `$ref` brings there. A schema that stays unusable
/// becomes one of any object, with the names of its fields.
///
/// Only with the feature `json-schema`.
///
/// ```
/// use journeyman::text::loosened;
/// use serde_json::json;
///
/// let (schema, left_out) = loosened(&json!({
///     "type": "object",
///     "properties": {"when": {"type": "datetime", "description": "The day."}},
/// }));
/// assert_eq!(
///     schema,
///     json!({"type": "object", "properties": {"when": {"description": "The day."}}})
/// );
/// assert!(left_out[0].starts_with("/properties/when/type: "));
/// ```
pub fn loosened(schema: &Value) -> (Value, Vec<String>) {
    let mut value = schema.clone();
    let mut left_out = Vec::new();
    let mut why = String::new();
    for _ in 0..ROUNDS {
        let flaw = match schema::compiled(&value) {
            Ok(_) => return (value, told(left_out)),
            Err(flaw) => flaw,
        };
        why = flaw.message;
        let place = match flaw.at.as_str() {
            "" if !value.is_object() => break,
            "" => match unplaced(&mut value) {
                Some(Unplaced::Shortened(how)) => {
                    left_out.push(how);
                    continue;
                }
                Some(Unplaced::At(place)) => place,
                None => break,
            },
            at => tokens(at),
        };
        let Some(act) = act(&value, &place) else {
            break;
        };
        left_out.push(format!("{}: {why}", pointer(&place[..act.length])));
        if !act.apply(&mut value, &place) {
            break;
        }
    }
    left_out.push(format!("the whole schema: {why}"));
    (of_any_object(schema), told(left_out))
}

fn told(left_out: Vec<String>) -> Vec<String> {
    let more = left_out.len().saturating_sub(TOLD);
    let mut told: Vec<String> = left_out.iter().take(TOLD).map(|one| clipped(one)).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

/// A schema of any object, with the names of the fields that the schema speaks of.
fn of_any_object(schema: &Value) -> Value {
    let fields = schema.get("properties").and_then(Value::as_object);
    let fields = fields.into_iter().flatten().map(|(name, field)| {
        let said = field.get("description").and_then(Value::as_str);
        let said = said.map(|said| json!({"description": start(said, KEPT[1])}));
        (name.clone(), said.unwrap_or_else(|| json!({})))
    });
    let named = json!({"type": "object", "properties": fields.collect::<Map<_, _>>()});
    match schema::compiled(&named) {
        Ok(_) => named,
        Err(_) => json!({"type": "object"}),
    }
}

/// How a place is loosened.
#[derive(Clone, Copy)]
struct Act {
    /// The number of parts of the path to what is changed.
    length: usize,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    /// The keyword goes.
    Remove,
    /// The schema takes anything.
    Open,
    /// `oneOf` becomes `anyOf`.
    Widen,
}

/// What to do for a flaw at a place; nothing where the path leads nowhere.
fn act(schema: &Value, place: &[String]) -> Option<Act> {
    let mut node = schema;
    let mut kind = Below::Schema;
    let mut keyword = "";
    for (at, token) in place.iter().enumerate() {
        let (length, is_last) = (at + 1, at + 1 == place.len());
        let found = |how| Some(Act { length, how });
        let next = child(node, token)?;
        kind = match kind {
            Below::Schema => {
                keyword = token.as_str();
                let kind = below(token, next);
                if is_last || kind == Below::Plain || TURNED.contains(&keyword) {
                    return found(How::Remove);
                }
                if keyword == "oneOf" {
                    let is_free = node.get("anyOf").is_none();
                    return found(if is_free { How::Widen } else { How::Remove });
                }
                kind
            }
            // A name that is no pattern is a flaw of its own.
            Below::Named if is_last && keyword == "patternProperties" => {
                return found(How::Remove);
            }
            Below::Named | Below::List if is_last => return found(How::Open),
            _ => Below::Schema,
        };
        node = next;
    }
    None
}

impl Act {
    /// Whether something changed.
    fn apply(self, schema: &mut Value, place: &[String]) -> bool {
        let Some((last, path)) = place.get(..self.length).and_then(<[_]>::split_last) else {
            return false;
        };
        // What is left over by a part that takes more is left over no more.
        let mut node = &mut *schema;
        for token in path {
            if let Value::Object(fields) = node {
                fields.retain(|key, _| key == token || !UNEVALUATED.contains(&key.as_str()));
            }
            match child_mut(node, token) {
                Some(next) => node = next,
                None => return false,
            }
        }
        let is_changed = match (self.how, &mut *node) {
            (How::Open, node) => child_mut(node, last)
                .is_some_and(|one| std::mem::replace(one, json!({})) != json!({})),
            (How::Widen, Value::Object(fields)) => match fields.remove(last) {
                Some(one) => fields.insert("anyOf".to_owned(), one).is_none(),
                None => false,
            },
            (How::Remove, Value::Object(fields)) => removed(fields, last),
            _ => false,
        };
        // A pattern stands among others, two levels below what `additionalProperties` belongs to.
        if let [before @ .., keyword] = path
            && keyword == "patternProperties"
        {
            let owner = before
                .iter()
                .try_fold(schema, |node, token| child_mut(node, token));
            if let Some(Value::Object(fields)) = owner {
                alone(fields, keyword);
            }
        }
        is_changed
    }
}

/// Takes a keyword out of a schema, or what of it cannot be used.
fn removed(fields: &mut Map<String, Value>, keyword: &str) -> bool {
    let Some(value) = fields.remove(keyword) else {
        return false;
    };
    if let ("required", Value::Array(names)) = (keyword, &value) {
        let mut kept: Vec<Value> = Vec::new();
        for name in names.iter().filter(|name| name.is_string()) {
            if !kept.contains(name) {
                kept.push(name.clone());
            }
        }
        if !kept.is_empty() && kept.len() < names.len() {
            fields.insert(keyword.to_owned(), Value::Array(kept));
        }
    }
    alone(fields, keyword);
    fields.retain(|key, _| !UNEVALUATED.contains(&key.as_str()));
    true
}

/// Takes out the keywords that are about what another one left over, when that one is gone.
fn alone(fields: &mut Map<String, Value>, gone: &str) {
    let others: &[&str] = match gone {
        "properties" | "patternProperties" => &["additionalProperties"],
        "prefixItems" => &["items", "additionalItems"],
        "items" => &["additionalItems"],
        _ => &[],
    };
    for other in others {
        fields.remove(*other);
    }
}

enum Unplaced {
    At(Vec<String>),
    /// It was shortened as a whole; how.
    Shortened(String),
}

/// What to do for a flaw whose place is not told.
fn unplaced(schema: &mut Value) -> Option<Unplaced> {
    let length = schema.to_string().len();
    if length > SEARCHED {
        return None;
    }
    if schema::is_deeper(schema, MAX_DEPTH) {
        return too_deep(schema).map(Unplaced::At);
    }
    if length > MAX_BYTES {
        return shortened(schema).map(Unplaced::Shortened);
    }
    if schema.get("$schema").is_some_and(|named| !is_known(named)) {
        return Some(Unplaced::At(vec!["$schema".to_owned()]));
    }
    let mut found = None;
    let whole = &*schema;
    each(whole, &mut Vec::new(), &mut |path, fields| {
        let bad = REFERENCES.iter().find(|keyword| {
            let written = fields.get(**keyword).and_then(Value::as_str);
            written.is_some_and(|written| !leads_somewhere(whole, written))
        });
        if let (Some(keyword), None) = (bad, &found) {
            found = Some([path, &[(*keyword).to_owned()]].concat());
        }
    });
    // A name of its own may be no address, or lead the references astray.
    let named = ["$id", "id"]
        .into_iter()
        .find(|key| whole.get(*key).is_some_and(Value::is_string));
    let named = named.map(|key| vec![key.to_owned()]);
    found.or(named).map(Unplaced::At)
}

/// A path into the first part that is nested too deep.
fn too_deep(schema: &Value) -> Option<Vec<String>> {
    let mut open = vec![(Vec::new(), schema)];
    while let Some((path, node)) = open.pop() {
        let children: Vec<(String, &Value)> = match node {
            Value::Object(fields) => fields.iter().map(|(key, one)| (key.clone(), one)).collect(),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, one)| (at.to_string(), one)).collect()
            }
            _ => continue,
        };
        if path.len() >= MAX_DEPTH {
            let mut path: Vec<String> = path;
            path.truncate(MAX_DEPTH - BELOW);
            // A name or a number alone is no place to cut at, if what it names is open already.
            while !path.is_empty()
                && act(schema, &path).is_none_or(|act| is_open(schema, &path, act))
            {
                path.pop();
            }
            return Some(path).filter(|path| !path.is_empty());
        }
        open.extend(
            children
                .into_iter()
                .map(|(key, one)| ([&path[..], &[key]].concat(), one)),
        );
    }
    None
}

fn is_open(schema: &Value, path: &[String], act: Act) -> bool {
    let found = path[..act.length]
        .iter()
        .try_fold(schema, |node, token| child(node, token));
    matches!(act.how, How::Open) && found == Some(&json!({}))
}

/// Cuts what no value is checked against, and says how.
fn shortened(schema: &mut Value) -> Option<String> {
    for most in KEPT {
        each_mut(schema, &mut |fields| {
            for key in NOTES {
                match fields.get_mut(key) {
                    Some(Value::String(text)) if most > 0 => *text = start(text, most),
                    Some(other) if most == 0 || other.to_string().len() > most => {
                        fields.remove(key);
                    }
                    _ => {}
                }
            }
        });
        if schema.to_string().len() <= MAX_BYTES {
            return Some(format!(
                "it is longer than 64 KiB: descriptions and examples are cut after {most} characters"
            ));
        }
    }
    None
}

/// The start of a text, with a mark where it is cut.
fn start(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::JsonSchema;

    /// What is left of a schema, and the places of what was left out.
    fn check(schema: Value, expect: Value, places: &[&str]) {
        let (found, left_out) = loosened(&schema);
        let shown = format!("{schema} -> {found}: {left_out:?}");
        assert_eq!(found, expect, "{shown}");
        assert_eq!(left_out.len(), places.len(), "{shown}");
        for (told, place) in left_out.iter().zip(places) {
            assert!(told.starts_with(&format!("{place}: ")), "{shown}");
        }
        JsonSchema::new(found).unwrap_or_else(|error| panic!("{shown}: {error}"));
    }

    fn field(schema: Value) -> Value {
        json!({"type": "object", "properties": {"a": schema, "b": {"type": "integer"}}, "required": ["b"]})
    }

    #[test]
    fn a_schema_that_is_taken_stays_as_it_is() {
        for schema in [
            json!({}),
            field(json!({"$ref": "#/$defs/x"}))
                .as_object()
                .map_or(Value::Null, |fields| {
                    let mut fields = fields.clone();
                    fields.insert("$defs".to_owned(), json!({"x": {"type": "string"}}));
                    Value::Object(fields)
                }),
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object",
                "properties": {"a": {"minimum": 0, "exclusiveMinimum": true}}}),
        ] {
            check(schema.clone(), schema, &[]);
        }
    }

    #[test]
    fn only_the_keyword_that_cannot_be_used_is_left_out() {
        let dropped = |keyword: &str, bad: Value| {
            let mut with = json!({"description": "The a.", "maxLength": 9});
            let without = field(with.clone());
            with[keyword] = bad;
            let place = format!("/properties/a/{keyword}");
            check(field(with), without, &[&place]);
        };
        dropped("type", json!("datetime"));
        dropped("type", json!("int"));
        dropped("type", json!(3));
        dropped("type", json!(["string", "any"]));
        dropped("type", Value::Null);
        dropped("exclusiveMinimum", json!(true));
        dropped("required", json!(true));
        dropped("pattern", json!("^(?!-)[a-z-]+$"));
        dropped("pattern", json!("(?<=a)b"));
        dropped("pattern", json!(r"(a)\1"));
        dropped("pattern", json!("("));
        dropped("minLength", json!("3"));
        dropped("enum", json!("one"));
        dropped("$ref", json!("#/$defs/Missing"));
        dropped("$ref", json!("#missing"));
        dropped("$ref", json!("https://example.invalid/schema.json"));
        dropped("$ref", json!("other.json#/a"));
        dropped("$ref", json!(7));
        dropped("items", json!("string"));
        dropped("anyOf", json!([]));
        dropped("properties", json!(["x"]));
    }

    #[test]
    fn flaws_of_several_kinds_are_left_out_together() {
        check(
            json!({"type": "object", "$schema": "urn:ours", "properties": {
                "a": {"type": "date"}, "b": {"$ref": "#/x"}, "c": {"pattern": "(?=x)"}, "d": null, "e": 3,
                "f": {"type": "array", "items": {"anyOf": [{"type": "int"}, {"type": "string"}]}},
            }, "required": ["a", "a", 7]}),
            json!({"type": "object", "properties": {
                "a": {}, "b": {}, "c": {}, "d": {}, "e": {},
                "f": {"type": "array", "items": {"anyOf": [{}, {"type": "string"}]}},
            }, "required": ["a"]}),
            &[
                "/properties/a/type",
                "/properties/d",
                "/properties/e",
                "/properties/f/items/anyOf/0/type",
                "/required",
                "/$schema",
                "/properties/b/$ref",
                "/properties/c/pattern",
            ],
        );
    }

    #[test]
    fn what_is_left_is_never_stricter() {
        let bad = json!({"type": "datetime"});
        check(json!({"not": bad}), json!({}), &["/not"]);
        check(
            json!({"if": bad, "then": {"required": ["a"]}}),
            json!({"then": {"required": ["a"]}}),
            &["/if"],
        );
        check(
            json!({"contains": bad, "maxContains": 1}),
            json!({"maxContains": 1}),
            &["/contains"],
        );
        check(
            json!({"oneOf": [bad, {"required": ["a"]}]}),
            json!({"anyOf": [{}, {"required": ["a"]}]}),
            &["/oneOf", "/anyOf/0/type"],
        );
        check(
            json!({"oneOf": [bad], "anyOf": [{"required": ["a"]}]}),
            json!({"anyOf": [{"required": ["a"]}]}),
            &["/oneOf"],
        );
        check(
            json!({"type": "object", "properties": null, "additionalProperties": false}),
            json!({"type": "object"}),
            &["/properties"],
        );
        check(
            json!({"patternProperties": {"(?=x)": {}, "^y": {}}, "additionalProperties": false}),
            json!({"patternProperties": {"^y": {}}}),
            &["/patternProperties/(?=x)"],
        );
        check(
            json!({"allOf": [{"$ref": "#/gone"}], "unevaluatedProperties": false}),
            json!({"allOf": [{}]}),
            &["/allOf/0/$ref"],
        );
        // A field may have the name of a keyword.
        check(
            json!({"properties": {"not": {"type": "int", "title": "Not"}, "$ref": {"type": "string"}}}),
            json!({"properties": {"not": {"title": "Not"}, "$ref": {"type": "string"}}}),
            &["/properties/not/type"],
        );
    }

    #[test]
    fn what_is_no_schema_takes_any_object() {
        for schema in [
            json!(null),
            json!(3),
            json!("object"),
            json!([]),
            json!(false),
        ] {
            check(
                schema,
                json!({"type": "object", "properties": {}}),
                &["the whole schema"],
            );
        }
        check(json!({"type": "string"}), json!({}), &["/type"]);
        check(
            json!({"type": "objekt", "title": "T"}),
            json!({"title": "T"}),
            &["/type"],
        );
    }

    #[test]
    fn a_schema_that_is_too_long_or_too_deep_is_cut() {
        let (found, left_out) = loosened(&field(json!({"description": "x".repeat(70_000)})));
        JsonSchema::new(found.clone()).unwrap();
        assert!(
            left_out.len() == 1 && left_out[0].contains("1000 characters"),
            "{left_out:?}"
        );
        assert_eq!(found["properties"]["b"]["type"], "integer");

        for (inner, keyword) in [(json!({"type": "string"}), "items"), (json!({}), "not")] {
            let mut deep = inner;
            for _ in 0..40 {
                deep = json!({ keyword: deep });
            }
            let (found, left_out) = loosened(&field(deep));
            JsonSchema::new(found.clone()).unwrap();
            assert!(!left_out.is_empty());
            assert_eq!(found["properties"]["b"]["type"], "integer");
        }
        let many: Map<String, Value> = (0..9_000)
            .map(|at| (format!("field_{at}"), json!({"type": "string"})))
            .collect();
        let (found, left_out) = loosened(&json!({"type": "object", "properties": many}));
        JsonSchema::new(found).unwrap();
        assert_eq!(left_out.len(), 1, "{left_out:?}");
    }

    #[test]
    fn what_is_told_is_bounded_and_on_one_line() {
        let fields: Map<String, Value> = (0..40)
            .map(|at| {
                let name = format!("\u{1b}[31m\n{at}{}", "y".repeat(900));
                (name, json!({"type": "datetime"}))
            })
            .collect();
        let (found, left_out) = loosened(&json!({"properties": fields}));
        JsonSchema::new(found).unwrap();
        assert_eq!(left_out.len(), TOLD + 1);
        assert_eq!(left_out[TOLD], "and 24 more");
        for told in left_out {
            assert!(
                told.chars().count() <= 200 && !told.contains(char::is_control),
                "{told}"
            );
        }
    }
}
