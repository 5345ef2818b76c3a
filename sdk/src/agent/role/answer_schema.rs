//! The schema of a role's answer.

use serde_json::{Map, Value};

#[cfg(not(feature = "json-schema"))]
use super::schema_rules;
#[cfg(not(feature = "json-schema"))]
use crate::error::Error;
use crate::error::Result;
#[cfg(feature = "json-schema")]
use crate::text::JsonSchema;

/// The schema of an answer: a part of the prompt, by which a model may be constrained while it writes, and by which answers are
/// validated. Without the feature `json-schema` it is always the shipped one.
#[derive(Clone, Debug)]
pub(super) struct AnswerSchema {
    #[cfg(feature = "json-schema")]
    schema: JsonSchema,
    #[cfg(not(feature = "json-schema"))]
    schema: Value,
}

#[cfg(feature = "json-schema")]
impl AnswerSchema {
    /// # Errors
    /// As [`JsonSchema::new`].
    pub(super) fn new(_skill: &str, value: Value) -> Result<Self> {
        let schema = JsonSchema::new(value)?;
        Ok(Self { schema })
    }

    pub(super) fn as_value(&self) -> &Value {
        self.schema.as_value()
    }

    /// Whether an object may obey it.
    pub(super) fn fits_an_object(&self) -> bool {
        self.schema.brackets().contains(&'{')
    }

    /// The first rule that an answer breaks, in words.
    pub(super) fn fault(&self, answer: Map<String, Value>) -> Option<String> {
        let faults = self.schema.faults(&Value::Object(answer));
        faults.first().map(ToString::to_string)
    }
}

#[cfg(not(feature = "json-schema"))]
impl AnswerSchema {
    /// # Errors
    /// `Unsupported` for another schema than that of the shipped skill of this name.
    pub(super) fn new(skill: &str, schema: Value) -> Result<Self> {
        let shipped = journeyman_skills::find(skill).and_then(|skill| block(skill.text));
        let shipped = shipped.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if shipped.as_ref() == Some(&schema) {
            return Ok(Self { schema });
        }
        let message =
            "the schema of the answer is not the shipped one, and this build validates by no other";
        Err(
            Error::unsupported("GeneralRoles::from_skills", message).hint(
                "switch on the feature `json-schema` of `journeyman`, or keep the shipped schema",
            ),
        )
    }

    pub(super) fn as_value(&self) -> &Value {
        &self.schema
    }

    /// Whether an object may obey it: the shipped ones are all of objects.
    pub(super) fn fits_an_object(&self) -> bool {
        true
    }

    /// The first rule that an answer breaks, in words.
    pub(super) fn fault(&self, answer: Map<String, Value>) -> Option<String> {
        schema_rules::fault(&self.schema, &Value::Object(answer))
    }
}

/// The first block of JSON in a skill's body, between the lines "```json" and "```"; `None` where no block begins.
pub(super) fn block(body: &str) -> Option<String> {
    let mut lines = body.lines();
    lines.find(|line| line.trim() == "```json")?;
    let block: Vec<&str> = lines.take_while(|line| line.trim() != "```").collect();
    Some(block.join("\n"))
}
