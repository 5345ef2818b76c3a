//! The library and its queries.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Committed, IndexUpdate, Skill, SkillName, SkillRef, State, Tier, TierPolicy},
    error::{Error, Result},
    id::{CommitKey, ModelId, Revision, SkillId, TaskId},
    library::{
        Entry, PassReason, Proof, SetBy, StandingWith,
        assigned::Assigned,
        keys::Keys,
        memory::{Memory, shared},
        rubrics::Rubrics,
        tiers::{self, Names, Shelf},
    },
};

/// The fold of a store's committed changes. The [module](crate::library) has the rules.
///
/// ```
/// use journeyman::{domain::{Revision, Cause, Committed, LibraryChange, TierPolicy}, library::SkillLibrary};
///
/// let mut tiers = TierPolicy::default();
/// tiers.cache = 5;
/// let changes = vec![LibraryChange::Configure(tiers)];
/// let committed = Committed::new(Revision(1), "first", Cause::new("a smaller cache"), changes);
/// let library = SkillLibrary::replay(&[committed])?;
/// assert_eq!(library.revision(), Revision(1));
/// assert_eq!(library.policy().cache, 5);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct SkillLibrary {
    pub(super) schema: u32,
    pub(super) origin: Option<CommitKey>,
    pub(super) revision: Revision,
    pub(super) steps: u64,
    pub(super) policy: TierPolicy,
    pub(super) entries: Shelf,
    pub(super) deleted: Shelf,
    /// The names of the entries; follow from them.
    #[serde(skip)]
    pub(super) names: Names,
    pub(super) passed_over: BTreeMap<PassReason, u64>,
    /// Shared with the copies of this library until one of them changes it.
    #[serde(serialize_with = "shared::serialize")]
    pub(super) memory: Arc<Memory>,
    #[serde(skip_serializing_if = "Rubrics::is_empty")]
    pub(super) rubrics: Rubrics,
    #[serde(skip_serializing_if = "Assigned::is_empty")]
    pub(super) assigned: Assigned,
    /// The keys of the last commits, by which an index knows a library that was put back.
    pub(super) keys: Keys,
}

impl Default for SkillLibrary {
    fn default() -> Self {
        Self::new()
    }
}

impl SkillLibrary {
    /// The library as if the current version of a skill were in use with this model, in the place of what was merged into it; `None` where
    /// there is no such skill.
    pub(crate) fn with_in_use(&self, skill: &SkillRef, model: Option<&ModelId>) -> Option<Self> {
        let mut library = self.clone();
        let entry = library.entries.get_mut(&skill.id)?;
        entry.skill.state = State::Active;
        if let Some(model) = model {
            entry.life.prove(Proof {
                version: skill.version,
                model: model.clone(),
                helps: true,
                run: None,
            });
        }
        library.archive_sources(&skill.id, &SetBy::Host);
        Some(library)
    }

    /// The library with each version that is on trial, or not in use with this model, replaced by the latest one that it was made from
    /// and that is in use with it, where there is one; where there is none, what gave way to it is back in its place. An evaluation is made
    /// with this library where skills are released by proof.
    pub(crate) fn with_versions_in_use(mut self, model: Option<&ModelId>) -> Self {
        self.bring_back_sources(model);
        let in_use = self.entries.values().filter_map(|entry| {
            let is_in_use = match entry.skill.state {
                State::Active => stands_in_use(entry, &entry.skill, model),
                state => state != State::Trial,
            };
            // Another skill may have the old name by now.
            let name = entry.skill.name.clone();
            let before = before_in_use(entry, model).filter(|_| !is_in_use)?.clone();
            Some(Skill { name, ..before })
        });
        let in_use: Vec<Skill> = in_use.collect();
        for skill in in_use {
            if let Some(entry) = self.entries.get_mut(&skill.id) {
                entry.sha256 = skill.content_sha256();
                entry.skill = skill;
            }
        }
        self
    }

    /// Brings back what gave way to merged skills that are in use with other models alone: their proof takes nothing from this one.
    fn bring_back_sources(&mut self, model: Option<&ModelId>) {
        loop {
            let library = &*self;
            let of_others = library.entries().filter(|entry| {
                entry.skill.state == State::Active
                    && !stands_in_use(entry, &entry.skill, model)
                    && before_in_use(entry, model).is_none()
            });
            let sources = of_others.flat_map(|merged| library.gave_way_to(&merged.skill.id));
            let sources: Vec<SkillId> = sources.map(|source| source.skill.id.clone()).collect();
            // One that is back may be a merge itself.
            if sources.is_empty() {
                return;
            }
            for id in &sources {
                if let Some(source) = self.entries.get_mut(id)
                    && let Some(from) = source.merged.as_ref().map(|merged| merged.from)
                {
                    source.skill.state = from;
                    source.tier = tiers::entered(from);
                }
            }
        }
    }

    /// Whether what a skill does at this task is part of how it came about: a version of it, or of a skill that it was made from, was
    /// written from the task, is tested by it, or was compared at it.
    pub(crate) fn is_made_with(&self, skill: &SkillId, task: &TaskId) -> bool {
        let (mut open, mut seen) = (vec![skill], BTreeSet::from([skill]));
        while let Some(id) = open.pop() {
            let Some(entry) = self.get(id).or_else(|| self.deleted.get(id)) else {
                continue;
            };
            let (mut versions, life) = (entry.versions(), &entry.life);
            if versions.any(|version| version.provenance.tasks.contains(task))
                || life.bundle.iter().any(|one| one.case.task.id == *task)
                || life.compared.iter().any(|one| one.pair.task == *task)
            {
                return true;
            }
            let parents = entry.versions().flat_map(|version| &version.parents);
            let parents = parents.map(|parent| &parent.id);
            open.extend(parents.filter(|id| seen.insert(*id)));
        }
        false
    }

    /// The version of the JSON form.
    pub const SCHEMA: u32 = 6;

    /// An empty library at revision 0 with the paper's tiers.
    pub fn new() -> Self {
        Self {
            schema: Self::SCHEMA,
            origin: None,
            revision: Revision(0),
            steps: 0,
            policy: TierPolicy::default(),
            entries: Shelf::default(),
            deleted: Shelf::default(),
            names: Names::default(),
            passed_over: BTreeMap::new(),
            memory: Arc::default(),
            rubrics: Rubrics::default(),
            assigned: Assigned::default(),
            keys: Keys::default(),
        }
    }

    /// Folds everything that a store committed.
    ///
    /// # Errors
    /// As [`SkillLibrary::apply`].
    pub fn replay(committed: &[Committed]) -> Result<Self> {
        let mut library = Self::new();
        for commit in committed {
            library.apply(commit)?;
        }
        Ok(library)
    }

    /// The library's identity: the key of its first commit. `None` while it is empty.
    pub fn origin(&self) -> Option<&CommitKey> {
        self.origin.as_ref()
    }

    /// The number of commits folded so far.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The number of tasks that were learned from: the number of commits whose cause names a task.
    pub fn tasks_learned(&self) -> u64 {
        self.steps
    }

    /// The policy of the tiers.
    pub fn policy(&self) -> &TierPolicy {
        &self.policy
    }

    /// A skill by its id, in any tier.
    pub fn get(&self, id: &SkillId) -> Option<&Entry> {
        self.entries.get(id)
    }

    /// A skill by its name; names are unique among the skills that are not deleted.
    pub fn by_name(&self, name: &SkillName) -> Option<&Entry> {
        self.get(self.names.get(name)?)
    }

    /// A skill in one version, the current one or an earlier one, deleted or not.
    pub fn version(&self, skill: &SkillRef) -> Option<&Skill> {
        let entry = self
            .get(&skill.id)
            .or_else(|| self.deleted.get(&skill.id))?;
        let mut versions = entry.versions().rev();
        versions.find(|version| version.version == skill.version)
    }

    /// The deleted skills, by id, as they were when they were deleted.
    pub fn deleted(&self) -> impl Iterator<Item = &Entry> {
        self.deleted.values()
    }

    /// Every skill, by id.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Number of skills in use: active or on trial.
    pub fn in_use(&self) -> u64 {
        let offered = self
            .entries()
            .filter(|entry| entry.skill.state.is_offered());
        offered.count() as u64
    }

    /// The skills that are offered, by id: the pool of retrieval and of exploration. Between an `Add` and the
    /// next `Maintain` there may be more of them than the policy's cache.
    pub fn cache(&self) -> impl Iterator<Item = &Entry> {
        self.tier(Tier::Cache)
    }

    /// The offered skills that the cache has no room for, by id.
    pub fn reservoir(&self) -> impl Iterator<Item = &Entry> {
        self.tier(Tier::Reservoir)
    }

    /// The skills of one tier, by id.
    pub fn tier(&self, tier: Tier) -> impl Iterator<Item = &Entry> {
        self.entries().filter(move |entry| entry.tier == tier)
    }

    /// The update of an index from a revision of this library to the current one.
    ///
    /// # Errors
    /// `Invalid` for a revision that this library has not reached.
    pub fn update_since(&self, since: Revision) -> Result<IndexUpdate> {
        if since > self.revision {
            return Err(Error::invalid(
                "SkillLibrary::update_since",
                "the library has not reached that revision",
            )
            .with("since", since)
            .with("revision", self.revision)
            .hint("the index is of another library or of a later state: make it anew"));
        }
        let later = |entry: &&Entry| entry.changed_at > since;
        let changed = self.entries().filter(later);
        let gone = self.deleted().filter(later);
        Ok(IndexUpdate {
            library: self.origin.clone(),
            since,
            revision: self.revision,
            keys: self.keys.last_and(since),
            changed: changed.map(|entry| entry.skill.clone()).collect(),
            gone: gone.map(|entry| entry.skill.id.clone()).collect(),
        })
    }

    /// The skills that were changed, added or removed since an earlier state of this library; a credit is a change too. Cheap
    /// where one state was folded from the other, since they share equal entries.
    pub fn changed_from<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a SkillId> {
        self.entries.unlike(&before.entries)
    }

    /// Numbers of the changes without effect, by reason.
    pub fn passed_over(&self) -> &BTreeMap<PassReason, u64> {
        &self.passed_over
    }

    /// The library as JSON: the same library gives the same bytes.
    ///
    /// # Errors
    /// `Internal`, where it cannot be written, which no library does.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|source| {
            Error::internal("SkillLibrary::to_json", "the library cannot be written")
                .source_from(source)
        })
    }

    /// A library from its JSON.
    ///
    /// # Errors
    /// `Corrupt` where it is not a library's JSON; `Unsupported` for another version of the form.
    pub fn from_json(json: &str) -> Result<Self> {
        let corrupt = || {
            Error::corrupt("SkillLibrary::from_json", "this is no saved library")
                .hint("replay the store's commits instead")
        };
        // Another version of the form may have other fields.
        #[derive(Deserialize)]
        struct Form {
            schema: u32,
        }
        let form: Form =
            serde_json::from_str(json).map_err(|source| corrupt().source_from(source))?;
        if form.schema != Self::SCHEMA {
            return Err(Error::unsupported(
                "SkillLibrary::from_json",
                format!(
                    "the form is of version {}, and this SDK reads {}",
                    form.schema,
                    Self::SCHEMA
                ),
            ));
        }
        serde_json::from_str(json).map_err(|source| corrupt().source_from(source))
    }
}

/// Whether a version that is active, or was, is in use with this model.
fn stands_in_use(entry: &Entry, version: &Skill, model: Option<&ModelId>) -> bool {
    entry.life.standing_with(version.version, model) == StandingWith::InUse
}

/// The latest version that the current one was made from and that is in use with this model.
fn before_in_use<'a>(entry: &'a Entry, model: Option<&ModelId>) -> Option<&'a Skill> {
    let mut before = entry.actives_made_from();
    before.find(|one| stands_in_use(entry, one, model))
}

/// The JSON form of a library.
#[derive(Deserialize)]
struct Saved {
    schema: u32,
    origin: Option<CommitKey>,
    revision: Revision,
    steps: u64,
    policy: TierPolicy,
    entries: Shelf,
    deleted: Shelf,
    passed_over: BTreeMap<PassReason, u64>,
    memory: Memory,
    #[serde(default)]
    rubrics: Rubrics,
    #[serde(default)]
    assigned: Assigned,
    keys: Keys,
}

impl TryFrom<Saved> for SkillLibrary {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        saved.policy.validate()?;
        let names = Names::of(&saved.entries);
        let fits = |entry: &Entry| {
            let aside = entry.tier == Tier::Aside;
            let named = names.get(&entry.skill.name) == Some(&entry.skill.id);
            named && aside != entry.skill.state.is_offered()
        };
        let sound = saved.entries.values().all(fits);
        let begun = saved.origin.is_some() == (saved.revision > Revision(0))
            && saved.keys.last() == saved.revision;
        if saved.schema != Self::SCHEMA || !sound || !begun {
            return Err(Error::corrupt(
                "SkillLibrary::try_from",
                "the parts of this saved library do not fit together",
            ));
        }
        Ok(Self {
            schema: saved.schema,
            origin: saved.origin,
            revision: saved.revision,
            steps: saved.steps,
            policy: saved.policy,
            entries: saved.entries,
            deleted: saved.deleted,
            names,
            passed_over: saved.passed_over,
            memory: Arc::new(saved.memory),
            rubrics: saved.rubrics,
            assigned: saved.assigned,
            keys: saved.keys,
        })
    }
}
