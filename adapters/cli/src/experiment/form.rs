//! The TOML form of an experiment's file. Unknown keys are refused.

use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use journeyman::{Error, Result};
use serde::Deserialize;
use serde_json::{Number, Value};
use toml::Spanned;

use super::changes::{Change, expected};
use crate::files::unreadable;

/// The operation that errors of an experiment name.
pub(super) const EXPERIMENT: &str = "experiment";

/// Maximum bytes of an experiment's file.
const MOST_BYTES: u64 = 1 << 20;

type Table = BTreeMap<String, Spanned<toml::Value>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    pub(super) name: Spanned<String>,
    pub(super) model: PathBuf,
    pub(super) seeds: Spanned<toml::Value>,
    /// The arm that the others are compared with; the first arm if left out.
    pub(super) baseline: Option<Spanned<String>>,
    #[serde(default = "yes")]
    pub(super) deterministic: bool,
    /// Threads of each engine.
    pub(super) threads: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) world: WorldForm,
    pub(super) arm: Vec<ArmForm>,
    #[serde(default)]
    pub(super) sweep: Vec<SweepForm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorldForm {
    pub(super) stream: Option<Spanned<usize>>,
    pub(super) held_out: Option<Spanned<usize>>,
    pub(super) checkpoints: Option<Spanned<usize>>,
    pub(super) steps: Option<Spanned<usize>>,
    #[serde(default)]
    pub(super) universe: Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArmForm {
    pub(super) name: Spanned<String>,
    pub(super) recipe: Spanned<String>,
    /// Paths of fields, each with the recipe whose value it gets, and behind a dot the path there if it is another.
    #[serde(default)]
    pub(super) take: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) set: Table,
    #[serde(default)]
    pub(super) unset: Vec<Spanned<String>>,
    /// The skills that the library starts with: `none`, `seeds` or a path.
    pub(super) library: Option<Spanned<String>>,
    pub(super) learn: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SweepForm {
    pub(super) arm: Spanned<String>,
    pub(super) path: Spanned<String>,
    pub(super) values: Spanned<Vec<Spanned<toml::Value>>>,
}

fn yes() -> bool {
    true
}

/// The file's path and text.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) text: String,
}

impl<'a> Source<'a> {
    pub(super) fn read(path: &'a Path) -> Result<Self> {
        let unread = |source| unreadable(EXPERIMENT, path, source);
        let told = |message: &'static str| {
            Error::invalid(EXPERIMENT, message)
                .with("path", path.display())
                .hint("name an experiment's file in TOML; docs/command-line.md describes it")
        };
        if fs::metadata(path).map_err(unread)?.len() > MOST_BYTES {
            return Err(told("the file is larger than 1 MiB"));
        }
        let bytes = fs::read(path).map_err(unread)?;
        let text = String::from_utf8(bytes).map_err(|_| told("the file is not UTF-8"))?;
        Ok(Self { path, text })
    }

    pub(super) fn form(&self) -> Result<Form> {
        toml::from_str(&self.text).map_err(|error| {
            self.refused(
                error.span().unwrap_or(0..0),
                expected(error.message()),
                "docs/command-line.md lists the keys and their values",
            )
        })
    }

    /// An error about the text at `span`, with its line and the key on it.
    pub(super) fn refused(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count();
        let key = self.text.lines().nth(line).and_then(|line| {
            let (key, _) = line.split_once('=')?;
            Some(key.trim().to_owned())
        });
        let mut error = Error::invalid(EXPERIMENT, message)
            .with("path", self.path.display())
            .with("line", line + 1);
        if let Some(key) = key {
            error = error.with("key", key);
        }
        error.hint(hint)
    }

    /// The values of a table by their paths; the fields of inner tables extend the path.
    pub(super) fn changes(&self, table: &Table) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for (path, value) in table {
            self.flatten(path, value.get_ref(), &value.span(), &mut changes)?;
        }
        Ok(changes)
    }

    fn flatten(
        &self,
        path: &str,
        value: &toml::Value,
        span: &Range<usize>,
        changes: &mut Vec<Change>,
    ) -> Result<()> {
        if let toml::Value::Table(table) = value {
            for (name, inner) in table {
                self.flatten(&format!("{path}.{name}"), inner, span, changes)?;
            }
            return Ok(());
        }
        changes.push(Change {
            path: path.to_owned(),
            value: Some(self.json(value, span)?),
            span: span.clone(),
        });
        Ok(())
    }

    /// A TOML value as JSON.
    pub(super) fn json(&self, value: &toml::Value, span: &Range<usize>) -> Result<Value> {
        let refused = |message: &str, hint: &str| self.refused(span.clone(), message, hint);
        Ok(match value {
            toml::Value::String(text) => Value::String(text.clone()),
            toml::Value::Integer(number) => Value::from(*number),
            toml::Value::Boolean(truth) => Value::Bool(*truth),
            toml::Value::Float(number) => {
                let number = Number::from_f64(*number).ok_or_else(|| {
                    refused("the number is not finite", "remove the value with `unset`")
                })?;
                Value::Number(number)
            }
            toml::Value::Array(values) => {
                let values = values.iter().map(|value| self.json(value, span));
                Value::Array(values.collect::<Result<_>>()?)
            }
            toml::Value::Datetime(_) => {
                return Err(refused("no field takes a date", "give a number or a text"));
            }
            toml::Value::Table(_) => {
                return Err(refused(
                    "no table may stand in a list",
                    "set its fields by their paths, such as \"select.selector.gate.epsilon\"",
                ));
            }
        })
    }
}
