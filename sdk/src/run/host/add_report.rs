//! What became of the skills that a host adds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{SkillName, SkillRef},
    id::Revision,
};

/// What became of a skill that was to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddFate {
    /// It is new in the library.
    Added,
    /// It is the next version of a skill that was added before.
    Revised,
    /// The library has this content of this skill already; nothing was committed for it.
    Unchanged,
    /// The library keeps what it has: a person edited it, or a run has changed it since it was added.
    Kept(String),
    /// It cannot enter, and why.
    Refused(String),
    /// The tiers have no room for it.
    OutOfRoom(String),
}

/// One skill of an [`AddReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedSkill {
    /// Which skill, in the version that was handed over.
    pub skill: SkillRef,
    /// Its name: the library's where it has the skill.
    pub name: SkillName,
    /// What became of it.
    pub fate: AddFate,
}

/// What became of each skill that was handed to [`Journeyman::add`](crate::run::Journeyman::add), in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddReport {
    /// The library's revision afterwards.
    pub revision: Revision,
    /// Skill by skill.
    pub skills: Vec<AddedSkill>,
}

impl AddReport {
    /// How many skills are new or in a new version.
    pub fn changed(&self) -> usize {
        self.count(|fate| matches!(fate, AddFate::Added | AddFate::Revised))
    }

    /// How many had a fate.
    pub fn count(&self, which: impl Fn(&AddFate) -> bool) -> usize {
        self.skills.iter().filter(|one| which(&one.fate)).count()
    }
}

/// A line for each skill.
impl fmt::Display for AddReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for AddedSkill { skill, name, fate } in &self.skills {
            let (fate, reason) = match fate {
                AddFate::Added => ("added", None),
                AddFate::Revised => ("revised", None),
                AddFate::Unchanged => ("unchanged", None),
                AddFate::Kept(reason) => ("kept as it is", Some(reason)),
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
