//! The schemas that `docs` publishes for the command's files are those of the code.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use journeyman::text::JsonSchema;
use serde_json::Value;

pub(crate) fn root() -> PathBuf {
    // A test runs in its package's folder.
    Path::new("../..").to_owned()
}

/// A file in `docs` is this schema. With `JOURNEYMAN_WRITE=1` it is written anew.
#[track_caller]
pub(crate) fn is_published(made: &schemars::Schema, file: &str) {
    let path = root().join("docs/reference").join(file);
    if std::env::var_os("JOURNEYMAN_WRITE").is_some() {
        fs::write(&path, serde_json::to_string_pretty(made).unwrap() + "\n").unwrap();
    }
    let published: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let due = "write it anew with JOURNEYMAN_WRITE=1";
    assert_eq!(published, *made.as_value(), "{due}");
}

/// What a schema finds wrong in a text in TOML.
pub(crate) fn faults(schema: &schemars::Schema, text: &str) -> Vec<String> {
    let value: Value = toml::from_str(text).unwrap();
    let schema = JsonSchema::new(schema.as_value().clone()).unwrap();
    let faults = schema.faults(&value).into_iter();
    faults.map(|fault| fault.to_string()).collect()
}
