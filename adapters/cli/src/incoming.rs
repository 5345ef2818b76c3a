//! Skills from other sources that an import has read, and those that it refuses.

use std::{collections::BTreeMap, path::Path};

use journeyman::{
    Error,
    domain::{FilePath, Skill, Source},
};
use journeyman_lint::{Finding, Severity};
use serde_json::{Value, json};

use crate::{
    output::{cell, error_json, error_text},
    validate::finding_text,
};

/// The operation that errors of an import name.
pub(crate) const IMPORT: &str = "import";

/// A skill from another source, with its files.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The path or name that it was found under.
    pub(crate) place: String,
    pub(crate) skill: Skill,
    pub(crate) files: BTreeMap<FilePath, Vec<u8>>,
    pub(crate) source: Source,
    /// Whether it has passed [`imported`](journeyman::stations::admit::imported), and so has an id derived from its source.
    pub(crate) is_imported: bool,
    /// Whether secrets were removed from it.
    pub(crate) redacted: bool,
    /// Findings that a person should read.
    pub(crate) warnings: Vec<Finding>,
}

impl Incoming {
    /// A skill that has passed [`imported`](journeyman::stations::admit::imported).
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

/// A path or skill that is refused, with the reason.
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

    /// The warnings among a linter's findings about a skill.
    ///
    /// # Errors
    /// The errors among them, which refuse the skill.
    pub(crate) fn or_warnings(
        place: &str,
        findings: impl Iterator<Item = Finding>,
    ) -> Result<Vec<Finding>, Box<Self>> {
        let (errors, warnings): (Vec<_>, Vec<_>) =
            findings.partition(|found| found.severity == Severity::Error);
        if errors.is_empty() {
            return Ok(warnings);
        }
        let error = Error::invalid(IMPORT, "the linter refuses the skill")
            .hint("correct the listed findings, and import it again");
        Err(Box::new(Self {
            findings: errors,
            ..Self::new(place, error)
        }))
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
            .for_each(|found| text.push_str(&finding_text(found)));
        text
    }
}
