//! Converts a document to a skill and back without loss; the body of the skill is canonical Markdown.

use std::collections::BTreeMap;

use super::{AriseDocument, ProblemTypes, document::refuse};
use crate::{
    domain::{Kind, Scope, Skill, SkillDraft},
    library::format::{SchemaRefusal, SkillMd},
};

/// Metadata key of the problem type.
const PROBLEM_TYPE: &str = "arise-problem-type";
const METHOD: &str = "## Method";
const CHECK: &str = "## Check";

impl From<&AriseDocument> for SkillDraft {
    /// The draft has the snake_case name as its title, the insight (at most 1,024 characters) as its description, and a body
    /// of the insight, `## Method` with numbered steps, and `## Check`.
    fn from(document: &AriseDocument) -> Self {
        let description = crate::library::format::arise::limits::clip(
            document.key_insight(),
            SkillMd::MAX_DESCRIPTION,
        );
        Self {
            title: document.skill_name().to_owned(),
            description,
            kind: Kind::Workflow,
            scope: Scope::General,
            trigger: None,
            body: document.to_markdown(),
            metadata: BTreeMap::from([(
                PROBLEM_TYPE.to_owned(),
                document.problem_type().to_owned(),
            )]),
        }
    }
}

impl AriseDocument {
    /// The body of the skill.
    pub fn to_markdown(&self) -> String {
        let mut body = format!("{}\n\n{METHOD}\n\n", self.key_insight());
        for (index, step) in self.method().iter().enumerate() {
            body.push_str(&format!("{}. {step}\n", index + 1));
        }
        body.push_str(&format!("\n{CHECK}\n\n{}", self.check()));
        body
    }

    /// Converts a draft back to a document.
    ///
    /// # Errors
    /// A refusal where the body has no `## Method` list, or as [`AriseDocument::new`].
    pub fn from_draft(draft: &SkillDraft) -> Result<Self, SchemaRefusal> {
        Self::from_parts(&draft.title, &draft.metadata, &draft.body)
    }

    /// Converts a skill back to a document.
    ///
    /// # Errors
    /// As [`AriseDocument::from_draft`].
    pub fn from_skill(skill: &Skill) -> Result<Self, SchemaRefusal> {
        let name = skill
            .original_name
            .as_deref()
            .unwrap_or(skill.name.as_str());
        Self::from_parts(name, &skill.metadata, &skill.body)
    }

    fn from_parts(
        name: &str,
        metadata: &BTreeMap<String, String>,
        body: &str,
    ) -> Result<Self, SchemaRefusal> {
        let problem_type = metadata
            .get(PROBLEM_TYPE)
            .map_or(ProblemTypes::GENERAL, String::as_str);
        let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
        // The first line is always the insight, even where it looks like a heading.
        let mut insight = lines.next().unwrap_or_default().to_owned();
        let mut method: Vec<String> = Vec::new();
        let mut check = String::new();
        let mut section = "";
        for line in lines {
            if section.is_empty() && line == METHOD || section == METHOD && line == CHECK {
                section = if line == METHOD { METHOD } else { CHECK };
                continue;
            }
            match section {
                METHOD => match list_item(line) {
                    Some(step) => method.push(step.to_owned()),
                    // A person may have split a step into two lines.
                    None => extend(method.last_mut(), line),
                },
                CHECK => extend(Some(&mut check), line),
                _ => extend(Some(&mut insight), line),
            }
        }
        if section.is_empty() {
            return refuse("the body has no `## Method` section");
        }
        Self::new(name, problem_type, &insight, &method, Some(&check))
    }
}

fn extend(text: Option<&mut String>, line: &str) {
    if let Some(text) = text {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
    }
}

/// The text of a line that is an item of a list: `1. text`, `- text` or `* text`.
fn list_item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < line.len())
        .then(|| digits.strip_prefix(". "))
        .flatten();
    numbered
        .or_else(|| line.strip_prefix("- "))
        .or_else(|| line.strip_prefix("* "))
}
