//! The lenient reader, which reports each departure that it accepts, and the strict one, which accepts none.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    Forgiven, SkillMd,
    fields::Fields,
    reader::{READ, Reader, shape},
    write::size,
    yaml::{self, Fault},
};
use crate::{
    domain::find_hidden,
    error::{Error, Result},
};

/// The result of reading a SKILL.md to its end: the skill, the accepted departures and all faults.
#[derive(Clone, Debug, PartialEq)]
pub struct Examined {
    /// The skill, where there is no fault.
    pub skill: Option<SkillMd>,
    /// Departures from the specification that were accepted and corrected, in order.
    pub forgiven: Vec<Forgiven>,
    /// Faults that cannot be corrected; the first is the error of [`SkillMd::read`]. Where the frontmatter is not YAML, its
    /// fields are not checked.
    pub faults: Vec<Error>,
    /// The line, from 1, of each key; a key within `metadata` is `metadata.KEY`.
    pub lines: BTreeMap<String, usize>,
    /// The lines, from 1, on which YAML ends a value that has no quotes at ` #`, and takes the rest for a comment. The rest may
    /// have been meant as text, and is lost.
    pub cut: Vec<usize>,
    /// The name as spelled in the file.
    pub written_name: Option<String>,
}

impl SkillMd {
    /// Reads a SKILL.md and returns the departures that were accepted. `folder_name`, where given, is the name of the
    /// file's folder, which replaces a name that differs.
    ///
    /// # Errors
    /// `Invalid` for a fault that cannot be corrected, with the line (from 1) or the field, and never the file's content:
    /// no frontmatter or one that is not YAML, no name or description and none to derive it from, a limit exceeded, hidden
    /// characters.
    pub fn read(text: &str, folder_name: Option<&str>) -> Result<(Self, Vec<Forgiven>)> {
        let examined = Self::examine(text, folder_name);
        match (examined.skill, examined.faults.into_iter().next()) {
            (Some(skill), None) => Ok((skill, examined.forgiven)),
            (_, fault) => Err(fault.unwrap_or_else(|| shape("name", 0, "a valid name"))),
        }
    }

    /// Reads a SKILL.md to its end and returns every fault, for a person who repairs the file.
    pub fn examine(text: &str, folder_name: Option<&str>) -> Examined {
        let mut reader = Reader::default();
        let skill = reader.read(text, folder_name).unwrap_or_else(|fault| {
            reader.faults.push(fault);
            None
        });
        Examined {
            skill,
            forgiven: reader.forgiven,
            faults: reader.faults,
            lines: reader.lines,
            cut: reader.cut,
            written_name: reader.written_name,
        }
    }

    /// Reads a SKILL.md that conforms to the specification.
    ///
    /// # Errors
    /// As [`SkillMd::read`], and `Invalid` for the first departure that it would accept.
    pub fn read_strict(text: &str, folder_name: Option<&str>) -> Result<Self> {
        let (skill, forgiven) = Self::read(text, folder_name)?;
        match forgiven.first() {
            None => Ok(skill),
            Some(first) => {
                let more = forgiven.len() - 1;
                let error = Error::invalid("SkillMd::read_strict", first.to_string());
                let error = if more > 0 {
                    error.with("further", more)
                } else {
                    error
                };
                Err(error.hint("write the file again with SkillMd::write"))
            }
        }
    }
}

impl Reader {
    /// # Errors
    /// A fault after which no further reading is possible; every other fault is kept in the reader.
    fn read(&mut self, text: &str, folder: Option<&str>) -> Result<Option<SkillMd>> {
        // Checked before any scan of the text, so that a huge file is refused at once.
        size(
            text.len().saturating_sub(SkillMd::MAX_FRONTMATTER + 64),
            READ,
        )?;
        let text = self.lines(text);
        let (front, body, first_line) = self.split(&text)?;
        size(body.len(), READ)?;
        if let Some(hidden) = find_hidden(&text) {
            let error = Error::invalid(READ, format!("the file holds {hidden}"))
                .with("line", hidden.line)
                .hint("remove it: a person who reviews the skill cannot see it");
            self.faults.push(error);
        }
        let fields = self.front(front, first_line)?;
        Ok(self.assemble(fields, body, folder))
    }

    /// The text without a byte order mark and without carriage returns.
    fn lines<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let text = match text.strip_prefix('\u{FEFF}') {
            None => text,
            Some(rest) => {
                self.forgiven.push(Forgiven::ByteOrderMark);
                rest
            }
        };
        if !text.contains('\r') {
            return Cow::Borrowed(text);
        }
        self.forgiven.push(Forgiven::CarriageReturns);
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    }

    /// Splits a text into frontmatter, body, and the first line (from 1) of the frontmatter.
    fn split<'a>(&mut self, text: &'a str) -> Result<(&'a str, &'a str, usize)> {
        let start = text.trim_start_matches(['\n', ' ', '\t']);
        let blank = text[..text.len() - start.len()].matches('\n').count();
        let mut lines = start.split_inclusive('\n');
        let opening = lines.next().unwrap_or_default();
        if opening.trim_end() != "---" {
            return Err(Error::invalid(READ, "the file does not begin with frontmatter")
                .with("line", blank + 1)
                .hint("begin with a line `---`, then `name:` and `description:`, then a line `---`"));
        }
        if start.len() != text.len() {
            self.forgiven.push(Forgiven::BlankLinesFirst);
        }
        let front_start = opening.len();
        let mut end = front_start;
        for line in lines {
            if line.trim_end() == "---" {
                let body = &start[end + line.len()..];
                let body = body.strip_prefix('\n').unwrap_or(body);
                let body = body.strip_suffix('\n').unwrap_or(body);
                return Ok((&start[front_start..end], body, blank + 2));
            }
            end += line.len();
            if end - front_start > SkillMd::MAX_FRONTMATTER {
                break;
            }
        }
        let error = if end - front_start > SkillMd::MAX_FRONTMATTER {
            Error::invalid(READ, "the frontmatter has more than 16 KiB")
        } else {
            Error::invalid(READ, "the frontmatter is not closed")
        };
        Err(error
            .with("line", blank + 1)
            .hint("close the frontmatter with a line `---`, and keep long text in the body"))
    }

    fn front(&mut self, front: &str, first_line: usize) -> Result<Fields> {
        let (tree, cut) = match yaml::read(front) {
            Ok(tree) => (tree, yaml::cut(front)),
            Err(fault) => {
                let (quoted, lines) = quote_colons(front);
                match (lines.first(), yaml::read(&quoted)) {
                    (Some(line), Ok(tree)) => {
                        let line = line + first_line;
                        self.forgiven.push(Forgiven::UnquotedColon { line });
                        (tree, yaml::cut(&quoted))
                    }
                    _ => return Err(yaml_error(fault, first_line)),
                }
            }
        };
        self.cut = cut.iter().map(|line| line + first_line - 1).collect();
        Ok(self.fields(tree, first_line))
    }
}

fn yaml_error(fault: Fault, first_line: usize) -> Error {
    Error::invalid(READ, fault.what)
        .with("line", fault.line + first_line - 1)
        .hint(fault.hint)
}

/// Corrects the most common mistake in files that people write: `description: Use when: asked`. Puts quotes around such a
/// value and returns the changed lines (from 0).
fn quote_colons(front: &str) -> (String, Vec<usize>) {
    let mut quoted = String::with_capacity(front.len() + 16);
    let mut lines = Vec::new();
    for (index, line) in front.split('\n').enumerate() {
        if index > 0 {
            quoted.push('\n');
        }
        match line.split_once(": ") {
            Some((key @ ("name" | "description" | "license" | "compatibility"), value))
                if value.contains(':')
                    && !value.trim_start().starts_with(['"', '\'', '|', '>']) =>
            {
                lines.push(index);
                quoted.push_str(&format!("{key}: '{}'", value.trim().replace('\'', "''")));
            }
            _ => quoted.push_str(line),
        }
    }
    (quoted, lines)
}
