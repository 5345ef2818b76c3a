//! Reads each field of the frontmatter separately, so that one fault does not hide the next.

use std::collections::BTreeMap;

use super::{
    Forgiven, SkillMd,
    reader::{READ, Reader, shape},
    split_tools,
    write::field_faults,
    yaml::{Node, Value},
};
use crate::{domain::SkillName, error::Error};

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
