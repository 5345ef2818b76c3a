//! Skills from elsewhere that an import has read, and those that it refuses.

use std::{collections::BTreeMap, path::Path};

use journeyman::{
    Error,
    domain::{FilePath, Skill, Source},
    lint::Finding,
};
use serde_json::{Value, json};

use crate::{
    output::{cell, error_json, error_text},
    validate::told,
};

/// The operation that errors of an import name.
pub(crate) const IMPORT: &str = "import";

/// A skill from elsewhere, with its files, as it came.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Where it was found.
    pub(crate) place: String,
    pub(crate) skill: Skill,
    pub(crate) files: BTreeMap<FilePath, Vec<u8>>,
    pub(crate) source: Source,
    /// Whether it is [`imported`](journeyman::interchange::imported) already, and so has an id that follows from its source.
    pub(crate) is_imported: bool,
    /// Whether secrets were taken out of it.
    pub(crate) redacted: bool,
    /// What a person should look at.
    pub(crate) warnings: Vec<Finding>,
}

impl Incoming {
    /// One that is [`imported`](journeyman::interchange::imported) already.
    pub(crate) fn read(
        path: &Path,
        skill: Skill,
        files: BTreeMap<FilePath, Vec<u8>>,
        source: &Source,
    ) -> Self {
        Self {
            place: format!("{}: {}", path.display(), skill.name),
            skill,
            files,
            source: source.clone(),
            is_imported: true,
            redacted: false,
            warnings: Vec::new(),
        }
    }
}

/// What may not come in, and why.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) place: String,
    pub(crate) error: Error,
    pub(crate) findings: Vec<Finding>,
}

impl Refused {
    pub(crate) fn new(place: impl Into<String>, error: Error) -> Self {
        Self {
            place: place.into(),
            error,
            findings: Vec::new(),
        }
    }

    pub(crate) fn by_linter(place: impl Into<String>, findings: Vec<Finding>) -> Self {
        let error = Error::invalid(IMPORT, "the linter refuses the skill")
            .hint("put right what is listed, and import it again");
        Self {
            findings,
            ..Self::new(place, error)
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "place": self.place,
            "error": error_json(&self.error),
            "findings": self.findings,
        })
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!("refused: {}\n", cell(&self.place));
        if self.findings.is_empty() {
            for line in error_text(&self.error).lines() {
                text.push_str(&format!("  {line}\n"));
            }
        }
        self.findings
            .iter()
            .for_each(|found| text.push_str(&told(found)));
        text
    }
}
