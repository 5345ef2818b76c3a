//! The lenient reader, which reports each departure that it accepts, and the strict one, which accepts none.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    domain::{SkillName, find_hidden},
    error::{Error, Result},
    library::format::skill_md::{
        Forgiven, SkillMd,
        reader::{READ, Reader, shape},
        split_tools,
        write::{field_faults, size},
        yaml::{self, Fault, Node, Value},
    },
};

/// The result of reading a SKILL.md to its end: the skill, the accepted departures and all faults.
#[non_exhaustive]
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

// Reads each field of the frontmatter separately, so that one fault does not hide the next.

/// Metadata key of the original spelling of a name that was not valid.
pub(crate) const ORIGINAL_NAME: &str = "journeyman-original-name";

/// The fields that were read so far.
#[derive(Default)]
pub(crate) struct Fields {
    name: Option<(String, usize)>,
    description: Option<String>,
    license: Option<String>,
    compatibility: Option<String>,
    metadata: BTreeMap<String, String>,
    allowed_tools: Vec<String>,
    unknown: Vec<(String, Node)>,
}

impl Reader {
    pub(crate) fn fields(&mut self, tree: Vec<(String, Node)>, first_line: usize) -> Fields {
        let mut fields = Fields::default();
        for (key, mut node) in tree {
            node.line += first_line - 1;
            self.lines.insert(key.clone(), node.line);
            match key.as_str() {
                "name" => {
                    let line = node.line;
                    fields.name = self.text("name", node).map(|text| (text, line));
                }
                "description" => {
                    fields.description = self.text("description", node);
                }
                "license" => fields.license = self.text("license", node),
                "compatibility" => {
                    fields.compatibility = self.text("compatibility", node);
                }
                "metadata" => self.metadata(node, first_line, &mut fields),
                "allowed-tools" => {
                    fields.allowed_tools = self.tools(node, first_line);
                }
                _ => fields.unknown.push((key, node)),
            }
        }
        for (key, node) in std::mem::take(&mut fields.unknown) {
            self.unknown(key, node, &mut fields.metadata);
        }
        fields
    }

    /// Keeps an unknown key under metadata, so that no text of a person is lost; where metadata has the key already, the new
    /// one gets a number.
    fn unknown(&mut self, key: String, node: Node, metadata: &mut BTreeMap<String, String>) {
        let line = node.line;
        let text = match node.value {
            Value::Text(text) | Value::Bare(text) => text,
            Value::Null => {
                self.forgiven.push(Forgiven::UnknownKeyEmpty { line });
                return;
            }
            nested => nested.to_json().to_string(),
        };
        let numbered = (2_usize..).map(|n| format!("{key}-{n}"));
        let free = std::iter::once(key.clone())
            .chain(numbered)
            .find(|key| !metadata.contains_key(key));
        metadata.insert(free.unwrap_or(key), text);
        self.forgiven.push(Forgiven::UnknownKeyKept { line });
    }

    /// The trimmed text of a scalar; `None` for an empty one, a list or a mapping.
    fn text(&mut self, field: &'static str, node: Node) -> Option<String> {
        let line = node.line;
        let text = match node.value {
            Value::Text(text) => text,
            Value::Bare(text) => {
                self.forgiven.push(Forgiven::NotText { field, line });
                text
            }
            Value::Null => String::new(),
            Value::List(_) | Value::Map(_) => {
                self.faults.push(shape(field, line, "one text"));
                self.unread.insert(field);
                return None;
            }
        };
        let text = text.trim();
        if text.is_empty() {
            self.forgiven.push(Forgiven::EmptyField { field, line });
            return None;
        }
        Some(text.to_owned())
    }

    fn metadata(&mut self, node: Node, first_line: usize, fields: &mut Fields) {
        let (field, line) = ("metadata", node.line);
        let entries = match node.value {
            Value::Map(entries) => entries,
            Value::Null => {
                self.forgiven.push(Forgiven::EmptyField { field, line });
                return;
            }
            _ => {
                self.faults
                    .push(shape(field, line, "keys with text values"));
                return;
            }
        };
        for (key, node) in entries {
            let line = node.line + first_line - 1;
            self.lines.insert(format!("metadata.{key}"), line);
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
    }

    fn tools(&mut self, node: Node, first_line: usize) -> Vec<String> {
        let (field, line) = ("allowed-tools", node.line);
        let Value::List(items) = node.value else {
            let text = self.text(field, node).unwrap_or_default();
            let (tools, by_spaces) = split_tools(&text);
            if !by_spaces {
                self.forgiven.push(Forgiven::ToolsRespelled { line });
            }
            return tools;
        };
        self.forgiven.push(Forgiven::ToolsRespelled { line });
        let mut tools = Vec::new();
        for item in items {
            match item.value {
                Value::Text(text) | Value::Bare(text) => tools.extend(split_tools(&text).0),
                Value::Null => {}
                _ => {
                    let line = item.line + first_line - 1;
                    self.faults.push(shape(field, line, "names of tools"));
                }
            }
        }
        tools
    }

    /// Makes the skill of these fields; `None` where there is a fault. Every field is checked even where another one is
    /// missing.
    pub(crate) fn assemble(
        &mut self,
        mut fields: Fields,
        body: &str,
        folder: Option<&str>,
    ) -> Option<SkillMd> {
        let name = self.name(&mut fields, folder);
        let description = match fields.description.take() {
            Some(text) => Some(text),
            None if self.unread.contains("description") => None,
            None => self.described_by(body),
        };
        let skill = SkillMd {
            name: name.unwrap_or_default(),
            // A placeholder that breaks no rule, since the missing description is reported already.
            description: description.unwrap_or_else(|| "-".to_owned()),
            license: fields.license,
            compatibility: fields.compatibility,
            metadata: fields.metadata,
            allowed_tools: fields.allowed_tools,
            body: body.to_owned(),
        };
        self.faults.extend(field_faults(&skill, READ));
        self.faults.is_empty().then_some(skill)
    }

    fn described_by(&mut self, body: &str) -> Option<String> {
        let text = first_paragraph(body);
        match text {
            Some(_) => self.forgiven.push(Forgiven::DescriptionMissing),
            None => self.faults.push(
                Error::invalid(
                    READ,
                    "there is no description, and the body has no paragraph",
                )
                .with("field", "description")
                .hint("say what the skill does and when to use it, in 1 to 1,024 characters"),
            ),
        }
        text
    }

    fn name(&mut self, fields: &mut Fields, folder: Option<&str>) -> Option<SkillName> {
        let folder = folder.and_then(|folder| SkillName::new(folder).ok());
        let Some((written, line)) = fields.name.take() else {
            if self.unread.contains("name") {
                return folder;
            }
            self.forgiven.push(Forgiven::NameMissing);
            if folder.is_none() {
                self.faults.push(
                    Error::invalid(READ, "there is no name, and no folder to take it from")
                        .with("field", "name")
                        .hint(
                            "add `name:` with 1 to 64 lowercase letters, digits and single hyphens",
                        ),
                );
            }
            return folder;
        };
        self.written_name = Some(written.clone());
        let name = match SkillName::new(written.trim()) {
            Ok(name) => Some(name),
            Err(error) => {
                let slug = SkillName::slug(&written);
                if slug.is_none() && folder.is_none() {
                    self.faults.push(
                        Error::invalid(READ, error.message())
                            .with("line", line)
                            .with("field", "name")
                            .hint(SkillName::HINT),
                    );
                    return None;
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
                Some(folder)
            }
            (name, folder) => name.or(folder),
        }
    }
}

/// The first paragraph that is not a heading, on one line, cut to the greatest length of a description.
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
