//! ARISE's skill documents (ARISE C.1; row A1) as JSON: one document, a list of them, or the two tiers
//! (`{"cache": [...], "reservoir": [...]}`; the paper prints no form of a whole library, so this one is ours).
//!
//! The tier is kept in a skill's metadata (`arise-place`). A library does not take it over: imported skills are
//! quarantined, and their tier follows from evidence in that library. Texts are not cut to ARISE's lengths here;
//! [`AriseSchema::fit`](journeyman::library::format::AriseSchema::fit) does that.
//!
//! ```
//! use journeyman::domain::{Source, Trust};
//! use journeyman_interchange::arise;
//!
//! let document = r#"{"skill_name": "unseal_first", "problem_type": "kitchen", "key_insight": "Unseal a tin first",
//!     "method": ["Call unseal", "Then brew"], "check": "The tin is open"}"#;
//! let source = Source::new("a friend", Trust::Untrusted);
//! let skills = arise::read(document, &source)?;
//! assert_eq!(skills[0].name.as_str(), "unseal-first");
//!
//! let written: serde_json::Value = serde_json::from_str(&arise::write(&skills)?).unwrap();
//! assert_eq!(written["method"][1], "Then brew");
//! # Ok::<(), journeyman::Error>(())
//! ```

use journeyman::{
    Error, Result,
    domain::{Skill, SkillDraft, Source},
    library::format::AriseDocument,
};
use serde_json::{Value, json};

use super::{
    entry::Form,
    json::{self, Entry},
};

const READ: &str = "arise::read";
const WRITE: &str = "arise::write";
const DOCUMENTS: &str = "documents";
const TIERS: [&str; 2] = ["cache", "reservoir"];

const FORM: Form = Form {
    name: "arise",
    read: READ,
    write: WRITE,
    draft: |entry| Ok(SkillDraft::from(&AriseDocument::from_json(entry)?)),
    fields,
    agree: |field, one, other| match field {
        "skill_name" => one.title == other.title,
        "problem_type" => problem_type(one) == problem_type(other),
        _ => one.body == other.body,
    },
};

/// Reads documents. Their skills are [`imported`](journeyman::stations::admit::imported) from `source`, and each has the source's name under
/// `arise-set` in its metadata, by which a host finds the skills to write again.
///
/// # Errors
/// `Invalid` for a text without documents; the error names the place of the fault and never repeats the text.
pub fn read(text: &str, source: &Source) -> Result<Vec<Skill>> {
    let whole = json::read(READ, text)?;
    let mut frame = whole.clone();
    let mut skills = Vec::new();
    let mut take = |place: &str, list: &mut Value| {
        let entries = json::take_entries(READ, place, list)?;
        for (index, entry) in entries.iter().enumerate() {
            skills.push(FORM.skill(&format!("{place}/{index}"), entry, source)?);
        }
        Ok::<(), Error>(())
    };
    match &mut frame {
        Value::Array(_) => take(DOCUMENTS, &mut frame)?,
        Value::Object(document) if document.contains_key("skill_name") => {
            take(DOCUMENTS, &mut json!([document]))?;
        }
        Value::Object(state) if TIERS.iter().any(|tier| state.contains_key(*tier)) => {
            for tier in TIERS {
                if let Some(list) = state.get_mut(tier) {
                    take(tier, list)?;
                }
            }
        }
        _ => {
            return Err(Error::invalid(READ, "there are no ARISE documents here").hint(
                "give an object with `skill_name`, a list of such, or an object with `cache` and `reservoir`",
            ));
        }
    }
    FORM.complete(skills, (&whole, frame), assemble, source)
}

/// Writes skills as documents in JSON: in the form that they were read from, or else one document for one skill and a
/// list for any other number.
///
/// # Errors
/// `Invalid` where a skill's body is not a document, the skills are of several sets, or a field kept in a skill's metadata
/// is no longer JSON.
pub fn write(skills: &[Skill]) -> Result<String> {
    Ok(format!("{:#}", assemble(skills)?))
}

fn assemble(skills: &[Skill]) -> Result<Value> {
    let given = FORM.given(skills)?;
    let tiered = given
        .skills
        .iter()
        .any(|(list, _)| list.is_some_and(|list| TIERS.contains(&list)));
    let alone = given.frame.is_none() && !tiered && given.skills.len() == 1;
    let mut whole = match given.frame {
        Some(frame) => frame,
        None if tiered => json!({"cache": [], "reservoir": []}),
        None => json!([]),
    };
    for (list, skill) in given.skills {
        let entry = FORM.entry(skill).map_err(|error| {
            Error::invalid(WRITE, error.message())
                .with("skill", &skill.name)
                .hint("an ARISE document is an insight, `## Method` with steps, and `## Check`")
        })?;
        if alone {
            return Ok(Value::Object(entry));
        }
        let list = match &mut whole {
            Value::Object(state) => {
                let tier = list.filter(|list| TIERS.contains(list)).unwrap_or(TIERS[0]);
                state
                    .entry(tier)
                    .or_insert_with(|| json!([]))
                    .as_array_mut()
            }
            other => other.as_array_mut(),
        };
        let list = list.ok_or_else(|| {
            Error::invalid(WRITE, "the record beside the skills is of no ARISE library")
                .hint("roll the record back, or leave it out")
        })?;
        list.push(Value::Object(entry));
    }
    Ok(whole)
}

fn fields(draft: &SkillDraft) -> Result<Entry> {
    let document = AriseDocument::from_draft(draft)?;
    Ok([
        ("skill_name", document.skill_name().into()),
        ("problem_type", document.problem_type().into()),
        ("key_insight", document.key_insight().into()),
        ("method", document.method().into()),
        ("check", document.check().into()),
    ]
    .into_iter()
    .map(|(field, value): (&str, Value)| (field.to_owned(), value))
    .collect())
}

fn problem_type(draft: &SkillDraft) -> Option<String> {
    let document = AriseDocument::from_draft(draft).ok()?;
    Some(document.problem_type().to_owned())
}
