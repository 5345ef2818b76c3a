//! SkillRL's skill bank (SkillRL 3.2; row R2): general skills, task-specific skills by category, common mistakes.
//!
//! | in the bank | as a skill |
//! | --- | --- |
//! | `title` | the original name, and the nearest valid name |
//! | `when_to_apply` | the description |
//! | `principle` | the body |
//! | a key of `task_specific_skills` | the scope |
//! | a mistake's `description` | the description, and the name from its first words; the kind is knowledge |
//! | `why_it_happens`, `how_to_avoid` | the body's two sections |
//!
//! SkillRL's published memories are no skills; [`memories`](super::memories) reads them and makes a bank of them.

use journeyman::{
    Category, Error, Result,
    domain::{Kind, Scope, Skill, SkillDraft, SkillName, Source},
    library::format::SkillMd,
};
use serde_json::{Map, Value, json};

use super::{
    entry::Form,
    json::{self, Entry, shape},
};

const READ: &str = "skillrl::read";
const WRITE: &str = "skillrl::write";
const GENERAL: &str = "general_skills";
const SPECIFIC: &str = "task_specific_skills";
const MISTAKES: &str = "common_mistakes";
const WHY: &str = "## Why it happens\n\n";
const HOW: &str = "## How to avoid it\n\n";

/// The form of a skill's entry.
const SKILL: Form = Form {
    name: "skillrl",
    read: READ,
    write: WRITE,
    draft: skill_draft,
    fields: skill_fields,
    agree: |field, one, other| match field {
        "title" => one.title == other.title,
        "when_to_apply" => one.description == other.description,
        _ => one.body == other.body,
    },
};

/// The form of a mistake's entry.
const MISTAKE: Form = Form {
    draft: mistake_draft,
    fields: mistake_fields,
    agree: |field, one, other| match field {
        "description" => one.description == other.description,
        _ => one.body == other.body,
    },
    ..SKILL
};

/// Reads a bank. Its skills are [`imported`](journeyman::stations::admit::imported) from `source`, and each has the source's name under
/// `skillrl-set` in its metadata, by which a host finds the skills to write again.
///
/// # Errors
/// `Invalid` for a text that is not a bank; the error names the place of the fault and never repeats the text.
pub fn read(bank: &str, source: &Source) -> Result<Vec<Skill>> {
    let whole = json::read(READ, bank)?;
    let mut frame = match &whole {
        Value::Object(bank)
            if [GENERAL, SPECIFIC, MISTAKES]
                .iter()
                .any(|list| bank.contains_key(*list)) =>
        {
            bank.clone()
        }
        _ => {
            return Err(Error::invalid(READ, "this is no SkillRL bank").hint(format!(
                "a bank is an object with `{GENERAL}`, `{SPECIFIC}` or `{MISTAKES}`; a list of memories holds no skills, and is read by `memories::read`"
            )));
        }
    };
    let mut skills = Vec::new();
    let mut take = |form: Form, place: &str, scope: Scope, list: &mut Value| {
        let entries = json::take_entries(READ, place, list)?;
        for (index, entry) in entries.iter().enumerate() {
            let mut skill = form.skill(&format!("{place}/{index}"), entry, source)?;
            skill.scope = scope.clone();
            skills.push(skill);
        }
        Ok::<(), Error>(())
    };
    if let Some(list) = frame.get_mut(GENERAL) {
        take(SKILL, GENERAL, Scope::General, list)?;
    }
    if let Some(categories) = frame.get_mut(SPECIFIC) {
        let categories = categories
            .as_object_mut()
            .ok_or_else(|| shape(READ, SPECIFIC, "an object of categories"))?;
        for (category, list) in categories {
            if category.is_empty() {
                return Err(Error::invalid(READ, "a category has no name")
                    .with("place", SPECIFIC)
                    .hint("name it, or put its skills among the general ones"));
            }
            let scope = Scope::Category(Category::new(category));
            take(SKILL, &format!("{SPECIFIC}/{category}"), scope, list)?;
        }
    }
    if let Some(list) = frame.get_mut(MISTAKES) {
        take(MISTAKE, MISTAKES, Scope::General, list)?;
    }
    SKILL.complete(skills, (&whole, Value::Object(frame)), assemble, source)
}

/// Writes skills as a bank in JSON. A skill that was read from a bank goes back to its place. Any other skill becomes a
/// general one or one of its category, with its id as `skill_id`.
///
/// # Errors
/// `Invalid` where the skills are of several banks, or where a field kept in a skill's metadata is no longer JSON.
pub fn write(skills: &[Skill]) -> Result<String> {
    Ok(format!("{:#}", assemble(skills)?))
}

fn assemble(skills: &[Skill]) -> Result<Value> {
    let given = SKILL.given(skills)?;
    let mut bank = match given.frame {
        None => json!({GENERAL: [], SPECIFIC: {}, MISTAKES: []}),
        Some(frame) => frame,
    };
    for (list, skill) in given.skills {
        let mistake = list == Some(MISTAKES);
        let mut entry = if mistake { MISTAKE } else { SKILL }.entry(skill)?;
        if list.is_none() {
            entry.insert("skill_id".to_owned(), skill.id.as_str().into());
        }
        let list = match &skill.scope {
            _ if mistake => within(&mut bank, MISTAKES, json!([])),
            Scope::General => within(&mut bank, GENERAL, json!([])),
            Scope::Category(category) => within(&mut bank, SPECIFIC, json!({}))
                .and_then(|categories| within(categories, category.as_str(), json!([]))),
            _ => {
                let message = "a bank has no place for a skill of this scope";
                return Err(Error::unsupported(WRITE, message)
                    .with("skill", &skill.name)
                    .hint("leave the skill out, or give it a category"));
            }
        };
        let list = list.and_then(Value::as_array_mut).ok_or_else(|| {
            Error::invalid(WRITE, "the record beside the skills is of no bank")
                .hint("roll the record back, or leave it out")
        })?;
        list.push(Value::Object(entry));
    }
    Ok(bank)
}

fn within<'a>(value: &'a mut Value, key: &str, empty: Value) -> Option<&'a mut Value> {
    Some(value.as_object_mut()?.entry(key).or_insert(empty))
}

/// A required field: a string that is not blank.
fn text<'a>(entry: &'a Entry, field: &str) -> Result<&'a str> {
    match entry.get(field).and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(Error::invalid(
            READ,
            format!("`{field}` is missing, empty or not a string"),
        )),
    }
}

/// A text cut to the greatest length of a description, without blank space around it.
fn description(text: &str) -> String {
    let cut: String = text.trim().chars().take(SkillMd::MAX_DESCRIPTION).collect();
    cut.trim_end().to_owned()
}

fn skill_draft(entry: &Entry) -> Result<SkillDraft> {
    let (title, principle) = (text(entry, "title")?, text(entry, "principle")?);
    // Where the title gives no valid name, the entry's id may.
    let named = [Some(title), entry.get("skill_id").and_then(Value::as_str)]
        .into_iter()
        .flatten()
        .find(|text| SkillName::slug(text).is_some());
    let description = description(text(entry, "when_to_apply").unwrap_or(principle));
    Ok(SkillDraft::new(
        named.unwrap_or("skill"),
        description,
        principle,
    ))
}

fn skill_fields(draft: &SkillDraft) -> Result<Entry> {
    let fields = [
        ("title", draft.title.as_str()),
        ("principle", &draft.body),
        ("when_to_apply", &draft.description),
    ];
    Ok(fields_of(fields))
}

fn fields_of<'a>(fields: impl IntoIterator<Item = (&'static str, &'a str)>) -> Entry {
    let fields = fields.into_iter();
    fields
        .map(|(field, text)| (field.to_owned(), Value::from(text)))
        .collect::<Map<_, _>>()
}

fn mistake_draft(entry: &Entry) -> Result<SkillDraft> {
    let mistake = text(entry, "description")?;
    let sections = [("why_it_happens", WHY), ("how_to_avoid", HOW)]
        .into_iter()
        .filter_map(|(field, heading)| Some(format!("{heading}{}", text(entry, field).ok()?)));
    let mut body = sections.collect::<Vec<_>>().join("\n\n");
    if body.is_empty() {
        mistake.clone_into(&mut body);
    }
    let title = SkillName::of_first_words(mistake)
        .map_or_else(|| "mistake".to_owned(), |name| name.as_str().to_owned());
    let mut draft = SkillDraft::new(title, description(mistake), body);
    draft.kind = Kind::Knowledge;
    Ok(draft)
}

fn mistake_fields(draft: &SkillDraft) -> Result<Entry> {
    let (before, mut how) = match draft.body.split_once(HOW) {
        Some((before, how)) => (before, Some(how)),
        None => (draft.body.as_str(), None),
    };
    let before = before.strip_suffix("\n\n").unwrap_or(before);
    let mut why = before.strip_prefix(WHY);
    // Text that a person wrote under no heading is kept.
    if why.is_none() && !before.is_empty() && before != draft.description {
        let free = if how.is_none() { &mut how } else { &mut why };
        *free = Some(before);
    }
    let fields = [
        ("description", Some(draft.description.as_str())),
        ("why_it_happens", why),
        ("how_to_avoid", how),
    ];
    Ok(fields_of(
        fields
            .into_iter()
            .filter_map(|(field, text)| Some((field, text?))),
    ))
}
