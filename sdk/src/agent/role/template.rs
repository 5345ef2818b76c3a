//! The template of a role, read from its skill: the prompt with named slots, the schema of the answer, the numbers.

use std::str::FromStr;

use super::answer_schema::{AnswerSchema, block};
use crate::{
    contract::RoleTask,
    domain::Role,
    error::{Error, ErrorKind, Result},
    library::format::SkillMd,
};

const NEW: &str = "GeneralRoles::from_skills";
/// The prefix of the name of a role's skill; the role's name follows.
const PREFIX: &str = "role-";
/// What follows in the name of the skill that refines all of a skill.
const REFINE_WHOLE: &str = "refine-whole";

/// What a skill of [`GeneralRoles`](super::GeneralRoles) is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// A role.
    Of(Role),
    /// The role refine, where it may change all of a skill and archive it.
    RefineWhole,
}

impl Purpose {
    /// The purposes that suit a task, the best first.
    pub(super) fn of(task: &RoleTask) -> impl Iterator<Item = Self> + use<> {
        let whole = matches!(task, RoleTask::Refine { whole: true, .. });
        let whole = whole.then_some(Self::RefineWhole);
        whole.into_iter().chain([Self::Of(task.role())])
    }

    pub(super) fn role(self) -> Role {
        match self {
            Self::Of(role) => role,
            Self::RefineWhole => Role::Refine,
        }
    }

    /// The name of its skill.
    pub(super) fn skill_name(self) -> String {
        let name = match self {
            Self::Of(role) => role.name(),
            Self::RefineWhole => REFINE_WHOLE,
        };
        format!("{PREFIX}{name}")
    }

    /// The purpose of a skill, by its name.
    pub(super) fn of_skill(skill: &SkillMd) -> Result<Self> {
        let name = skill.name.as_str();
        let all = Role::ALL.map(Self::Of).into_iter();
        let all = all.chain([Self::RefineWhole]);
        let found = all.clone().find(|one| one.skill_name() == name);
        found.ok_or_else(|| {
            let names: Vec<String> = all.map(Self::skill_name).collect();
            Error::invalid(NEW, "the skill is named for no role")
                .with("skill", name)
                .hint(format!("name it one of {}", names.join(", ")))
        })
    }
}

/// The slots of the role summarize.
const SUMMARIZE: &[(&str, bool)] = &[
    ("task", true),
    ("attempts", true),
    ("problem_types", true),
    ("total_chars", false),
    ("name_chars", false),
    ("insight_chars", false),
    ("step_chars", false),
    ("check_chars", false),
    ("steps", false),
];

/// The slots of the skill that refines all of a skill.
const WHOLE: &[(&str, bool)] = &[
    ("skill", true),
    ("interface", true),
    ("attempts", true),
    ("failures", true),
    ("rules", true),
];

/// The slots of a template, and whether each is required.
fn slots(purpose: Purpose) -> &'static [(&'static str, bool)] {
    let role = match purpose {
        Purpose::Of(role) => role,
        Purpose::RefineWhole => return WHOLE,
    };
    match role {
        Role::Summarize => SUMMARIZE,
        Role::Extract => &[
            ("task", true),
            ("attempt", true),
            ("rules", true),
            ("given", false),
        ],
        Role::Refactor => &[
            ("attempts", true),
            ("skills", true),
            ("reason", true),
            ("rules", true),
        ],
        Role::Refine => &[
            ("skill", true),
            ("attempts", true),
            ("failures", true),
            ("rules", true),
        ],
        Role::Attribute => &[
            ("task", true),
            ("attempt", true),
            ("skill", true),
            ("given", false),
        ],
        Role::Bundle => &[("skill", true), ("task", true), ("attempt", true)],
        Role::Evolve => &[
            ("role", true),
            ("rules", true),
            ("rows", true),
            ("most_rules", false),
            ("rule_chars", false),
        ],
        Role::Segment => &[("task", true), ("attempt", true), ("wording", true)],
        Role::DistilPrototype => &[("members", true)],
        Role::Route => &[
            ("task", true),
            ("subgoal", true),
            ("prototypes", true),
            ("before", false),
        ],
        Role::Score => &[
            ("task", true),
            ("subgoal", true),
            ("rubric", true),
            ("before", false),
        ],
        Role::Curate => &[
            ("task", true),
            ("attempt", true),
            ("correct", true),
            ("skills", true),
        ],
        Role::Tag => &[("task", true)],
        Role::Lesson => &[("task", true), ("attempt", true), ("given", false)],
        Role::DistilBank => &[("category", true), ("findings", true), ("skills", true)],
        Role::Review => &[("skill", true)],
    }
}

/// The parsed skill of a role.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) purpose: Purpose,
    /// The skill that the template was read from.
    pub(super) skill: SkillMd,
    pieces: Vec<Piece>,
    /// The schema of the answer.
    pub(super) schema: AnswerSchema,
    pub(super) temperature: f32,
    pub(super) top_p: f32,
    pub(super) max_tokens: usize,
    /// The number of attempts or rows that are shown.
    pub(super) shown: usize,
    /// The greatest length of each, in characters.
    pub(super) shown_chars: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Slot(&'static str),
}

impl Template {
    pub(super) fn new(purpose: Purpose, skill: &SkillMd) -> Result<Self> {
        let role = purpose.role();
        let pieces = pieces(purpose, &skill.body)?;
        let missing = (slots(purpose).iter())
            .find(|(slot, must)| *must && !pieces.contains(&Piece::Slot(slot)));
        if let Some((slot, _)) = missing {
            return Err(fault(role, "the prompt lacks a slot that the role needs")
                .with("slot", slot)
                .hint(format!("write {{{{{slot}}}}} where it is to be shown")));
        }
        let number = Numbers { role, skill };
        Ok(Self {
            purpose,
            schema: schema(purpose, &skill.body)?,
            temperature: number.read("temperature", None, |n: &f32| (0.0..=2.0).contains(n))?,
            top_p: number.read("top-p", None, |n: &f32| *n > 0.0 && *n <= 1.0)?,
            max_tokens: number.read("max-tokens", None, |n| *n > 0)?,
            shown: number.read("shown", Some(usize::MAX), |n| *n > 0)?,
            shown_chars: number.read("shown-chars", None, |n| *n > 0)?,
            skill: skill.clone(),
            pieces,
        })
    }

    /// The prompt with its slots filled. The filling is no template: braces within it stay as they are.
    pub(super) fn render(&self, fill: impl Fn(&'static str) -> String) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Slot(slot) => fill(slot),
        });
        pieces.collect()
    }
}

fn fault(role: Role, message: impl Into<String>) -> Error {
    Error::invalid(NEW, message).with("role", role)
}

/// Splits the body at its slots: a name of `a-z` and underscores in double braces.
fn pieces(purpose: Purpose, body: &str) -> Result<Vec<Piece>> {
    let role = purpose.role();
    let mut pieces = Vec::new();
    let (mut text, mut rest) = (String::new(), body);
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let name = after.split_once("}}").map_or("", |(name, _)| name);
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            text.push_str("{{");
            rest = after;
            continue;
        }
        let Some((slot, _)) = slots(purpose).iter().find(|(slot, _)| *slot == name) else {
            let known: Vec<_> = slots(purpose).iter().map(|(slot, _)| *slot).collect();
            return Err(
                fault(role, "the prompt has a slot that the role does not know")
                    .with("slot", name.chars().take(40).collect::<String>())
                    .hint(format!("the slots of this role: {}", known.join(", "))),
            );
        };
        pieces.push(Piece::Text(std::mem::take(&mut text)));
        pieces.push(Piece::Slot(slot));
        rest = &after[name.len() + 2..];
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

/// The schema: the body's first block of JSON, which is also part of the prompt.
fn schema(purpose: Purpose, body: &str) -> Result<AnswerSchema> {
    let role = purpose.role();
    let block = block(body).ok_or_else(|| {
        fault(role, "there is no schema of the answer")
            .hint("put a JSON Schema into the body, between the lines ```json and ```")
    })?;
    let value = serde_json::from_str(&block).map_err(|error| {
        fault(role, "the schema of the answer is not JSON")
            .with("line", error.line())
            .with("column", error.column())
            .hint("put right what stands there, counted from the block's first line")
    })?;
    let schema = AnswerSchema::new(&purpose.skill_name(), value).map_err(|error| {
        if error.kind() != ErrorKind::Invalid {
            return error.with("role", role);
        }
        let at = error.fact("at").unwrap_or_default().to_owned();
        fault(role, error.message())
            .with("at", at)
            .hint(error.hint_text().unwrap_or_default())
    })?;
    match schema.fits_an_object() {
        true => Ok(schema),
        false => Err(fault(role, "no object fits the schema of the answer")
            .hint("an answer is an object: see the schema of the shipped skill")),
    }
}

struct Numbers<'a> {
    role: Role,
    skill: &'a SkillMd,
}

impl Numbers<'_> {
    fn read<T: FromStr>(
        &self,
        key: &'static str,
        absent: Option<T>,
        fits: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let written = self.skill.metadata.get(key);
        if let (None, Some(value)) = (written, absent) {
            return Ok(value);
        }
        let number = written.and_then(|text| text.trim().parse().ok());
        number.filter(|number| fits(number)).ok_or_else(|| {
            let message = match written {
                None => "a number is missing",
                Some(_) => "a number cannot be used",
            };
            fault(self.role, message).with("key", key).hint(
                "in metadata: temperature from 0 to 2, top-p above 0 and at most 1, max-tokens, shown-chars and \
                 shown (which may be left out) whole numbers from 1",
            )
        })
    }
}
