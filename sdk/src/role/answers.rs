//! Parses a model's answer in each role. An unambiguous answer is accepted in any common spelling; a text that could act on
//! a later prompt is refused.

use serde_json::Value;

use super::object::{self, CASE, Object, cleaned, refuse};
use crate::{
    contract::{CaseDraft, RoleAnswer, RoleTask},
    domain::{
        CaseKind, Judgement, Kind, RoleRule, Scope, Skill, SkillDraft, SkillName, Trace,
        find_hidden,
    },
    format::{AriseSchema, SchemaRefusal, SkillMd},
    text::{JsonSchema, closes_a_block},
};

type Read<T> = Result<T, SchemaRefusal>;

/// The greatest length of a line of a skill, of a reason, a scope or a case, in characters.
const LINE: usize = 500;
/// The greatest length of a body in characters: about 5,000 tokens, the greatest length that the Agent Skills specification
/// recommends.
const BODY: usize = 20_000;
/// The field with the reason for a change of a skill.
const CHANGE: &str = "change";
const KINDS: [(&str, Kind); 3] = [
    ("function", Kind::Function),
    ("workflow", Kind::Workflow),
    ("knowledge", Kind::Knowledge),
];
const JUDGEMENTS: [(&str, Judgement); 4] = [
    ("helpful", Judgement::Helpful),
    ("harmful", Judgement::Harmful),
    ("neutral", Judgement::Neutral),
    ("uncertain", Judgement::Uncertain),
];
const CASE_KINDS: [(&str, CaseKind); 3] = [
    ("unit", CaseKind::Unit),
    ("integration", CaseKind::Integration),
    ("negative", CaseKind::Negative),
];

/// Parses an answer. A refusal names fields and lengths, never content.
pub(super) fn read(
    task: &RoleTask,
    schema: &JsonSchema,
    arise: &AriseSchema,
    text: &str,
) -> Read<RoleAnswer> {
    object::read(task, text, |mut object| {
        let answer = match task {
            RoleTask::Summarize { .. } => summary(&mut object, arise),
            RoleTask::Extract { .. } | RoleTask::Refactor { .. } => draft(&mut object),
            RoleTask::Refine { skill, .. } => refined(&mut object, skill),
            RoleTask::Attribute { .. } => credit(&mut object),
            RoleTask::Bundle { attempt, .. } => cases(&mut object, attempt),
            RoleTask::Evolve { rules, .. } => evolved(&object, rules),
            _ => refuse("there is no parser for this role"),
        }?;
        // A host's schema may be stricter than this parser.
        match schema.faults(&Value::Object(object)).first() {
            None => Ok(answer),
            Some(fault) => refuse(format!("the JSON breaks the schema; {fault}")),
        }
    })
}

/// Checks that a text can go into a skill or a prompt.
fn sound(key: &str, text: &str, most: usize) -> Read<()> {
    let length = text.chars().count();
    if length > most {
        return refuse(format!(
            "{key} has {length} characters, and {most} is the most"
        ));
    }
    if let Some(hidden) = find_hidden(text) {
        return refuse(format!("{key} holds {hidden}"));
    }
    match closes_a_block(text) {
        true => refuse(format!(
            "{key} holds what would end a block or a turn of a prompt"
        )),
        false => Ok(()),
    }
}

fn string<'a>(object: &'a Object, key: &str) -> Read<&'a str> {
    match object.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => refuse(format!("{key} is not a string")),
        None => refuse(format!("{key} is missing")),
    }
}

fn array<'a>(object: &'a Object, key: &str) -> Read<&'a [Value]> {
    match object.get(key) {
        Some(Value::Array(items)) => Ok(items),
        Some(_) => refuse(format!("{key} is not an array")),
        None => refuse(format!("{key} is missing")),
    }
}

/// A text on one line; it may be empty.
fn perhaps(object: &Object, key: &str, most: usize) -> Read<String> {
    let text = super::shown::one_line(string(object, key)?);
    sound(key, &text, most)?;
    Ok(text)
}

/// A text on one line that is not empty.
fn line(object: &Object, key: &str, most: usize) -> Read<String> {
    let text = perhaps(object, key, most)?;
    match text.is_empty() {
        true => refuse(format!("{key} is empty")),
        false => Ok(text),
    }
}

fn body(object: &Object) -> Read<String> {
    let text = string(object, "body")?.replace("\r\n", "\n");
    let text = text.trim();
    if text.is_empty() {
        return refuse("body is empty");
    }
    sound("body", text, BODY)?;
    Ok(text.to_owned())
}

/// One of these words; case and signs around the word are ignored. Puts the word's exact spelling into the object.
fn word<T: Copy>(object: &mut Object, key: &str, words: &[(&str, T)]) -> Read<T> {
    let plain = string(object, key)?
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    match words.iter().find(|(word, _)| *word == plain) {
        Some((word, meaning)) => {
            object.insert(key.to_owned(), Value::from(*word));
            Ok(*meaning)
        }
        None => {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            refuse(format!("{key} is none of {}", words.join(", ")))
        }
    }
}

/// A line that may be empty; null counts as empty.
fn or_empty(object: &mut Object, key: &str) -> Read<String> {
    if object.get(key) == Some(&Value::Null) {
        object.insert(key.to_owned(), Value::from(""));
    }
    perhaps(object, key, LINE)
}

/// The reason for writing nothing, where the answer gives only that.
fn nothing(object: &mut Object) -> Read<Option<RoleAnswer>> {
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    };
    let Some(reason) = object.get("nothing") else {
        return Ok(None);
    };
    let mut others = object.iter().filter(|(key, _)| *key != "nothing");
    let written = others.any(|(_, value)| !says_nothing(value));
    match (says_nothing(reason), written) {
        (true, true) => {
            object.remove("nothing");
            Ok(None)
        }
        (false, true) => refuse(
            "the object has `nothing` and beside it fields of a skill; write one or the other",
        ),
        (_, false) => {
            object.retain(|key, _| key == "nothing");
            Ok(Some(RoleAnswer::Nothing(line(object, "nothing", LINE)?)))
        }
    }
}

fn summary(object: &mut Object, arise: &AriseSchema) -> Read<RoleAnswer> {
    let document = arise.read(object)?;
    // The type is the host's spelling, and there even where the model wrote none.
    object.insert("problem_type".to_owned(), document.problem_type().into());
    let draft = SkillDraft::from(&document);
    sound("the document", &draft.body, BODY)?;
    Ok(RoleAnswer::Draft(Box::new(draft)))
}

fn draft(object: &mut Object) -> Read<RoleAnswer> {
    if let Some(nothing) = nothing(object)? {
        return Ok(nothing);
    }
    let title = line(object, "name", SkillName::MAX)?;
    if SkillName::slug(&title).is_none() {
        return refuse("name has no letter or digit");
    }
    Ok(RoleAnswer::Draft(Box::new(SkillDraft {
        title,
        kind: word(object, "kind", &KINDS)?,
        description: line(object, "description", SkillMd::MAX_DESCRIPTION)?,
        scope: Scope::General,
        trigger: Some(or_empty(object, "trigger")?).filter(|trigger| !trigger.is_empty()),
        body: body(object)?,
        metadata: std::collections::BTreeMap::new(),
    })))
}

/// A refined skill keeps its name, kind, scope and other metadata.
fn refined(object: &mut Object, skill: &Skill) -> Read<RoleAnswer> {
    if let Some(nothing) = nothing(object)? {
        return Ok(nothing);
    }
    let mut metadata = skill.metadata.clone();
    metadata.insert(CHANGE.to_owned(), line(object, CHANGE, LINE)?);
    let name = skill.original_name.as_deref();
    Ok(RoleAnswer::Draft(Box::new(SkillDraft {
        title: name.unwrap_or(skill.name.as_str()).to_owned(),
        description: line(object, "description", SkillMd::MAX_DESCRIPTION)?,
        kind: skill.kind,
        scope: skill.scope.clone(),
        trigger: Some(or_empty(object, "trigger")?).filter(|trigger| !trigger.is_empty()),
        body: body(object)?,
        metadata,
    })))
}

fn credit(object: &mut Object) -> Read<RoleAnswer> {
    Ok(RoleAnswer::Credit {
        judgement: word(object, "judgement", &JUDGEMENTS)?,
        scope: or_empty(object, "scope")?,
        reason: line(object, "reason", 2 * LINE)?,
    })
}

fn cases(object: &mut Object, attempt: &Trace) -> Read<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    let mut drafts = Vec::new();
    let mut written = Vec::new();
    for item in array(object, "cases")? {
        let Value::Object(item) = item else {
            return refuse("a case is not an object");
        };
        let mut item = cleaned(item.clone(), CASE)?;
        drafts.push(case(&mut item, steps)?);
        written.push(Value::Object(item));
    }
    object.insert("cases".to_owned(), Value::Array(written));
    Ok(RoleAnswer::Cases(drafts))
}

fn case(case: &mut Object, steps: usize) -> Read<CaseDraft> {
    let kind = word(case, "kind", &CASE_KINDS)?;
    let from = case.get("from").and_then(Value::as_u64);
    let from = from.and_then(|from| usize::try_from(from).ok());
    match from {
        Some(from) if from >= steps => refuse(format!(
            "from is no step of the attempt, which has {steps}, the first with the number 0"
        )),
        Some(from) if from > 0 && kind != CaseKind::Unit => {
            refuse("from is not 0, and the case is of a whole task")
        }
        Some(from) => Ok(CaseDraft {
            kind,
            from,
            about: line(case, "about", LINE)?,
        }),
        None => refuse("from is not a whole number from 0"),
    }
}

/// The rules; analysis and summary are required beside them (HiSME algorithm 5).
fn evolved(object: &Object, before: &[RoleRule]) -> Read<RoleAnswer> {
    for key in ["analysis", "summary"] {
        if string(object, key)?.trim().is_empty() {
            return refuse(format!("{key} is empty"));
        }
    }
    let mut rules: Vec<RoleRule> = Vec::new();
    for item in array(object, "rules")? {
        let Value::String(text) = item else {
            return refuse("a rule is not a string");
        };
        let text = plain_rule(text);
        if text.is_empty() {
            return refuse("a rule is empty");
        }
        sound("a rule", &text, RoleRule::MAX)?;
        let same = |rule: &RoleRule| rule.as_str().to_lowercase() == text.to_lowercase();
        if !rules.iter().any(same) {
            rules.push(RoleRule::cut(text));
        }
    }
    if rules.len() > RoleRule::MOST {
        let (count, most) = (rules.len(), RoleRule::MOST);
        return refuse(format!("there are {count} rules, and {most} is the most"));
    }
    match rules.is_empty() && !before.is_empty() {
        true => refuse("there is no rule, and there were some: keep those that hold"),
        false => Ok(RoleAnswer::Rules(rules)),
    }
}

/// A rule on one line, without a list mark at its beginning.
fn plain_rule(text: &str) -> String {
    let text = super::shown::one_line(text);
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < text.len())
        .then(|| {
            digits
                .strip_prefix(". ")
                .or_else(|| digits.strip_prefix(") "))
        })
        .flatten();
    let marked = ["- ", "* ", "\u{2022} "]
        .iter()
        .find_map(|mark| text.strip_prefix(mark));
    numbered.or(marked).unwrap_or(&text).to_owned()
}
