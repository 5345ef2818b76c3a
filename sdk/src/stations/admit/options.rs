//! The options of admission: duplicates, first state, revival.

use serde::{Deserialize, Serialize};

use super::Identity;
use crate::{domain::State, policy::Policy};

/// What happens to a draft whose title or content the library already has.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// It is added as a skill of its own (ARISE).
    Add,
    /// It is added as a skill of its own, unless the library has the same skill ([`AdmitPolicy::identity`]).
    Distinct,
    /// It becomes a new version of the skill of its title. It is refused if that is the same skill, or if another skill is the
    /// same by meaning ([`AdmitPolicy::identity`]). Ours.
    Revise,
}

/// How drafts enter the library.
///
/// ```
/// use journeyman::{
///     stations::admit::{AdmitPolicy, Duplicates, Identity},
///     domain::State,
///     recipe,
/// };
///
/// let mut recipe = recipe::hisme();
/// recipe.admit = AdmitPolicy {
///     initial_state: State::Trial,
///     fallback_state: State::Trial,
///     duplicates: Duplicates::Distinct,
///     identity: Identity::MEANING,
///     revive: true,
///     rules: Vec::new(),
/// };
/// recipe.validate()?;
/// // No attempt is given an archived skill, so none may begin as one.
/// recipe.admit.initial_state = State::Archived;
/// assert!(recipe.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmitPolicy {
    /// The state of a skill that a run adds: active at once, or on trial until its test bundle and live attempts release it.
    /// With [`State::Trial`] and [`Maintenance::bundles`](crate::stations::maintain::Maintenance::bundles) a curator's update of an active
    /// skill is a draft, and the version before stays in use, until micro maintenance has tested it (HiSME, row H6).
    #[serde(default)]
    pub initial_state: State,
    /// The state of a skill that no model wrote: the abstraction of an attempt where the writer's answer could not be read (ARISE D.1).
    /// [`recipe::arise`](crate::recipe::arise): active, as the paper adds it. Ours: on trial.
    #[serde(default = "on_trial")]
    pub fallback_state: State,
    /// What happens to a draft whose title or content the library already has.
    pub duplicates: Duplicates,
    /// When a draft is the same skill as a known one. It also says which versions make one row of a replay buffer
    /// ([`EvolvePolicy`](crate::stations::maintain::EvolvePolicy)). The papers: equal bytes. Ours: by meaning, since a model that samples
    /// hardly writes the same bytes twice.
    #[serde(default)]
    pub identity: Identity,
    /// Whether a skill that a run disabled comes back, as its own next version, when it is written again from another task
    /// ([`Duplicates::Distinct`] alone). The paper (HiSME): no. Ours: yes, since a judge's mistakes disable right skills too.
    pub revive: bool,
    /// Rules of the host's own, by the names under which they are registered ([`AdmitRule`](crate::policy::AdmitRule)). All are asked
    /// about each skill that would enter, in this order, after all of the above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Policy>,
}

fn on_trial() -> State {
    State::Trial
}
