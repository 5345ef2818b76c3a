//! A model's answer in each role, read strictly: what is not asked for is refused, and so is what would act on the
//! prompts that it ends up in.

use serde_json::{Map, Value};

use crate::{
    contract::{CaseDraft, RoleAnswer, RoleTask},
    domain::{
        AriseDocument, AriseSchema, CaseKind, Judgement, Kind, RoleRule, SchemaRefusal,
        SchemaStage, Scope, Skill, SkillDraft, SkillMd, SkillName, Trace, find_hidden,
    },
    text::{JsonSchema, NoObject, closes_a_block, first_whole},
};

type Read<T> = Result<T, SchemaRefusal>;
type Object = Map<String, Value>;

/// The greatest length of what a skill says of itself on one line, of a reason, a scope or a case, in characters.
const LINE: usize = 500;
/// The greatest length of a body, in characters: some 5,000 tokens, the most that the Agent Skills specification
/// recommends.
const BODY: usize = 20_000;
/// Why a skill was changed.
const CHANGE: &str = "change";

/// Reads an answer. A refusal names fields and lengths, never what stands there.
pub(super) fn read(
    task: &RoleTask,
    schema: &JsonSchema,
    arise: &AriseSchema,
    text: &str,
) -> Read<RoleAnswer> {
    let object = object(text)?;
    let answer = match task {
        RoleTask::Summarize { .. } => summary(&object, arise),
        RoleTask::Extract { .. } | RoleTask::Refactor { .. } => draft(&object),
        RoleTask::Refine { skill, .. } => refined(&object, skill),
        RoleTask::Attribute { .. } => credit(&object),
        RoleTask::Bundle { attempt, .. } => cases(&object, attempt),
        RoleTask::Evolve { rules, .. } => evolved(&object, rules),
    }?;
    // Ours is looser than what a host may ask for.
    match schema.faults(&Value::Object(object)).first() {
        None => Ok(answer),
        Some(fault) => refuse(format!("the JSON breaks the schema; {fault}")),
    }
}

fn refuse<T>(reason: impl Into<String>) -> Read<T> {
    Err(SchemaRefusal::new(SchemaStage::Parse, reason))
}

/// The answer's first object. A part of an object that was cut off is no answer.
fn object(text: &str) -> Read<Object> {
    match first_whole(text, &['{']) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => refuse("the answer is no JSON object"),
        Err(fault) => {
            let stage = match fault {
                NoObject::Absent | NoObject::TooLong => SchemaStage::Extract,
                _ => SchemaStage::Parse,
            };
            Err(SchemaRefusal::new(stage, fault.to_string()))
        }
    }
}

/// Only these fields. Their names are told and never those of the answer.
fn only(object: &Object, fields: &[&str]) -> Read<()> {
    match object.keys().all(|key| fields.contains(&key.as_str())) {
        true => Ok(()),
        false => refuse(format!(
            "the object has a field that this role has no say in; its fields are {}",
            fields.join(", ")
        )),
    }
}

/// A text that may go into a skill or a prompt.
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

/// A text on one line, perhaps an empty one.
fn perhaps(object: &Object, key: &str, most: usize) -> Read<String> {
    let text = super::shown::one_line(string(object, key)?);
    sound(key, &text, most)?;
    Ok(text)
}

/// A text on one line.
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

fn nothing(object: &Object) -> Read<RoleAnswer> {
    only(object, &["nothing"])?;
    Ok(RoleAnswer::Nothing(line(object, "nothing", LINE)?))
}

fn summary(object: &Object, arise: &AriseSchema) -> Read<RoleAnswer> {
    let fields = [
        "skill_name",
        "problem_type",
        "key_insight",
        "method",
        "check",
    ];
    only(object, &fields)?;
    let document = arise.fit(AriseDocument::from_json(object)?)?;
    let draft = SkillDraft::from(&document);
    sound("the document", &draft.body, BODY)?;
    Ok(RoleAnswer::Draft(Box::new(draft)))
}

fn draft(object: &Object) -> Read<RoleAnswer> {
    if object.contains_key("nothing") {
        return nothing(object);
    }
    only(object, &["name", "kind", "description", "trigger", "body"])?;
    let title = line(object, "name", SkillName::MAX)?;
    if SkillName::slug(&title).is_none() {
        return refuse("name has no letter or digit from a-z, 0-9");
    }
    let kind = match string(object, "kind")? {
        "function" => Kind::Function,
        "workflow" => Kind::Workflow,
        "knowledge" => Kind::Knowledge,
        _ => return refuse("kind is none of function, workflow, knowledge"),
    };
    Ok(RoleAnswer::Draft(Box::new(SkillDraft {
        title,
        description: line(object, "description", SkillMd::MAX_DESCRIPTION)?,
        kind,
        scope: Scope::General,
        trigger: Some(perhaps(object, "trigger", LINE)?).filter(|trigger| !trigger.is_empty()),
        body: body(object)?,
        metadata: std::collections::BTreeMap::new(),
    })))
}

/// A mended skill keeps its name, its kind, where it applies and what else it has.
fn refined(object: &Object, skill: &Skill) -> Read<RoleAnswer> {
    if object.contains_key("nothing") {
        return nothing(object);
    }
    only(object, &[CHANGE, "description", "trigger", "body"])?;
    let mut metadata = skill.metadata.clone();
    metadata.insert(CHANGE.to_owned(), line(object, CHANGE, LINE)?);
    let name = skill.original_name.as_deref();
    Ok(RoleAnswer::Draft(Box::new(SkillDraft {
        title: name.unwrap_or(skill.name.as_str()).to_owned(),
        description: line(object, "description", SkillMd::MAX_DESCRIPTION)?,
        kind: skill.kind,
        scope: skill.scope.clone(),
        trigger: Some(perhaps(object, "trigger", LINE)?).filter(|trigger| !trigger.is_empty()),
        body: body(object)?,
        metadata,
    })))
}

fn credit(object: &Object) -> Read<RoleAnswer> {
    only(object, &["reason", "scope", "judgement"])?;
    let judgement = match string(object, "judgement")? {
        "helpful" => Judgement::Helpful,
        "harmful" => Judgement::Harmful,
        "neutral" => Judgement::Neutral,
        "uncertain" => Judgement::Uncertain,
        _ => return refuse("judgement is none of helpful, harmful, neutral, uncertain"),
    };
    Ok(RoleAnswer::Credit {
        judgement,
        scope: perhaps(object, "scope", LINE)?,
        reason: line(object, "reason", 2 * LINE)?,
    })
}

fn cases(object: &Object, attempt: &Trace) -> Read<RoleAnswer> {
    only(object, &["cases"])?;
    let steps = attempt.trajectory.steps.len();
    let cases = array(object, "cases")?.iter().map(|case| {
        let Value::Object(case) = case else {
            return refuse("a case is not an object");
        };
        self::case(case, steps)
    });
    Ok(RoleAnswer::Cases(cases.collect::<Read<_>>()?))
}

fn case(case: &Object, steps: usize) -> Read<CaseDraft> {
    only(case, &["kind", "from", "about"])?;
    let kind = match string(case, "kind")? {
        "unit" => CaseKind::Unit,
        "integration" => CaseKind::Integration,
        "negative" => CaseKind::Negative,
        _ => return refuse("kind is none of unit, integration, negative"),
    };
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

/// The rules, only where analysis and summary are there too (HiSME algorithm 5).
fn evolved(object: &Object, before: &[RoleRule]) -> Read<RoleAnswer> {
    only(object, &["analysis", "summary", "rules"])?;
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
        let same = |rule: &RoleRule| rule.0.to_lowercase() == text.to_lowercase();
        if !rules.iter().any(same) {
            rules.push(RoleRule(text));
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

/// A rule on one line, without the mark of a list in front.
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
