//! A segment: a turn of an attempt, or a skill, in the form in which they are compared.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    contract::Embedding,
    domain::{Skill, SkillRef, Taint},
    id::{AttemptId, SegmentId, SkillId, TaskId, sha256_hex},
    text::{content_words, ngrams},
};

/// What a segment is a projection of.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// A turn of an attempt.
    Trace {
        /// Which attempt; its name begins with its run's.
        attempt: AttemptId,
        /// Which turn of the task.
        turn: u32,
    },
    /// A skill.
    Skill(SkillRef),
}

/// Where an argument's value is to be found.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueSource {
    /// In what the task, or its user, had said by then.
    Request,
    /// In what an earlier call gave.
    Result {
        /// The tool that gave it.
        tool: String,
    },
    /// In neither: the agent knew it, guessed it or had it from a refusal.
    Agent,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentArgument {
    /// Its name.
    pub name: String,
    /// Its value, what is no text as JSON.
    pub value: String,
    /// Where the value is to be found.
    pub source: ValueSource,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentCall {
    /// The tool.
    pub tool: String,
    /// In the order of the names.
    pub arguments: Vec<SegmentArgument>,
    /// Whether the step that it stood in was refused.
    pub refused: bool,
}

/// A node of the [`OverlapGraph`](super::OverlapGraph).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The same whenever the same turn or skill is projected.
    pub id: SegmentId,
    /// What it is a projection of.
    pub kind: SegmentKind,
    /// The tasks that it came from: a turn's one, or all that a skill was distilled from.
    pub tasks: Vec<TaskId>,
    /// What was asked for; of a skill what it says.
    pub fragment: String,
    /// The calls in order; of a skill the tools that it needs, without arguments.
    pub calls: Vec<SegmentCall>,
    /// What refused steps were told, each text once.
    pub errors: Vec<String>,
    /// What accepted steps were told.
    pub changes: Vec<String>,
    /// Whether the attempt succeeded; `None` where nobody could tell, and for skills.
    pub success: Option<bool>,
    /// Whether untrusted text may be in it (J7).
    pub taint: Taint,
    /// Of [`Segment::text`], where the host has an embedder.
    pub embedding: Option<Embedding>,
}

/// How much of a skill's body stands in its segment, in characters.
const BODY_CHARS: usize = 400;

impl Segment {
    /// The segment of a skill: its name, description, trigger, the first 400 characters of its body, and its tools.
    pub fn of_skill(skill: &Skill) -> Self {
        let trigger = skill.trigger.as_deref().unwrap_or_default();
        let body: String = skill.body.chars().take(BODY_CHARS).collect();
        let said = [skill.name.as_str(), &skill.description, trigger, &body];
        let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
        let call = |tool: &String| SegmentCall {
            tool: tool.clone(),
            arguments: Vec::new(),
            refused: false,
        };
        Self {
            id: Self::id_of_skill(&skill.id),
            kind: SegmentKind::Skill(skill.reference()),
            tasks: skill.provenance.tasks.clone(),
            fragment: said.join("\n"),
            calls: skill.allowed_tools.iter().map(call).collect(),
            errors: Vec::new(),
            changes: Vec::new(),
            success: None,
            taint: skill.taint,
            embedding: None,
        }
    }

    /// The id of a skill's segment, the same in every version.
    pub fn id_of_skill(skill: &SkillId) -> SegmentId {
        SegmentId::new(format!("skill:{skill}"))
    }

    /// Whether it shows something that worked: a turn of an attempt that succeeded.
    pub fn is_true_instance(&self) -> bool {
        matches!(self.kind, SegmentKind::Trace { .. }) && self.success == Some(true)
    }

    /// All that it says, a line each: what was asked, calls, results, refusals. This is what an embedder is given.
    pub fn text(&self) -> String {
        let mut lines = vec![self.fragment.clone()];
        for call in &self.calls {
            let mut line = call.tool.clone();
            for argument in &call.arguments {
                line.push_str(&format!(" {}={}", argument.name, argument.value));
            }
            lines.push(line);
        }
        lines.extend(self.changes.iter().map(|text| format!("=> {text}")));
        lines.extend(self.errors.iter().map(|text| format!("=> error: {text}")));
        lines.join("\n")
    }

    /// The n-grams by which it is compared: words and pairs of words of the fragment, of the calls in a row (tools and names
    /// of arguments), and of each result. Function words, values of arguments and all words with digits are left out.
    pub fn ngrams(&self) -> BTreeSet<String> {
        let mut called = Vec::new();
        for call in &self.calls {
            called.extend(content_words(&call.tool));
            for argument in &call.arguments {
                called.extend(content_words(&argument.name));
            }
        }
        let texts = std::iter::once(&self.fragment).chain(&self.changes);
        let mut grams: BTreeSet<String> = ngrams(&called).collect();
        grams.extend(ngrams_of(texts));
        grams
    }

    /// The n-grams of its errors.
    pub fn error_ngrams(&self) -> BTreeSet<String> {
        ngrams_of(self.errors.iter()).into_iter().collect()
    }

    /// Two segments of one id and digest say the same.
    pub(super) fn digest(&self) -> String {
        let success = format!("{:?}", self.success);
        let kind = format!("{:?}", self.kind);
        let parts = [self.id.as_str(), &kind, &success, &self.text()];
        let mut digest = sha256_hex(parts.join("\0"));
        digest.truncate(16);
        digest
    }
}

fn ngrams_of<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    texts
        .flat_map(|text| ngrams(&content_words(text)).collect::<Vec<_>>())
        .collect()
}
