//! Findings of the linter: rule, severity, place, message and hint.

use std::fmt;

use journeyman::library::format::SkillMd;
use serde::{Serialize, Serializer};

/// A rule that the linter checks; each variant says what must hold.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Text is UTF-8.
    NotUtf8,
    /// No byte order mark, and lines end with a line feed.
    LineEndings,
    /// The frontmatter is present, closed, and YAML within its limits of size and depth (S8).
    Frontmatter,
    /// The name is present and valid.
    Name,
    /// The name equals the folder's name.
    FolderName,
    /// The description is present and valid.
    Description,
    /// The license is text.
    License,
    /// The compatibility is text within its greatest length.
    Compatibility,
    /// Metadata has text keys and text values.
    Metadata,
    /// The allowed tools are names separated by spaces.
    AllowedTools,
    /// The specification defines every key.
    UnknownKey,
    /// The body is not too large.
    Body,
    /// No value without quotes ends at ` #`, where YAML begins a comment.
    CutValue,
    /// No key has a meaning for other programs or for Journeyman's own store.
    ReservedKey,
    /// No name mixes letters that look alike.
    LookAlike,
    /// No characters that a person cannot see (S9).
    HiddenCharacter,
    /// No escape sequences for terminals (S17).
    AnsiEscape,
    /// A file's path stays within the folder and can be written anywhere (S6, S7).
    Path,
    /// No two paths are equal in a file system that ignores case (S7).
    PathCollision,
    /// Not too many files (S7).
    TooManyFiles,
    /// No file too large (S7).
    FileTooLarge,
    /// The package is not too large (S7).
    PackageTooLarge,
    /// No secrets (S10).
    Secret,
    /// No text imitates the frame of a prompt (S4).
    PromptFrame,
    /// No text reads like an attack on a model or a person that follows it.
    Suspicious,
}

impl Rule {
    /// The name of the rule in lower case with hyphens.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotUtf8 => "not-utf8",
            Self::LineEndings => "line-endings",
            Self::Frontmatter => "frontmatter",
            Self::Name => "name",
            Self::FolderName => "folder-name",
            Self::Description => "description",
            Self::License => "license",
            Self::Compatibility => "compatibility",
            Self::Metadata => "metadata",
            Self::AllowedTools => "allowed-tools",
            Self::UnknownKey => "unknown-key",
            Self::Body => "body",
            Self::CutValue => "cut-value",
            Self::ReservedKey => "reserved-key",
            Self::LookAlike => "look-alike",
            Self::HiddenCharacter => "hidden-character",
            Self::AnsiEscape => "ansi-escape",
            Self::Path => "path",
            Self::PathCollision => "path-collision",
            Self::TooManyFiles => "too-many-files",
            Self::FileTooLarge => "file-too-large",
            Self::PackageTooLarge => "package-too-large",
            Self::Secret => "secret",
            Self::PromptFrame => "prompt-frame",
            Self::Suspicious => "suspicious",
        }
    }

    /// Whether the rule is of the Agent Skills specification; the other rules are for security.
    pub fn is_of_specification(self) -> bool {
        self <= Self::Body
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The package is refused.
    Error,
    /// The fault was corrected on reading, or a person should review it.
    Warning,
}

/// One fault. A finding never repeats the content of the file; a path is shown escaped.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use journeyman_lint::{Severity, lint};
///
/// let text = b"---\nname: Brew\ndescription: Brews. Use for coffee.\n---\n\nSay brew.\n";
/// let report = lint(text, None, &BTreeMap::new());
/// let finding = &report.findings[0];
/// assert_eq!((finding.severity, finding.line, finding.field.as_deref()), (Severity::Warning, Some(2), Some("name")));
/// assert!(report.is_acceptable() && !report.is_strict());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// Whether the package is refused for it.
    pub severity: Severity,
    /// Path of the file.
    pub path: String,
    /// Line, from 1; `None` where the fault has no line.
    pub line: Option<usize>,
    /// Field of the frontmatter; `None` where the fault is in no field.
    pub field: Option<String>,
    /// The fault in words.
    pub message: String,
    /// How to repair it.
    pub hint: String,
}

impl Finding {
    /// A fault that keeps a skill out, in a file, or `.` for the folder; it has no line, field and hint.
    pub fn error(rule: Rule, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: Severity::Error,
            path: path.into(),
            line: None,
            field: None,
            message: message.into(),
            hint: String::new(),
        }
    }

    pub(super) fn warning(rule: Rule, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(rule, path, message)
        }
    }

    pub(super) fn at(mut self, line: Option<usize>) -> Self {
        self.line = line;
        self
    }

    /// The same with how to repair it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity} {}", self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, " [{}]: {}; hint: {}", self.rule, self.message, self.hint)
    }
}

/// The result of a lint: all findings, and the skill where it can be imported.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Findings on paths and sizes first, then those of SKILL.md by line, then those of the other files.
    pub findings: Vec<Finding>,
    /// The skill; `None` where a finding is an error.
    pub skill: Option<SkillMd>,
}

impl Report {
    /// Whether the package may be imported (into quarantine): no finding is an error.
    pub fn is_acceptable(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Error)
    }

    /// Whether the package breaks no rule of the specification, warnings included.
    pub fn is_strict(&self) -> bool {
        !self.findings.iter().any(|f| f.rule.is_of_specification())
    }
}
