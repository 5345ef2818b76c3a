//! The evals of a skill, `evals/evals.json` in its folder, as the Agent Skills guide describes them
//! (agentskills.io, "Evaluating skill output quality").
//!
//! | field of an eval | here |
//! | --- | --- |
//! | `id` | a text; a whole number in the file where it is one |
//! | `prompt` | the task |
//! | `expected_output` | what success looks like, in words |
//! | `assertions`, or `expectations` | statements that have to be true of the attempt; written as `assertions`. An object with a `text` is read as that text |
//! | `files` | paths within the skill's folder |
//! | `payload` | not in the guide: the environment's data for the task, without which many worlds cannot set it up |
//!
//! Further fields are kept. A text that is written can be read again.
//!
//! ```
//! use journeyman_interchange::evals;
//!
//! let file = r#"{"skill_name": "pour", "evals": [
//!     {"id": 1, "prompt": "Pour a cup.", "expected_output": "The cup is full.", "expectations": ["Nothing is spilled."]}]}"#;
//! let read = evals::read(file)?;
//! assert_eq!(read.evals[0].assertions, ["Nothing is spilled."]);
//! assert_eq!(evals::read(&evals::write(&read)?)?, read);
//! # Ok::<(), journeyman::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    Error, Result, SkillId, TaskId,
    domain::{Action, AttemptId, BundleCase, CaseKind, FilePath, Trace},
    library::SkillLibrary,
};
use serde_json::{Map, Value};

use super::json::{self, Entry, shape};

/// The path of the file within a skill's folder.
pub const PATH: &str = "evals/evals.json";

const READ: &str = "evals::read";
const EVALS: &str = "evals";
const ASSERTIONS: &str = "assertions";
/// The other spelling of [`ASSERTIONS`].
const EXPECTATIONS: &str = "expectations";
const FORM: &str = "write an object with a list `evals`, of which each has an `id` of its own and a `prompt`, and if wanted \
    `expected_output` (a text), `assertions` (texts) and `files` (paths within the skill's folder)";

/// The evals of a skill.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillEvals {
    /// The skill's name, where the file has it.
    pub skill_name: Option<String>,
    /// The evals; at least one, and no two of one id.
    pub evals: Vec<SkillEval>,
    /// Further fields of the file.
    pub other: Map<String, Value>,
}

impl SkillEvals {
    /// These evals, of no named skill.
    pub fn new(evals: Vec<SkillEval>) -> Self {
        Self {
            skill_name: None,
            evals,
            other: Map::new(),
        }
    }

    /// The same with the skill's name.
    #[must_use]
    pub fn with_skill_name(mut self, skill_name: impl Into<String>) -> Self {
        self.skill_name = Some(skill_name.into());
        self
    }

    /// The same with further fields.
    #[must_use]
    pub fn with_other(mut self, other: Map<String, Value>) -> Self {
        self.other = other;
        self
    }
}

/// An eval: a task, and what is expected of an attempt at it.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillEval {
    /// Unique among the skill's evals, and not blank.
    pub id: String,
    /// The task, in a user's words; not blank.
    pub prompt: String,
    /// What success looks like, in words.
    pub expected_output: Option<String>,
    /// Statements that have to be true of the attempt.
    pub assertions: Vec<String>,
    /// The files of the skill's folder that the task is about.
    pub files: Vec<FilePath>,
    /// The environment's data for setting up the task; `null` where the file has none.
    pub payload: Value,
    /// Further fields.
    pub other: Map<String, Value>,
}

impl SkillEval {
    /// An eval by its id, unique among the skill's and not blank, and its prompt: the task in a user's words. Nothing is expected
    /// of an attempt yet.
    pub fn new(id: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            prompt: prompt.into(),
            expected_output: None,
            assertions: Vec::new(),
            files: Vec::new(),
            payload: Value::Null,
            other: Map::new(),
        }
    }

    /// The same with the output that is expected.
    #[must_use]
    pub fn with_expected_output(mut self, expected_output: impl Into<String>) -> Self {
        self.expected_output = Some(expected_output.into());
        self
    }

    /// The same with these assertions.
    #[must_use]
    pub fn with_assertions(mut self, assertions: Vec<String>) -> Self {
        self.assertions = assertions;
        self
    }

    /// The same with files that it needs.
    #[must_use]
    pub fn with_files(mut self, files: Vec<FilePath>) -> Self {
        self.files = files;
        self
    }

    /// The same with data for an environment.
    #[must_use]
    pub fn with_payload(mut self, payload: Value) -> Self {
        self.payload = payload;
        self
    }

    /// The same with further fields.
    #[must_use]
    pub fn with_other(mut self, other: Map<String, Value>) -> Self {
        self.other = other;
        self
    }
}

/// Reads the text of the file.
///
/// # Errors
/// `Invalid` for a text that is not JSON, is beyond a limit of the [crate] or is no file of evals: without an eval, or with one
/// without an id or a prompt, two of one id, a field of the wrong type, or a path that leads out of the skill's folder. The error
/// names the place of the fault and never repeats the text.
pub fn read(text: &str) -> Result<SkillEvals> {
    parsed(text).map_err(|error| match error.hint_text() {
        Some(_) => error,
        None => error.hint(FORM),
    })
}

/// Writes the text of the file.
///
/// # Errors
/// As [`read`], for evals that could not be read again.
pub fn write(evals: &SkillEvals) -> Result<String> {
    let mut whole = evals.other.clone();
    if let Some(name) = &evals.skill_name {
        whole.insert("skill_name".to_owned(), name.as_str().into());
    }
    let list: Vec<Value> = evals.evals.iter().map(of_eval).collect();
    whole.insert(EVALS.to_owned(), list.into());
    let text = format!("{:#}", Value::Object(whole));
    read(&text)?;
    Ok(text)
}

/// The evals that a skill's test bundle makes: one for each task with a case of a whole attempt. `None` where the skill is unknown
/// or its bundle has no such case.
///
/// Tasks that the skill was written from are left out: that it helps at these says nothing of others.
///
/// The prompt is the task's instruction, and the payload the task's own. The expected output says what the case asks for, and which
/// tools the case's attempt called where the library keeps that attempt. All of it is as the library has it: without secrets. A case
/// whose texts no file of evals may hold, such as one with a hidden character, is left out.
pub fn of_library(library: &SkillLibrary, skill: &SkillId) -> Option<SkillEvals> {
    let entry = library.get(skill)?;
    let kept = library.traces();
    let kept: BTreeMap<&AttemptId, &Trace> = kept
        .map(|trace| (&trace.trajectory.attempt, trace))
        .collect();
    // A second case of a task asks nothing new of the skill either.
    let mut left_out: BTreeSet<&TaskId> = entry.skill.provenance.tasks.iter().collect();
    let mut made = SkillEvals {
        skill_name: Some(entry.skill.name.to_string()),
        ..SkillEvals::default()
    };
    let cases = entry.life.bundle.iter().map(|bundled| &bundled.case);
    for case in cases.filter(|case| case.is_whole()) {
        let eval = SkillEval {
            id: (made.evals.len() + 1).to_string(),
            prompt: case.task.instruction.clone(),
            expected_output: Some(expected(case, kept.get(&case.attempt).copied())),
            payload: case.task.payload.clone(),
            ..SkillEval::default()
        };
        let alone = SkillEvals {
            evals: vec![eval.clone()],
            ..SkillEvals::default()
        };
        if write(&alone).is_ok() && left_out.insert(&case.task.id) {
            made.evals.push(eval);
        }
    }
    (!made.evals.is_empty()).then_some(made)
}

fn parsed(text: &str) -> Result<SkillEvals> {
    let none = || Error::invalid(READ, "this is no file of evals: it has no list `evals`");
    let Value::Object(mut whole) = json::read(READ, text)? else {
        return Err(none());
    };
    let mut list = whole.remove(EVALS).ok_or_else(none)?;
    let skill_name = optional_text("", &mut whole, "skill_name")?;
    let entries = json::take_entries(READ, EVALS, &mut list)?;
    if entries.is_empty() {
        return Err(Error::invalid(READ, "the file has no eval")
            .with("place", EVALS)
            .hint("write an eval, or remove the file"));
    }
    let mut ids = BTreeSet::new();
    let mut evals = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let place = format!("{EVALS}/{index}/");
        let eval = eval(&place, entry)?;
        if !ids.insert(eval.id.clone()) {
            return Err(Error::invalid(READ, "another eval has this id")
                .with("place", format!("{place}id"))
                .hint("give each eval an id of its own"));
        }
        evals.push(eval);
    }
    Ok(SkillEvals {
        skill_name,
        evals,
        other: whole,
    })
}

/// The eval at a place, which ends with `/`.
fn eval(place: &str, mut entry: Entry) -> Result<SkillEval> {
    Ok(SkillEval {
        id: id(place, &mut entry)?,
        prompt: optional_text(place, &mut entry, "prompt")?
            .ok_or_else(|| missing(place, "prompt", "the eval has no prompt"))?,
        expected_output: optional_text(place, &mut entry, "expected_output")?,
        assertions: assertions(place, &mut entry)?,
        files: files(place, &mut entry)?,
        payload: entry.remove("payload").unwrap_or_default(),
        other: entry,
    })
}

fn id(place: &str, entry: &mut Entry) -> Result<String> {
    let id = match entry.remove("id") {
        Some(Value::Number(number)) if !number.is_f64() => Some(number.to_string()),
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
        _ => None,
    };
    let message = "the eval has no id, or one that is neither a whole number nor a text";
    id.ok_or_else(|| missing(place, "id", message))
}

fn missing(place: &str, field: &str, message: &str) -> Error {
    Error::invalid(READ, message).with("place", format!("{place}{field}"))
}

/// A text that may be missing, `null` or blank.
fn optional_text(place: &str, entry: &mut Entry, field: &str) -> Result<Option<String>> {
    match entry.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Some(_) => Err(shape(READ, &format!("{place}{field}"), "a text")),
    }
}

/// A list that may be missing or `null`, each item with its place.
fn list(place: &str, entry: &mut Entry, field: &str) -> Result<Vec<(String, Value)>> {
    let place = format!("{place}{field}");
    let items = match entry.remove(field) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(shape(READ, &place, "a list")),
    };
    let items = items.into_iter().enumerate();
    let placed = items.map(|(index, item)| (format!("{place}/{index}"), item));
    Ok(placed.collect())
}

fn assertions(place: &str, entry: &mut Entry) -> Result<Vec<String>> {
    let mut assertions = Vec::new();
    for field in [ASSERTIONS, EXPECTATIONS] {
        for (place, item) in list(place, entry, field)? {
            let text = item.as_str().or_else(|| item.get("text")?.as_str());
            let text = text.filter(|text| !text.trim().is_empty());
            let text = text
                .ok_or_else(|| shape(READ, &place, "a text"))?
                .to_owned();
            if !assertions.contains(&text) {
                assertions.push(text);
            }
        }
    }
    Ok(assertions)
}

fn files(place: &str, entry: &mut Entry) -> Result<Vec<FilePath>> {
    let mut files = Vec::new();
    for (place, item) in list(place, entry, "files")? {
        let path = item.as_str().ok_or_else(|| shape(READ, &place, "a path"))?;
        let path = FilePath::new(path.strip_prefix("./").unwrap_or(path));
        files.push(path.map_err(|error| {
            let refused = Error::invalid(READ, error.message()).with("place", &place);
            refused.hint(error.hint_text().unwrap_or(FORM))
        })?);
    }
    Ok(files)
}

/// The eval as the file has it. What is empty is left out.
fn of_eval(eval: &SkillEval) -> Value {
    let mut fields = eval.other.clone();
    let number = eval.id.parse::<u64>().ok();
    let number = number.filter(|number| number.to_string() == eval.id);
    let id: Value = match number {
        Some(number) => number.into(),
        None => eval.id.as_str().into(),
    };
    fields.insert("id".to_owned(), id);
    fields.insert("prompt".to_owned(), eval.prompt.as_str().into());
    if let Some(expected) = &eval.expected_output {
        fields.insert("expected_output".to_owned(), expected.as_str().into());
    }
    if !eval.assertions.is_empty() {
        fields.insert(ASSERTIONS.to_owned(), eval.assertions.clone().into());
    }
    if !eval.files.is_empty() {
        let files: Vec<&str> = eval.files.iter().map(FilePath::as_str).collect();
        fields.insert("files".to_owned(), files.into());
    }
    if !eval.payload.is_null() {
        fields.insert("payload".to_owned(), eval.payload.clone());
    }
    Value::Object(fields)
}

/// What a case asks for, in words; `kept` is its attempt, where the library has it.
fn expected(case: &BundleCase, kept: Option<&Trace>) -> String {
    let mut text = match case.kind {
        CaseKind::Negative => {
            "The task is done; the skill is not meant for it, and must do no harm."
        }
        _ => "The task is done.",
    }
    .to_owned();
    text.push_str(&match case.refusals {
        0 => " No action is refused.".to_owned(),
        1 => " At most 1 action is refused.".to_owned(),
        most => format!(" At most {most} actions are refused."),
    });
    if case.least_score > 0.0 {
        text.push_str(&format!(" The score is at least {}.", case.least_score));
    }
    let tools = kept.filter(|kept| kept.is_success()).map(tools);
    if let Some(tools) = tools.filter(|tools| !tools.is_empty()) {
        text.push_str(&format!(
            " An attempt that did it called {}.",
            tools.join(", ")
        ));
    }
    text
}

/// The tools of the calls that were not refused, each once, in the order of their first calls.
fn tools(attempt: &Trace) -> Vec<String> {
    let mut tools = Vec::new();
    let steps = attempt.trajectory.steps.iter();
    for step in steps.filter(|step| !step.result.is_error) {
        let Action::Call(calls) = &step.action else {
            continue;
        };
        for call in calls {
            let tool = format!("`{}`", call.tool);
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
    }
    tools
}
