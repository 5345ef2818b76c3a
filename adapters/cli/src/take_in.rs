//! Redacts, checks and commits the skills of an import.

use std::{
    collections::{BTreeMap, BTreeSet},
    env::temp_dir,
    path::Path,
};

use journeyman::{
    Error, Result, SkillId,
    contract::SkillFiles,
    domain::{FilePath, FileRef, LibraryChange, Skill, SkillName, Source, Trust},
    library::{Applied, format::SkillMd},
    stations::admit::imported,
    text::Redactor,
};
use journeyman_lint::{Finding, Rule, lint};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    arguments::Elsewhere,
    files::unwritable,
    incoming::{IMPORT, Incoming, Refused},
    library::{Opened, is_library, open, refuse_unread},
    outcome::make,
    output::{Answer, Exit, cell},
    progress::Progress,
    recognize::is_packed,
    validate::{finding_text, name_of},
};

/// The library that skills are imported into.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) root: &'a Path,
    /// Whether to make the library where there is none.
    pub(crate) create: bool,
}

/// The source of a path, which is trusted with `--trust` only.
pub(crate) fn source(from: &Elsewhere, path: &Path) -> Source {
    let name = from.source.clone().or_else(|| name_of(path));
    Source::new(
        name.unwrap_or_else(|| "elsewhere".to_owned()),
        if from.trust {
            Trust::Trusted
        } else {
            Trust::Untrusted
        },
    )
}

/// Redacts and checks skills, stores their files, and commits all of them at once.
pub(crate) async fn take_in(
    target: &Target<'_>,
    from: &Elsewhere,
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
    progress.step("taking skills in");
    let reason = reason(from, &ready);
    // The temporary folder is dropped after the library in it.
    let (_nowhere, opened) = opened(target, dry_run || ready.is_empty()).await?;
    let wanted = ready.iter().map(|one| &one.skill);
    let wanted = wanted.map(|skill| (skill.id.clone(), skill.name.clone()));
    let wanted: BTreeMap<SkillId, SkillName> = wanted.collect();
    let mut changes = Vec::new();
    let mut report = ImportReport::default();
    for one in ready {
        if !dry_run {
            for bytes in one.files.values() {
                opened.store.put(bytes).await?;
            }
        }
        let packed = one.files.iter().filter(|(_, bytes)| is_packed(bytes));
        let packed = packed.map(|(path, _)| (one.place.clone(), path.clone()));
        report.packed.extend(packed);
        if !one.warnings.is_empty() {
            report.warnings.push((one.place.clone(), one.warnings));
        }
        if one.redacted {
            report.redacted.push(one.place);
        }
        changes.push(LibraryChange::Add(Box::new(one.skill)));
    }
    let places = changes.len();
    let outcome = make(&opened, changes, &reason, dry_run).await?;
    report.renamed = renamed(&wanted, &outcome.applied);
    drop(progress);
    let text = match !refused.is_empty() && !from.keep_going {
        true => "nothing was taken in; --keep-going takes in the rest\n".to_owned(),
        false => outcome.text(),
    };
    report.refused = refused;
    report.already_there = outcome.applied.passed_over.len();
    report.taken_in = places - report.already_there;
    Ok(report.answer(outcome.json(), &text))
}

/// The names of skills that the library had, with those that it gave.
fn renamed(
    wanted: &BTreeMap<SkillId, SkillName>,
    applied: &Applied,
) -> Vec<(SkillName, SkillName)> {
    let moves = applied.moves.iter();
    let pairs = moves.filter_map(|made| Some((wanted.get(&made.skill.id)?, &made.name)));
    let others = pairs.filter(|(wanted, name)| wanted != name);
    others
        .map(|(wanted, name)| (wanted.clone(), name.clone()))
        .collect()
}

/// Opens the library. Where it has to be made and nothing will be kept, an empty library in a temporary folder stands in.
async fn opened(target: &Target<'_>, keeps_nothing: bool) -> Result<(Option<TempDir>, Opened)> {
    if !target.create || is_library(target.root) {
        return Ok((None, open(target.root, false).await?));
    }
    refuse_unread(target.root)?;
    if !keeps_nothing {
        return Ok((None, open(target.root, true).await?));
    }
    let nowhere = TempDir::new().map_err(|source| unwritable(IMPORT, &temp_dir(), source))?;
    let opened = open(nowhere.path(), true).await?;
    Ok((Some(nowhere), opened))
}

/// The commit's reason, with the sources' names, which nothing else keeps.
fn reason(from: &Elsewhere, ready: &[Incoming]) -> String {
    const MOST: usize = 5;
    let reason = from.how.reason("taken in from the command line");
    let names: BTreeSet<&str> = ready.iter().map(|one| one.source.name.as_str()).collect();
    let more = names.len().saturating_sub(MOST);
    let first: Vec<&str> = names.into_iter().take(MOST).collect();
    match (first.join(", "), more) {
        (first, _) if first.is_empty() => reason,
        (first, 0) => format!("{reason}; source: {first}"),
        (first, more) => format!("{reason}; sources: {first} and {more} more"),
    }
}

/// The report of an import, beside its commit.
#[derive(Debug, Default)]
struct ImportReport {
    taken_in: usize,
    already_there: usize,
    /// Places with files that are packed archives.
    packed: Vec<(String, FilePath)>,
    /// The names that others had, with those that the library gave.
    renamed: Vec<(SkillName, SkillName)>,
    refused: Vec<Refused>,
    /// Places of the skills that held secrets.
    redacted: Vec<String>,
    /// Findings that a person should read, by place.
    warnings: Vec<(String, Vec<Finding>)>,
}

impl ImportReport {
    fn answer(self, mut json: Value, outcome: &str) -> Answer {
        let warnings = self.warnings.iter();
        let warnings = warnings.map(|(place, all)| json!({ "place": place, "findings": all }));
        json["warnings"] = warnings.collect();
        json["refused"] = self.refused.iter().map(Refused::json).collect();
        json["redacted"] = json!(self.redacted);
        let packed = self.packed.iter();
        let packed = packed.map(|(place, file)| json!({ "place": place, "file": file }));
        json["packed"] = packed.collect();
        let renamed = self.renamed.iter();
        let renamed = renamed.map(|(from, to)| json!({ "from": from, "to": to }));
        json["renamed"] = renamed.collect();
        json["taken_in"] = self.taken_in.into();
        json["already_there"] = self.already_there.into();
        let mut text: String = self.refused.iter().map(Refused::text).collect();
        for (place, findings) in &self.warnings {
            // `skill validate` lists departures from the specification; those that changed what the skill is called are told here too.
            let is_told = |f: &&Finding| {
                !f.rule.is_of_specification() || matches!(f.rule, Rule::Name | Rule::Description)
            };
            let grave = findings.iter().filter(is_told);
            let grave: String = grave.map(finding_text).collect();
            if !grave.is_empty() {
                text.push_str(&format!("warning: {}\n{grave}", cell(place)));
            }
        }
        for place in &self.redacted {
            text.push_str(&format!("secrets were removed from {}\n", cell(place)));
        }
        text.push_str(outcome);
        for (place, file) in &self.packed {
            let (place, file) = (cell(place), cell(file.as_str()));
            text.push_str(&format!(
                "{file} in {place} is a packed archive, into which nothing has looked: read it before you release the skill\n"
            ));
        }
        for (wanted, name) in &self.renamed {
            text.push_str(&format!(
                "{name} came as {wanted}, which is the name of another skill here: if both are forms of one skill, release one alone\n"
            ));
        }
        let (taken_in, there) = (self.taken_in, self.already_there);
        text.push_str(&format!("{taken_in} taken in, {there} already there\n"));
        Answer {
            json,
            text,
            exit: match self.refused.is_empty() {
                true => Exit::Done,
                false => Exit::Refused,
            },
        }
    }
}

/// A skill without secrets that may be added, or the reason why it is refused.
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
    // Redaction may change lengths and characters, and the entries of a bank were never linted as files.
    let file = SkillMd::from(&one.skill).write().map_err(refused)?;
    let files = one.files.iter();
    let files = files.map(|(path, bytes)| (path.as_str().to_owned(), bytes.clone()));
    let name = one.skill.name.as_str();
    let report = lint(file.as_bytes(), Some(name), &files.collect());
    let warnings = Refused::or_warnings(&place, report.findings.into_iter())?;
    // Warnings of the original file are kept: they have its line numbers.
    if one.warnings.is_empty() {
        one.warnings = warnings;
    }
    Ok(one)
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
    let texts = |skill: &Skill| {
        let mut text = SkillMd::from(skill);
        text.metadata = skill.metadata.clone();
        text
    };
    texts(one) == texts(other) && one.trigger == other.trigger
}
