//! The limits of a document, and how a document is cut to them.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    AriseDocument, DEFAULT_CHECK, GENERAL_CHECK,
    document::{Fields, refuse},
};
use crate::library::format::{SchemaRefusal, SchemaStage};

/// The greatest lengths of the fields of a document, in characters (ARISE C.1, Table 4).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AriseLimits {
    /// `skill_name`. The paper: 40.
    pub name: usize,
    /// `key_insight`. The paper: 160.
    pub insight: usize,
    /// Each step of `method`. The paper: 100.
    pub step: usize,
    /// `check`. The paper: 100.
    pub check: usize,
    /// The number of steps. The paper: 2 to 3.
    pub steps: RangeInclusive<usize>,
    /// All fields together, without the JSON around them. Default: 350, as in the paper's code. The paper's text says 220,
    /// but its own Figure 4 is longer than that.
    pub total: usize,
}

impl Default for AriseLimits {
    fn default() -> Self {
        Self {
            name: 40,
            insight: 160,
            step: 100,
            check: 100,
            steps: 2..=3,
            total: 350,
        }
    }
}

/// The problem types of a host; a document's `problem_type` is one of them.
///
/// ```
/// use journeyman::library::format::ProblemTypes;
///
/// let types = ProblemTypes::new(["kitchen", "general"]);
/// assert_eq!(types.names(), ["kitchen", "general"]);
/// assert!(ProblemTypes::general().is_general());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProblemTypes(Vec<String>);

impl ProblemTypes {
    /// The type of problems that fit no other type.
    pub const GENERAL: &'static str = "general";

    /// The host's types; an empty list gives `general` alone.
    pub fn new(types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut types: Vec<String> = types.into_iter().map(Into::into).collect();
        types.retain(|name| !name.trim().is_empty());
        match types.is_empty() {
            true => Self::general(),
            false => Self(types),
        }
    }

    /// `general` alone, for a host that does not distinguish types.
    pub fn general() -> Self {
        Self(vec![Self::GENERAL.to_owned()])
    }

    /// The paper's six (Table 4), for mathematics.
    pub fn arise() -> Self {
        Self::new([
            "algebra",
            "geometry",
            "combinatorics",
            "number_theory",
            "calculus",
            Self::GENERAL,
        ])
    }

    /// Whether `general` is the only type. Then every document has it, whatever type the model writes.
    pub fn is_general(&self) -> bool {
        self.0 == [Self::GENERAL]
    }

    /// The types in the host's order, at least one.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The type that a text names; case is ignored, and blanks and hyphens count as underscores.
    pub fn find(&self, text: &str) -> Option<&str> {
        let plain = |text: &str| text.trim().to_lowercase().replace([' ', '-'], "_");
        let wanted = plain(text);
        self.0
            .iter()
            .map(String::as_str)
            .find(|name| plain(name) == wanted)
    }

    /// `general` where the host has it, else the first.
    pub fn fallback(&self) -> &str {
        self.find(Self::GENERAL)
            .or_else(|| self.0.first().map(String::as_str))
            .unwrap_or(Self::GENERAL)
    }
}

/// The rules of a host for documents: the problem types and the limits.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AriseSchema {
    /// The problem types.
    pub problem_types: ProblemTypes,
    /// The limits.
    pub limits: AriseLimits,
}

impl AriseSchema {
    /// Least lengths, in characters, that shortening leaves of a field. Ours, since the paper gives none.
    pub(crate) const LEAST_CHECK: usize = 12;
    pub(crate) const LEAST_INSIGHT: usize = 40;

    /// A schema with these types and the default limits.
    pub fn new(problem_types: ProblemTypes) -> Self {
        Self {
            problem_types,
            limits: AriseLimits::default(),
        }
    }

    /// Reads a document out of a JSON object and cuts it to the limits. Where `general` is the only type, the object's
    /// `problem_type` is ignored and may be missing.
    ///
    /// # Errors
    /// As [`AriseDocument::from_json`] and [`AriseSchema::fit`].
    pub fn read(&self, object: &Map<String, Value>) -> Result<AriseDocument, SchemaRefusal> {
        let mut object = object.clone();
        if self.problem_types.is_general() {
            object.insert("problem_type".to_owned(), ProblemTypes::GENERAL.into());
        }
        let is_blank = |check: &Value| match check {
            Value::String(text) => text.trim().is_empty(),
            other => other.is_null(),
        };
        if object.get("check").is_none_or(is_blank) {
            object.insert("check".to_owned(), self.default_check().into());
        }
        self.fit(AriseDocument::from_json(&object)?)
    }

    /// The `check` of a document without one.
    pub fn default_check(&self) -> &'static str {
        match self.problem_types == ProblemTypes::arise() {
            true => DEFAULT_CHECK,
            false => GENERAL_CHECK,
        }
    }

    /// Cuts a document to the limits (D.1, stages 2 and 3): each field to its own limit; then, while the whole is too long,
    /// first the check and then the insight. A document that is still too long is refused.
    ///
    /// # Errors
    /// A refusal at [`SchemaStage::Parse`] for a type that the host does not have or too few steps, at
    /// [`SchemaStage::Clip`] for a document that cannot be cut to size.
    pub fn fit(&self, document: AriseDocument) -> Result<AriseDocument, SchemaRefusal> {
        let limits = &self.limits;
        let mut fields = document.fields;
        match self.problem_types.find(&fields.problem_type) {
            Some(known) => fields.problem_type = known.to_owned(),
            None if self.problem_types.is_general() => {
                fields.problem_type = ProblemTypes::GENERAL.to_owned();
            }
            None => {
                let types = self.problem_types.names().join(", ");
                return refuse(format!("problem_type is none of: {types}"));
            }
        }
        let steps = fields.method.len();
        if steps < *limits.steps.start() {
            let least = limits.steps.start();
            return refuse(format!(
                "method has {steps} steps, and {least} is the least"
            ));
        }
        fields.method.truncate(*limits.steps.end());
        fields.skill_name = clip_name(&fields.skill_name, limits.name);
        fields.key_insight = clip(&fields.key_insight, limits.insight);
        fields.check = clip(&fields.check, limits.check);
        if fields.check.is_empty() {
            self.default_check().clone_into(&mut fields.check);
        }
        for step in &mut fields.method {
            *step = clip(step, limits.step);
        }
        let mut document = AriseDocument::build(fields)?;
        self.shorten(&mut document, Self::LEAST_CHECK, |fields| {
            Some(&mut fields.check)
        });
        self.shorten(&mut document, Self::LEAST_INSIGHT, |fields| {
            Some(&mut fields.key_insight)
        });
        let total = document.content_chars();
        if total > limits.total {
            return Err(SchemaRefusal::new(
                SchemaStage::Clip,
                format!(
                    "the fields have {total} characters together after clipping, and {} is the most",
                    limits.total
                ),
            ));
        }
        // A limit of 0, or a cut within an emoji, can leave an empty field.
        AriseDocument::build(document.fields)
    }

    /// Shortens one field by the excess over the total limit, to no less than `least` characters.
    pub(crate) fn shorten(
        &self,
        document: &mut AriseDocument,
        least: usize,
        field: impl FnOnce(&mut Fields) -> Option<&mut String>,
    ) {
        let excess = document.content_chars().saturating_sub(self.limits.total);
        if let (1.., Some(text)) = (excess, field(&mut document.fields)) {
            let keep = text.chars().count().saturating_sub(excess).max(least);
            *text = clip(text, keep);
        }
    }
}

fn clip_name(name: &str, most: usize) -> String {
    // Names are ASCII by construction.
    let cut = name.get(..most).unwrap_or(name);
    cut.trim_end_matches('_').to_owned()
}

/// At most `most` characters of a text, cut between words where the last third has a gap, else within the word, and never
/// directly after a joiner.
pub(crate) fn clip(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let cut = &text[..end];
    let cut = match cut.rfind(' ') {
        Some(gap) if !text[end..].starts_with(' ') && gap * 3 >= end * 2 => &cut[..gap],
        _ => cut,
    };
    cut.trim_end_matches(|c: char| c.is_whitespace() || c == '\u{200D}' || c == '\u{200C}')
        .to_owned()
}
