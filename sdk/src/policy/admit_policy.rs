//! The options of admission: duplicates, which skills are the same, first state, revival. The public paths are those of
//! [`admit`](crate::stations::admit).

use serde::{Deserialize, Serialize};

use crate::{
    domain::State,
    error::{Error, Result},
    policy::named::Policy,
};

/// What happens to a draft whose title or content the library already has.
///
/// ```
/// use journeyman::{recipe, stations::admit::Duplicates};
///
/// let mut recipe = recipe::standard();
/// assert_eq!(recipe.admit.duplicates, Duplicates::Revise);
/// recipe.admit.duplicates = Duplicates::Distinct;
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
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

/// When a draft is a skill that the library has. Equal descriptions and bodies always are the same skill.
///
/// ```
/// use journeyman::{stations::admit::Identity, recipe};
///
/// let mut recipe = recipe::hisme();
/// assert_eq!(recipe.admit.identity, Identity::Bytes);
/// // A model that samples writes one skill in many wordings.
/// recipe.admit.identity = Identity::MEANING;
/// recipe.validate()?;
/// recipe.admit.identity = Identity::Meaning { least: 1.5 };
/// assert!(recipe.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Equal bytes alone, as in the papers.
    #[default]
    Bytes,
    /// Equal bytes, or the same names, numbers and order of steps
    /// ([`Anchors::agrees`](crate::stations::admit::Anchors::agrees)) in texts whose embeddings are near. A skill with another tool,
    /// another value, or a step more or less is another skill, however near the texts are. Texts that name two tools or more in the
    /// same order need 0.15 less: two writers choose other words around the same calls.
    ///
    /// The embeddings are those of the host's [`Embedder`](crate::contract::Embedder); without one, and where it fails, those of
    /// `agent::HashedEmbedder`.
    Meaning {
        /// Minimum cosine of the embeddings of description and body, in [-1, 1].
        least: f64,
    },
}

impl Identity {
    /// By meaning, with the threshold that was measured on paraphrases (`docs/results/identity.md`).
    pub const MEANING: Self = Self::Meaning { least: 0.35 };

    /// # Errors
    /// `Invalid` for a threshold out of its range.
    pub(crate) fn validate(&self) -> Result<()> {
        match self {
            Self::Meaning { least } if !(-1.0..=1.0).contains(least) => {
                Err(Error::invalid("Recipe::validate", "a cosine is in [-1, 1]")
                    .with("field", "admit.identity.least"))
            }
            _ => Ok(()),
        }
    }
}

/// How drafts enter the library. Each recipe has one, which a host changes.
///
/// ```
/// use journeyman::{
///     stations::admit::{Duplicates, Identity},
///     domain::State,
///     recipe,
/// };
///
/// let mut recipe = recipe::hisme();
/// recipe.admit.initial_state = State::Trial;
/// recipe.admit.duplicates = Duplicates::Distinct;
/// recipe.admit.identity = Identity::MEANING;
/// recipe.admit.revive = true;
/// recipe.validate()?;
/// // No attempt is given an archived skill, so none may begin as one.
/// recipe.admit.initial_state = State::Archived;
/// assert!(recipe.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmitPolicy {
    /// The state of a skill that a run adds: active at once, or on trial until its test bundle and live attempts release it.
    /// With [`State::Trial`] and `papers::hisme::MicroPolicy::bundles` a curator's update of an active
    /// skill is a draft, and the version before stays in use, until micro maintenance has tested it (HiSME, row H6).
    #[serde(default)]
    pub initial_state: State,
    /// The state of a skill that no model wrote: the abstraction of an attempt where the writer's answer could not be read (ARISE D.1).
    /// `recipe::arise`: active, as the paper adds it. Ours: on trial.
    #[serde(default = "on_trial")]
    pub fallback_state: State,
    /// What happens to a draft whose title or content the library already has.
    pub duplicates: Duplicates,
    /// When a draft is the same skill as a known one. It also says which versions make one row of a replay buffer
    /// (`papers::hisme::EvolvePolicy`). The papers: equal bytes. Ours: by meaning, since a model that samples
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
