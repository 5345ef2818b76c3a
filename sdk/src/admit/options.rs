//! How drafts enter the library.

use serde::{Deserialize, Serialize};

use crate::domain::State;

/// What happens to a draft whose title the library already has.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// It is added beside the other (ARISE).
    Add,
    /// It is added beside the other, unless a skill that is there says the same.
    Distinct,
    /// The same content is refused; other content becomes a new version. Ours.
    Revise,
}

/// How drafts enter the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmitPolicy {
    /// The state of a skill that a run adds: active at once, or on trial until its test bundle and live attempts release it.
    #[serde(default)]
    pub initial_state: State,
    /// What happens to a draft whose title is taken.
    pub duplicates: Duplicates,
    /// Whether a skill that a run disabled comes back, as its own next version, when it is written again from another task
    /// ([`Duplicates::Distinct`] alone). The paper (HiSME): no. Ours: yes, since a judge's mistakes disable right skills too.
    pub revive: bool,
}
