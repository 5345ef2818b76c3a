//! The linter of [Journeyman](journeyman): finds every fault of a skill's package, for an importer that must refuse it and for a
//! person who repairs it. Pure: the caller passes the files, and the linter opens none.
//!
//! The rules are those of the Agent Skills specification and the security requirements S4 and S6 to S11. Patterns cannot
//! find all text that persuades a model: some forms give a warning, and the guarantee is that an imported skill starts
//! quarantined.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use journeyman_lint::lint;
//!
//! let text = b"---\nname: close-ticket\ndescription: Closes a ticket. Use when a case is settled.\n---\n\nVerify, then close.\n";
//! let report = lint(text, Some("close-ticket"), &BTreeMap::new());
//! assert!(report.is_acceptable());
//! assert_eq!(report.skill.expect("it can be imported").name.as_str(), "close-ticket");
//! ```
//!
//! # Errors
//! There are none: whatever a package holds, the [`Report`] lists its faults, each a [`Finding`] with its [`Rule`], its [`Severity`], its
//! place and a hint.

mod contents;
mod fetching;
mod finding;
mod hosts;
mod look_alike;
mod paths;
mod skill_file;

use std::collections::BTreeMap;

use journeyman::{
    domain::{FileRef, find_hidden},
    text::Redactor,
};

pub use finding::{Finding, Report, Rule, Severity};

/// The name of the skill's own file.
const SKILL_MD: &str = "SKILL.md";

/// The greatest size of a file beside SKILL.md, in bytes.
const MAX_FILE: usize = FileRef::MAX as usize;
/// The greatest size of all files together, in bytes, SKILL.md included.
const MAX_PACKAGE: usize = FileRef::MAX_TOTAL as usize;

/// Lints a skill's package: the bytes of its SKILL.md, the name of its folder, if it has one, and its other files by
/// their paths within the folder, with `/` between the parts.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use journeyman_lint::{Rule, lint};
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

/// As [`lint`], with a redactor that also finds the host's own secrets.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use journeyman::text::Redactor;
/// use journeyman_lint::{Rule, lint_with};
///
/// let text = b"---\nname: door\ndescription: Opens the door. Use at night.\n---\n\nSay the-blue-door.\n";
/// let redactor = Redactor::new(["the-blue-door".to_owned()])?;
/// let report = lint_with(&redactor, text, Some("door"), &BTreeMap::new());
/// assert_eq!(report.findings[0].rule, Rule::Secret);
/// assert_eq!(report.findings[0].line, Some(6));
/// # Ok::<(), journeyman::Error>(())
/// ```
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
    // A package that is too large is refused for its size, and its files are not read.
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

/// Lints the paths of the files beside a SKILL.md, for an archive that is not unpacked yet (S6, S7).
///
/// ```
/// use journeyman::text::Redactor;
/// use journeyman_lint::lint_paths;
///
/// let paths = ["notes.md", "../../.ssh/authorized_keys"];
/// let findings = lint_paths(&Redactor::default(), paths.into_iter());
/// assert_eq!(findings.len(), 1);
/// assert_eq!(findings[0].path, "../../.ssh/authorized_keys");
/// ```
pub fn lint_paths<'a>(
    redactor: &Redactor,
    paths: impl Iterator<Item = &'a str> + Clone,
) -> Vec<Finding> {
    paths::check(redactor, paths)
}

/// A path for a message: at most 200 characters before escapes, with secrets redacted and hidden characters escaped.
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
