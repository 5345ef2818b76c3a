//! A file in TOML that a person wrote: its values with their places, so that a refusal names its line.

use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use journeyman::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};
use toml::Spanned;

use crate::{
    changes::{Change, Refusal, expected},
    files::unreadable,
};

/// Maximum bytes of a file.
const MOST_BYTES: u64 = 1 << 20;

/// Values by their names or paths.
pub(crate) type Table = BTreeMap<String, Spanned<toml::Value>>;

/// The file's path and text.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// The operation that errors name.
    pub(crate) operation: &'static str,
    pub(crate) path: &'a Path,
    pub(crate) text: String,
}

impl<'a> Source<'a> {
    pub(crate) fn read(operation: &'static str, path: &'a Path) -> Result<Self> {
        let unread = |source| unreadable(operation, path, source);
        let told = |message: &'static str| {
            Error::invalid(operation, message)
                .with("path", path.display())
                .hint("name a file in TOML; docs/reference has a page for each kind of file")
        };
        if fs::metadata(path).map_err(unread)?.len() > MOST_BYTES {
            return Err(told("the file is larger than 1 MiB"));
        }
        let bytes = fs::read(path).map_err(unread)?;
        let text = String::from_utf8(bytes).map_err(|_| told("the file is not UTF-8"))?;
        Ok(Self {
            operation,
            path,
            text,
        })
    }

    /// The file's folder, as an absolute path.
    pub(crate) fn folder(&self) -> PathBuf {
        let file = std::path::absolute(self.path).ok();
        file.and_then(|file| Some(file.parent()?.to_owned()))
            .unwrap_or_default()
    }

    pub(crate) fn form<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(&self.text).map_err(|error| {
            self.refused(
                error.span().unwrap_or(0..0),
                expected(error.message()),
                "docs/reference/run-file.md and docs/reference/experiment-file.md list the keys and their values",
            )
        })
    }

    /// An error about the text at `span`, with its line and the key on it.
    pub(crate) fn refused(
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
        let mut error = Error::invalid(self.operation, message)
            .with("path", self.path.display())
            .with("line", line + 1);
        if let Some(key) = key {
            error = error.with("key", key);
        }
        error.hint(hint)
    }

    /// Checks the name of an arm.
    ///
    /// # Errors
    /// `Invalid`, with the line.
    pub(crate) fn check_arm(&self, name: &str, span: Range<usize>) -> Result<()> {
        let sound = |c: char| c.is_alphanumeric() || " -_.,=+".contains(c);
        let begins = name.starts_with(char::is_alphanumeric);
        match begins && name.len() <= 64 && name.chars().all(sound) {
            true => Ok(()),
            false => Err(self.refused(
                span,
                "this is not a name for an arm",
                "take a letter or digit and at most 63 more, spaces or any of - _ . , = +",
            )),
        }
    }

    /// Checks the file's name; `of` is what has it, in words.
    ///
    /// # Errors
    /// `Invalid`, with the line.
    pub(crate) fn check_name<'n>(&self, name: &'n Spanned<String>, of: &str) -> Result<&'n str> {
        let sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let text = name.get_ref().as_str();
        match (1..=64).contains(&text.len()) && text.chars().all(sound) {
            true => Ok(text),
            false => Err(self.refused(
                name.span(),
                format!("this is not a name for {of}"),
                "take 1 to 64 of a-z, 0-9 and hyphens: a file or folder has this name too",
            )),
        }
    }

    /// The changes of a file's `set`, by their paths, and then those of its `unset`.
    ///
    /// # Errors
    /// `Invalid`, with the line, for a value that has no form in JSON.
    pub(crate) fn changes(&self, set: &Table, unset: &[Spanned<String>]) -> Result<Vec<Change>> {
        let changes = set.iter().map(|(path, value)| {
            let span = value.span();
            Ok(Change {
                path: path.clone(),
                value: Some(self.json(value.get_ref(), &span)?),
                replaces: false,
                span,
            })
        });
        let mut changes = changes.collect::<Result<Vec<Change>>>()?;
        changes.extend(unset.iter().map(|path| Change {
            path: path.get_ref().clone(),
            value: None,
            replaces: false,
            span: path.span(),
        }));
        Ok(changes)
    }

    /// An error about a change of this field that cannot be made, with the line of its place.
    pub(crate) fn unmade(&self, span: Range<usize>, field: &str, refusal: Refusal) -> Error {
        self.refused(span, refusal.message, refusal.hint)
            .with("field", field)
    }

    /// A TOML value as JSON.
    pub(crate) fn json(&self, value: &toml::Value, span: &Range<usize>) -> Result<Value> {
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
            toml::Value::Table(table) => {
                let fields = table
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.json(value, span)?)));
                Value::Object(fields.collect::<Result<_>>()?)
            }
        })
    }
}
