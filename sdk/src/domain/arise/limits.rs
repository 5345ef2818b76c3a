//! How long a document may be, and how it is cut to size.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{
    AriseDocument, SchemaRefusal, SchemaStage,
    document::{Fields, refuse},
};

/// How long the fields of a document may be, in characters (ARISE C.1, Table 4).
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
    /// How many steps. The paper: 2 to 3.
    pub steps: RangeInclusive<usize>,
    /// The content of all fields together, JSON framing not counted. The paper says 220, yet its own Figure 4 is
    /// longer than that, and its code uses 350; 350 is the default.
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

/// The kinds of problem that a host tells apart; a document's `problem_type` is one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProblemTypes(Vec<String>);

impl ProblemTypes {
    /// The type for what fits no other.
    pub const GENERAL: &'static str = "general";

    /// The host's types; with none, `general` alone.
    pub fn new(types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut types: Vec<String> = types.into_iter().map(Into::into).collect();
        types.retain(|name| !name.trim().is_empty());
        if types.is_empty() {
            types.push(Self::GENERAL.to_owned());
        }
        Self(types)
    }

    /// The paper's six (Table 4).
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

    /// The types in the host's order, at least one.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The type that a text means, whatever its case and whether it has blanks or hyphens for underscores.
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

/// What a host asks of a document: the types it knows and the lengths it allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AriseSchema {
    /// The kinds of problem.
    pub problem_types: ProblemTypes,
    /// The lengths.
    pub limits: AriseLimits,
}

impl AriseSchema {
    /// The lower bounds below which shortening leaves nothing of use; ours, as the text names none.
    const LEAST_CHECK: usize = 12;
    const LEAST_INSIGHT: usize = 40;

    /// A schema of these types and the default lengths.
    pub fn new(problem_types: ProblemTypes) -> Self {
        Self {
            problem_types,
            limits: AriseLimits::default(),
        }
    }

    /// Cuts a document to its limits (D.1, stages 2 and 3): each field to its own; then, while the whole is too long,
    /// the check first and the insight next; what is still too long is discarded.
    ///
    /// # Errors
    /// A refusal at [`SchemaStage::Parse`] for a type that the host does not know or too few steps, at
    /// [`SchemaStage::Clip`] for a document that cannot be cut to size.
    pub fn fit(&self, document: AriseDocument) -> Result<AriseDocument, SchemaRefusal> {
        let limits = &self.limits;
        let mut fields = document.fields;
        match self.problem_types.find(&fields.problem_type) {
            Some(known) => fields.problem_type = known.to_owned(),
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
        // A field may have been cut to nothing by a host's limit of 0, or in the middle of an emoji.
        AriseDocument::build(document.fields)
    }

    /// Takes what is over the total from one field, which keeps at least `least` characters.
    fn shorten(
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

    /// The trace-abstract fallback (D.1): a minimal document straight from a successful trace, without a model.
    /// Fits whatever the limits, as far as they leave each field a character.
    pub fn trace_abstract(&self, steps: &[String], response: &str) -> AriseDocument {
        let limits = &self.limits;
        let least = (*limits.steps.start()).max(1);
        let most = (*limits.steps.end()).max(least);
        let mut method: Vec<String> = steps.iter().map(|step| visible(step)).collect();
        method.retain(|step| !step.is_empty());
        method.truncate(most);
        for filler in [
            "Follow the insight",
            "Check the result",
            "Correct what is wrong",
        ] {
            if method.len() < least {
                method.push(filler.to_owned());
            }
        }
        while method.len() < least {
            method.push("Go on".to_owned());
        }
        let response = visible(response);
        let response = if response.is_empty() {
            "following the method"
        } else {
            &response
        };
        let fields = Fields {
            skill_name: "trace_abstract".to_owned(),
            problem_type: self.problem_types.fallback().to_owned(),
            key_insight: clip(&format!("Solve by: {response}"), limits.insight.max(1)),
            method: method
                .iter()
                .map(|step| clip(step, limits.step.max(1)))
                .collect(),
            check: clip(super::DEFAULT_CHECK, limits.check.max(1)),
        };
        let mut document = AriseDocument { fields };
        // Gently first, so that the insight keeps its beginning; then whatever it takes.
        for (check, insight, step) in [(Self::LEAST_CHECK, Self::LEAST_INSIGHT, 20), (1, 1, 1)] {
            self.shorten(&mut document, check, |fields| Some(&mut fields.check));
            self.shorten(&mut document, insight, |fields| {
                Some(&mut fields.key_insight)
            });
            for index in (0..document.fields.method.len()).rev() {
                self.shorten(&mut document, step, |fields| fields.method.get_mut(index));
            }
        }
        // A cut may have taken apart what made a joiner or a tag part of an emoji.
        let fields = &mut document.fields;
        for text in fields.method.iter_mut().chain([&mut fields.key_insight]) {
            *text = visible(text);
        }
        document
    }
}

/// One line without hidden characters, so that any trace gives a valid document.
fn visible(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if crate::domain::find_hidden(&text).is_none() {
        return text;
    }
    let kept: String = text
        .chars()
        .filter(|c| crate::domain::find_hidden(c.encode_utf8(&mut [0; 4])).is_none())
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn clip_name(name: &str, most: usize) -> String {
    // Names are ASCII by construction.
    let cut = name.get(..most).unwrap_or(name);
    cut.trim_end_matches('_').to_owned()
}

/// At most `most` characters: cut between words where the last third has a gap, else in the word, and never so that a
/// joiner is left hanging.
pub(super) fn clip(text: &str, most: usize) -> String {
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
