//! A segment: a turn of an attempt, or a skill, in the form in which both are compared (HiSME appendix C).

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
        /// The attempt; its id begins with the id of its run.
        attempt: AttemptId,
        /// The turn of the task.
        turn: u32,
    },
    /// A skill.
    Skill(SkillRef),
}

/// The source of an argument's value.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueSource {
    /// The task's instruction or a message of its user, so far.
    Request,
    /// The result of an earlier call.
    Result {
        /// The tool that was called.
        tool: String,
    },
    /// The agent: it knew the value, guessed it or had it from a refusal.
    Agent,
}

/// An argument of a call.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentArgument {
    /// Its name.
    pub name: String,
    /// Its value; a value other than a text as JSON.
    pub value: String,
    /// The source of the value.
    pub source: ValueSource,
}

impl SegmentArgument {
    /// An argument, and where its value came from.
    pub fn new(name: impl Into<String>, value: impl Into<String>, source: ValueSource) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            source,
        }
    }
}

/// A call of a tool.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentCall {
    /// The tool.
    pub tool: String,
    /// The arguments, in the order of their names.
    pub arguments: Vec<SegmentArgument>,
    /// Whether its step was refused.
    pub refused: bool,
}

impl SegmentCall {
    /// A call, and whether the environment refused it.
    pub fn new(tool: impl Into<String>, arguments: Vec<SegmentArgument>, refused: bool) -> Self {
        Self {
            tool: tool.into(),
            arguments,
            refused,
        }
    }
}

/// A node of the [`OverlapGraph`](crate::papers::hisme::OverlapGraph).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The same for every projection of the same turn or skill.
    pub id: SegmentId,
    /// The turn or the skill that is projected.
    pub kind: SegmentKind,
    /// The task of a turn, or all tasks that a skill was distilled from.
    pub tasks: Vec<TaskId>,
    /// The request of a turn; the text of a skill.
    pub fragment: String,
    /// The calls of a turn in order; the tools that a skill needs, without arguments.
    pub calls: Vec<SegmentCall>,
    /// The result texts of refused steps, each text once.
    pub errors: Vec<String>,
    /// The result texts of accepted steps.
    pub changes: Vec<String>,
    /// Whether the attempt succeeded; `None` for an attempt without a verdict, and for skills.
    pub success: Option<bool>,
    /// Of a turn, the versions in its prompt that the agent followed or may have followed. Empty for skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillRef>,
    /// Whether it may contain untrusted text (J7).
    pub taint: Taint,
    /// The embedding of [`Segment::text`], if the host has an embedder.
    pub embedding: Option<Embedding>,
}

impl Segment {
    /// A fragment of an attempt or a skill: no calls, no verdict, clean.
    pub fn new(id: impl Into<SegmentId>, kind: SegmentKind, fragment: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            kind,
            tasks: Vec::new(),
            fragment: fragment.into(),
            calls: Vec::new(),
            errors: Vec::new(),
            changes: Vec::new(),
            success: None,
            skills: Vec::new(),
            taint: Taint::Clean,
            embedding: None,
        }
    }

    /// The same with the tasks that it comes from.
    #[must_use]
    pub fn with_tasks(mut self, tasks: Vec<TaskId>) -> Self {
        self.tasks = tasks;
        self
    }

    /// The same with these calls.
    #[must_use]
    pub fn with_calls(mut self, calls: Vec<SegmentCall>) -> Self {
        self.calls = calls;
        self
    }

    /// The same with the errors that came.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<String>) -> Self {
        self.errors = errors;
        self
    }

    /// Sets what the calls changed.
    #[must_use]
    pub fn with_changes(mut self, changes: Vec<String>) -> Self {
        self.changes = changes;
        self
    }

    /// Sets whether the task was done.
    #[must_use]
    pub fn with_success(mut self, success: impl Into<Option<bool>>) -> Self {
        self.success = success.into();
        self
    }

    /// The same with the skills that it was given.
    #[must_use]
    pub fn with_skills(mut self, skills: Vec<SkillRef>) -> Self {
        self.skills = skills;
        self
    }

    /// The same with this taint.
    #[must_use]
    pub fn with_taint(mut self, taint: Taint) -> Self {
        self.taint = taint;
        self
    }

    /// The same with its embedding.
    #[must_use]
    pub fn with_embedding(mut self, embedding: impl Into<Option<Embedding>>) -> Self {
        self.embedding = embedding.into();
        self
    }
}

/// The first characters of a skill's body that its segment has.
const BODY_CHARS: usize = 400;

impl Segment {
    /// The segment of a skill: its name, description, trigger, the first 400 characters of its body, and its tools.
    pub fn of_skill(skill: &Skill) -> Self {
        let trigger = skill.trigger.as_deref().unwrap_or_default();
        let body: String = skill.body.chars().take(BODY_CHARS).collect();
        let texts = [skill.name.as_str(), &skill.description, trigger, &body];
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let call = |tool: &String| SegmentCall {
            tool: tool.clone(),
            arguments: Vec::new(),
            refused: false,
        };
        Self {
            id: Self::id_of_skill(&skill.id),
            kind: SegmentKind::Skill(skill.reference()),
            tasks: skill.provenance.tasks.clone(),
            fragment: texts.join("\n"),
            calls: skill.allowed_tools.iter().map(call).collect(),
            errors: Vec::new(),
            changes: Vec::new(),
            success: None,
            skills: Vec::new(),
            taint: skill.taint,
            embedding: None,
        }
    }

    /// The id of a skill's segment, the same in every version.
    pub fn id_of_skill(skill: &SkillId) -> SegmentId {
        SegmentId::new(format!("skill:{skill}"))
    }

    /// Whether it is a turn of an attempt that succeeded.
    pub fn is_true_instance(&self) -> bool {
        matches!(self.kind, SegmentKind::Trace { .. }) && self.success == Some(true)
    }

    /// The version, if it is a skill.
    pub(super) fn skill(&self) -> Option<&SkillRef> {
        match &self.kind {
            SegmentKind::Skill(skill) => Some(skill),
            SegmentKind::Trace { .. } => None,
        }
    }

    /// Whether it is a turn of a failed attempt that had this version.
    pub(super) fn is_failure_with(&self, skill: &SkillRef) -> bool {
        self.success == Some(false) && self.skills.contains(skill)
    }

    /// The text for an embedder: the fragment, calls, results and refusals, a line each.
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

    /// The n-grams for the sparse overlap: words and pairs of words of the fragment, of all calls in order (tools and names of
    /// arguments), and of each result. Function words, values of arguments and all words with digits are left out.
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

    /// The n-grams of its errors, for the error-text overlap.
    pub fn error_ngrams(&self) -> BTreeSet<String> {
        ngrams_of(self.errors.iter()).into_iter().collect()
    }

    /// Digest of the id, kind, success and text; segments with equal digests are the same.
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
