//! The record: a skill that keeps the data of a text that belongs to no entry. Also the order of the entries.

use std::collections::BTreeSet;

use journeyman::{
    Error, ErrorKind, Result,
    domain::{Kind, Skill, SkillDraft, Source, State},
    stations::admit::imported,
};
use serde_json::Value;

use super::entry::Form;

/// The place that marks the record.
const RECORD: &str = "record";
/// The greatest number of skills of one text.
const MAX_SKILLS: usize = 10_000;

/// Skills to be written, in order.
#[derive(Debug)]
pub(super) struct Given<'a> {
    /// The content of the record.
    pub(super) frame: Option<Value>,
    /// Each skill, with the list of the text that it was read from, if any.
    pub(super) skills: Vec<(Option<&'a str>, &'a Skill)>,
}

impl Form {
    /// The skills of one text, each [`imported`], and a record where the skills alone do not give the text back.
    pub(super) fn complete(
        &self,
        skills: Vec<Skill>,
        (whole, frame): (&Value, Value),
        assemble: fn(&[Skill]) -> Result<Value>,
        source: &Source,
    ) -> Result<Vec<Skill>> {
        if skills.len() > MAX_SKILLS {
            return Err(Error::invalid(
                self.read,
                format!("there are more than {MAX_SKILLS} skills"),
            )
            .hint("split the text"));
        }
        let mut skills: Vec<Skill> = skills
            .into_iter()
            .map(|skill| {
                let place = skill.id.clone();
                imported(skill, source).map_err(|error| {
                    Error::invalid(self.read, error.message()).with("place", place)
                })
            })
            .collect::<Result<_>>()?;
        if assemble(&skills)? == *whole {
            return Ok(skills);
        }
        skills.push(imported(self.record(&frame, source)?, source)?);
        if assemble(&skills)? == *whole {
            return Ok(skills);
        }
        Err(Error::new(
            ErrorKind::Internal,
            self.read,
            "the skills do not give the text back",
        )
        .hint("nothing was taken in; please report it"))
    }

    fn record(&self, frame: &Value, source: &Source) -> Result<Skill> {
        let description = "What came with these skills and belongs to none of them. Kept, so that they can be written \
                           out as they came.";
        let mut draft = SkillDraft::new(self.key(RECORD), description, format!("{frame:#}"));
        draft.kind = Kind::Knowledge;
        draft.metadata = [(self.key("place"), RECORD.to_owned())].into();
        let mut skill = self.admit(RECORD, &draft, source)?;
        skill.state = State::Archived;
        Ok(skill)
    }

    /// Separates the record from the skills and puts the skills into the order of their text.
    pub(super) fn given<'a>(&self, skills: &'a [Skill]) -> Result<Given<'a>> {
        let (place, set) = (self.key("place"), self.key("set"));
        let mut sets = skills.iter().filter_map(|skill| skill.metadata.get(&set));
        if let Some(first) = sets.next()
            && sets.any(|other| other != first)
        {
            return Err(Error::invalid(self.write, "the skills are of several sets")
                .hint(format!("write those of one `{set}` at a time")));
        }
        let mut frame = None;
        let mut placed = Vec::new();
        let mut taken = BTreeSet::new();
        for skill in skills {
            let at = skill.metadata.get(&place).map(String::as_str);
            if at.is_some_and(|at| !taken.insert(at)) {
                let message =
                    "two skills are of one place: the set came in twice, and changed in between";
                return Err(Error::invalid(self.write, message)
                    .with("skill", &skill.name)
                    .hint("write the skills of one of the two; `journeyman skill log` tells when each came"));
            }
            if at == Some(RECORD) {
                let read = serde_json::from_str(&skill.body).map_err(|_| {
                    Error::invalid(self.write, "the record's body is not JSON")
                        .with("skill", &skill.name)
                        .hint("roll the record back, or leave it out")
                })?;
                frame = Some(read);
                continue;
            }
            let at = at.and_then(|at| {
                let (list, index) = at.rsplit_once('/')?;
                Some((list, index.parse::<u64>().ok()?))
            });
            placed.push((at, skill));
        }
        // New skills come last; the sort is stable.
        placed.sort_by_key(|(at, _)| at.map_or(u64::MAX, |(_, index)| index));
        Ok(Given {
            frame,
            skills: placed
                .into_iter()
                .map(|(at, skill)| (at.map(|(list, _)| list), skill))
                .collect(),
        })
    }
}
