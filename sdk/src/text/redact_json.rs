//! Redacts secrets in JSON values (S10).

use serde_json::{Map, Value};

use super::Redactor;

/// The least length, in characters, of a JSON number that is compared with named values.
const LONG: usize = 6;

impl Redactor {
    /// Replaces the secrets in every text within a value, field names included. A number of six or more characters that is a
    /// named value becomes a replacement text; a shorter number may be a count.
    pub fn redact_json(&self, value: &mut Value) {
        if !self.is_clean(value) {
            self.redact_value(value);
        }
    }

    /// Whether a value has nothing to redact, by one scan of all its texts together. `false` is no proof of a secret: patterns
    /// of the host's own may be anchored, so with one of those the answer is always `false`.
    pub fn is_clean(&self, value: &Value) -> bool {
        // A match within a field or within `name=value` is a match within this text too: each stands between line breaks
        // or `=`, which are no parts of words.
        let mut text = String::new();
        texts(value, "", &mut text);
        self.forms.is_empty() && !self.may_hold(&text)
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_in(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(fields) => self.redact_object(fields),
            Value::Number(number) => {
                let text = number.to_string();
                if text.len() >= LONG && self.values.contains(&text) {
                    *value = self.redact(&text).into();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// As [`Redactor::redact_json`], for the fields of an object.
    pub fn redact_fields(&self, fields: &mut Map<String, Value>) {
        let mut text = String::new();
        fields
            .iter()
            .for_each(|(name, value)| texts(value, name, &mut text));
        if !self.forms.is_empty() || self.may_hold(&text) {
            self.redact_object(fields);
        }
    }

    fn redact_object(&self, fields: &mut Map<String, Value>) {
        for (name, value) in fields.iter_mut() {
            self.redact_value(value);
            // A field name such as `password` is separate from its value here.
            if let Value::String(text) = value
                && !text.contains("[redacted: ")
                && !self
                    .redact(&format!("{name}={text}"))
                    .ends_with(text.as_str())
            {
                *text = "[redacted: secret]".to_owned();
            }
        }
        if fields.keys().any(|name| self.redact(name) != name.as_str()) {
            for (name, value) in std::mem::take(fields) {
                let mut name = self.redact(&name).into_owned();
                while fields.contains_key(&name) {
                    name.push('\'');
                }
                fields.insert(name, value);
            }
        }
    }
}

/// Appends the texts of a value, a line each, with the name of the field before it. Numbers and names of fields without a text
/// are lines too.
fn texts(value: &Value, name: &str, all: &mut String) {
    let mut line = |text: &str| {
        all.push_str(name);
        all.push('=');
        all.push_str(text);
        all.push('\n');
    };
    match value {
        Value::String(text) => line(text),
        Value::Number(number) => line(&number.to_string()),
        Value::Null | Value::Bool(_) => line(""),
        Value::Array(values) => {
            line("");
            values.iter().for_each(|value| texts(value, "", all));
        }
        Value::Object(fields) => {
            line("");
            fields
                .iter()
                .for_each(|(name, value)| texts(value, name, all));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_clean_only_where_nothing_is_redacted() {
        let named = Redactor::new(["hunter22".to_owned()]).unwrap();
        let anchored = Redactor::default().with_form("pin", "^[0-9]{4}$").unwrap();
        for (redactor, value) in [
            (&named, json!({"a": ["x", {"b": "say hunter22"}]})),
            (&named, json!({"hunter22": null})),
            (&named, json!({"password": "s3cret-Word9"})),
            (&named, json!([["db_password=s3cret-Word9"]])),
            (&anchored, json!({"code": "1234"})),
        ] {
            let mut redacted = value.clone();
            redactor.redact_json(&mut redacted);
            assert!(!redactor.is_clean(&value) && redacted != value, "{value}");
        }
        let ordinary = json!({"id": "skill-1", "sum": -0.5, "tokens": [1, 2], "none": null});
        assert!(named.is_clean(&ordinary) && Redactor::default().is_clean(&ordinary));
    }
}
