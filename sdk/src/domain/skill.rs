//! Skills: the content of a folder with a SKILL.md, and the library's data about it.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{FilePath, FileRef, SkillName},
    id::{Category, RunId, SkillId, TaskId, Version, sha256_hex},
};

/// The kind of a skill (HiSME 3.2).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something to call.
    Function,
    /// Steps to follow.
    #[default]
    Workflow,
    /// Something to know.
    Knowledge,
}

/// Where a skill applies (SkillRL 3.2).
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Everywhere.
    #[default]
    General,
    /// In one category of tasks.
    Category(Category),
}

/// The state of a skill's life.
///
/// ```
/// use journeyman::domain::State;
///
/// assert!(State::Active.is_offered() && State::Trial.is_offered());
/// assert!(!State::Quarantined.is_offered());
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not released.
    Draft,
    /// Held back until evidence or a person releases it.
    Quarantined,
    /// Offered in training only.
    Trial,
    /// In use.
    #[default]
    Active,
    /// Out of use, by evidence.
    Disabled,
    /// Put away.
    Archived,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft => "draft",
            Self::Quarantined => "quarantined",
            Self::Trial => "on trial",
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Archived => "archived",
        })
    }
}

impl State {
    /// Whether a run may offer the skill to an agent.
    pub fn is_offered(self) -> bool {
        matches!(self, Self::Trial | Self::Active)
    }
}

/// Whether a skill was distilled from untrusted text.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Taint {
    /// Distilled from trusted text alone.
    #[default]
    Clean,
    /// Distilled from at least one untrusted text.
    Tainted,
}

/// The maker of a version.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person wrote it.
    Human,
    /// A model summarized the successful attempts at a task (ARISE D.1).
    Summary,
    /// A model extracted it from one attempt (HiSME 3.2).
    Extracted,
    /// A model found what attempts at several tasks share (HiSME 3.2).
    Refactored,
    /// A model refined an earlier version (HiSME 3.3).
    Refined,
    /// A model distilled it from patterns of successes and lessons of failures, or it is such a lesson (SkillRL 3.1, 3.2).
    Distilled,
    /// A curator inserted or updated it (SkillOS, architecture).
    Curated,
    /// Made from a trace without a model, when the summary could not be read.
    TraceAbstract,
    /// The library started with it.
    Seed,
    /// Imported from outside this library.
    Imported,
}

/// Where a version came from.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The maker.
    pub origin: Origin,
    /// The runs it was distilled from.
    pub runs: Vec<RunId>,
    /// The tasks it was distilled from.
    pub tasks: Vec<TaskId>,
}

impl Provenance {
    /// An origin, without runs and tasks.
    pub fn new(origin: Origin) -> Self {
        Self {
            origin,
            runs: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// The same with the runs it was distilled from.
    #[must_use]
    pub fn with_runs(mut self, runs: Vec<RunId>) -> Self {
        self.runs = runs;
        self
    }

    /// The same with the tasks it was distilled from.
    #[must_use]
    pub fn with_tasks(mut self, tasks: Vec<TaskId>) -> Self {
        self.tasks = tasks;
        self
    }
}

/// A skill in one version.
///
/// ```
/// use journeyman::domain::Skill;
///
/// let text = "---\nname: close-ticket\ndescription: Closes a ticket.\n---\nVerify, then close.\n";
/// let skill = Skill::from_skill_md(text)?.with_version(2);
/// assert_eq!(skill.reference().to_string(), "close-ticket@2");
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SkillRef {
    /// Which skill.
    pub id: SkillId,
    /// In which version.
    pub version: Version,
}

impl fmt::Display for SkillRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.version)
    }
}

/// A skill that is not yet in a library: it has no id, no version, no state.
///
/// ```
/// use journeyman::domain::SkillDraft;
///
/// let mut draft = SkillDraft::new("close-ticket", "Closes a ticket.", "Verify, then close.");
/// draft.trigger = Some("close ticket".to_owned());
/// assert_eq!(draft.title, "close-ticket");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillDraft {
    /// The name as it was written; other forms allow other characters (`unseal_coffee`).
    pub title: String,
    /// When to use it and what it does, 1 to 1,024 characters.
    pub description: String,
    /// The kind.
    pub kind: Kind,
    /// Where it applies.
    pub scope: Scope,
    /// The words of a query that call for the skill, where known.
    pub trigger: Option<String>,
    /// The instructions, in Markdown.
    pub body: String,
    /// Further fields of the form that it came from.
    pub metadata: BTreeMap<String, String>,
}

impl SkillDraft {
    /// A workflow that applies everywhere, without a trigger and further fields.
    pub fn new(
        title: impl Into<String>,
        description: impl Into<String>,
        body: impl Into<String>,
    ) -> Self {
        Self {
            title: title.into(),
            description: description.into(),
            kind: Kind::Workflow,
            scope: Scope::General,
            trigger: None,
            body: body.into(),
            metadata: BTreeMap::new(),
        }
    }
}

impl From<&Skill> for SkillDraft {
    /// What a role writes of a skill. Its title is the original name, or the name where there is none.
    fn from(skill: &Skill) -> Self {
        let title = skill.original_name.clone();
        Self {
            title: title.unwrap_or_else(|| skill.name.to_string()),
            description: skill.description.clone(),
            kind: skill.kind,
            scope: skill.scope.clone(),
            trigger: skill.trigger.clone(),
            body: skill.body.clone(),
            metadata: skill.metadata.clone(),
        }
    }
}

/// A skill, in one version.
///
/// ```
/// use journeyman::domain::{Skill, State};
///
/// let skill = Skill::from_skill_md(
///     "---\nname: close-ticket\ndescription: Closes a ticket. Use when a case is settled.\n---\n\
///      Call verify, then close.\n",
/// )?;
/// assert_eq!(skill.reference().to_string(), "close-ticket@1");
/// assert_eq!(skill.state, State::Active);
///
/// // A later version of it, held back until evidence or a person releases it.
/// let later = skill.clone().with_version(2).with_state(State::Quarantined);
/// assert_eq!(later.content_sha256(), skill.content_sha256());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// Kept through renames and versions.
    pub id: SkillId,
    /// From 1.
    pub version: Version,
    /// Also its folder.
    pub name: SkillName,
    /// The name in the form that it came from, when that is another (`unseal_coffee`).
    pub original_name: Option<String>,
    /// When to use it and what it does, 1 to 1,024 characters.
    pub description: String,
    /// The kind.
    pub kind: Kind,
    /// Where it applies.
    pub scope: Scope,
    /// Where it stands.
    pub state: State,
    /// The words of a query that call for the skill, where known.
    pub trigger: Option<String>,
    /// The instructions, in Markdown.
    pub body: String,
    /// The tools that the skill says it needs. The list never extends the host's permissions.
    pub allowed_tools: Vec<String>,
    /// Its license, where it names one.
    pub license: Option<String>,
    /// Systems and tools that it needs, where it says so.
    pub compatibility: Option<String>,
    /// Further fields.
    pub metadata: BTreeMap<String, String>,
    /// The files beside SKILL.md, by path: kept, and never run. Their bytes are with the store.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<FilePath, FileRef>,
    /// The versions it was made from.
    pub parents: Vec<SkillRef>,
    /// Where this version came from.
    pub provenance: Provenance,
    /// Whether it was distilled from untrusted text.
    pub taint: Taint,
}

impl Skill {
    /// The same with another id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<SkillId>) -> Self {
        self.id = id.into();
        self
    }

    /// The same with another description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The same with another state.
    #[must_use]
    pub fn with_state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// The same with other instructions.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    /// The same with the files beside SKILL.md.
    #[must_use]
    pub fn with_files(mut self, files: BTreeMap<FilePath, FileRef>) -> Self {
        self.files = files;
        self
    }

    /// The same with the versions it was made from.
    #[must_use]
    pub fn with_parents(mut self, parents: Vec<SkillRef>) -> Self {
        self.parents = parents;
        self
    }

    /// The same with another provenance.
    #[must_use]
    pub fn with_provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    /// The same with another taint.
    #[must_use]
    pub fn with_taint(mut self, taint: Taint) -> Self {
        self.taint = taint;
        self
    }
}

impl Skill {
    /// The skill of a draft under a name: active, in version 1, of [`Origin::Seed`], with the name as its id. A title that is not the
    /// name is kept as the original name. Nothing is checked; [`Skill::new`] and
    /// [`to_skill`](crate::stations::admit::to_skill) check what a SKILL.md may hold.
    ///
    /// ```
    /// use journeyman::domain::{Skill, SkillDraft, SkillName};
    ///
    /// let draft = SkillDraft::new("Open the jar", "How to open a sealed jar.", "Warm the lid first.");
    /// let skill = Skill::of_draft(SkillName::new("open-the-jar")?, draft);
    /// assert_eq!(skill.id.as_str(), "open-the-jar");
    /// assert_eq!(skill.original_name.as_deref(), Some("Open the jar"));
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    pub fn of_draft(name: SkillName, draft: SkillDraft) -> Self {
        Self {
            id: SkillId::new(name.as_str()),
            version: Version(1),
            original_name: (draft.title != name.as_str()).then_some(draft.title),
            name,
            description: draft.description,
            kind: draft.kind,
            scope: draft.scope,
            state: State::Active,
            trigger: draft.trigger,
            body: draft.body,
            allowed_tools: Vec::new(),
            license: None,
            compatibility: None,
            metadata: draft.metadata,
            files: BTreeMap::new(),
            parents: Vec::new(),
            provenance: Provenance::new(Origin::Seed),
            taint: Taint::Clean,
        }
    }

    /// The same in another version, from 1.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<Version>) -> Self {
        self.version = version.into();
        self
    }

    /// The id and version.
    pub fn reference(&self) -> SkillRef {
        SkillRef {
            id: self.id.clone(),
            version: self.version,
        }
    }

    /// The SHA-256 of what an agent would read: name, description, trigger and body.
    pub fn content_sha256(&self) -> String {
        let trigger = self.trigger.as_deref().unwrap_or_default();
        sha256_hex(format!(
            "{}\0{}\0{trigger}\0{}",
            self.name, self.description, self.body
        ))
    }
}

/// The host's trust in a source.
#[non_exhaustive]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Anybody may have written it: skills distilled from it are tainted.
    #[default]
    Untrusted,
    /// The host trusts it.
    Trusted,
}
