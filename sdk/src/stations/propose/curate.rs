//! A curator's calls: their schemas, and their checks against the library (SkillOS, architecture; row K2). Pure.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    domain::{SkillName, State, ToolCall},
    id::SkillId,
    library::{Entry, SkillLibrary},
    run::report::{CallKind, CallRefusal},
};

/// A curator's call whose arguments fit its schema.
///
/// | tool | arguments, all texts |
/// | --- | --- |
/// | `insert_skill` | `name`, `description`, `body` |
/// | `update_skill` | `skill`, and `description` or `body` or both |
/// | `delete_skill` | `skill`, `reason` |
///
/// `skill` is a skill's name or id. A name may end in `.md`, as in the paper's example. Other arguments are refused.
///
/// ```
/// use journeyman::{
///     domain::{Action, ToolCall},
///     library::SkillLibrary,
///     stations::propose::CurateCall,
///     run::report::CallRefusal,
/// };
/// use serde_json::json;
///
/// let library = SkillLibrary::new();
/// let insert = ToolCall::new("insert_skill", json!({
///     "name": "clean_object.md", "description": "How to clean.", "body": "Find the sink first.",
/// }));
/// assert!(CurateCall::read(&insert)?.check(&library).is_ok());
///
/// let delete = CurateCall::read(&ToolCall::new("delete_skill", json!({ "skill": "clean-object", "reason": "it misled" })))?;
/// assert_eq!(delete.check(&library), Err(CallRefusal::NotFound));
/// assert_eq!(CurateCall::read(&ToolCall::new("drop_table", json!({}))), Err(CallRefusal::UnknownTool));
/// # Ok::<(), CallRefusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CurateCall {
    /// Adds a skill.
    Insert {
        /// Its name, in any form that gives a [`SkillName`] (`clean_object`).
        name: String,
        /// When to use it and what it does.
        description: String,
        /// The instructions, in Markdown.
        body: String,
    },
    /// Writes the next version of a skill; a text that is not given stays as it is.
    Update {
        /// The skill's name or id.
        skill: String,
        /// The new description.
        description: Option<String>,
        /// The new instructions.
        body: Option<String>,
    },
    /// Takes a skill out of use. It is archived, and a person can bring it back.
    Delete {
        /// The skill's name or id.
        skill: String,
        /// The reason, in words.
        reason: String,
    },
}

/// A call by its tool's schema, which does not say that an update gives a text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum GivenCall {
    #[serde(rename = "insert_skill")]
    Insert {
        name: String,
        description: String,
        body: String,
    },
    #[serde(rename = "update_skill")]
    Update {
        skill: String,
        description: Option<String>,
        body: Option<String>,
    },
    #[serde(rename = "delete_skill")]
    Delete { skill: String, reason: String },
}

impl CurateCall {
    /// Reads a call by its tool's schema.
    ///
    /// # Errors
    /// [`CallRefusal::UnknownTool`], or [`CallRefusal::Arguments`] for a missing or other argument, one that is no text, and an
    /// update that gives neither text.
    pub fn read(call: &ToolCall) -> Result<Self, CallRefusal> {
        if CallKind::of(&call.tool) == CallKind::Unknown {
            return Err(CallRefusal::UnknownTool);
        }
        let arguments = Value::Object(call.arguments.clone());
        let tagged = Map::from_iter([(call.tool.clone(), arguments)]);
        let given: GivenCall = serde_json::from_value(Value::Object(tagged)).map_err(|error| {
            // The text may name an argument of any length.
            CallRefusal::Arguments(error.to_string().chars().take(200).collect())
        })?;
        Ok(match given {
            GivenCall::Insert {
                name,
                description,
                body,
            } => Self::Insert {
                name: file_stem(name),
                description,
                body,
            },
            GivenCall::Update {
                description: None,
                body: None,
                ..
            } => {
                let message = "neither `description` nor `body` is given";
                return Err(CallRefusal::Arguments(message.to_owned()));
            }
            GivenCall::Update {
                skill,
                description,
                body,
            } => Self::Update {
                skill: file_stem(skill),
                description,
                body,
            },
            GivenCall::Delete { skill, reason } => Self::Delete {
                skill: file_stem(skill),
                reason,
            },
        })
    }

    /// The kind of the call.
    pub fn kind(&self) -> CallKind {
        match self {
            Self::Insert { .. } => CallKind::Insert,
            Self::Update { .. } => CallKind::Update,
            Self::Delete { .. } => CallKind::Delete,
        }
    }

    /// Checks the call against a library, as the calls before it leave it.
    ///
    /// # Errors
    /// For an insert: [`NotAName`](CallRefusal::NotAName), and [`NameTaken`](CallRefusal::NameTaken) where a skill has the name,
    /// unless that skill is disabled or archived: the curator does not see it, and the new one gets a name beside it. For an
    /// update and a delete: [`NotFound`](CallRefusal::NotFound), and [`NotOffered`](CallRefusal::NotOffered) where the skill
    /// is not in use. For an update: [`Unchanged`](CallRefusal::Unchanged).
    pub fn check(&self, library: &SkillLibrary) -> Result<(), CallRefusal> {
        match self {
            Self::Insert { name, .. } => {
                let name = SkillName::slug(name).ok_or(CallRefusal::NotAName)?;
                let gone =
                    |entry: &Entry| matches!(entry.skill.state, State::Disabled | State::Archived);
                match library.by_name(&name) {
                    Some(entry) if !gone(entry) => Err(CallRefusal::NameTaken),
                    _ => Ok(()),
                }
            }
            Self::Update {
                skill,
                description,
                body,
            } => {
                let known = &offered(library, skill)?.skill;
                let same =
                    |new: &Option<String>, old: &str| new.as_deref().is_none_or(|new| new == old);
                match same(description, &known.description) && same(body, &known.body) {
                    true => Err(CallRefusal::Unchanged),
                    false => Ok(()),
                }
            }
            Self::Delete { skill, .. } => offered(library, skill).map(|_| ()),
        }
    }
}

/// The skill in use that a call names.
///
/// # Errors
/// [`CallRefusal::NotFound`], [`CallRefusal::NotOffered`].
pub(crate) fn offered<'a>(
    library: &'a SkillLibrary,
    named: &str,
) -> Result<&'a Entry, CallRefusal> {
    let exact = SkillName::new(named).ok();
    let names = exact.into_iter().chain(SkillName::slug(named));
    let by_name = { names }.find_map(|name| library.by_name(&name));
    let by_id = || library.get(&SkillId::new(named));
    let entry = by_name.or_else(by_id).ok_or(CallRefusal::NotFound)?;
    match entry.skill.state.is_offered() {
        true => Ok(entry),
        false => Err(CallRefusal::NotOffered),
    }
}

/// A name as a call gives it, without the end `.md`.
fn file_stem(mut name: String) -> String {
    if let Some(stem) = name.strip_suffix(".md") {
        name.truncate(stem.len());
    }
    name
}

/// The skill's name in a call, or the tool's name where it is unknown, for reports: at most [`SkillName::MAX`] characters.
pub(crate) fn about(call: &ToolCall) -> String {
    let argument = match CallKind::of(&call.tool) {
        CallKind::Insert => call.arguments.get("name"),
        CallKind::Update | CallKind::Delete => call.arguments.get("skill"),
        CallKind::Unknown => return call.tool.chars().take(SkillName::MAX).collect(),
    };
    let name = argument.and_then(Value::as_str);
    name.unwrap_or_default()
        .chars()
        .take(SkillName::MAX)
        .collect()
}

#[cfg(test)]
mod tests;
