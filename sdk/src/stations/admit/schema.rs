//! The four stages that a generated skill passes before it enters a library (ARISE D.1).

use std::collections::BTreeMap;

use crate::{
    agent::role::read_arise,
    domain::{SkillDraft, SkillName},
    library::format::{AriseDocument, AriseSchema, SchemaRefusal, SchemaStage, SkillMd},
};

/// Validates a model's answer: extracts the object, parses its fields, clips them, and checks that the result can enter a
/// library (ARISE D.1; row A9). Pure; takes bounded time for any text.
///
/// # Errors
/// A refusal with the stage that refused the answer. The trace-abstract fallback ([`AriseSchema::trace_abstract`]) stands in
/// for an answer that is refused at any stage.
///
/// ```
/// use journeyman::{
///     stations::admit::validate,
///     library::format::{AriseSchema, ProblemTypes, SchemaStage},
/// };
///
/// let schema = AriseSchema::new(ProblemTypes::arise());
/// let refusal = validate("{\"skill_name\": \"halved\"}", &schema).unwrap_err();
/// assert_eq!(refusal.stage, SchemaStage::Parse);
/// ```
pub fn validate(answer: &str, schema: &AriseSchema) -> Result<AriseDocument, SchemaRefusal> {
    let document = read_arise(answer, schema)?;
    insert_ready(&SkillDraft::from(&document))?;
    Ok(document)
}

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
    use crate::{Seed, library::format::ProblemTypes};

    const GOOD: &str = r#"{"skill_name": "match_bases", "problem_type": "algebra", "key_insight": "Equal powers have equal exponents", "method": ["Write both sides with one base", "Set the exponents equal"], "check": "Substitute back"}"#;

    fn schema() -> AriseSchema {
        AriseSchema::new(ProblemTypes::arise())
    }

    /// The stage that refuses an answer; `None` for one that passes.
    fn check(answer: &str, expect: Option<SchemaStage>) {
        let stage = validate(answer, &schema())
            .err()
            .map(|refusal| refusal.stage);
        assert_eq!(stage, expect, "{answer}");
    }

    #[test]
    fn each_stage_refuses_its_own() {
        check(GOOD, None);
        check("nothing here", Some(SchemaStage::Extract));
        check(&GOOD.replace("\"check\"", "check"), None);
        check(
            &GOOD.replace("\"Substitute back\"", "Substitute back"),
            Some(SchemaStage::Parse),
        );
        check(
            &GOOD.replace("algebra", "alchemy"),
            Some(SchemaStage::Parse),
        );
        check(&GOOD.replace("exponents", "expo\u{200B}nents"), None);
        check(
            &GOOD.replace("exponents", "expo\u{202E}nents"),
            Some(SchemaStage::Parse),
        );
        let long = "word ".repeat(25);
        let wordy = GOOD
            .replace(
                "Write both sides with one base",
                &format!("{long}\", \"{long}"),
            )
            .replace("Set the exponents equal", &long);
        check(&wordy, Some(SchemaStage::Clip));
    }

    #[test]
    fn a_draft_that_no_file_can_hold_is_refused_at_insert() {
        let draft = SkillDraft::from(&validate(GOOD, &schema()).unwrap());
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

    #[test]
    fn garbage_never_panics() {
        for round in 0..2000 {
            let seed = Seed(8).derive("garbage", round);
            let mut answer = GOOD.to_owned();
            for edit in 0..3 {
                let at = seed.derive("at", edit).index(answer.len()).unwrap_or(0);
                match seed.derive("how", edit).index(4) {
                    Some(0) => answer.truncate(at),
                    Some(1) => drop(answer.drain(..at)),
                    Some(2) => answer.insert(at, '"'),
                    _ => answer.insert(at, '}'),
                }
            }
            if let Ok(document) = validate(&answer, &schema()) {
                assert!(document.content_chars() <= 350);
            }
        }
    }
}
