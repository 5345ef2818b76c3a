//! What a draft of any form has to keep, to become a skill.

use std::collections::BTreeMap;

use crate::{
    domain::{SkillDraft, SkillName},
    library::format::{SchemaRefusal, SchemaStage, SkillMd},
};

/// Checks that a draft of any form can become a skill: its title gives a name, its description and body keep to the Agent
/// Skills specification, it has no hidden characters (S9), and its SKILL.md reads back as written.
///
/// # Errors
/// A refusal at [`SchemaStage::Insert`], naming the field.
pub fn insert_ready(draft: &SkillDraft) -> Result<SkillName, SchemaRefusal> {
    let refuse = |reason: String| SchemaRefusal::new(SchemaStage::Insert, reason);
    let name = SkillName::slug(&draft.title)
        .ok_or_else(|| refuse("the title has no letter or digit to make a name of".to_owned()))?;
    if draft.body.trim().is_empty() {
        return Err(refuse("the body is empty".to_owned()));
    }
    let mut metadata: BTreeMap<String, String> = draft.metadata.clone();
    // The file keeps them in its metadata, whose rules they must meet.
    metadata.insert("journeyman-original-name".to_owned(), draft.title.clone());
    if let Some(trigger) = &draft.trigger {
        metadata.insert("journeyman-trigger".to_owned(), trigger.clone());
    }
    let file = SkillMd {
        name,
        description: draft.description.clone(),
        license: None,
        compatibility: None,
        metadata,
        allowed_tools: Vec::new(),
        body: draft.body.clone(),
    };
    match file.write() {
        Ok(_) => Ok(file.name),
        Err(error) => Err(refuse(error.message().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Kind, Scope};

    #[test]
    fn a_draft_that_no_file_can_hold_is_refused_at_insert() {
        let draft = SkillDraft {
            title: "match_bases".to_owned(),
            description: "Equal powers have equal exponents".to_owned(),
            kind: Kind::Workflow,
            scope: Scope::General,
            trigger: None,
            body: "Write both sides with one base.".to_owned(),
            metadata: BTreeMap::new(),
        };
        let refused = |change: fn(&mut SkillDraft)| {
            let mut draft = draft.clone();
            change(&mut draft);
            insert_ready(&draft).unwrap_err().to_string()
        };
        assert_eq!(insert_ready(&draft).unwrap().as_str(), "match-bases");
        let mut titled = draft.clone();
        titled.title = "退款先查".to_owned();
        assert_eq!(insert_ready(&titled).unwrap().as_str(), "tui-kuan-xian-cha");
        assert_eq!(
            refused(|draft| draft.title = "!?".to_owned()),
            "the title has no letter or digit to make a name of (stage insert)"
        );
        assert_eq!(
            refused(|draft| draft.body.clear()),
            "the body is empty (stage insert)"
        );
        assert_eq!(
            refused(|draft| draft.description.clear()),
            "`description` is empty (stage insert)"
        );
        assert_eq!(
            refused(|draft| draft.body.push('\u{202E}')),
            "`body` holds a hidden character (U+202E, bidirectional control) (stage insert)"
        );
    }
}
