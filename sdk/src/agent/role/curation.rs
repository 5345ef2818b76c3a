//! Parses the answers of curate, tag and review (SkillOS, architecture, preprocessing and training regime), lesson and
//! distil-bank (SkillRL 3.1 to 3.3).

use serde_json::Value;

use crate::{
    agent::role::object::{
        CALL_NAMES, CALLS, LINE, Object, Read, array, chosen, harmless, has_no_say, items, line,
        lines, plain, prose, refuse, score, sound, step_of,
    },
    contract::{BankDraft, RoleAnswer},
    domain::{Kind, Lesson, Scope, Skill, SkillDraft, SkillName, ToolCall, Trace},
    id::Category,
    library::format::SkillMd,
    text::first_object,
};

/// Fields with the arguments of a call.
const ARGUMENTS: [&str; 5] = ["arguments", "parameters", "params", "args", "input"];
/// Fields beside a call that say nothing about the library.
const BESIDE: [&str; 9] = [
    "id",
    "call_id",
    "type",
    "index",
    "thought",
    "thoughts",
    "reasoning",
    "explanation",
    "comment",
];
/// A skill of a bank.
const ENTRY: &[&str] = &["refines", "title", "principle", "when_to_apply"];
/// The greatest length of a principle, in characters.
const PRINCIPLE: usize = 2_000;
/// The greatest length of a tag, in characters.
const TAG: usize = 64;
/// The greatest number of tags.
const MOST_TAGS: usize = 8;

/// The calls as the model wrote them: neither names nor arguments are checked, since the fraction of valid calls is a figure
/// (SkillOS, r_fc). But an answer with a hidden character or with a text that would end a block is refused as a whole. The
/// model was probably led to write it by the attempt, and then its other calls, such as a deletion, are not its own either.
pub(super) fn calls(object: &mut Object) -> Read<RoleAnswer> {
    let mut calls = Vec::new();
    for item in array(object, "calls")? {
        let Value::Object(item) = item else {
            return refuse("a call is not an object");
        };
        let call = call(item)?;
        harmless("the name of a call", &call.tool)?;
        harmless_arguments(&call.arguments)?;
        calls.push(call);
    }
    let written = calls.iter().map(|call| {
        let ToolCall { tool, arguments } = call;
        serde_json::json!({ "tool": tool, "arguments": arguments })
    });
    object.insert("calls".to_owned(), written.collect());
    Ok(RoleAnswer::Calls(calls))
}

fn harmless_arguments(arguments: &Object) -> Read<()> {
    arguments.iter().try_for_each(|(key, value)| {
        harmless("the name of an argument", key)?;
        harmless_within(value)
    })
}

fn harmless_within(value: &Value) -> Read<()> {
    match value {
        Value::String(text) => harmless("an argument", text),
        Value::Array(items) => items.iter().try_for_each(harmless_within),
        Value::Object(object) => harmless_arguments(object),
        _ => Ok(()),
    }
}

/// A call in one of the forms that models write: a name and arguments, a name with the arguments beside it, an object with
/// both, or an object whose one field is the name.
fn call(item: &Object) -> Read<ToolCall> {
    let fields = |names: &'static [&'static str]| {
        let named = names.iter().flat_map(|name| {
            let is_it = |(key, _): &(&String, &Value)| plain(key) == *name;
            item.iter().filter(is_it).collect::<Vec<_>>()
        });
        named.collect::<Vec<_>>()
    };
    let (names, arguments) = (fields(CALL_NAMES), fields(&ARGUMENTS));
    if let Some((_, Value::Object(inner))) = names.iter().find(|(_, value)| value.is_object()) {
        beside(item, CALL_NAMES)?;
        return match (names.len(), arguments.len()) {
            (1, 0) => call(inner),
            _ => refuse("a call has an object with the call, and beside it another part of one"),
        };
    }
    // The name of a skill that is inserted may stand beside the name of the tool.
    let tools = names.iter().filter(|(key, _)| plain(key) != "name");
    let is_twice = arguments.len() > 1 || tools.count() > 1;
    match (names.first(), arguments.first()) {
        _ if is_twice => refuse("a call has its tool or its arguments twice"),
        (Some((key, Value::String(tool))), None) => {
            if plain(key) == "name" && !CALLS.contains(&tool.trim()) {
                return no_tool();
            }
            let own = |other: &str| other == *key || BESIDE.contains(&plain(other).as_str());
            let arguments = item.iter().filter(|(other, _)| !own(other));
            let arguments = arguments.map(|(key, value)| (key.clone(), value.clone()));
            called(tool, &Value::Object(arguments.collect()))
        }
        (Some((_, Value::String(tool))), Some((_, arguments))) => {
            beside(item, &[CALL_NAMES, &ARGUMENTS].concat())?;
            called(tool, arguments)
        }
        (None, None) => match item.iter().next() {
            Some((tool, arguments)) if item.len() == 1 && CALLS.contains(&tool.as_str()) => {
                called(tool, arguments)
            }
            _ => no_tool(),
        },
        _ => no_tool(),
    }
}

fn no_tool() -> Read<ToolCall> {
    refuse("a call names no tool")
}

/// Checks that no field beside a call claims more than the role may decide.
fn beside(item: &Object, own: &[&str]) -> Read<()> {
    let mut others = item.keys().map(|key| plain(key));
    let known = |key: &str| own.contains(&key) || BESIDE.contains(&key);
    match others.any(|key| !known(&key) && has_no_say(&key, &[])) {
        true => refuse(
            "a call has a field that this role has no say in; its fields are tool, arguments",
        ),
        false => Ok(()),
    }
}

/// Arguments that are no object, nor the JSON of one, stay as one argument of the name `arguments`.
fn called(tool: &str, arguments: &Value) -> Read<ToolCall> {
    let tool = tool.trim().to_owned();
    if tool.is_empty() {
        return no_tool();
    }
    let object = match arguments {
        Value::Object(object) => Some(object.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => first_object(text).ok(),
        Value::Null => Some(Object::new()),
        _ => None,
    };
    let as_one = || Object::from_iter([("arguments".to_owned(), arguments.clone())]);
    Ok(ToolCall {
        tool,
        arguments: object.unwrap_or_else(as_one),
    })
}

/// The tags in lower case, each once. A text is read as tags with commas between them.
pub(super) fn tags(object: &mut Object) -> Read<RoleAnswer> {
    if let Some(Value::String(text)) = object.get("tags") {
        let tags = text.split([',', ';', '\n']).map(str::trim);
        let tags = tags.filter(|tag| !tag.is_empty()).map(Value::from);
        let tags = tags.collect();
        object.insert("tags".to_owned(), tags);
    }
    let mut tags: Vec<String> = Vec::new();
    for tag in lines(object, ("tags", "a tag"), usize::MAX)? {
        // A tag that is too long is a sentence, and the beginning of one is no tag.
        sound("a tag", &tag, TAG)?;
        let tag = tag.trim_start_matches('#').trim_end_matches('.').trim();
        let tag = tag.to_lowercase();
        if tag.is_empty() {
            return refuse("a tag is empty");
        }
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    match tags.len() {
        0 => refuse("there is no tag"),
        count if count > MOST_TAGS => refuse(format!(
            "there are {count} tags, and {MOST_TAGS} is the most"
        )),
        _ => Ok(RoleAnswer::Tags(tags)),
    }
}

pub(super) fn lesson(object: &mut Object, attempt: &Trace) -> Read<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    Ok(RoleAnswer::Lesson(Lesson {
        step: step_of(object, "step", steps)?,
        flawed: line(object, "flawed", 2 * LINE)?,
        should: line(object, "should", 2 * LINE)?,
        principle: line(object, "principle", 2 * LINE)?,
    }))
}

/// The score of a skill's text, as a share of the greatest one.
pub(super) fn reviewed(object: &mut Object) -> Read<RoleAnswer> {
    Ok(RoleAnswer::Reviewed {
        reason: line(object, "reason", 2 * LINE)?,
        quality: score(object)?.share(),
    })
}

/// The skills of a bank, each once.
pub(super) fn bank(
    object: &mut Object,
    category: Option<&Category>,
    skills: &[Skill],
) -> Read<RoleAnswer> {
    let names: Vec<&str> = skills.iter().map(super::shown::name).collect();
    let entries = items(object, ("skills", "a skill"), ENTRY, |entry| {
        entry_of(entry, category, skills, &names)
    })?;
    let mut drafts: Vec<BankDraft> = Vec::new();
    for entry in entries {
        if drafts.contains(&entry) {
            continue;
        }
        let twice =
            entry.refines.is_some() && drafts.iter().any(|other| other.refines == entry.refines);
        if twice {
            return refuse("two skills refine the same one; write one");
        }
        drafts.push(entry);
    }
    Ok(RoleAnswer::Bank(drafts))
}

/// A refined skill keeps its name, kind, scope, trigger and other metadata.
fn entry_of(
    entry: &mut Object,
    category: Option<&Category>,
    skills: &[Skill],
    names: &[&str],
) -> Read<BankDraft> {
    let is_new = match entry.get("refines") {
        None => true,
        Some(Value::String(text)) => ["", "new"].contains(&text.trim().to_lowercase().as_str()),
        Some(_) => false,
    };
    if is_new {
        entry.insert("refines".to_owned(), Value::Null);
    }
    let refines = chosen(entry, "refines", ("skill", names))?;
    let refined = refines.and_then(|index| skills.get(index));
    if let (Some(refined), None | Some(Value::Null)) = (refined, entry.get("title")) {
        entry.insert("title".to_owned(), super::shown::name(refined).into());
    }
    let title = line(entry, "title", SkillName::MAX)?;
    if SkillName::slug(&title).is_none() {
        return refuse("title has no letter or digit");
    }
    let new = SkillDraft {
        title,
        description: line(entry, "when_to_apply", SkillMd::MAX_DESCRIPTION)?,
        kind: Kind::Workflow,
        scope: category.map_or(Scope::General, |category| Scope::Category(category.clone())),
        trigger: None,
        body: prose(entry, "principle", PRINCIPLE)?,
        metadata: Default::default(),
    };
    let draft = match refined {
        None => new,
        Some(skill) => SkillDraft {
            title: super::shown::name(skill).to_owned(),
            kind: skill.kind,
            scope: skill.scope.clone(),
            trigger: skill.trigger.clone(),
            metadata: skill.metadata.clone(),
            ..new
        },
    };
    Ok(BankDraft { refines, draft })
}
