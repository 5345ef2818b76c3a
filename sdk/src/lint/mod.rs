//! The linter: all that is wrong with a skill's package, for the importer that must refuse it and for the person who puts
//! it right. Pure: it is given the files and opens none.
//!
//! It holds the Agent Skills specification and the security requirements S4 and S6 to S11. What persuades is not to be
//! found by patterns: some of it is told as a warning, and the guarantee is that what is imported starts quarantined.

mod contents;
mod finding;
mod paths;
mod skill_file;

use std::collections::BTreeMap;

pub use finding::{Finding, Report, Rule, Severity};

use crate::{
    domain::{FileRef, find_hidden},
    text::Redactor,
};

/// The skill's own file.
const SKILL_MD: &str = "SKILL.md";

const MAX_FILE: usize = FileRef::MAX as usize;
/// SKILL.md included.
const MAX_PACKAGE: usize = FileRef::MAX_TOTAL as usize;

/// Looks at a skill's package: the bytes of its SKILL.md, the name of the folder that it lies in, where it has one, and
/// its other files by their paths within the folder, with `/` between the parts.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use journeyman::lint::{Rule, lint};
///
/// let text = b"---\nname: Brew\ndescription: Brews. Use for coffee.\n---\n\nSay \x1b[1mbrew.\n";
/// let files = BTreeMap::from([("../notes.md".to_owned(), Vec::new())]);
/// let report = lint(text, Some("brew"), &files);
/// assert!(!report.is_acceptable());
/// let rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
/// assert_eq!(rules, [Rule::Path, Rule::Name, Rule::AnsiEscape]);
/// assert_eq!(
///     report.findings[2].to_string(),
///     "error SKILL.md:6 [ansi-escape]: the line holds an escape sequence for terminals; hint: remove it: it can \
///      rewrite what a person sees"
/// );
/// ```
pub fn lint(text: &[u8], folder_name: Option<&str>, files: &BTreeMap<String, Vec<u8>>) -> Report {
    lint_with(&Redactor::default(), text, folder_name, files)
}

/// As [`lint`], with a redactor that knows the host's own secrets too.
pub fn lint_with(
    redactor: &Redactor,
    text: &[u8],
    folder_name: Option<&str>,
    files: &BTreeMap<String, Vec<u8>>,
) -> Report {
    let mut findings = lint_paths(redactor, files.keys().map(String::as_str));
    let sizes = files
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.len()));
    findings.extend(paths::budgets(redactor, text.len(), sizes));
    let before = findings.len();
    let skill = skill_file::check(redactor, text, folder_name, &mut findings);
    findings[before..].sort_by_key(|finding| finding.line);
    let total: usize = files.values().map(Vec::len).sum();
    // What is too large is refused for that, and is not walked through.
    if total <= MAX_PACKAGE {
        for (path, bytes) in files.iter().filter(|(_, bytes)| bytes.len() <= MAX_FILE) {
            contents::check_file(redactor, path, bytes, &mut findings);
        }
    }
    let acceptable = findings.iter().all(|f| f.severity != Severity::Error);
    Report {
        skill: skill.filter(|_| acceptable),
        findings,
    }
}

/// Looks at the paths of a package's files alone, beside a SKILL.md: for archives, before anything is unpacked (S6, S7).
pub fn lint_paths<'a>(
    redactor: &Redactor,
    paths: impl Iterator<Item = &'a str> + Clone,
) -> Vec<Finding> {
    paths::check(redactor, paths)
}

/// A path as it can be shown: without secrets, characters that do not show, or great length.
fn shown(redactor: &Redactor, path: &str) -> String {
    let path: String = redactor.redact(path).chars().take(200).collect();
    if !path.chars().any(char::is_control) && find_hidden(&path).is_none() {
        return path;
    }
    let escaped = path
        .chars()
        .map(|c| match c.is_ascii_graphic() || c == ' ' {
            true => c.to_string(),
            false => c.escape_unicode().to_string(),
        });
    escaped.collect()
}

#[cfg(test)]
mod tests;
