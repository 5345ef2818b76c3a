//! The rules of the shipped schemas, for a build without the feature `json-schema`. The shipped schemas use few keywords; these are
//! all of them.

use serde_json::{Map, Value};

/// The place and the words of each broken rule.
type Faults = Vec<(String, String)>;

/// The first rule of a shipped schema that a value breaks. The value is not repeated.
pub(super) fn fault(schema: &Value, value: &Value) -> Option<String> {
    let mut faults = Faults::new();
    collect(schema, value, "", &mut faults);
    let (at, message) = faults.into_iter().min()?;
    Some(match at.as_str() {
        "" => format!("the whole: {message}"),
        at => format!("at {at}: {message}"),
    })
}

fn collect(schema: &Value, value: &Value, at: &str, faults: &mut Faults) {
    let mut fault = |message: String| faults.push((at.to_owned(), message));
    if let Some(kinds) = schema.get("type")
        && !is_of(value, kinds)
    {
        fault(format!("it is not of type {kinds}"));
    }
    if let Some(Value::Array(words)) = schema.get("enum")
        && !words.contains(value)
    {
        fault("it is none of the words that are allowed".to_owned());
    }
    if let Some(Value::Array(forms)) = schema.get("anyOf")
        && forms.iter().all(|form| is_broken(form, value))
    {
        fault("it is not valid under any of the schemas listed in the 'anyOf' keyword".to_owned());
    }
    match value {
        Value::Number(_) => number(schema, value, at, faults),
        Value::Array(items) => array(schema, items, at, faults),
        Value::Object(fields) => object(schema, fields, at, faults),
        _ => {}
    }
}

fn is_broken(schema: &Value, value: &Value) -> bool {
    let mut faults = Faults::new();
    collect(schema, value, "", &mut faults);
    !faults.is_empty()
}

/// Whether a value is of this type, or of one of these.
fn is_of(value: &Value, kinds: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    }
}

fn number(schema: &Value, value: &Value, at: &str, faults: &mut Faults) {
    let Some(number) = value.as_f64() else { return };
    let bound = |key: &str| Some((schema.get(key)?.as_f64()?, schema.get(key)?));
    if let Some((least, written)) = bound("minimum")
        && number < least
    {
        let message = format!("it is less than the minimum of {written}");
        faults.push((at.to_owned(), message));
    }
    if let Some((most, written)) = bound("maximum")
        && number > most
    {
        let message = format!("it is greater than the maximum of {written}");
        faults.push((at.to_owned(), message));
    }
}

fn array(schema: &Value, items: &[Value], at: &str, faults: &mut Faults) {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let count = items.len() as u64;
    let noun = |count: u64| if count == 1 { "item" } else { "items" };
    if let Some(least) = bound("minItems").filter(|least| count < *least) {
        let message = format!("it has less than {least} {}", noun(least));
        faults.push((at.to_owned(), message));
    }
    if let Some(most) = bound("maxItems").filter(|most| count > *most) {
        let message = format!("it has more than {most} {}", noun(most));
        faults.push((at.to_owned(), message));
    }
    if let Some(of_each) = schema.get("items") {
        for (index, item) in items.iter().enumerate() {
            collect(of_each, item, &format!("{at}/{index}"), faults);
        }
    }
}

fn object(schema: &Value, fields: &Map<String, Value>, at: &str, faults: &mut Faults) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in fields {
        if let Some(property) = properties.and_then(|properties| properties.get(name)) {
            collect(property, value, &format!("{at}/{name}"), faults);
        } else if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            let message = "it has fields that are not allowed".to_owned();
            faults.push((at.to_owned(), message));
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten() {
        if name.as_str().is_some_and(|name| !fields.contains_key(name)) {
            faults.push((at.to_owned(), format!("{name} is a required property")));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The name of each shipped role, and its schema.
    fn shipped() -> Vec<(&'static str, Value)> {
        let schema = |text: &str| {
            let (_, block) = text.split_once("```json\n").unwrap();
            let (block, _) = block.split_once("```").unwrap();
            serde_json::from_str(block).unwrap()
        };
        let skills = journeyman_skills::ROLES.iter();
        skills
            .map(|skill| (skill.name, schema(skill.text)))
            .collect()
    }

    fn schemas(schema: &Value) -> Vec<&Value> {
        let mut all = vec![schema];
        let properties = schema.get("properties").and_then(Value::as_object);
        let within = properties.into_iter().flat_map(Map::values);
        let within = within.chain(schema.get("items"));
        let forms = schema.get("anyOf").and_then(Value::as_array);
        let within = within.chain(forms.into_iter().flatten());
        all.extend(within.flat_map(schemas));
        all
    }

    /// A value that obeys a schema.
    fn good(schema: &Value) -> Value {
        if let Some(words) = schema.get("enum") {
            return words[0].clone();
        }
        if let Some(forms) = schema.get("anyOf") {
            return good(&forms[0]);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[0].as_str(),
            kind => kind.as_str(),
        };
        match kind.unwrap() {
            "string" => json!("a lamp"),
            "integer" | "number" => schema.get("minimum").unwrap().clone(),
            "array" => {
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                Value::Array((0..least).map(|_| good(&schema["items"])).collect())
            }
            "object" => {
                let fields = schema.get("properties").and_then(Value::as_object);
                let fields = fields.into_iter().flatten();
                Value::Object(fields.map(|(key, of)| (key.clone(), good(of))).collect())
            }
            kind => panic!("{kind}"),
        }
    }

    /// Values that break a bound of a schema, each one.
    fn out_of_bounds(schema: &Value) -> Vec<Value> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        let some = |count: u64| Value::Array((0..count).map(|_| good(&schema["items"])).collect());
        let mut all = Vec::new();
        all.extend(bound("minItems").map(|least| some(least - 1)));
        all.extend(bound("maxItems").map(|most| some(most + 1)));
        all.extend(bound("minimum").map(|least| json!(least as f64 - 1.0)));
        all.extend(bound("maximum").map(|most| json!(most + 1)));
        if let Some(items) = schema.get("items") {
            let alone = |item| Value::Array(vec![item]);
            all.extend(out_of_bounds(items).into_iter().map(alone));
        }
        let fields = schema.get("properties").and_then(Value::as_object);
        for (key, of) in fields.into_iter().flatten() {
            for value in out_of_bounds(of) {
                let mut object = good(schema);
                object[key] = value;
                all.push(object);
            }
        }
        all
    }

    /// Values of another type, and objects with a field too many or too few.
    fn otherwise_broken(schema: &Value) -> Vec<Value> {
        let mut all = vec![json!(null), json!("a lamp"), json!([]), json!({})];
        let object = good(schema);
        let mut more = object.clone();
        more["lamp"] = json!(1);
        all.push(more);
        for key in object.as_object().unwrap().keys() {
            let mut fewer = object.clone();
            fewer.as_object_mut().unwrap().remove(key);
            all.push(fewer);
            for value in [json!(true), json!(0.5), json!("a lamp"), json!([[]])] {
                let mut other = object.clone();
                other[key] = value;
                all.push(other);
            }
        }
        all
    }

    #[test]
    fn the_shipped_schemas_use_no_other_keywords() {
        let known = "additionalProperties anyOf enum items maxItems maximum minItems minimum \
            properties required type";
        let known: Vec<&str> = known.split(' ').collect();
        for (name, schema) in shipped() {
            for one in schemas(&schema) {
                let mut keys = one.as_object().unwrap().keys();
                assert!(keys.all(|key| known.contains(&key.as_str())), "{name}");
            }
        }
    }

    #[test]
    fn a_bank_has_at_most_eight_skills_and_a_rubric_an_objective() {
        let check = |role: &str, field: &str, count: usize, expect: &str| {
            let shipped = shipped();
            let (_, schema) = shipped.iter().find(|(name, _)| *name == role).unwrap();
            let mut answer = good(schema);
            let item = good(&schema["properties"][field]["items"]);
            answer[field] = Value::Array(vec![item; count]);
            assert_eq!(fault(schema, &answer).unwrap_or_default(), expect);
        };
        check("role-bundle", "cases", 3, "");
        let cases = "at /cases: it has more than 3 items";
        check("role-bundle", "cases", 4, cases);
        check("role-distil-bank", "skills", 8, "");
        let skills = "at /skills: it has more than 8 items";
        check("role-distil-bank", "skills", 9, skills);
        let objectives = "at /objectives: it has less than 1 item";
        check("role-distil-prototype", "objectives", 0, objectives);
        let traps = "at /traps: it has more than 6 items";
        check("role-distil-prototype", "traps", 7, traps);
    }

    #[cfg(feature = "json-schema")]
    #[test]
    fn they_refuse_what_a_validator_refuses() {
        use crate::text::JsonSchema;

        let mut bounds = 0;
        for (name, schema) in shipped() {
            let validator = JsonSchema::new(schema.clone()).unwrap();
            let first = |value: &Value| {
                let faults = validator.faults(value);
                faults.first().map(ToString::to_string)
            };
            let value = good(&schema);
            assert_eq!(
                (fault(&schema, &value), first(&value)),
                (None, None),
                "{name}"
            );
            for value in out_of_bounds(&schema) {
                bounds += 1;
                let expect = first(&value);
                assert!(expect.is_some(), "{name}: {value}");
                assert_eq!(fault(&schema, &value), expect, "{name}: {value}");
            }
            for value in otherwise_broken(&schema) {
                let refused = fault(&schema, &value).is_some();
                assert_eq!(refused, first(&value).is_some(), "{name}: {value}");
            }
        }
        assert!(bounds >= 20, "{bounds}");
    }
}
