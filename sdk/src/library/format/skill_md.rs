//! SKILL.md by the open Agent Skills specification (agentskills.io): strict when writing, lenient when reading.

mod forgiven;
mod parts;
mod read;
mod reader;
mod write;
mod yaml;

use std::collections::BTreeMap;

pub use forgiven::Forgiven;
pub use read::Examined;

use crate::domain::SkillName;

/// A SKILL.md: frontmatter between two `---` lines, then the instructions in Markdown.
///
/// ```
/// use journeyman::library::format::{Forgiven, SkillMd};
///
/// let text = "---\nname: Unseal_Coffee\ndescription: Opens the coffee tin. Use before brewing.\n\
///             metadata:\n  version: 1.10\n---\n\n1. Call `unseal`.\n";
/// let (skill, forgiven) = SkillMd::read(text, Some("unseal-coffee"))?;
/// assert_eq!(skill.name.as_str(), "unseal-coffee");
/// assert_eq!(skill.metadata["version"], "1.10");
/// assert_eq!(skill.body, "1. Call `unseal`.");
/// assert!(forgiven.contains(&Forgiven::NameRespelled { line: 2 }));
///
/// // The writer is strict, and its text reads back to an equal value.
/// let written = skill.write()?;
/// assert_eq!(SkillMd::read_strict(&written, Some("unseal-coffee"))?, skill);
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// # Rules
/// - `description` has 1 to 1,024 characters, `compatibility` at most 500; both begin and end with something visible.
/// - The frontmatter has at most 16 KiB, is nested at most 8 deep, and uses no anchors, aliases or tags (S8).
/// - The body has at most 1 MiB.
/// - No hidden characters anywhere (S9, [`find_hidden`](crate::domain::find_hidden)).
/// - An error names the line or the field, and never repeats what stands there (S11).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillMd {
    /// Also the folder's name.
    pub name: SkillName,
    /// What the skill does and when to use it, 1 to 1,024 characters.
    pub description: String,
    /// Name of the license, or of the file that has its text.
    pub license: Option<String>,
    /// Systems and tools that the skill needs, 1 to 500 characters.
    pub compatibility: Option<String>,
    /// Further fields: text values by key.
    pub metadata: BTreeMap<String, String>,
    /// Tools that the skill says it needs, each with an optional pattern in parentheses (`Bash(git add:*)`). The list never
    /// extends the host's permissions.
    pub allowed_tools: Vec<String>,
    /// The instructions in Markdown; lines end with a line feed.
    pub body: String,
}

impl SkillMd {
    /// The greatest length of the description in characters.
    pub const MAX_DESCRIPTION: usize = 1024;
    /// The greatest length of `compatibility` in characters.
    pub const MAX_COMPATIBILITY: usize = 500;
    /// The greatest size of the frontmatter in bytes.
    pub const MAX_FRONTMATTER: usize = yaml::MAX_BYTES;
    /// The greatest size of the body in bytes.
    pub const MAX_BODY: usize = 1024 * 1024;
}

/// Splits `allowed-tools` at spaces and commas outside of parentheses. Returns also whether only spaces separate the tools,
/// as the specification demands; some writers use commas.
fn split_tools(text: &str) -> (Vec<String>, bool) {
    let mut tools = vec![String::new()];
    let mut depth = 0_usize;
    let mut by_spaces = true;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c.is_whitespace() || c == ',') {
            by_spaces &= c != ',';
            tools.push(String::new());
        } else if let Some(tool) = tools.last_mut() {
            tool.push(c);
        }
    }
    tools.retain(|tool| !tool.is_empty());
    (tools, by_spaces)
}

#[cfg(test)]
mod tests;
