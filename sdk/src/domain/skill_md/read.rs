//! The lenient reader, which says what it forgave, and the strict one, which forgives nothing.

use std::borrow::Cow;

use super::{
    Forgiven, SkillMd, find_hidden, split_tools,
    write::{check_fields, size},
    yaml::{self, Fault, Node, Value},
};
use crate::{
    domain::SkillName,
    error::{Error, Result},
};

const READ: &str = "SkillMd::read";
/// Where a name goes that had to be respelled.
pub(super) const ORIGINAL_NAME: &str = "journeyman-original-name";

impl SkillMd {
    /// Reads a SKILL.md and says what had to be forgiven. `folder_name`, where given, is the name of the folder that
    /// the file lies in; it wins over a name that differs.
    ///
    /// # Errors
    /// `Invalid` for what cannot be put right, with the line (from 1) or the field, and never the file's content:
    /// no frontmatter or one that is not YAML, no name or description to be had, a limit passed, hidden characters.
    pub fn read(text: &str, folder_name: Option<&str>) -> Result<(Self, Vec<Forgiven>)> {
        let mut reader = Reader {
            forgiven: Vec::new(),
        };
        let skill = reader.read(text, folder_name)?;
        Ok((skill, reader.forgiven))
    }

    /// Reads a SKILL.md that keeps to the specification.
    ///
    /// # Errors
    /// As [`SkillMd::read`], and `Invalid` for the first thing that it would forgive.
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

struct Reader {
    forgiven: Vec<Forgiven>,
}

/// The frontmatter as it is put together.
#[derive(Default)]
struct Fields {
    name: Option<(String, usize)>,
    description: Option<String>,
    license: Option<String>,
    compatibility: Option<String>,
    metadata: std::collections::BTreeMap<String, String>,
    allowed_tools: Vec<String>,
    unknown: Vec<(String, Node)>,
}

impl Reader {
    fn read(&mut self, text: &str, folder: Option<&str>) -> Result<SkillMd> {
        // Before anything walks the text: ten megabytes are refused at once.
        size(
            text.len().saturating_sub(SkillMd::MAX_FRONTMATTER + 64),
            READ,
        )?;
        let text = self.lines(text);
        let (front, body, first_line) = self.split(&text)?;
        size(body.len(), READ)?;
        if let Some(hidden) = find_hidden(&text) {
            return Err(Error::invalid(READ, format!("the file holds {hidden}"))
                .with("line", hidden.line)
                .hint("remove it: a person who reviews the skill cannot see it"));
        }
        let fields = self.front(front, first_line)?;
        self.assemble(fields, body, folder)
    }

    /// The text without a byte order mark and with line feeds alone.
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

    /// Frontmatter, body, and the line (from 1) that the frontmatter begins on.
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
        let tree = match yaml::read(front) {
            Ok(tree) => tree,
            Err(fault) => {
                let (quoted, lines) = quote_colons(front);
                match (lines.first(), yaml::read(&quoted)) {
                    (Some(line), Ok(tree)) => {
                        let line = line + first_line;
                        self.forgiven.push(Forgiven::UnquotedColon { line });
                        tree
                    }
                    _ => return Err(yaml_error(fault, first_line)),
                }
            }
        };
        let mut fields = Fields::default();
        for (key, mut node) in tree {
            node.line += first_line - 1;
            match key.as_str() {
                "name" => {
                    let line = node.line;
                    fields.name = self.text("name", node)?.map(|text| (text, line));
                }
                "description" => fields.description = self.text("description", node)?,
                "license" => fields.license = self.text("license", node)?,
                "compatibility" => fields.compatibility = self.text("compatibility", node)?,
                "metadata" => self.metadata(node, first_line, &mut fields)?,
                "allowed-tools" => fields.allowed_tools = self.tools(node, first_line)?,
                _ => fields.unknown.push((key, node)),
            }
        }
        for (key, node) in std::mem::take(&mut fields.unknown) {
            let line = node.line;
            match node.value {
                Value::Text(text) | Value::Bare(text) if !fields.metadata.contains_key(&key) => {
                    self.forgiven.push(Forgiven::UnknownKeyKept { line });
                    fields.metadata.insert(key, text);
                }
                _ => self.forgiven.push(Forgiven::UnknownKeyDropped { line }),
            }
        }
        Ok(fields)
    }

    /// A scalar's text without blank space around it; `None` for an empty one.
    fn text(&mut self, field: &'static str, node: Node) -> Result<Option<String>> {
        let line = node.line;
        let text = match node.value {
            Value::Text(text) => text,
            Value::Bare(text) => {
                self.forgiven.push(Forgiven::NotText { field, line });
                text
            }
            Value::Null => String::new(),
            Value::List(_) | Value::Map(_) => return Err(shape(field, line, "one text")),
        };
        let text = text.trim();
        if text.is_empty() {
            self.forgiven.push(Forgiven::EmptyField { field, line });
            return Ok(None);
        }
        Ok(Some(text.to_owned()))
    }

    fn metadata(&mut self, node: Node, first_line: usize, fields: &mut Fields) -> Result<()> {
        let (field, line) = ("metadata", node.line);
        let entries = match node.value {
            Value::Map(entries) => entries,
            Value::Null => {
                self.forgiven.push(Forgiven::EmptyField { field, line });
                return Ok(());
            }
            _ => return Err(shape(field, line, "keys with text values")),
        };
        for (key, node) in entries {
            let line = node.line + first_line - 1;
            let text = match node.value {
                Value::Text(text) => text,
                Value::Bare(text) => {
                    self.forgiven.push(Forgiven::NotText { field, line });
                    text
                }
                Value::Null => {
                    self.forgiven.push(Forgiven::EmptyField { field, line });
                    continue;
                }
                nested => {
                    self.forgiven.push(Forgiven::MetadataNested { line });
                    nested.to_json().to_string()
                }
            };
            fields.metadata.insert(key, text);
        }
        Ok(())
    }

    fn tools(&mut self, node: Node, first_line: usize) -> Result<Vec<String>> {
        let (field, line) = ("allowed-tools", node.line);
        match node.value {
            Value::List(items) => {
                self.forgiven.push(Forgiven::ToolsRespelled { line });
                let mut tools = Vec::new();
                for item in items {
                    match item.value {
                        Value::Text(text) | Value::Bare(text) => tools.extend(split_tools(&text).0),
                        Value::Null => {}
                        _ => {
                            return Err(shape(field, item.line + first_line - 1, "names of tools"));
                        }
                    }
                }
                Ok(tools)
            }
            value => {
                let text = self.text(field, Node { line, value })?.unwrap_or_default();
                let (tools, by_spaces) = split_tools(&text);
                if !by_spaces {
                    self.forgiven.push(Forgiven::ToolsRespelled { line });
                }
                Ok(tools)
            }
        }
    }

    fn assemble(
        &mut self,
        mut fields: Fields,
        body: &str,
        folder: Option<&str>,
    ) -> Result<SkillMd> {
        let name = self.name(&mut fields, folder)?;
        let description = match fields.description {
            Some(text) => text,
            None => {
                let text = first_paragraph(body).ok_or_else(|| {
                    Error::invalid(
                        READ,
                        "there is no description, and the body has no paragraph",
                    )
                    .with("field", "description")
                    .hint("say what the skill does and when to use it, in 1 to 1,024 characters")
                })?;
                self.forgiven.push(Forgiven::DescriptionMissing);
                text
            }
        };
        let skill = SkillMd {
            name,
            description,
            license: fields.license,
            compatibility: fields.compatibility,
            metadata: fields.metadata,
            allowed_tools: fields.allowed_tools,
            body: body.to_owned(),
        };
        check_fields(&skill, READ)?;
        Ok(skill)
    }

    fn name(&mut self, fields: &mut Fields, folder: Option<&str>) -> Result<SkillName> {
        let folder = folder.and_then(|folder| SkillName::new(folder).ok());
        let Some((written, line)) = fields.name.take() else {
            self.forgiven.push(Forgiven::NameMissing);
            return folder.ok_or_else(|| {
                Error::invalid(READ, "there is no name, and no folder to take it from")
                    .with("field", "name")
                    .hint("add `name:` with 1 to 64 of a-z, 0-9 and single hyphens")
            });
        };
        let name = match SkillName::new(written.as_str()) {
            Ok(name) => Some(name),
            Err(error) => {
                let slug = SkillName::slug(&written);
                if slug.is_none() && folder.is_none() {
                    return Err(Error::invalid(READ, error.message())
                        .with("line", line)
                        .with("field", "name")
                        .hint("use 1 to 64 of a-z, 0-9 and single hyphens"));
                }
                self.forgiven.push(Forgiven::NameRespelled { line });
                fields
                    .metadata
                    .entry(ORIGINAL_NAME.to_owned())
                    .or_insert(written);
                slug
            }
        };
        match (name, folder) {
            (Some(name), Some(folder)) if name != folder => {
                self.forgiven.push(Forgiven::NameIsNotFolder { line });
                Ok(folder)
            }
            (Some(name), _) | (None, Some(name)) => Ok(name),
            // Refused above, where the written name is at hand.
            (None, None) => Err(shape("name", line, "a valid name")),
        }
    }
}

fn shape(field: &'static str, line: usize, wanted: &str) -> Error {
    Error::invalid(READ, format!("`{field}` is not {wanted}"))
        .with("line", line)
        .with("field", field)
        .hint("put the value in quotes if it begins with [ or {")
}

fn yaml_error(fault: Fault, first_line: usize) -> Error {
    Error::invalid(READ, fault.what)
        .with("line", fault.line + first_line - 1)
        .hint(fault.hint)
}

/// The commonest slip in files that people write: `description: Use when: asked`. Puts quotes around such a value and
/// tells the lines (from 0) that it changed.
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

/// The first paragraph that is not a heading, on one line and at most as long as a description may be.
fn first_paragraph(body: &str) -> Option<String> {
    let lines = body.lines().map(str::trim);
    let paragraph: Vec<&str> = lines
        .skip_while(|line| line.is_empty() || line.starts_with('#'))
        .take_while(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let text: String = paragraph
        .join(" ")
        .chars()
        .take(SkillMd::MAX_DESCRIPTION)
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
