//! ARISE's summary: reading the document (D.1), and what stands in for it.

use super::shown::did;
use crate::{
    domain::{AriseDocument, AriseSchema, SchemaRefusal, SchemaStage, SkillDraft, Trace},
    text::{NoObject, first_object},
};

/// Reads a model's answer as a document: the first three stages of validation (ARISE D.1: extract, parse, clip).
///
/// # Errors
/// A refusal with the stage that refused it; its reason can stand in a repair prompt.
pub fn read_arise(text: &str, schema: &AriseSchema) -> Result<AriseDocument, SchemaRefusal> {
    let object = first_object(text).map_err(|fault| {
        let stage = match fault {
            NoObject::Absent | NoObject::TooLong => SchemaStage::Extract,
            // There is an object; its JSON is at fault.
            _ => SchemaStage::Parse,
        };
        SchemaRefusal::new(stage, fault.to_string())
    })?;
    schema.fit(AriseDocument::from_json(&object)?)
}

/// The skill straight from an attempt, without a model: the trace abstraction (D.1).
pub(super) fn trace_abstract(attempt: Option<&Trace>, schema: &AriseSchema) -> SkillDraft {
    let steps = attempt.iter().flat_map(|attempt| &attempt.trajectory.steps);
    let steps: Vec<String> = steps.map(did).collect();
    SkillDraft::from(&schema.trace_abstract(&steps, &steps.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::ProblemTypes, testing::sample};

    fn schema() -> AriseSchema {
        AriseSchema::new(ProblemTypes::new(["kitchen", "general"]))
    }

    /// The stage and the reason that an answer is refused for.
    fn check(answer: &str, expect: &str) {
        let refusal = read_arise(answer, &schema()).unwrap_err();
        assert_eq!(refusal.to_string(), expect);
    }

    const GOOD: &str = r#"{"skill_name": "unseal_first", "problem_type": "kitchen", "key_insight": "A sealed tin must be unsealed before it is used", "method": ["Call unseal with the tin", "Then brew"], "check": "The tin is open"}"#;

    #[test]
    fn answers_are_read_or_refused_with_their_stage() {
        let read = read_arise(
            &format!("<think>{{}}</think>Here:\n```json\n{GOOD}\n```"),
            &schema(),
        );
        assert_eq!(read.unwrap().to_json(), GOOD);
        check("I cannot.", "the answer has no JSON object (stage extract)");
        check(&GOOD[..60], "the JSON object is not closed (stage parse)");
        check(
            "{\"skill_name\": unquoted}",
            "the JSON object is not valid at line 1 column 16 (stage parse)",
        );
        check(
            &GOOD.replace("kitchen", "cellar"),
            "problem_type is none of: kitchen, general (stage parse)",
        );
        check(
            &GOOD.replace("\"method\"", "\"steps\""),
            "method is missing (stage parse)",
        );
        let long = GOOD
            .replace("Then brew", &"brew ".repeat(30))
            .replace("Call unseal", &"call ".repeat(30));
        assert!(read_arise(&long, &schema()).is_ok());
        let mut schema = schema();
        schema.limits.total = 120;
        let refusal = read_arise(&long, &schema).unwrap_err();
        assert_eq!(refusal.stage, SchemaStage::Clip);
        let error = crate::Error::from(refusal);
        assert_eq!(error.kind(), crate::ErrorKind::Model);
    }

    #[test]
    fn an_attempt_is_abstracted() {
        let task = sample::task("t", &["brew"]);
        let words = ["unseal the tin", "brew the coffee"];
        let attempt = sample::trace("a-1", &task, &words, true);
        let draft = trace_abstract(Some(&attempt), &schema());
        assert_eq!(draft.title, "trace_abstract");
        assert_eq!(
            draft.description,
            "Solve by: unseal the tin; brew the coffee"
        );
        let document = AriseDocument::from_draft(&draft).unwrap();
        assert_eq!(document.method(), words);
        let empty = trace_abstract(None, &schema());
        assert_eq!(empty.description, "Solve by: following the method");
    }
}
