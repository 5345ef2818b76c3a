//! The ARISE document: its invariants and its JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    domain::{find_hidden, latin_words},
    library::format::{SchemaRefusal, SchemaStage},
};

/// The `check` of a document without one (ARISE Table 4).
pub const DEFAULT_CHECK: &str = "Substitute back to verify";

/// The default `check` for a host with other problem types than the paper's. Ours, since the paper's is for mathematics.
pub const GENERAL_CHECK: &str = "Check it against the task";

/// ARISE's skill document (C.1, Table 4).
///
/// Invariants: `skill_name` is snake_case; no field is empty or has a line break, a run of blanks or a hidden character
/// (S9). The host chooses the greatest lengths of the fields: [`AriseSchema`](crate::library::format::AriseSchema).
///
/// ```
/// use journeyman::library::format::AriseDocument;
///
/// let document = AriseDocument::new(
///     "Exponential base matching",
///     "algebra",
///     "When both sides are powers of the same base, set exponents equal",
///     &["Rewrite each side with a common base", "Set the exponents equal and solve"],
///     None,
/// )?;
/// assert_eq!(document.skill_name(), "exponential_base_matching");
/// assert!(document.to_json().starts_with(r#"{"skill_name": "exponential_base_matching", "problem_type": "#));
/// # Ok::<(), journeyman::library::format::SchemaRefusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct AriseDocument {
    pub(crate) fields: Fields,
}

/// The fields in the order of Figure 4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fields {
    pub(crate) skill_name: String,
    pub(crate) problem_type: String,
    pub(crate) key_insight: String,
    pub(crate) method: Vec<String>,
    pub(crate) check: String,
}

impl TryFrom<Fields> for AriseDocument {
    type Error = SchemaRefusal;
    fn try_from(fields: Fields) -> Result<Self, SchemaRefusal> {
        Self::build(fields)
    }
}

impl From<AriseDocument> for Fields {
    fn from(document: AriseDocument) -> Self {
        document.fields
    }
}

impl AriseDocument {
    /// Makes a document of these fields. The name is converted to snake_case in Latin letters, and blank space to single
    /// spaces; without a check, the check is [`DEFAULT_CHECK`].
    ///
    /// # Errors
    /// A refusal at [`SchemaStage::Parse`] for an empty field, no step, or a hidden character.
    pub fn new(
        skill_name: &str,
        problem_type: &str,
        key_insight: &str,
        method: &[impl AsRef<str>],
        check: Option<&str>,
    ) -> Result<Self, SchemaRefusal> {
        Self::build(Fields {
            skill_name: skill_name.to_owned(),
            problem_type: problem_type.to_owned(),
            key_insight: key_insight.to_owned(),
            method: method.iter().map(|step| step.as_ref().to_owned()).collect(),
            check: check.unwrap_or_default().to_owned(),
        })
    }

    pub(crate) fn build(mut fields: Fields) -> Result<Self, SchemaRefusal> {
        fields.skill_name = latin_words(&fields.skill_name, '_').unwrap_or_default();
        fields.problem_type = one_line(&fields.problem_type);
        fields.key_insight = one_line(&fields.key_insight);
        fields.check = one_line(&fields.check);
        if fields.check.is_empty() {
            DEFAULT_CHECK.clone_into(&mut fields.check);
        }
        for step in &mut fields.method {
            *step = one_line(step);
        }
        if fields.skill_name.is_empty() {
            return refuse("skill_name has no letter or digit");
        }
        if fields.problem_type.is_empty() {
            return refuse("problem_type is empty");
        }
        if fields.key_insight.is_empty() {
            return refuse("key_insight is empty");
        }
        if fields.method.is_empty() {
            return refuse("method has no step");
        }
        if fields.method.iter().any(String::is_empty) {
            return refuse("a step of method is empty");
        }
        let document = Self { fields };
        let hidden = document.texts().find_map(find_hidden);
        match hidden {
            Some(hidden) => refuse(format!("the document holds {hidden}")),
            None => Ok(document),
        }
    }

    /// Reads the document out of a JSON object (D.1, stage 2). Further fields are ignored; `check` may be absent.
    ///
    /// # Errors
    /// A refusal at [`SchemaStage::Parse`] for a field that is missing or of another type, or as
    /// [`AriseDocument::new`].
    pub fn from_json(object: &Map<String, Value>) -> Result<Self, SchemaRefusal> {
        let text = |key: &'static str| match object.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => refuse(format!("{key} is not a string")),
            None => refuse(format!("{key} is missing")),
        };
        let method = match object.get("method") {
            Some(Value::Array(steps)) => steps
                .iter()
                .map(|step| match step {
                    Value::String(step) => Ok(step.clone()),
                    _ => refuse("a step of method is not a string"),
                })
                .collect::<Result<_, _>>()?,
            Some(_) => return refuse("method is not an array of strings"),
            None => return refuse("method is missing"),
        };
        let check = match object.get("check") {
            None | Some(Value::Null) => String::new(),
            Some(_) => text("check")?,
        };
        Self::build(Fields {
            skill_name: text("skill_name")?,
            problem_type: text("problem_type")?,
            key_insight: text("key_insight")?,
            method,
            check,
        })
    }

    /// The name, in snake_case.
    pub fn skill_name(&self) -> &str {
        &self.fields.skill_name
    }

    /// The problem type, one of the host's.
    pub fn problem_type(&self) -> &str {
        &self.fields.problem_type
    }

    /// The insight: why the approach works.
    pub fn key_insight(&self) -> &str {
        &self.fields.key_insight
    }

    /// The steps, in order.
    pub fn method(&self) -> &[String] {
        &self.fields.method
    }

    /// How to verify the result.
    pub fn check(&self) -> &str {
        &self.fields.check
    }

    /// The number of characters of all fields, without the JSON around them.
    pub fn content_chars(&self) -> usize {
        self.texts().map(|text| text.chars().count()).sum()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let Fields {
            skill_name,
            problem_type,
            key_insight,
            method,
            check,
        } = &self.fields;
        let steps = method.iter().map(String::as_str);
        [skill_name.as_str(), problem_type, key_insight, check]
            .into_iter()
            .chain(steps)
    }

    /// The document as JSON on one line, in Figure 4's order of fields, with a blank after each colon and comma as there.
    /// Every quote and line break in a field is escaped, so no field can end the object (S4).
    pub fn to_json(&self) -> String {
        let fields = &self.fields;
        let steps: Vec<String> = fields.method.iter().map(|step| quote(step)).collect();
        format!(
            "{{\"skill_name\": {}, \"problem_type\": {}, \"key_insight\": {}, \"method\": [{}], \"check\": {}}}",
            quote(&fields.skill_name),
            quote(&fields.problem_type),
            quote(&fields.key_insight),
            steps.join(", "),
            quote(&fields.check),
        )
    }
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

pub(crate) fn refuse<T>(reason: impl Into<String>) -> Result<T, SchemaRefusal> {
    Err(SchemaRefusal::new(SchemaStage::Parse, reason))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
