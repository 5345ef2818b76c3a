//! What the linter says.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::format::SkillMd;

/// What was looked for.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Text is UTF-8.
    NotUtf8,
    /// No byte order mark, and lines end with a line feed.
    LineEndings,
    /// The frontmatter is there, closed, and YAML within its budgets (S8).
    Frontmatter,
    /// The name is there and keeps its rules.
    Name,
    /// The name is the folder's.
    FolderName,
    /// The description is there and keeps its rules.
    Description,
    /// The licence is text.
    License,
    /// The compatibility is text, and not long.
    Compatibility,
    /// The metadata are text by text.
    Metadata,
    /// The allowed tools are names separated by spaces.
    AllowedTools,
    /// Every key is one that the specification knows.
    UnknownKey,
    /// The body is not too large.
    Body,
    /// No key that means something elsewhere: to other programs, or to Journeyman's own store.
    ReservedKey,
    /// No name of letters that look alike.
    LookAlike,
    /// No characters that a person cannot see (S9).
    HiddenCharacter,
    /// No escape sequences for terminals (S17).
    AnsiEscape,
    /// A file's path stays within the folder and can be written anywhere (S6, S7).
    Path,
    /// No two paths are one where case does not count (S7).
    PathCollision,
    /// Not too many files (S7).
    TooManyFiles,
    /// No file too large (S7).
    FileTooLarge,
    /// The package is not too large (S7).
    PackageTooLarge,
    /// No secrets (S10).
    Secret,
    /// Nothing that reads like the frame of a prompt (S4).
    PromptFrame,
    /// Nothing that reads like an attack on who follows it.
    Suspicious,
}

impl Rule {
    /// The name in lower case with hyphens.
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

    /// Whether it is of the Agent Skills specification; the others are of safety.
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

/// How grave it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The package is refused.
    Error,
    /// It was put right, or a person should look at it.
    Warning,
}

/// One thing that is wrong. It never repeats what stands there; a path is shown escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked for.
    pub rule: Rule,
    /// How grave it is.
    pub severity: Severity,
    /// In which file.
    pub path: String,
    /// On which line, from 1, where there is one.
    pub line: Option<usize>,
    /// In which field of the frontmatter, where in one.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Finding {
    pub(super) fn error(rule: Rule, path: impl Into<String>, message: impl Into<String>) -> Self {
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

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
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

/// All that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// By file: the paths first, then SKILL.md by its lines, then the other files.
    pub findings: Vec<Finding>,
    /// The skill, where no finding is an error.
    pub skill: Option<SkillMd>,
}

impl Report {
    /// Whether the package may be imported (into quarantine): no finding is an error.
    pub fn is_acceptable(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Error)
    }

    /// Whether the package keeps to the specification to the letter.
    pub fn is_strict(&self) -> bool {
        !self.findings.iter().any(|f| f.rule.is_of_specification())
    }
}
