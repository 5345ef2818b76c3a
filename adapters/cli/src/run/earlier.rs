//! A key that files of earlier versions have, and what to do about it.

use std::collections::BTreeMap;

use journeyman::Result;
use serde::Deserialize;
use toml::Spanned;

use crate::toml_file::Source;

/// The tables that had the key, with nothing of theirs but it.
#[derive(Debug, Default, Deserialize)]
struct Tables {
    #[serde(default)]
    model: Keys,
    #[serde(default)]
    model_for: BTreeMap<String, Keys>,
}

#[derive(Debug, Default, Deserialize)]
struct Keys {
    dialect: Option<Spanned<toml::Value>>,
}

/// Refuses the key `dialect` of `[model]` and `[model_for.JOB]`, which chose how a turn is written for the model. That it is unknown
/// would not say what to do.
///
/// # Errors
/// `Invalid` with the key's line.
pub(super) fn refuse_dialect(source: &Source<'_>) -> Result<()> {
    // Whatever else is wrong in the file is told by who reads all of it.
    let tables: Tables = source.form().unwrap_or_default();
    let mut all = std::iter::once(tables.model).chain(tables.model_for.into_values());
    let Some(dialect) = all.find_map(|keys| keys.dialect) else {
        return Ok(());
    };
    let (message, hint) = match dialect.get_ref().as_str() {
        Some("apprentice") => (
            "the language `apprentice` is gone, and so is the model that spoke it",
            "delete this line, and name a chat model, such as the bundled one (tests/lab/apprentice/apprentice.gguf); the library stays \
             usable as it is",
        ),
        _ => (
            "there is no dialect to choose any more: every model is used by chat",
            "delete this line",
        ),
    };
    Err(source.refused(dialect.span(), message, hint))
}
