//! Departures from the specification that the lenient reader accepts.

use std::fmt;

use crate::domain::SkillName;

/// A departure from the specification that [`SkillMd::read`](crate::library::format::SkillMd::read) accepted and corrected. Its
/// message names lines of the file, counted from 1, and never repeats the file's content.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forgiven {
    /// The file began with a byte order mark.
    ByteOrderMark,
    /// Lines ended with a carriage return.
    CarriageReturns,
    /// Blank lines stood before the frontmatter.
    BlankLinesFirst,
    /// A value held a colon and no quotes around it.
    UnquotedColon {
        /// Line, from 1.
        line: usize,
    },
    /// There was no name; the folder's was taken.
    NameMissing,
    /// The name was not the folder's; the folder's was taken.
    NameIsNotFolder {
        /// Line, from 1.
        line: usize,
    },
    /// The name broke the rules for names (upper case, underscores, spaces); the nearest valid one was taken.
    NameRespelled {
        /// Line, from 1.
        line: usize,
    },
    /// There was no description; the body's first paragraph was taken.
    DescriptionMissing,
    /// A value was a number or a boolean and not text; its spelling was kept.
    NotText {
        /// Name of the field.
        field: &'static str,
        /// Line, from 1.
        line: usize,
    },
    /// A field had no value; it was left out.
    EmptyField {
        /// Name of the field.
        field: &'static str,
        /// Line, from 1.
        line: usize,
    },
    /// A metadata value was a list or a mapping; it was kept as JSON.
    MetadataNested {
        /// Line, from 1.
        line: usize,
    },
    /// The allowed tools were a list or separated by commas, and not one text separated by spaces.
    ToolsRespelled {
        /// Line, from 1.
        line: usize,
    },
    /// The specification has no such key; it was kept under metadata, a list or a mapping as JSON.
    UnknownKeyKept {
        /// Line, from 1.
        line: usize,
    },
    /// The specification has no such key, and the key had no value; it was left out.
    UnknownKeyEmpty {
        /// Line, from 1.
        line: usize,
    },
}

impl Forgiven {
    /// The line of the departure, from 1; `None` for one of the whole file.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::UnquotedColon { line }
            | Self::NameIsNotFolder { line }
            | Self::NameRespelled { line }
            | Self::NotText { line, .. }
            | Self::EmptyField { line, .. }
            | Self::MetadataNested { line }
            | Self::ToolsRespelled { line }
            | Self::UnknownKeyKept { line }
            | Self::UnknownKeyEmpty { line } => Some(*line),
            Self::ByteOrderMark
            | Self::CarriageReturns
            | Self::BlankLinesFirst
            | Self::NameMissing
            | Self::DescriptionMissing => None,
        }
    }

    /// How to make the file conform to the specification.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ByteOrderMark => "save the file without a byte order mark",
            Self::CarriageReturns => "save the file with line feeds alone",
            Self::BlankLinesFirst => "begin the file with `---`",
            Self::UnquotedColon { .. } | Self::NotText { .. } => "put quotes around the value",
            Self::NameMissing => "add `name:` with the folder's name",
            Self::NameIsNotFolder { .. } => "let folder and `name:` be the same",
            Self::NameRespelled { .. } => SkillName::HINT,
            Self::DescriptionMissing => {
                "add `description:`, what the skill does and when to use it, in 1 to 1,024 characters"
            }
            Self::EmptyField { .. } | Self::UnknownKeyEmpty { .. } => {
                "give the key a value, or take it out"
            }
            Self::MetadataNested { .. } => "let every value under `metadata` be text",
            Self::ToolsRespelled { .. } => "write the tools as one text, with spaces between them",
            Self::UnknownKeyKept { .. } => "move the key under `metadata`, as text",
        }
    }
}

impl fmt::Display for Forgiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line() {
            write!(f, "line {line}: ")?;
        }
        match self {
            Self::ByteOrderMark => f.write_str("the file began with a byte order mark"),
            Self::CarriageReturns => f.write_str("lines ended with a carriage return"),
            Self::BlankLinesFirst => f.write_str("blank lines stood before the frontmatter"),
            Self::UnquotedColon { .. } => f.write_str("a value with a colon had no quotes"),
            Self::NameMissing => f.write_str("there was no name; the folder's was taken"),
            Self::NameIsNotFolder { .. } => {
                f.write_str("the name was not the folder's; the folder's was taken")
            }
            Self::NameRespelled { .. } => {
                f.write_str("the name broke the rules; the nearest valid one was taken")
            }
            Self::DescriptionMissing => {
                f.write_str("there was no description; the first paragraph was taken")
            }
            Self::NotText { field, .. } => {
                write!(
                    f,
                    "a value of `{field}` was a number or a boolean, not text"
                )
            }
            Self::EmptyField { field, .. } => {
                write!(f, "`{field}` had no value and was left out")
            }
            Self::MetadataNested { .. } => {
                f.write_str("a metadata value was a list or a mapping; it was kept as JSON")
            }
            Self::ToolsRespelled { .. } => {
                f.write_str("`allowed-tools` was not one text separated by spaces")
            }
            Self::UnknownKeyKept { .. } => f.write_str("an unknown key was kept under `metadata`"),
            Self::UnknownKeyEmpty { .. } => {
                f.write_str("an unknown key had no value and was left out")
            }
        }
    }
}
