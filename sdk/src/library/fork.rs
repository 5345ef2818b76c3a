//! Forks: views of a library with changes of their own, and bringing those back.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::TextDiff;

use crate::{
    domain::{Cause, Committed, LibraryChange, Skill, SkillRef, TierPolicy},
    error::{Error, Result},
    id::{CommitKey, Revision, SkillId, Version},
    library::{Applied, Entry, SkillLibrary},
};

/// A view in memory: a library at some revision, and changes on it that no store knows of. It shares what it does not
/// change with the library that it came from, so thousands of them are cheap.
///
/// ```
/// use journeyman::{domain::{Cause, LibraryChange, TierPolicy}, library::SkillLibrary};
///
/// let library = SkillLibrary::new();
/// let mut fork = library.fork();
/// let cause = Cause::new("a smaller cache, tried");
/// let mut tiers = TierPolicy::default();
/// tiers.cache = 5;
/// fork.apply(&cause, vec![LibraryChange::Configure(tiers)])?;
/// assert_eq!((fork.library().policy().cache, library.policy().cache), (5, 10));
///
/// // The library has not moved on, so all of it can be committed.
/// let rebased = fork.rebase(&library);
/// assert!(rebased.conflicts.is_empty());
/// assert_eq!(rebased.changes, fork.changes());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fork {
    base: SkillLibrary,
    library: SkillLibrary,
    changes: Vec<LibraryChange>,
}

/// The changes of a fork that can be committed on a later state of the library, and those that cannot.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rebased {
    /// The changes that hold there, in order.
    pub changes: Vec<LibraryChange>,
    /// The changes that cannot be committed, with the reasons.
    pub conflicts: Vec<Conflict>,
}

/// A fork's change about something that was changed elsewhere too.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Its place among the fork's changes, from 0.
    pub change: usize,
    /// The skill; none where the tiers' numbers are meant.
    pub skill: Option<SkillId>,
    /// The change of the library.
    pub reason: ConflictReason,
}

/// The library's change of a skill that a fork changed too.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictReason {
    /// The skill has another version.
    Revised,
    /// The skill has another state, or was merged.
    StateChanged,
    /// The skill was deleted.
    Deleted,
    /// A skill of this id was added.
    Added,
    /// The tiers' numbers were changed.
    PolicyChanged,
    /// What the change replaces as a whole (a role's rules, the prototypes, the anchors) was replaced.
    Replaced,
}

impl SkillLibrary {
    /// A view of this library to be changed apart from it; takes the same time whatever the library's size.
    pub fn fork(&self) -> Fork {
        Fork {
            base: self.clone(),
            library: self.clone(),
            changes: Vec::new(),
        }
    }
}

impl Fork {
    /// The revision that it came from.
    pub fn base(&self) -> Revision {
        self.base.revision()
    }

    /// The library with the fork's changes.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The fork's changes, in order.
    pub fn changes(&self) -> &[LibraryChange] {
        &self.changes
    }

    /// Changes the fork; each call is a step, as a commit would be. Its cause counts in the fork alone: where credits of
    /// several runs come together in a fork, commit them run by run, or a run cannot be taken back alone.
    ///
    /// # Errors
    /// As [`SkillLibrary::apply`]; the fork stays as it was.
    pub fn apply(&mut self, cause: &Cause, changes: Vec<LibraryChange>) -> Result<Applied> {
        let revision = self.library.revision().next();
        self.fold(&Committed {
            revision,
            key: CommitKey::new(format!("fork-{revision}")),
            cause: cause.clone(),
            changes,
        })
    }

    /// Changes the fork by a commit that was made on it, whose key it keeps.
    ///
    /// # Errors
    /// As [`SkillLibrary::apply`]; the fork stays as it was.
    pub(crate) fn fold(&mut self, committed: &Committed) -> Result<Applied> {
        let applied = self.library.apply(committed)?;
        self.changes.extend(committed.changes.iter().cloned());
        Ok(applied)
    }

    /// The changes that can be committed on `head`, a later state of the library that the fork came from. A change
    /// about a skill whose version, state or being there changed since is a conflict, and so is every later change of
    /// the fork about that skill. `Maintain` and `RetireRun` are about no skill in particular and always hold. A role's rules, the
    /// prototypes and the anchors are replaced as a whole: a change of them is a conflict if they were replaced since.
    pub fn rebase(&self, head: &SkillLibrary) -> Rebased {
        let mut rebased = Rebased::default();
        let mut refused: BTreeSet<SkillId> = BTreeSet::new();
        for (index, change) in self.changes.iter().enumerate() {
            let subjects = subjects(change);
            let depends = subjects.iter().find(|id| refused.contains(id));
            let clash = subjects
                .iter()
                .find_map(|id| Some((*id, self.clash(head, id)?)));
            // Numbers that both set alike are no conflict.
            let other = |numbers: &TierPolicy| {
                head.policy() != self.base.policy() && head.policy() != numbers
            };
            let policy = matches!(change, LibraryChange::Configure(to) if other(to));
            let conflict = match (clash, depends) {
                (Some((id, reason)), _) => Some((Some(id.clone()), reason)),
                (None, Some(id)) => Some((Some((*id).clone()), ConflictReason::Revised)),
                (None, None) if policy => Some((None, ConflictReason::PolicyChanged)),
                (None, None) if self.is_replaced(head, change) => {
                    Some((None, ConflictReason::Replaced))
                }
                (None, None) => None,
            };
            match conflict {
                None => rebased.changes.push(change.clone()),
                Some((skill, reason)) => {
                    refused.extend(subjects.into_iter().cloned());
                    rebased.conflicts.push(Conflict {
                        change: index,
                        skill,
                        reason,
                    });
                }
            }
        }
        rebased
    }

    /// Whether what a change replaces as a whole is another one in `head` than in the fork's base.
    fn is_replaced(&self, head: &SkillLibrary, change: &LibraryChange) -> bool {
        let base = &self.base;
        match change {
            LibraryChange::SetRules { role, .. } => base.rules(*role) != head.rules(*role),
            LibraryChange::SetPrototypes(_) => base.prototypes() != head.prototypes(),
            LibraryChange::SetAnchors(_) => base.anchors() != head.anchors(),
            _ => false,
        }
    }

    /// The change of a skill between the fork's base and `head`.
    fn clash(&self, head: &SkillLibrary, id: &SkillId) -> Option<ConflictReason> {
        let (base, gone) = (&self.base.entries, &self.base.deleted);
        if base.shares(&head.entries, id) && gone.shares(&head.deleted, id) {
            return None;
        }
        let versions = |entry: &Entry| (entry.skill.version, entry.history.len());
        match (base.get(id), head.get(id)) {
            (None, Some(_)) => Some(ConflictReason::Added),
            (Some(_), None) => Some(ConflictReason::Deleted),
            (Some(own), Some(other)) if versions(own) != versions(other) => {
                Some(ConflictReason::Revised)
            }
            (Some(own), Some(other)) if own.skill.state != other.skill.state => {
                Some(ConflictReason::StateChanged)
            }
            _ => None,
        }
    }
}

fn subjects(change: &LibraryChange) -> Vec<&SkillId> {
    match change {
        LibraryChange::Configure(_)
        | LibraryChange::Maintain
        | LibraryChange::RetireRun { .. }
        | LibraryChange::Observe(_)
        | LibraryChange::Note(_)
        | LibraryChange::Assign(_)
        | LibraryChange::Handled { .. }
        | LibraryChange::SetRules { .. }
        | LibraryChange::Assess(_)
        | LibraryChange::SetPrototypes(_)
        | LibraryChange::SetAnchors(_)
        | LibraryChange::CheckAnchors(_)
        | LibraryChange::Erased { .. } => Vec::new(),
        LibraryChange::Credit { skill, .. }
        | LibraryChange::Expose { skill, .. }
        | LibraryChange::Test { skill, .. }
        | LibraryChange::Gain { skill, .. }
        | LibraryChange::Compare { skill, .. }
        | LibraryChange::Prove { skill, .. }
        | LibraryChange::Release { skill, .. } => vec![&skill.id],
        LibraryChange::Attribute(attribution) => vec![&attribution.skill.id],
        LibraryChange::Add(skill) | LibraryChange::Revise(skill) => vec![&skill.id],
        LibraryChange::Merge { skill, sources, .. } => {
            [&skill.id].into_iter().chain(sources).collect()
        }
        LibraryChange::SetState { skill, .. }
        | LibraryChange::RollBack { skill, .. }
        | LibraryChange::Restore { skill, .. }
        | LibraryChange::PatchBundle { skill, .. }
        | LibraryChange::Place { skill, .. } => vec![skill],
    }
}

/// The difference of two versions of a skill; `Display` writes it for people.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The first version.
    pub from: SkillRef,
    /// The second version.
    pub to: SkillRef,
    /// The fields besides the body that differ.
    pub fields: Vec<FieldChange>,
    /// The body's lines as a unified diff with three lines of context; empty where it is the same.
    pub body: String,
}

/// A field that differs.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// The value in the first version; `None` where it has none.
    pub from: Option<String>,
    /// The value in the second version; `None` where it has none.
    pub to: Option<String>,
}

impl SkillLibrary {
    /// The difference of two versions of a skill, in either order.
    ///
    /// # Errors
    /// `NotFound` for a version that the library does not know.
    pub fn difference(&self, skill: &SkillId, from: Version, to: Version) -> Result<Difference> {
        let version = |version: Version| {
            let wanted = SkillRef {
                id: skill.clone(),
                version,
            };
            self.version(&wanted).ok_or_else(|| {
                Error::not_found("SkillLibrary::difference", "the skill has no such version")
                    .with("skill", skill)
                    .with("version", version)
                    .hint("versions count from 1; `Entry::versions` lists those of a skill")
            })
        };
        Ok(Difference::of(version(from)?, version(to)?))
    }
}

impl Difference {
    fn of(from: &Skill, to: &Skill) -> Self {
        let fields = fields(from)
            .into_iter()
            .zip(fields(to))
            .filter(|((_, from), (_, to))| from != to)
            .map(|((field, from), (_, to))| FieldChange {
                field: field.to_owned(),
                from,
                to,
            });
        let mut all: Vec<FieldChange> = fields.collect();
        let keys = from.metadata.keys().chain(to.metadata.keys());
        let keys: std::collections::BTreeSet<&String> = keys.collect();
        all.extend(keys.into_iter().filter_map(|key| {
            let value = |skill: &Skill| skill.metadata.get(key).cloned();
            let (from, to) = (value(from), value(to));
            (from != to).then(|| FieldChange {
                field: format!("metadata.{key}"),
                from,
                to,
            })
        }));
        let label = |skill: &Skill| format!("{} version {}", skill.name, skill.version);
        let body = TextDiff::from_lines(&from.body, &to.body)
            .unified_diff()
            .context_radius(3)
            .header(&label(from), &label(to))
            .to_string();
        Self {
            from: from.reference(),
            to: to.reference(),
            fields: all,
            body: if from.body == to.body {
                String::new()
            } else {
                body
            },
        }
    }
}

fn fields(skill: &Skill) -> Vec<(&'static str, Option<String>)> {
    vec![
        ("name", Some(skill.name.to_string())),
        ("original_name", skill.original_name.clone()),
        ("description", Some(skill.description.clone())),
        ("kind", word(&skill.kind)),
        ("scope", word(&skill.scope)),
        ("state", word(&skill.state)),
        ("trigger", skill.trigger.clone()),
        ("allowed_tools", Some(skill.allowed_tools.join(" "))),
        ("license", skill.license.clone()),
        ("compatibility", skill.compatibility.clone()),
        ("taint", word(&skill.taint)),
        ("origin", word(&skill.provenance.origin)),
    ]
}

/// A choice as it is written in JSON; that of a category is `category coffee`.
fn word(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value).ok()? {
        Value::String(word) => Some(word),
        Value::Object(of) => {
            let (name, value) = of.iter().next()?;
            Some(format!("{name} {}", value.as_str().unwrap_or_default()))
        }
        other => Some(other.to_string()),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".to_owned());
        for change in &self.fields {
            let (from, to) = (shown(&change.from), shown(&change.to));
            writeln!(f, "{}: {from} -> {to}", change.field)?;
        }
        f.write_str(&self.body)
    }
}
