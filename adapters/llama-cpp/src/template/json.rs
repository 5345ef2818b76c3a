//! JSON in the spelling of Python's `json.dumps`, in which the templates' `tojson` filter writes it.

use std::fmt::Write;

use minijinja::{
    Error as JinjaError, ErrorKind as JinjaKind, Value,
    value::{Kwargs, ValueKind},
};

use super::leaves::{Characters, escaped, within_json};

/// Greatest depth of a value.
const MAX_DEPTH: usize = 128;

/// The filter `tojson` of transformers: characters stay as they are unless `ensure_ascii` is set, and no sign is escaped for HTML.
pub(super) fn to_json(
    value: &Value,
    indent: Option<Value>,
    options: Kwargs,
) -> Result<String, JinjaError> {
    let indent = indent.map_or_else(|| options.get("indent"), |indent| Ok(Some(indent)))?;
    let ascii: Option<bool> = options.get("ensure_ascii")?;
    // Every template writes separators as they come.
    for ignored in ["separators", "sort_keys"] {
        let _: Option<Value> = options.get(ignored)?;
    }
    options.assert_all_used()?;
    let indent = indent.filter(|indent| !indent.is_none());
    let indent = indent.map(usize::try_from).transpose()?;
    let characters = match ascii {
        Some(true) => Characters::Ascii,
        _ => Characters::All,
    };
    written(value, indent, characters)
}

/// A value as `json.dumps(value, indent=4)` writes it.
pub(super) fn in_lines(value: &Value) -> Result<String, JinjaError> {
    written(value, Some(4), Characters::All)
}

fn written(
    value: &Value,
    indent: Option<usize>,
    characters: Characters,
) -> Result<String, JinjaError> {
    let mut writer = Writer {
        out: String::new(),
        indent,
        characters,
    };
    writer.value(value, 0)?;
    Ok(writer.out)
}

struct Writer {
    out: String,
    /// Blanks of each level; all on one line if none.
    indent: Option<usize>,
    characters: Characters,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), JinjaError> {
        if depth > MAX_DEPTH {
            return Err(JinjaError::new(
                JinjaKind::InvalidOperation,
                "a value is nested too deeply for JSON",
            ));
        }
        match value.kind() {
            ValueKind::Undefined | ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(match value.is_true() {
                true => "true",
                false => "false",
            }),
            ValueKind::Number => {
                // Writing to a text cannot fail.
                let _ = write!(self.out, "{value}");
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.map(|item| (None, item));
                self.all(['[', ']'], items.collect(), depth)?;
            }
            ValueKind::Map => {
                let mut items = Vec::new();
                for key in value.try_iter()? {
                    let item = value.get_item(&key)?;
                    items.push((Some(key.to_string()), item));
                }
                self.all(['{', '}'], items, depth)?;
            }
            _ => self.string(&value.to_string()),
        }
        Ok(())
    }

    fn all(
        &mut self,
        [open, close]: [char; 2],
        items: Vec<(Option<String>, Value)>,
        depth: usize,
    ) -> Result<(), JinjaError> {
        self.out.push(open);
        let is_empty = items.is_empty();
        for (index, (key, item)) in items.into_iter().enumerate() {
            match (index, self.indent) {
                (0, None) => {}
                (_, None) => self.out.push_str(", "),
                (0, Some(_)) => self.line(depth + 1),
                (_, Some(_)) => {
                    self.out.push(',');
                    self.line(depth + 1);
                }
            }
            if let Some(key) = key {
                self.string(&key);
                self.out.push_str(": ");
            }
            self.value(&item, depth + 1)?;
        }
        if !is_empty && self.indent.is_some() {
            self.line(depth);
        }
        self.out.push(close);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        let blanks = self.indent.unwrap_or_default().saturating_mul(depth);
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', blanks.min(1024)));
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        self.out.push_str(&within_json(text, self.characters));
        self.out.push('"');
    }
}

/// A value as `json.dumps` writes it.
pub(super) fn dumped(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => format!("\"{}\"", escaped(text, Characters::All)),
        serde_json::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(dumped).collect();
            format!("[{}]", items.join(", "))
        }
        serde_json::Value::Object(fields) => {
            let field = |(key, value): (&String, &serde_json::Value)| {
                format!("\"{}\": {}", escaped(key, Characters::All), dumped(value))
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}
