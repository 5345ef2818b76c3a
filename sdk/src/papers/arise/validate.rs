//! The four stages that a generated skill passes before it enters a library (ARISE D.1).

use crate::{
    agent::role::read_arise,
    domain::SkillDraft,
    library::format::{AriseDocument, AriseSchema, SchemaRefusal},
    stations::admit::insert_ready,
};

/// Validates a model's answer: extracts the object, parses its fields, clips them, and checks that the result can enter a
/// library (ARISE D.1; row A9). Pure; takes bounded time for any text.
///
/// # Errors
/// A refusal with the stage that refused the answer. The trace-abstract fallback ([`AriseSchema::trace_abstract`]) stands in
/// for an answer that is refused at any stage.
///
/// ```
/// use journeyman::{papers::arise::validate, library::format::{AriseSchema, ProblemTypes, SchemaStage}};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Seed,
        library::format::{ProblemTypes, SchemaStage},
    };

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
