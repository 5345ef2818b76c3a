//! Checking skills before they go anywhere.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use journeyman::{
    Error, ErrorKind, Result,
    domain::SkillMd,
    lint::{Finding, Report, Rule, Severity, lint},
};
use journeyman_disk::SkillFolder;
use serde_json::{Value, json};

use crate::output::{Answer, Exit, cell, word};

const VALIDATE: &str = "validate";
const SKILL_MD: &str = "SKILL.md";

pub(crate) fn validate(paths: &[PathBuf]) -> Result<Answer> {
    let mut skills = Vec::new();
    for path in paths {
        for skill in skills_at(path)? {
            let findings = look(&skill)?;
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
            .for_each(|found| text.push_str(&told(found)));
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

/// Nothing that an import refuses, and the specification kept to the letter.
fn is_valid(findings: &[Finding]) -> bool {
    let wrong = |f: &Finding| f.severity == Severity::Error || f.rule.is_of_specification();
    !findings.iter().any(wrong)
}

/// A finding for people: place, what, and what to do.
pub(crate) fn told(found: &Finding) -> String {
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

/// The skills that a path names: a SKILL.md, a skill's folder, or a folder of such.
pub(crate) fn skills_at(path: &Path) -> Result<Vec<PathBuf>> {
    let unread = |source| unreadable(path, source);
    let data = fs::metadata(path).map_err(unread)?;
    if !data.is_dir() || path.join(SKILL_MD).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let mut within = Vec::new();
    for entry in path.read_dir().map_err(unread)? {
        let inner = entry.map_err(unread)?.path();
        if inner.join(SKILL_MD).exists() {
            within.push(inner);
        }
    }
    within.sort_unstable();
    // One without a SKILL.md is said to be so.
    Ok(if within.is_empty() {
        vec![path.to_owned()]
    } else {
        within
    })
}

pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> Error {
    let (kind, message) = match source.kind() {
        std::io::ErrorKind::NotFound => (ErrorKind::NotFound, "there is nothing at this path"),
        _ => (ErrorKind::Unavailable, "the path cannot be read"),
    };
    Error::new(kind, VALIDATE, message)
        .with("path", path.display())
        .hint("see that it is there and that this user may read it")
        .source_from(source)
}

fn look(skill: &Path) -> Result<Vec<Finding>> {
    if skill.is_dir() {
        return Ok(match folder(skill) {
            Ok((folder, name)) => lint_folder(&folder, Some(&name)).findings,
            Err(error) => vec![refused(&error)],
        });
    }
    // More than this is too much for any SKILL.md.
    let most = 2 * SkillMd::MAX_BODY as u64;
    let mut text = Vec::new();
    File::open(skill)
        .and_then(|file| file.take(most).read_to_end(&mut text))
        .map_err(|source| unreadable(skill, source))?;
    let within = skill.canonicalize().ok();
    let within = within.as_deref().filter(|path| path.ends_with(SKILL_MD));
    let name = within.and_then(Path::parent).and_then(name_of);
    Ok(lint(&text, name.as_deref(), &BTreeMap::new()).findings)
}

/// A skill's folder and its name.
pub(crate) fn folder(path: &Path) -> Result<(SkillFolder, String)> {
    let whole = path
        .canonicalize()
        .map_err(|source| unreadable(path, source))?;
    let name = name_of(&whole).ok_or_else(|| {
        Error::invalid(VALIDATE, "the folder has no name in UTF-8").with("path", path.display())
    })?;
    Ok((SkillFolder::read(&whole)?, name))
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

pub(crate) fn lint_folder(folder: &SkillFolder, name: Option<&str>) -> Report {
    let files = folder.files.iter();
    let files = files.map(|(path, bytes)| (path.as_str().to_owned(), bytes.clone()));
    lint(&folder.text, name, &files.collect())
}

/// A folder that cannot be read as a skill's.
pub(crate) fn refused(error: &Error) -> Finding {
    Finding {
        rule: Rule::Path,
        severity: Severity::Error,
        path: error.fact("path").unwrap_or(".").to_owned(),
        line: None,
        field: None,
        message: error.message().to_owned(),
        hint: error.hint_text().unwrap_or_default().to_owned(),
    }
}
