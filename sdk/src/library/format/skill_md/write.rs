//! The strict writer: its text is parsed again and compared with the skill.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{SkillMd, split_tools, yaml};
use crate::{
    domain::find_hidden,
    error::{Error, Result},
};

const WRITE: &str = "SkillMd::write";

/// The frontmatter, in the specification's order.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Frontmatter<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    allowed_tools: String,
}

impl SkillMd {
    /// Writes the text of the file. The text is parsed by [`SkillMd::read_strict`] and compared with this skill before it is
    /// returned.
    ///
    /// # Errors
    /// `Invalid` where a field breaks its rule, naming the field; `Internal` where the parsed text differs from this skill.
    pub fn write(&self) -> Result<String> {
        check_fields(self, WRITE)?;
        let front = yaml::write(&Frontmatter {
            name: self.name.as_str(),
            description: &self.description,
            license: self.license.as_deref(),
            compatibility: self.compatibility.as_deref(),
            metadata: &self.metadata,
            allowed_tools: self.allowed_tools.join(" "),
        })
        .map_err(|_| differs())?;
        if front.len() > Self::MAX_FRONTMATTER {
            return Err(Error::invalid(
                WRITE,
                format!(
                    "the frontmatter has {} bytes, and 16 KiB is the most",
                    front.len()
                ),
            )
            .with("field", "metadata")
            .hint("move long values from metadata into the body"));
        }
        let text = format!(
            "---\n{}\n---\n\n{}\n",
            front.trim_end_matches('\n'),
            self.body
        );
        match Self::read_strict(&text, Some(self.name.as_str())) {
            Ok(read) if read == *self => Ok(text),
            _ => Err(differs()),
        }
    }
}

fn differs() -> Error {
    Error::internal(
        WRITE,
        "the text that was written does not come back the same",
    )
    .hint("nothing was written; please report it")
}

/// The first fault of [`field_faults`].
pub(crate) fn check_fields(skill: &SkillMd, operation: &'static str) -> Result<()> {
    let first = field_faults(skill, operation).into_iter().next();
    first.map_or(Ok(()), Err)
}

/// The faults of each field, by the rules of both the writer and the reader.
pub(crate) fn field_faults(skill: &SkillMd, operation: &'static str) -> Vec<Error> {
    let mut faults = Vec::new();
    let mut invalid = |field: &'static str, message: &str, hint: &'static str| {
        let error = Error::invalid(operation, message);
        faults.push(error.with("field", field).hint(hint));
    };
    if skill.metadata.keys().any(String::is_empty) {
        invalid(
            "metadata",
            "a metadata key is empty",
            "give each value a name",
        );
    }
    let is_one = |tool: &String| {
        split_tools(tool).0 == [tool.as_str()] && tool.trim() == tool && !tool.contains('\n')
    };
    if !skill.allowed_tools.iter().all(is_one) {
        invalid(
            "allowed-tools",
            "a tool's name is empty or holds a space or a comma outside parentheses",
            "write one tool an entry, such as `Read` or `Bash(git add:*)`",
        );
    } else if split_tools(&skill.allowed_tools.join(" ")).0 != skill.allowed_tools {
        let message = "a tool's parentheses do not match";
        invalid("allowed-tools", message, "close each parenthesis");
    }
    if skill.body.contains('\r') {
        let message = "the body holds carriage returns";
        invalid("body", message, "end lines with a line feed alone");
    }
    let lengths = [
        (
            "description",
            Some(&skill.description),
            SkillMd::MAX_DESCRIPTION,
        ),
        (
            "compatibility",
            skill.compatibility.as_ref(),
            SkillMd::MAX_COMPATIBILITY,
        ),
        ("license", skill.license.as_ref(), SkillMd::MAX_FRONTMATTER),
    ];
    for (field, text, most) in lengths {
        let fault = text.map_or(Ok(()), |text| length(field, text, most, operation));
        faults.extend(fault.err());
    }
    faults.extend(size(skill.body.len(), operation).err());
    faults.extend(visible(skill, operation));
    faults
}

fn length(field: &'static str, text: &str, most: usize, operation: &'static str) -> Result<()> {
    let count = text.chars().count();
    let message = if count == 0 {
        format!("`{field}` is empty")
    } else if count > most {
        format!("`{field}` has {count} characters, and {most} is the most")
    } else if text.trim() != text {
        format!("`{field}` begins or ends with blank space")
    } else {
        return Ok(());
    };
    let hint = match field {
        "description" => "say what the skill does and when to use it, in 1 to 1,024 characters",
        "compatibility" => "name what the skill runs on, in 1 to 500 characters",
        _ => "leave the field out, or give its text",
    };
    Err(Error::invalid(operation, message)
        .with("field", field)
        .hint(hint))
}

pub(crate) fn size(bytes: usize, operation: &'static str) -> Result<()> {
    if bytes <= SkillMd::MAX_BODY {
        return Ok(());
    }
    Err(Error::invalid(
        operation,
        format!("the body has {bytes} bytes, and 1 MiB is the most"),
    )
    .with("field", "body")
    .hint("move long material into files beside SKILL.md and name them in the body"))
}

fn visible(skill: &SkillMd, operation: &'static str) -> Vec<Error> {
    let texts = [
        ("description", Some(&skill.description)),
        ("license", skill.license.as_ref()),
        ("compatibility", skill.compatibility.as_ref()),
        ("body", Some(&skill.body)),
    ];
    let texts = texts
        .into_iter()
        .filter_map(|(field, text)| Some((field, text?)));
    let metadata = skill
        .metadata
        .iter()
        .flat_map(|(key, value)| [("metadata", key), ("metadata", value)]);
    let tools = skill
        .allowed_tools
        .iter()
        .map(|tool| ("allowed-tools", tool));
    let hidden = texts
        .chain(metadata)
        .chain(tools)
        .filter_map(|(field, text)| Some((field, find_hidden(text)?)));
    hidden
        .map(|(field, hidden)| {
            Error::invalid(operation, format!("`{field}` holds {hidden}"))
                .with("field", field)
                .hint("remove it: a person who reviews the skill cannot see it")
        })
        .collect()
}
