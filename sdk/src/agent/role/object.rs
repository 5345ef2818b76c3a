//! Extracts the object of a role's answer: finds it, unwraps it, and keeps only the role's fields.

use serde_json::{Map, Value};

use crate::{
    agent::role::{shown::one_line, template::Purpose, visible::visible},
    domain::{Role, SubgoalScore, find_hidden},
    library::format::{SchemaRefusal, SchemaStage},
    text::{Candidate, Candidates, NoObject, candidates, closes_a_block, shortened},
};

/// The fields of an answer that may change everything of a skill.
const REFINED_WHOLE: &[&str] = &[
    "nothing",
    "archive",
    "change",
    "name",
    "kind",
    "scope",
    "tools",
    "description",
    "trigger",
    "body",
];
/// A part of an answer that was read, or why it is refused.
pub(super) type Read<T> = Result<T, SchemaRefusal>;
pub(super) type Object = Map<String, Value>;

/// The form of an answer.
#[derive(Clone, Copy)]
pub(super) struct Form {
    fields: &'static [&'static str],
    /// For an answer that is a list in a field of an object.
    list: Option<List>,
}

/// A list that models also write without the object around it: as an array, as several objects in a row, or as one object.
#[derive(Clone, Copy)]
struct List {
    /// The field of the list.
    field: &'static str,
    /// An object with one of these fields is an item of the list.
    marks: &'static [&'static [&'static str]],
    /// Whether items are texts.
    texts: bool,
}

/// The fields of a skill that a model writes.
const DRAFT: &[&str] = &["nothing", "name", "kind", "description", "trigger", "body"];
pub(super) const CASE: &[&str] = &["kind", "from", "about"];
/// Fields with the name of a call's tool, or with the whole call, the surest first.
pub(super) const CALL_NAMES: &[&str] = &[
    "tool",
    "tool_name",
    "tool_call",
    "function",
    "function_call",
    "action",
    "name",
];
/// The calls of the role curate; some models write one as the field of its arguments.
pub(super) const CALLS: &[&str] = &["insert_skill", "update_skill", "delete_skill"];
/// Field names that models use for an object around the answer.
const WRAPPERS: [&str; 35] = [
    "skill",
    "new_skill",
    "refined_skill",
    "updated_skill",
    "mended_skill",
    "skill_document",
    "draft",
    "document",
    "answer",
    "final_answer",
    "result",
    "response",
    "output",
    "object",
    "json",
    "data",
    "summarize",
    "extract",
    "refactor",
    "refine",
    "attribute",
    "evolve",
    "segment",
    "segmentation",
    "prototype",
    "skill_prototype",
    "rubric",
    "route",
    "routing",
    "curate",
    "tag",
    "lesson",
    "bank",
    "skill_bank",
    "review",
];
/// Other names of fields, and the field that is meant.
const ALIASES: [(&str, &str); 10] = [
    ("judgment", "judgement"),
    ("segments", "subgoals"),
    ("first_step", "first"),
    ("last_step", "last"),
    ("common_traps", "traps"),
    ("canonical_pattern", "pattern"),
    ("name", "title"),
    ("should_have", "should"),
    ("tool_calls", "calls"),
    ("function_calls", "calls"),
];

pub(super) fn refuse<T>(reason: impl Into<String>) -> Read<T> {
    Err(SchemaRefusal::new(SchemaStage::Parse, reason))
}

/// The fields of a role's answer.
fn fields(role: Role) -> &'static [&'static str] {
    match role {
        Role::Summarize => &[
            "skill_name",
            "problem_type",
            "key_insight",
            "method",
            "check",
        ],
        Role::Extract | Role::Refactor => DRAFT,
        Role::Refine => &["nothing", "change", "description", "trigger", "body"],
        Role::Attribute => &["reason", "scope", "judgement"],
        Role::Bundle => &["cases"],
        Role::Evolve => &["analysis", "summary", "rules"],
        Role::Segment => &["subgoals"],
        Role::DistilPrototype => &[
            "title",
            "use_context",
            "objectives",
            "pattern",
            "checklist",
            "traps",
        ],
        Role::Route => &["reason", "prototype", "confidence"],
        Role::Score | Role::Review => &["reason", "score"],
        Role::Curate => &["calls"],
        Role::Tag => &["tags"],
        Role::Lesson => &["step", "flawed", "should", "principle"],
        Role::DistilBank => &["skills"],
    }
}

/// The form of an answer.
pub(super) fn form(purpose: Purpose) -> Form {
    let role = purpose.role();
    let list = |field, marks, texts| {
        Some(List {
            field,
            marks,
            texts,
        })
    };
    Form {
        fields: match purpose {
            Purpose::Of(role) => fields(role),
            Purpose::RefineWhole => REFINED_WHOLE,
        },
        list: match role {
            Role::Segment => list("subgoals", &[&["subgoal"]], false),
            Role::Curate => list("calls", &[CALL_NAMES, CALLS], false),
            Role::Tag => list("tags", &[], true),
            Role::DistilBank => list("skills", &[&["principle"]], false),
            _ => None,
        },
    }
}

/// Reads the object of an answer. Of several objects the first is the answer, unless another one is valid and different:
/// then the answer is ambiguous and refused. `parse` gets the object with the role's fields, and the number of other fields,
/// which are passed over.
pub(super) fn read<T: PartialEq>(
    form: Form,
    text: &str,
    parse: impl Fn(Object, usize) -> Read<T>,
) -> Read<T> {
    let found = candidates(text, |value| form.may_be(value)).map_err(no_object)?;
    if let Some(items) = form.in_a_row(&found) {
        return parse(items, 0);
    }
    let mut found = found.list.into_iter();
    let Some(first) = found.next() else {
        return Err(no_object(NoObject::Absent));
    };
    if form.is_part(&first, found.len()) {
        return refuse("the answer is a part of a list or of an object; write the whole object");
    }
    let one = |candidate: Candidate<'_>| {
        let value = candidate.value.map_err(no_object)?;
        let object = form.unwrapped(value)?;
        let others = object.keys();
        let others = others.filter(|key| !form.fields.contains(&form.exact(key).as_str()));
        let passed_over = others.count();
        parse(cleaned(object, form.fields)?, passed_over)
    };
    let answer = one(first)?;
    match found
        .filter_map(|other| one(other).ok())
        .all(|other| other == answer)
    {
        true => Ok(answer),
        false => refuse("the answer holds two objects that say different things; write one"),
    }
}

impl Form {
    /// Whether a value may be an answer of this form.
    fn may_be(&self, value: &Value) -> bool {
        let texts = self.list.is_some_and(|list| list.texts);
        match value {
            Value::Array(items) => items
                .iter()
                .any(|item| item.is_object() || (texts && item.is_string())),
            _ => value.is_object(),
        }
    }

    /// The list of several items that stand in a row, as some models write calls.
    fn in_a_row(&self, found: &Candidates<'_>) -> Option<Object> {
        let of_item = |candidate: &Candidate<'_>| match &candidate.value {
            Ok(Value::Object(object)) if self.is_item(object) => Some(object.clone()),
            _ => None,
        };
        let items: Option<Vec<Object>> = found.list.iter().map(of_item).collect();
        let items = items.filter(|items| items.len() > 1)?;
        let in_a_row = found.list.iter().skip(1).all(Candidate::follows);
        // Only so many values are read of one answer, and a part of a list is not the list.
        let whole = !found.rest.contains('{');
        let items = items.into_iter().map(Value::Object).collect();
        (in_a_row && whole).then(|| self.listed(items)).flatten()
    }

    /// Whether a value is not the whole of a list that stands without its object: an item with more values behind it, or the
    /// value of a key.
    fn is_part(&self, first: &Candidate<'_>, behind: usize) -> bool {
        let before = first.before.trim_end().strip_suffix(':');
        let has_key = before.is_some_and(|before| before.trim_end().ends_with(['"', '\'']));
        match &first.value {
            Ok(Value::Object(object)) => self.is_item(object) && (behind > 0 || has_key),
            Ok(Value::Array(items)) => self.of_items(items).is_some() && has_key,
            _ => false,
        }
    }

    /// Whether an object is an item of the list, and not the answer with the list.
    fn is_item(&self, object: &Object) -> bool {
        let Some(list) = self.list else {
            return false;
        };
        let mut keys = object.keys().map(|key| self.exact(key));
        let marked = keys
            .clone()
            .any(|key| list.marks.iter().any(|marks| marks.contains(&key.as_str())));
        marked && !keys.any(|key| key == list.field)
    }

    /// The answer with this list.
    fn listed(&self, items: Vec<Value>) -> Option<Object> {
        let field = self.list?.field.to_owned();
        Some(Object::from_iter([(field, Value::Array(items))]))
    }

    /// The answer with this list, where each value is an item of it.
    fn of_items(&self, items: &[Value]) -> Option<Object> {
        let texts = self.list.is_some_and(|list| list.texts);
        let is_item = |item: &Value| match item {
            Value::Object(object) => self.is_item(object),
            _ => texts && item.is_string(),
        };
        let all = !items.is_empty() && items.iter().all(is_item);
        all.then(|| self.listed(items.to_vec())).flatten()
    }

    /// Takes the object out of an array of one item, or out of an object with one field that only names it.
    fn unwrapped(&self, mut value: Value) -> Read<Object> {
        for _ in 0..3 {
            match value {
                Value::Array(mut items) => {
                    if let Some(list) = self.of_items(&items) {
                        return Ok(list);
                    }
                    let count = items.len();
                    match (items.pop(), count) {
                        (Some(item), 1) => value = item,
                        _ => {
                            return refuse(format!(
                                "the answer is an array of {count} values; write one object"
                            ));
                        }
                    }
                }
                Value::Object(object) => match wrapped(&object, self.fields) {
                    Some(inner) => value = inner,
                    None => {
                        let alone = self.of_items(&[Value::Object(object.clone())]);
                        return Ok(alone.unwrap_or(object));
                    }
                },
                _ => break,
            }
        }
        refuse("the answer is no JSON object")
    }

    /// A field's name as the form has it.
    fn exact(&self, key: &str) -> String {
        exact(key, self.fields)
    }
}

fn no_object(fault: NoObject) -> SchemaRefusal {
    let stage = match fault {
        NoObject::Absent | NoObject::TooLong => SchemaStage::Extract,
        // There is an object, and its JSON has a fault.
        _ => SchemaStage::Parse,
    };
    SchemaRefusal::new(stage, fault.to_string())
}

fn wrapped(object: &Object, fields: &[&str]) -> Option<Value> {
    let mut entries = object.iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return None;
    };
    let key = plain(key);
    let wraps = WRAPPERS.contains(&key.as_str()) && !fields.contains(&key.as_str());
    let holds = matches!(value, Value::Object(_) | Value::Array(_));
    (wraps && holds).then(|| value.clone())
}

/// The object with only these fields, each under its exact name, and its texts without thoughts and zero-width characters. A
/// field that claims more than a role may decide is refused, and its name is not repeated.
pub(super) fn cleaned(object: Object, fields: &[&str]) -> Read<Object> {
    let is_own = |key: &str| fields.contains(&key);
    let mut clean = Object::new();
    let (own, others): (Vec<_>, Vec<_>) = object.into_iter().partition(|(key, _)| is_own(key));
    for (key, value) in own {
        let value = visible(&key, value)?;
        clean.insert(key, value);
    }
    for (key, value) in others {
        let key = exact(&key, fields);
        if is_own(&key) {
            let value = visible(&key, value)?;
            if clean.get(&key).is_some_and(|before| *before != value) {
                return refuse(format!("{key} stands twice, with different values"));
            }
            clean.insert(key, value);
        } else if has_no_say(&key, fields) {
            return refuse(format!(
                "the object has a field that this role has no say in; its fields are {}",
                fields.join(", ")
            ));
        }
    }
    Ok(clean)
}

/// The exact name of one of these fields, or the plain form of another one's name.
fn exact(key: &str, fields: &[&str]) -> String {
    let plain = plain(key);
    let meant = ALIASES
        .iter()
        .find(|(alias, meant)| *alias == plain && fields.contains(meant));
    match meant {
        Some((alias, meant)) if !fields.contains(alias) => (*meant).to_owned(),
        _ => plain,
    }
}

/// A field's name in lower case with underscores between its words.
pub(super) fn plain(key: &str) -> String {
    let mut name = String::new();
    let mut lower = false;
    for c in key.trim().chars() {
        let inner = lower && c.is_uppercase();
        if (inner || !c.is_alphanumeric()) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if c.is_alphanumeric() {
            name.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    name.trim_end_matches('_').to_owned()
}

// Reads the values of an answer's fields: texts, lines, words, numbers, lists.
//
// A value that is read in another spelling than the schema's is written back into the object in the schema's.

/// The greatest length of a line of a skill, of a reason, a scope or a case, in characters.
pub(super) const LINE: usize = 500;

/// Checks that a text can go into a skill or a prompt, whatever its length.
pub(super) fn harmless(key: &str, text: &str) -> Read<()> {
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

/// Checks that a text can go into a skill or a prompt.
pub(super) fn sound(key: &str, text: &str, most: usize) -> Read<()> {
    let length = text.chars().count();
    match length > most {
        true => refuse(format!(
            "{key} has {length} characters, and {most} is the most"
        )),
        false => harmless(key, text),
    }
}

pub(super) fn string<'a>(object: &'a Object, key: &str) -> Read<&'a str> {
    match object.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => refuse(format!("{key} is not a string")),
        None => refuse(format!("{key} is missing")),
    }
}

pub(super) fn array<'a>(object: &'a Object, key: &str) -> Read<&'a [Value]> {
    match object.get(key) {
        Some(Value::Array(items)) => Ok(items),
        Some(_) => refuse(format!("{key} is not an array")),
        None => refuse(format!("{key} is missing")),
    }
}

/// A text on one line; it may be empty. A longer one than `most` ends behind its last whole sentence or word that fits, since
/// a shorter name, reason or description does no harm.
pub(super) fn perhaps(object: &mut Object, key: &str, most: usize) -> Read<String> {
    let text = one_line(string(object, key)?);
    harmless(key, &text)?;
    if text.chars().count() <= most {
        return Ok(text);
    }
    let text = shortened(&text, most);
    object.insert(key.to_owned(), Value::from(text.as_str()));
    Ok(text)
}

/// A text on one line that is not empty.
pub(super) fn line(object: &mut Object, key: &str, most: usize) -> Read<String> {
    let text = perhaps(object, key, most)?;
    match text.is_empty() {
        true => refuse(format!("{key} is empty")),
        false => Ok(text),
    }
}

/// A text of one or more lines that is not empty. A longer one than `most` is refused: half of an instruction can say something
/// else than the whole.
pub(super) fn prose(object: &Object, key: &str, most: usize) -> Read<String> {
    let text = string(object, key)?.replace("\r\n", "\n");
    let text = text.trim();
    if text.is_empty() {
        return refuse(format!("{key} is empty"));
    }
    sound(key, text, most)?;
    Ok(text.to_owned())
}

/// A line that may be empty; null counts as empty.
pub(super) fn or_empty(object: &mut Object, key: &str) -> Read<String> {
    if object.get(key) == Some(&Value::Null) {
        object.insert(key.to_owned(), Value::from(""));
    }
    perhaps(object, key, LINE)
}

/// One of these words; case and signs around the word are ignored.
pub(super) fn word<T: Copy>(object: &mut Object, key: &str, words: &[(&str, T)]) -> Read<T> {
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

/// A text on one line, without a list mark at its beginning.
pub(super) fn unmarked(text: &str) -> String {
    let text = one_line(text);
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < text.len())
        .then(|| {
            digits
                .strip_prefix(". ")
                .or_else(|| digits.strip_prefix(") "))
        })
        .flatten();
    let marked = ['-', '*', '\u{2022}'].iter().find_map(|mark| {
        let rest = text.strip_prefix(*mark)?;
        rest.strip_prefix(' ').or(rest.is_empty().then_some(rest))
    });
    numbered.or(marked).unwrap_or(&text).to_owned()
}

/// The objects of a list, each with only these fields. `noun` is the name of one in a refusal.
pub(super) fn items<T>(
    object: &mut Object,
    (key, noun): (&str, &str),
    fields: &[&str],
    parse: impl Fn(&mut Object) -> Read<T>,
) -> Read<Vec<T>> {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for item in array(object, key)? {
        let Value::Object(item) = item else {
            return refuse(format!("{noun} is not an object"));
        };
        let mut item = cleaned(item.clone(), fields)?;
        read.push(parse(&mut item)?);
        written.push(Value::Object(item));
    }
    object.insert(key.to_owned(), Value::Array(written));
    Ok(read)
}

/// The texts of a list, each on one line without a list mark, and shortened as by [`perhaps`]. `noun` is the name of one in a
/// refusal.
pub(super) fn lines(
    object: &mut Object,
    (key, noun): (&str, &str),
    most: usize,
) -> Read<Vec<String>> {
    let line = |item: &Value| {
        let Value::String(text) = item else {
            return refuse(format!("{noun} is not a string"));
        };
        let text = unmarked(text);
        if text.is_empty() {
            return refuse(format!("{noun} is empty"));
        }
        harmless(noun, &text)?;
        Ok(shortened(&text, most))
    };
    let read: Vec<String> = array(object, key)?.iter().map(line).collect::<Read<_>>()?;
    object.insert(key.to_owned(), Value::from(read.clone()));
    Ok(read)
}

/// A whole number from 0: as such, as `2.0`, or as a text of a number with perhaps `noun` before it (`step 2`).
fn whole(value: &Value, noun: &str) -> Option<usize> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let number = number.as_f64()?;
            let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
            is_whole.then_some(number as u64)
        }),
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            let digits = match text.strip_prefix(noun) {
                // The label of a block: `skill-1`.
                Some(rest) => (rest.strip_prefix(['-', '_']).unwrap_or(rest)).trim_start(),
                None => &text,
            };
            let digits = digits.strip_prefix('#').unwrap_or(digits);
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        }
        _ => None,
    };
    number.and_then(|number| usize::try_from(number).ok())
}

fn rewrite<T>(object: &mut Object, key: &str, value: T) -> T
where
    T: Copy,
    Value: From<T>,
{
    object.insert(key.to_owned(), Value::from(value));
    value
}

/// The number of a step, from 0; it may be none of the attempt's.
pub(super) fn step(object: &mut Object, key: &str) -> Read<usize> {
    match object.get(key).and_then(|value| whole(value, "step")) {
        Some(step) => Ok(rewrite(object, key, step)),
        None => refuse(format!("{key} is not a whole number from 0")),
    }
}

/// The number of a step of an attempt with so many.
pub(super) fn step_of(object: &mut Object, key: &str, steps: usize) -> Read<usize> {
    match step(object, key)? {
        step if step >= steps => refuse(format!(
            "{key} is no step of the attempt, which has {steps}, the first with the number 0"
        )),
        step => Ok(step),
    }
}

/// A score, also as `2/3`.
pub(super) fn score(object: &mut Object) -> Read<SubgoalScore> {
    let number = object.get("score").and_then(|value| match value {
        Value::String(text) => {
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let number = text.strip_suffix(&format!("/{}", SubgoalScore::MAX));
            whole(&Value::from(number.unwrap_or(&text)), "score")
        }
        value => whole(value, "score"),
    });
    let score = number.and_then(|number| u8::try_from(number).ok());
    match score.map(SubgoalScore::new) {
        Some(Ok(score)) => {
            rewrite(object, "score", score.get());
            Ok(score)
        }
        _ => refuse(format!(
            "score is not a whole number from 0 to {}",
            SubgoalScore::MAX
        )),
    }
}

/// A number from 0 to 1, also as a text or in percent.
pub(super) fn share(object: &mut Object, key: &str) -> Read<f64> {
    let number = object.get(key).and_then(|value| match value {
        Value::String(text) => match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(|share: f64| share / 100.0).ok(),
            None => text.trim().parse().ok(),
        },
        value => value.as_f64(),
    });
    match number {
        Some(share) if (0.0..=1.0).contains(&share) => Ok(rewrite(object, key, share)),
        _ => refuse(format!("{key} is not a number from 0 to 1")),
    }
}

/// Which of the things that the prompt numbers from 1 is meant, by its number or its name; `None` for null or `none`. The
/// index counts from 0.
pub(super) fn chosen(
    object: &mut Object,
    key: &str,
    (noun, names): (&str, &[&str]),
) -> Read<Option<usize>> {
    let Some(value) = object.get(key) else {
        return refuse(format!("{key} is missing"));
    };
    let text = value
        .as_str()
        .map(|text| one_line(&text.to_lowercase()))
        .unwrap_or_default();
    if value.is_null() || ["none", "null"].contains(&text.as_str()) {
        object.insert(key.to_owned(), Value::Null);
        return Ok(None);
    }
    let number = whole(value, noun).and_then(|number| number.checked_sub(1));
    let meant = |index: &usize| {
        let is_named = !text.is_empty() && one_line(&names[*index].to_lowercase()) == text;
        number == Some(*index) || is_named
    };
    let meant: Vec<usize> = (0..names.len()).filter(meant).collect();
    match meant.as_slice() {
        [index] => {
            rewrite(object, key, *index + 1);
            Ok(Some(*index))
        }
        [] => refuse(format!(
            "{key} is none of the {} that are shown, the first with the number 1",
            names.len()
        )),
        _ => refuse(format!("{key} fits more than one of those that are shown")),
    }
}

// Field names that claim more than a role may decide.

/// Words in a field name that claim more than a role may decide: a skill's identity, permissions or state.
const NO_SAY: [&str; 49] = [
    "activate",
    "active",
    "allow",
    "allowed",
    "archive",
    "delete",
    "deleted",
    "demote",
    "disable",
    "disabled",
    "enable",
    "enabled",
    "erase",
    "file",
    "files",
    "forget",
    "grant",
    "id",
    "ids",
    "install",
    "license",
    "merge",
    "meta",
    "metadata",
    "origin",
    "overwrite",
    "permission",
    "permissions",
    "promote",
    "provenance",
    "quarantine",
    "release",
    "released",
    "remove",
    "rename",
    "replace",
    "script",
    "scripts",
    "skills",
    "state",
    "status",
    "taint",
    "tainted",
    "tier",
    "tools",
    "trust",
    "trusted",
    "utility",
    "version",
];

/// Such names written without a gap between words.
const CLAIMS: [&str; 5] = [
    "allowedtools",
    "skillid",
    "skillids",
    "deleteskill",
    "deleteskills",
];
/// Fields that a refined skill keeps and that the role refine cannot change.
const RENAMES: [&str; 7] = [
    "name",
    "title",
    "kind",
    "type",
    "scope",
    "skill_name",
    "new_name",
];

/// Whether a field claims more than the role may decide. Other fields, such as `confidence` or `notes`, are ignored.
pub(super) fn has_no_say(key: &str, fields: &[&str]) -> bool {
    let mends = fields.contains(&"change");
    let renames = mends && RENAMES.contains(&key);
    let claims = |word: &str| NO_SAY.contains(&word);
    renames || key.split('_').any(claims) || CLAIMS.contains(&key.replace('_', "").as_str())
}
