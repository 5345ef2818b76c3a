//! What will not happen with a host's parts, and why.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

/// What a finding is about.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The host gave no agent or no world: the runtime makes no attempts itself.
    NoAgent,
    /// The host gave no judge: only outcomes that the host reports count.
    NoJudge,
    /// No skill is ever injected, or not yet.
    NeverInjects,
    /// No skill is ever written.
    NeverWrites,
    /// Skills are not judged, repaired or refactored, since no role can be asked.
    NoRoles,
    /// Test bundles cannot run: live attempts decide instead.
    NothingReplays,
    /// The library cannot be changed.
    ReadOnly,
    /// Deadlines are not kept.
    NoClock,
    /// Runs cannot be resumed.
    NoJournal,
    /// The library ends with the process.
    NoStore,
    /// Something that the recipe weighs is not there.
    NoEmbedder,
    /// Skills are held back and nothing in the recipe lifts that.
    Quarantined,
    /// A run was begun and not finished.
    UnfinishedRun,
    /// A part of the host blocks its thread.
    BlockingPart,
    /// The gate's thresholds were fitted for another model.
    OtherModel,
    /// A policy failed.
    PolicyFailed,
}

impl FindingKind {
    /// Whether it is logged as a warning; the others are what a host may well have meant.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::NeverInjects
                | Self::NeverWrites
                | Self::NoRoles
                | Self::NoClock
                | Self::Quarantined
                | Self::UnfinishedRun
                | Self::BlockingPart
                | Self::OtherModel
                | Self::PolicyFailed
        )
    }
}

/// One thing that does not happen, the reason, and what to do about it.
///
/// [`Journeyman::open`](crate::run::Journeyman::open) checks a host's parts against the recipe; what shows only later (a
/// part that blocks, a skill in quarantine) is added when it shows, and what holds no longer is removed. Each is logged once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// What will not happen.
    pub consequence: String,
    /// Why.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
    /// Which part, run or skill, where there are several of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

impl Finding {
    pub(crate) fn new(
        kind: FindingKind,
        consequence: impl Into<String>,
        reason: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            consequence: consequence.into(),
            reason: reason.into(),
            hint: hint.into(),
            about: None,
        }
    }

    pub(crate) fn about(mut self, what: impl Into<String>) -> Self {
        self.about = Some(what.into());
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            consequence,
            reason,
            hint,
            ..
        } = self;
        write!(f, "{consequence}: {reason}; {hint}")
    }
}

/// The findings so far, each once.
#[derive(Debug, Default)]
pub(crate) struct Observed(Mutex<Vec<Finding>>);

impl Observed {
    /// Takes a finding in and logs it, unless it is known.
    pub(crate) fn note(&self, finding: Finding) {
        let mut known = self.lock();
        let same = |one: &Finding| one.kind == finding.kind && one.about == finding.about;
        if !known.iter().any(same) {
            match finding.kind.is_warning() {
                true => tracing::warn!(kind = ?finding.kind, "{finding}"),
                false => tracing::info!(kind = ?finding.kind, "{finding}"),
            }
            known.push(finding);
        }
    }

    /// Puts what holds now in the place of the findings of a kind.
    pub(crate) fn renew(
        &self,
        is_of_kind: impl Fn(&Finding) -> bool,
        now: impl IntoIterator<Item = Finding>,
    ) {
        let mut now: Vec<Finding> = now.into_iter().collect();
        self.lock().retain_mut(|known| {
            if !is_of_kind(known) {
                return true;
            }
            let same = |one: &Finding| one.kind == known.kind && one.about == known.about;
            let place = now.iter().position(same);
            place.map(|place| *known = now.swap_remove(place)).is_some()
        });
        now.into_iter().for_each(|finding| self.note(finding));
    }

    /// Forgets what holds no longer.
    pub(crate) fn forget(&self, kind: FindingKind, about: &str) {
        let is_it = |one: &Finding| one.kind == kind && one.about.as_deref() == Some(about);
        self.lock().retain(|one| !is_it(one));
    }

    /// All of them, in the order in which they showed.
    pub(crate) fn all(&self) -> Vec<Finding> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Finding>> {
        // A finding is put there whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
