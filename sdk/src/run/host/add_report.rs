//! The report of [`Journeyman::add`](crate::run::Journeyman::add): the result for each skill.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{SkillName, SkillRef},
    id::Revision,
};

/// The result for one skill that a host adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddFate {
    /// The skill is new in the library.
    Added,
    /// The skill is the next version of a skill that a host added before.
    Revised,
    /// The library already has this skill with the same content; nothing was committed for it.
    Unchanged,
    /// The library keeps its own version, for the reason given: a person edited the skill, or a run changed it, after it was
    /// added.
    Kept(String),
    /// The skill was refused, for the reason given.
    Refused(String),
    /// The tiers have no room for the skill; the text gives the limits.
    OutOfRoom(String),
}

/// One skill of an [`AddReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedSkill {
    /// The skill's id and version, as the host gave them.
    pub skill: SkillRef,
    /// The skill's name in the library; the host's name if the library does not have the skill.
    pub name: SkillName,
    /// The result.
    pub fate: AddFate,
}

/// The results of [`Journeyman::add`](crate::run::Journeyman::add), in the order of the skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddReport {
    /// The library's revision after the call.
    pub revision: Revision,
    /// One result for each skill.
    pub skills: Vec<AddedSkill>,
}

impl AddReport {
    /// Number of skills that were added or revised.
    pub fn changed(&self) -> usize {
        self.count(|fate| matches!(fate, AddFate::Added | AddFate::Revised))
    }

    /// Number of skills with a matching result.
    pub fn count(&self, which: impl Fn(&AddFate) -> bool) -> usize {
        self.skills.iter().filter(|one| which(&one.fate)).count()
    }
}

/// One line for each skill.
impl fmt::Display for AddReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for AddedSkill { skill, name, fate } in &self.skills {
            let (fate, reason) = match fate {
                AddFate::Added => ("added", None),
                AddFate::Revised => ("revised", None),
                AddFate::Unchanged => ("unchanged", None),
                AddFate::Kept(reason) => ("library version kept", Some(reason)),
                AddFate::Refused(reason) => ("refused", Some(reason)),
                AddFate::OutOfRoom(reason) => ("out of room", Some(reason)),
            };
            write!(f, "{name} (version {}): {fate}", skill.version)?;
            reason.map_or(Ok(()), |reason| write!(f, ": {reason}"))?;
            writeln!(f)?;
        }
        Ok(())
    }
}
