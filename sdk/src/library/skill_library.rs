//! The library and what can be asked of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Entry, PassReason, Tier, entry::Deleted};
use crate::{
    domain::{Committed, Skill, SkillName, SkillRef, TierPolicy},
    error::{Error, ErrorKind, Result},
    id::{Revision, SkillId},
};

/// What a store's committed changes add up to. The [module](crate::library) tells the rules.
///
/// ```
/// use journeyman::{Revision, domain::{Cause, Committed, LibraryChange, TierPolicy}, library::SkillLibrary};
///
/// let committed = Committed {
///     revision: Revision(1),
///     key: "first".into(),
///     cause: Cause { run: None, task: None, reason: "a smaller cache".into() },
///     changes: vec![LibraryChange::Configure(TierPolicy { cache: 5, ..TierPolicy::default() })],
/// };
/// let library = SkillLibrary::replay(&[committed])?;
/// assert_eq!(library.revision(), Revision(1));
/// assert_eq!(library.policy().cache, 5);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillLibrary {
    pub(super) schema: u32,
    pub(super) revision: Revision,
    pub(super) steps: u64,
    pub(super) policy: TierPolicy,
    pub(super) entries: BTreeMap<SkillId, Entry>,
    pub(super) deleted: BTreeMap<SkillId, Deleted>,
    pub(super) passed_over: BTreeMap<PassReason, u64>,
}

impl Default for SkillLibrary {
    fn default() -> Self {
        Self::new()
    }
}

impl SkillLibrary {
    /// The version of the JSON form.
    pub const SCHEMA: u32 = 1;

    /// An empty library at revision 0 with the paper's tiers.
    pub fn new() -> Self {
        Self {
            schema: Self::SCHEMA,
            revision: Revision(0),
            steps: 0,
            policy: TierPolicy::default(),
            entries: BTreeMap::new(),
            deleted: BTreeMap::new(),
            passed_over: BTreeMap::new(),
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

    /// The number of commits folded so far.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The number of tasks that were learned from: of commits whose cause names one.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The tiers' numbers in force.
    pub fn policy(&self) -> &TierPolicy {
        &self.policy
    }

    /// A skill by its id, wherever it is kept.
    pub fn get(&self, id: &SkillId) -> Option<&Entry> {
        self.entries.get(id)
    }

    /// A skill by its name; names are unique among the skills that are there.
    pub fn by_name(&self, name: &SkillName) -> Option<&Entry> {
        self.entries().find(|entry| entry.skill.name == *name)
    }

    /// A skill in one version, the current one or an earlier one.
    pub fn version(&self, skill: &SkillRef) -> Option<&Skill> {
        let entry = self.get(&skill.id)?;
        std::iter::once(&entry.skill)
            .chain(&entry.history)
            .find(|version| version.version == skill.version)
    }

    /// Every skill, by id.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
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

    /// How many changes were passed over, by reason.
    pub fn passed_over(&self) -> &BTreeMap<PassReason, u64> {
        &self.passed_over
    }

    /// The library as JSON: the same library gives the same bytes.
    ///
    /// # Errors
    /// `Internal`, where it cannot be written, which no library does.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|source| {
            Error::new(
                ErrorKind::Internal,
                "SkillLibrary::to_json",
                "the library cannot be written",
            )
            .source_from(source)
        })
    }

    /// A library from its JSON.
    ///
    /// # Errors
    /// `Corrupt` where it is not a library's JSON; `Unsupported` for another version of the form.
    pub fn from_json(json: &str) -> Result<Self> {
        let corrupt = || {
            Error::new(
                ErrorKind::Corrupt,
                "SkillLibrary::from_json",
                "this is no saved library",
            )
            .hint("replay the store's commits instead")
        };
        let library: Self =
            serde_json::from_str(json).map_err(|source| corrupt().source_from(source))?;
        if library.schema != Self::SCHEMA {
            return Err(Error::unsupported(
                "SkillLibrary::from_json",
                format!(
                    "the form is of version {}, and this SDK reads {}",
                    library.schema,
                    Self::SCHEMA
                ),
            ));
        }
        library
            .policy
            .validate()
            .map_err(|source| corrupt().source_from(source))?;
        let keyed = library.entries.iter().all(|(id, entry)| {
            *id == entry.skill.id && (entry.tier == Tier::Aside) != entry.skill.state.is_offered()
        });
        keyed.then_some(library).ok_or_else(corrupt)
    }
}
