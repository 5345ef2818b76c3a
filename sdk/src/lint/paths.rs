//! The names and the number of a package's files (security requirements S6 and S7).

use std::collections::BTreeMap;

use super::{Finding, MAX_FILE, MAX_FILES, MAX_PACKAGE, Rule, SKILL_MD, shown};
use crate::{domain::find_hidden, text::Redactor};

/// The greatest length of a path and of one of its parts in bytes, and the greatest number of parts.
const MAX_PATH: usize = 512;
const MAX_PART: usize = 255;
const MAX_DEPTH: usize = 8;

/// Names that are devices on Windows, whatever follows a dot.
const DEVICES: [&str; 8] = [
    "con", "prn", "aux", "nul", "conin$", "conout$", "clock$", "config$",
];

pub(super) fn check<'a>(
    redactor: &Redactor,
    paths: impl Iterator<Item = &'a str> + Clone,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = paths
        .clone()
        .filter_map(|path| {
            let (message, hint) = fault(path)?;
            Some(Finding::error(Rule::Path, shown(redactor, path), message).hint(hint))
        })
        .collect();
    let secrets = paths
        .clone()
        .filter(|path| !redactor.find(path).is_empty())
        .map(|path| {
            Finding::error(
                Rule::Secret,
                shown(redactor, path),
                "the path holds a secret",
            )
            .hint("rename the file, and give the secret out anew: it is no secret any more")
        });
    findings.extend(secrets);
    findings.extend(collisions(redactor, paths));
    findings
}

/// What is wrong with a path, if anything is, and what to do.
pub(super) fn fault(path: &str) -> Option<(&'static str, &'static str)> {
    const INSIDE: &str =
        "name files by their path within the skill's folder, such as `references/notes.md`";
    const PLAIN: &str = "rename the file";
    let starts = |at: usize, is: fn(u8) -> bool| path.as_bytes().get(at).copied().is_some_and(is);
    if path.is_empty() {
        return Some(("the path is empty", INSIDE));
    }
    if path.chars().any(char::is_control) || find_hidden(path).is_some() {
        return Some(("the path holds a hidden or a control character", PLAIN));
    }
    if path.contains('\\') {
        return Some(("the path holds a backslash", "put `/` between the parts"));
    }
    if path.starts_with('/') || path.starts_with('~') {
        return Some(("the path does not begin within the skill's folder", INSIDE));
    }
    if starts(0, |b| b.is_ascii_alphabetic()) && starts(1, |b| b == b':') {
        return Some(("the path begins with a drive", INSIDE));
    }
    if path.contains(':') {
        return Some((
            "the path holds a colon, which names a stream on Windows",
            PLAIN,
        ));
    }
    if path.len() > MAX_PATH {
        return Some(("the path is longer than 512 bytes", PLAIN));
    }
    if path.split('/').count() > MAX_DEPTH {
        return Some(("the path is deeper than 8", "put the file less deep"));
    }
    path.split('/')
        .find_map(|part| part_fault(part, INSIDE, PLAIN))
}

fn part_fault(
    part: &str,
    inside: &'static str,
    plain: &'static str,
) -> Option<(&'static str, &'static str)> {
    let stem = part.split('.').next().unwrap_or_default().trim_end();
    let stem: String = fold(stem);
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|number| {
            let mut number = number.chars();
            matches!(number.next(), Some('0'..='9' | '¹' | '²' | '³')) && number.next().is_none()
        })
    };
    match part {
        "" => Some(("the path has an empty part", inside)),
        "." | ".." => Some(("the path leads out of its folder, or may", inside)),
        _ if part.len() > MAX_PART => Some(("a part of the path is longer than 255 bytes", plain)),
        _ if part.ends_with(['.', ' ']) || part.starts_with(' ') => Some((
            "a part of the path begins or ends with a space, or ends with a dot, which some systems drop",
            plain,
        )),
        _ if DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") => {
            Some(("a part of the path is a device on Windows", plain))
        }
        _ => None,
    }
}

/// Paths that are one where case does not count, SKILL.md among them, and files that are folders of others.
fn collisions<'a>(redactor: &Redactor, paths: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let mut known = BTreeMap::from([(fold(SKILL_MD), SKILL_MD)]);
    let mut findings = Vec::new();
    let mut folders: BTreeMap<String, &str> = BTreeMap::new();
    for path in paths {
        let mut one_folder = true;
        for (at, _) in path.match_indices('/') {
            let folder = folders.entry(fold(&path[..at])).or_insert(&path[..at]);
            one_folder &= *folder == &path[..at];
        }
        if !one_folder || known.insert(fold(path), path).is_some() {
            let message = "the path is another file's but for upper and lower case";
            findings.push(
                Finding::error(Rule::PathCollision, shown(redactor, path), message)
                    .hint("rename one of the two"),
            );
        }
    }
    let both = folders.keys().filter_map(|folder| known.get(folder));
    findings.extend(both.map(|path| {
        let message = "the path is a file here and a folder elsewhere";
        Finding::error(Rule::PathCollision, shown(redactor, path), message)
            .hint("rename one of the two")
    }));
    findings
}

/// Upper case first, so that letters with two lower cases (`ſ` and `s`) fall together too.
fn fold(path: &str) -> String {
    path.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Too many, too large, too much.
pub(super) fn budgets<'a>(
    redactor: &Redactor,
    skill: usize,
    sizes: impl Iterator<Item = (&'a str, usize)>,
) -> Vec<Finding> {
    let hint = "leave out what the skill does not need, or let it say where to get it";
    let mut findings = Vec::new();
    let (mut count, mut total) = (0, skill);
    for (path, size) in sizes {
        count += 1;
        total += size;
        if size > MAX_FILE {
            let message = format!("the file has {size} bytes, and 1 MiB is the most");
            let finding = Finding::error(Rule::FileTooLarge, shown(redactor, path), message);
            findings.push(finding.hint(hint));
        }
    }
    if count > MAX_FILES {
        let message = format!("the package has {count} files, and {MAX_FILES} is the most");
        findings.push(Finding::error(Rule::TooManyFiles, SKILL_MD, message).hint(hint));
    }
    if total > MAX_PACKAGE {
        let message = format!("the package has {total} bytes, and 10 MiB is the most");
        findings.push(Finding::error(Rule::PackageTooLarge, SKILL_MD, message).hint(hint));
    }
    findings
}
