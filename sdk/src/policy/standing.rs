//! What policies read of the recipe beside their own options.

use std::num::NonZeroU32;

use crate::{
    domain::{State, quarantine_policy::QuarantinePolicy},
    policy::{
        admit_policy::{AdmitPolicy, Duplicates, Identity},
        used_when::UsedWhen,
    },
};

/// How a maintenance program releases skills on trial ([`MaintenanceProgram::release`](crate::policy::MaintenanceProgram::release)).
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::policy::Release;
///
/// let two = NonZeroU32::new(2).expect("not 0");
/// assert_eq!(Release::by_cases(two).cases, Some(two));
/// assert_eq!(Release::by_live_attempts().cases, None);
/// assert!(Release::by_proof().proof);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Minimum number of different tasks at which a skill's test cases have to pass; `None` for no test cases: judgements and live
    /// attempts alone.
    pub cases: Option<NonZeroU32>,
    /// Whether a skill has to be proven to do better than what was before it: then no other program releases one.
    pub proof: bool,
}

impl Release {
    /// By test cases at so many different tasks; by live attempts at as many where the cases cannot be played.
    pub fn by_cases(tasks: NonZeroU32) -> Self {
        Self {
            cases: Some(tasks),
            proof: false,
        }
    }

    /// By judgements and live attempts alone.
    pub fn by_live_attempts() -> Self {
        Self::default()
    }

    /// By proof that more is done with it than with what was before.
    pub fn by_proof() -> Self {
        Self {
            cases: None,
            proof: true,
        }
    }
}

/// What policies read of the recipe beside their own options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standing {
    /// How drafts enter the library.
    pub(crate) admit: AdmitPolicy,
    /// When an injected skill counts as used.
    pub(crate) skill_use: UsedWhen,
    /// How skills in quarantine are tried; `None` where they are not.
    pub(crate) quarantine: Option<QuarantinePolicy>,
    /// How the first maintenance program that releases skills on trial does so; `None` where none does, and the run itself releases
    /// them by live attempts.
    pub(crate) release: Option<Release>,
}

impl Standing {
    /// Whether skills are released by proof alone.
    pub(crate) fn by_proof(&self) -> bool {
        self.release.is_some_and(|release| release.proof)
    }

    /// Minimum number of different tasks at which a skill's test cases have to pass; `None` where skills have none.
    pub(crate) fn cases(&self) -> Option<NonZeroU32> {
        self.release.and_then(|release| release.cases)
    }
}

impl Default for Standing {
    /// That of a run that was read and is not resolved yet.
    fn default() -> Self {
        Self {
            admit: AdmitPolicy {
                initial_state: State::Active,
                fallback_state: State::Trial,
                duplicates: Duplicates::Add,
                identity: Identity::Bytes,
                revive: false,
                rules: Vec::new(),
            },
            skill_use: UsedWhen::Injected,
            quarantine: None,
            release: None,
        }
    }
}
