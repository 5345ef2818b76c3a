//! `skill validate`, and reading skills' folders.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use journeyman::{Error, Result, library::format::SkillMd};
use journeyman_disk::{SkillFolder, find_skills, is_misnamed_skill};
use journeyman_lint::{Finding, Report, Rule, Severity, lint};
use serde_json::{Value, json};

use crate::{
    files::{parent, unreadable},
    output::{Answer, Exit, cell, warn, word},
};

const VALIDATE: &str = "validate";
pub(crate) const SKILL_MD: &str = "SKILL.md";

pub(crate) fn validate(paths: &[PathBuf]) -> Result<Answer> {
    let mut skills = Vec::new();
    for path in paths {
        for skill in skills_at(VALIDATE, path)? {
            let findings = look(&skill, skill == *path)?;
            skills.push((skill, findings));
        }
    }
    let valid = skills.iter().all(|(_, findings)| is_valid(findings));
    let mut text = String::new();
    for (skill, findings) in &skills {
        let said = if is_valid(findings) {
            "valid"
        } else {
            "not valid"
        };
        text.push_str(&format!("{}: {said}\n", cell(&skill.display().to_string())));
        findings
            .iter()
            .for_each(|found| text.push_str(&finding_text(found)));
    }
    let all = skills.iter().map(|(skill, findings)| {
        json!({
            "path": skill.display().to_string(),
            "valid": is_valid(findings),
            "findings": findings,
        })
    });
    Ok(Answer {
        json: json!({ "valid": valid, "skills": all.collect::<Vec<Value>>() }),
        text,
        exit: if valid { Exit::Done } else { Exit::Refused },
    })
}

/// Whether an import would accept the skill, and it keeps to the specification exactly.
fn is_valid(findings: &[Finding]) -> bool {
    let wrong = |f: &Finding| f.severity == Severity::Error || f.rule.is_of_specification();
    !findings.iter().any(wrong)
}

/// A finding as text: place, rule, severity, message and hint.
pub(crate) fn finding_text(found: &Finding) -> String {
    let line = found
        .line
        .map(|line| format!(":{line}"))
        .unwrap_or_default();
    format!(
        "  {}{line} [{}] {}: {}\n      hint: {}\n",
        cell(&found.path),
        found.rule,
        word(&found.severity),
        cell(&found.message),
        cell(&found.hint)
    )
}

/// The skills of a path: a SKILL.md, a skill's folder, or the skills' folders below a folder ([`find_skills`]), links to such
/// folders included, which reading refuses. A folder without any SKILL.md, or with one by another name, is given back too, so
/// that reading it reports the fault.
pub(crate) fn skills_at(operation: &'static str, path: &Path) -> Result<Vec<PathBuf>> {
    let data = fs::metadata(path).map_err(|source| unreadable(operation, path, source))?;
    if !data.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let found = find_skills(path)?;
    for library in found.libraries {
        let error = Error::invalid(operation, "a library lies there and is left out")
            .with("path", library.display());
        warn(&error.hint("import the skills that it offers with `journeyman library merge`"));
    }
    let mut within = found.folders;
    within.extend(found.links);
    within.extend(found.misnamed.iter().map(|file| parent(file)));
    within.sort_unstable();
    within.dedup();
    // Reading the folder reports that it has no SKILL.md.
    Ok(if within.is_empty() {
        vec![path.to_owned()]
    } else {
        within
    })
}

fn look(skill: &Path, is_named: bool) -> Result<Vec<Finding>> {
    if skill.is_dir() {
        return Ok(match folder(VALIDATE, skill, is_named) {
            Ok((folder, name)) => lint_folder(&folder, Some(&name)).findings,
            Err(error) => vec![refused(&error)],
        });
    }
    let unread = |source| unreadable(VALIDATE, skill, source);
    // A link leads elsewhere, and a pipe may not end.
    if !skill.symlink_metadata().map_err(unread)?.is_file() {
        let error = Error::invalid(VALIDATE, "this is not a regular file");
        return Ok(vec![refused(&error.hint("put the file itself there"))]);
    }
    // A longer file is too long for any SKILL.md.
    let most = 2 * SkillMd::MAX_BODY as u64;
    let mut text = Vec::new();
    File::open(skill)
        .and_then(|file| file.take(most).read_to_end(&mut text))
        .map_err(unread)?;
    let within = skill.ends_with(SKILL_MD).then(|| parent(skill));
    let name = within.and_then(|folder| name_of(&folder));
    let mut findings = lint(&text, name.as_deref(), &BTreeMap::new()).findings;
    if is_misnamed_skill(skill) {
        findings.insert(0, refused(&misnamed(VALIDATE, skill)));
    }
    Ok(findings)
}

/// The error for a file that is meant to be a skill's and has another name.
pub(crate) fn misnamed(operation: &'static str, path: &Path) -> Error {
    Error::invalid(
        operation,
        "a skill's file is named SKILL.md, in exactly this spelling",
    )
    .with("path", path.display())
    .hint("rename the file to SKILL.md, then name it or its folder")
}

/// A skill's folder and its name. A path that a person names may be a link; one found within a folder may not (S7).
pub(crate) fn folder(
    operation: &'static str,
    path: &Path,
    is_named: bool,
) -> Result<(SkillFolder, String)> {
    if !is_named && path.is_symlink() {
        return Err(Error::invalid(operation, "the folder is a link")
            .with("path", path.display())
            .hint("put the folder itself there, or name the link on the command line"));
    }
    let name = name_of(path).ok_or_else(|| {
        Error::invalid(operation, "the folder has no name in UTF-8")
            .with("path", path.display())
            .hint("rename the folder: a skill's name is of a-z, 0-9 and hyphens")
    })?;
    Ok((SkillFolder::read(path)?, name))
}

/// A path's last part as it was given; where it has none, that of the canonical path.
pub(crate) fn name_of(path: &Path) -> Option<String> {
    let whole = match path.file_name() {
        Some(_) => path.to_owned(),
        None => path.canonicalize().ok()?,
    };
    Some(whole.file_name()?.to_str()?.to_owned())
}

pub(crate) fn lint_folder(folder: &SkillFolder, name: Option<&str>) -> Report {
    let files = folder.files.iter();
    let files = files.map(|(path, bytes)| (path.as_str().to_owned(), bytes.clone()));
    lint(&folder.text, name, &files.collect())
}

/// The finding for a folder that cannot be read as a skill's.
pub(crate) fn refused(error: &Error) -> Finding {
    Finding::error(
        Rule::Path,
        error.fact("path").unwrap_or("."),
        error.message(),
    )
    .hint(error.hint_text().unwrap_or_default())
}
