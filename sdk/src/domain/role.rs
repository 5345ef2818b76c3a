//! The roles that a model plays besides the agent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A task that a model does besides acting as the agent.
///
/// ```
/// use journeyman::domain::Role;
///
/// assert!(Role::WRITERS.contains(&Role::Summarize));
/// assert!(!Role::WRITERS.contains(&Role::Score));
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes one skill from the successful attempts of a group (ARISE D.1).
    Summarize,
    /// Writes a skill from a single attempt (HiSME 3.2).
    Extract,
    /// Writes the skill that attempts at several tasks share (HiSME 3.2, algorithm 3).
    Refactor,
    /// Writes a new version of a skill from the attempts that had it (HiSME 3.3, algorithm 4).
    Refine,
    /// Judges a skill's effect on an attempt (HiSME 3.3).
    Attribute,
    /// Cuts an attempt into the cases that a skill has to pass (HiSME 3.3).
    Bundle,
    /// Finds rules for another role from the results of the skills that it made (HiSME 3.4, algorithm 5).
    Evolve,
    /// Cuts an attempt into subgoals (SCRIBE 3.1).
    Segment,
    /// Distils a prototype from the subgoals of a cluster (SCRIBE 3.1).
    DistilPrototype,
    /// Finds the prototype that a subgoal belongs to (SCRIBE 3.2).
    Route,
    /// Scores a subgoal from 0 to 3 (SCRIBE 3.2).
    Score,
    /// Decides on changes of the skill repository after an attempt (SkillOS, architecture).
    Curate,
    /// Tags a task with the skills that it needs (SkillOS, preprocessing).
    Tag,
    /// Says what a failed attempt teaches (SkillRL 3.1).
    Lesson,
    /// Distils general skills, or those of one category, from patterns and lessons (SkillRL 3.2, 3.3).
    DistilBank,
    /// Judges the text of one skill from 0 to 3 (SkillOS, training regime: r_cnt).
    Review,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Summarize,
        Self::Extract,
        Self::Refactor,
        Self::Refine,
        Self::Attribute,
        Self::Bundle,
        Self::Evolve,
        Self::Segment,
        Self::DistilPrototype,
        Self::Route,
        Self::Score,
        Self::Curate,
        Self::Tag,
        Self::Lesson,
        Self::DistilBank,
        Self::Review,
    ];

    /// The writers: what they make enters the library, as skills, test cases, rules, rubrics and lessons.
    pub const WRITERS: [Self; 9] = [
        Self::Summarize,
        Self::Extract,
        Self::Refactor,
        Self::Refine,
        Self::Bundle,
        Self::Evolve,
        Self::DistilPrototype,
        Self::Lesson,
        Self::DistilBank,
    ];

    /// The judge: of a skill's effect, of a subgoal, of a skill's text.
    pub const JUDGE: [Self; 3] = [Self::Attribute, Self::Score, Self::Review];

    /// The curator of the library.
    pub const CURATOR: [Self; 1] = [Self::Curate];

    /// The router: cuts attempts, finds prototypes, tags tasks.
    pub const ROUTER: [Self; 3] = [Self::Segment, Self::Route, Self::Tag];

    /// The roles of a name in a host's configuration: one by its own [name](Self::name), or a group by `writers`, `judge`,
    /// `curator` or `router`. Each role is in one group.
    ///
    /// ```
    /// use journeyman::{ErrorKind, domain::Role};
    ///
    /// assert_eq!(Role::named("extract")?, [Role::Extract]);
    /// assert_eq!(Role::named("judge")?, Role::JUDGE);
    /// assert_eq!(Role::named("janitor").unwrap_err().kind(), ErrorKind::NotFound);
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `NotFound` for another name; the hint lists all.
    pub fn named(name: &str) -> Result<Vec<Self>> {
        let group: &[Self] = match name {
            "writers" => &Self::WRITERS,
            "judge" => &Self::JUDGE,
            "curator" => &Self::CURATOR,
            "router" => &Self::ROUTER,
            _ => &[],
        };
        let own = Self::ALL.into_iter().filter(|role| role.name() == name);
        let named: Vec<Self> = group.iter().copied().chain(own).collect();
        match named.is_empty() {
            false => Ok(named),
            true => Err(Error::not_found(
                "Role::named",
                format!("no role and no group of roles is named `{name}`"),
            )
            .hint(format!(
                "take a group (writers, judge, curator, router) or a role ({})",
                Self::ALL.map(Self::name).join(", ")
            ))),
        }
    }

    /// Its name, as in `role-extract`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Summarize => "summarize",
            Self::Extract => "extract",
            Self::Refactor => "refactor",
            Self::Refine => "refine",
            Self::Attribute => "attribute",
            Self::Bundle => "bundle",
            Self::Evolve => "evolve",
            Self::Segment => "segment",
            Self::DistilPrototype => "distil-prototype",
            Self::Route => "route",
            Self::Score => "score",
            Self::Curate => "curate",
            Self::Tag => "tag",
            Self::Lesson => "lesson",
            Self::DistilBank => "distil-bank",
            Self::Review => "review",
        }
    }

    /// Whether the role learns rules: extract, refactor and refine do (HiSME 3.4).
    pub fn learns_rules(self) -> bool {
        matches!(self, Self::Extract | Self::Refactor | Self::Refine)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn each_role_is_in_one_group() {
        let names = ["writers", "judge", "curator", "router"];
        let mut grouped: Vec<Role> = names
            .into_iter()
            .flat_map(|name| Role::named(name).unwrap())
            .collect();
        grouped.sort();
        let mut all = Role::ALL.to_vec();
        all.sort();
        assert_eq!(grouped, all);
        assert!(Role::ALL.iter().all(|role| !names.contains(&role.name())));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = Role::named("writer").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().contains("`writer`"));
        let hint = error.hint_text().unwrap();
        for name in ["writers", "judge", "curator", "router"] {
            assert!(hint.contains(name), "{hint}");
        }
        assert!(Role::ALL.iter().all(|role| hint.contains(role.name())));
    }
}
