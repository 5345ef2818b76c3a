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
        self.has_nothing(|text| texts(value, "", text))
    }

    /// Whether none of the texts that `write` appends can hold a secret. A match within a field or within `name=value` is a
    /// match within the whole text too: each stands between line breaks or `=`, which are no parts of words.
    fn has_nothing(&self, write: impl FnOnce(&mut String)) -> bool {
        if !self.forms.is_empty() {
            return false;
        }
        let mut text = String::new();
        write(&mut text);
        !self.may_hold(&text)
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
        let all = fields.iter();
        if !self.has_nothing(|text| all.for_each(|(name, value)| texts(value, name, text))) {
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
    fn no_place_of_a_secret_is_taken_for_clean() {
        let drawn = "a1B2c3D4e5F6g7H8".repeat(4);
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----";
        let secrets = [
            "hunter22".to_owned(),
            format!("ghp_{}", &drawn[..36]),
            format!("AIza{}", &drawn[..35]),
            format!("Bearer {}", &drawn[..24]),
            "https://ada:hunter33@host.example/".to_owned(),
            format!("password: {}", &drawn[..16]),
            key.to_owned(),
            key[..40].to_owned(),
        ];
        let named = Redactor::new(["hunter22".to_owned()]).unwrap();
        for secret in secrets {
            for value in [
                json!(secret),
                json!([1, [secret]]),
                json!({"a": {"b": [{"c": secret}]}}),
                json!({(secret.clone()): true}),
                json!({"a": format!("x\n{secret}\ny"), "b": null}),
                json!({"a": json!({"b": secret}).to_string()}),
            ] {
                let mut redacted = value.clone();
                named.redact_value(&mut redacted);
                assert!(redacted == value || !named.is_clean(&value), "{value}");
                assert!(redacted != value, "{value}");
            }
        }
        let number = Redactor::new(["47114711".to_owned()]).unwrap();
        assert!(!number.is_clean(&json!({"pin": 47114711})));
    }

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
