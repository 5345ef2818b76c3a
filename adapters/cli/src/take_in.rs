//! What is done to every skill from elsewhere before it is committed.

use std::collections::BTreeMap;

use journeyman::{
    Error, Result,
    contract::SkillFiles,
    domain::{FilePath, FileRef, LibraryChange, Skill, SkillMd, Source, Trust},
    interchange::imported,
    lint::{Finding, Severity, lint},
    text::Redactor,
};
use serde_json::{Value, json};

use crate::{
    arguments::From,
    library::Opened,
    outcome::make,
    output::{Answer, Exit, Progress, cell, error_json, error_text},
    validate::told,
};

/// A skill from elsewhere, with its files, as it came.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Where it was found.
    pub(crate) place: String,
    pub(crate) skill: Skill,
    pub(crate) files: BTreeMap<FilePath, Vec<u8>>,
    pub(crate) source: Source,
    /// Whether it is [`imported`] already, and so has an id that follows from its source.
    pub(crate) is_imported: bool,
    /// Whether secrets were taken out of it.
    pub(crate) redacted: bool,
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
        let error = Error::invalid("import", "the linter refuses the skill")
            .hint("put right what is listed, and import it again");
        Self {
            findings,
            ..Self::new(place, error)
        }
    }

    fn json(&self) -> Value {
        json!({
            "place": self.place,
            "error": error_json(&self.error),
            "findings": self.findings,
        })
    }

    fn text(&self) -> String {
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

/// The source that a host's word makes trusted or not.
pub(crate) fn source(from: &From, otherwise: &std::path::Path) -> Source {
    let name = otherwise.canonicalize().ok();
    let name = name.as_deref().and_then(std::path::Path::file_name);
    let name = name.map(|name| name.to_string_lossy().into_owned());
    Source {
        name: from
            .source
            .clone()
            .or(name)
            .unwrap_or_else(|| "elsewhere".to_owned()),
        trust: if from.trust {
            Trust::Trusted
        } else {
            Trust::Untrusted
        },
    }
}

/// Redacts, checks, puts the files and commits all of it at once.
pub(crate) async fn take_in(
    opened: &Opened,
    from: &From,
    incoming: Vec<Incoming>,
    mut refused: Vec<Refused>,
    progress: Progress,
) -> Result<Answer> {
    progress.step("checking skills");
    let redactor = Redactor::default();
    let mut ready = Vec::new();
    for one in incoming {
        match clean(one, &redactor) {
            Ok(one) => ready.push(one),
            Err(one) => refused.push(*one),
        }
    }
    if !refused.is_empty() && !from.keep_going {
        ready.clear();
    }
    let dry_run = from.how.dry_run;
    let mut changes = Vec::new();
    let mut redacted = Vec::new();
    progress.step("taking skills in");
    for one in ready {
        if !dry_run {
            for bytes in one.files.values() {
                opened.store.put(bytes).await?;
            }
        }
        if one.redacted {
            redacted.push(one.place);
        }
        changes.push(LibraryChange::Add(Box::new(one.skill)));
    }
    let places = changes.len();
    let reason = from.how.reason("taken in from the command line");
    let outcome = make(opened, changes, &reason, dry_run).await?;
    drop(progress);
    let json = outcome.json();
    let text = match !refused.is_empty() && !from.keep_going {
        true => "nothing was taken in; --keep-going takes in the others\n".to_owned(),
        false => outcome.text(),
    };
    let there = outcome.applied.passed_over.len();
    Ok(told_all(
        (json, text),
        (places - there, there),
        &refused,
        &redacted,
    ))
}

/// What came of an import: how many skills came in and were there already, what was refused, and what held secrets.
fn told_all(
    (mut json, outcome): (Value, String),
    (taken_in, there): (usize, usize),
    refused: &[Refused],
    redacted: &[String],
) -> Answer {
    json["refused"] = refused.iter().map(Refused::json).collect();
    json["redacted"] = json!(redacted);
    json["taken_in"] = taken_in.into();
    json["already_there"] = there.into();
    let mut text: String = refused.iter().map(Refused::text).collect();
    for place in redacted {
        text.push_str(&format!("secrets were taken out of {}\n", cell(place)));
    }
    text.push_str(&outcome);
    text.push_str(&format!("{taken_in} taken in, {there} already there\n"));
    Answer {
        json,
        text,
        exit: match refused.is_empty() {
            true => Exit::Done,
            false => Exit::Refused,
        },
    }
}

/// A skill without secrets, as it may be added; or why it may not.
fn clean(mut one: Incoming, redactor: &Redactor) -> Result<Incoming, Box<Refused>> {
    let place = one.place.clone();
    let refused = |error: Error| Box::new(Refused::new(place.clone(), error));
    let before = (one.skill.clone(), one.files.clone());
    redact(&mut one, redactor);
    one.skill.files = refs(&one.files).map_err(refused)?;
    let changed = before != (one.skill.clone(), one.files.clone());
    if changed || !one.is_imported {
        one.skill = imported(one.skill, &one.source).map_err(refused)?;
    }
    one.redacted |= before.1 != one.files || !same_text(&before.0, &one.skill);
    // Lengths and signs may have changed, and a bank's entries never were a file before.
    let file = SkillMd::from(&one.skill).write().map_err(refused)?;
    let files = one.files.iter();
    let files = files.map(|(path, bytes)| (path.as_str().to_owned(), bytes.clone()));
    let name = one.skill.name.as_str();
    let report = lint(file.as_bytes(), Some(name), &files.collect());
    if report.is_acceptable() {
        return Ok(one);
    }
    let errors = report.findings.into_iter();
    let errors = errors.filter(|found| found.severity == Severity::Error);
    Err(Box::new(Refused::by_linter(place, errors.collect())))
}

fn refs(files: &BTreeMap<FilePath, Vec<u8>>) -> Result<BTreeMap<FilePath, FileRef>> {
    let refs = files
        .iter()
        .map(|(path, bytes)| Ok((path.clone(), FileRef::of(bytes)?)))
        .collect::<Result<_>>()?;
    FileRef::check(&refs)?;
    Ok(refs)
}

fn redact(one: &mut Incoming, redactor: &Redactor) {
    let skill = &mut one.skill;
    let text = |text: &mut String| *text = redactor.redact(text).into_owned();
    text(&mut skill.description);
    text(&mut skill.body);
    let optional = [
        &mut skill.original_name,
        &mut skill.trigger,
        &mut skill.license,
        &mut skill.compatibility,
    ];
    optional.into_iter().flatten().for_each(text);
    skill.allowed_tools.iter_mut().for_each(text);
    skill.metadata.values_mut().for_each(text);
    for bytes in one.files.values_mut() {
        if let Ok(whole) = std::str::from_utf8(bytes) {
            *bytes = redactor.redact(whole).into_owned().into_bytes();
        }
    }
}

fn same_text(one: &Skill, other: &Skill) -> bool {
    let texts = |skill: &Skill| SkillMd {
        metadata: skill.metadata.clone(),
        ..SkillMd::from(skill)
    };
    texts(one) == texts(other) && one.trigger == other.trigger
}
