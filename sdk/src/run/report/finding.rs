//! Findings: functions that the present configuration or a fault disables, each with the reason and a hint.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

/// The subject of a finding.
///
/// ```
/// use journeyman::run::report::FindingKind;
///
/// assert!(FindingKind::NeverInjects.is_warning());
/// // A host may well want a library that ends with its process.
/// assert!(!FindingKind::NoStore.is_warning());
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The host gave an executor without an environment, or an environment without an executor: the runtime cannot make attempts.
    /// A host that gave neither keeps its own loop, and gets no finding.
    NoAgent,
    /// The host gave an executor and an environment, and no judge: only outcomes that the host reports count.
    NoJudge,
    /// No skill is injected, for good or during a warm-up.
    NeverInjects,
    /// No skill is ever written.
    NeverWrites,
    /// Skills are not judged, refined or refactored, because no role can be asked.
    NoRoles,
    /// Test cases cannot be played or judged: live attempts decide instead.
    NothingReplays,
    /// The library cannot be changed.
    ReadOnly,
    /// The host gave no clock: time limits are not enforced.
    NoClock,
    /// The host gave no journal: runs cannot be resumed.
    NoJournal,
    /// The host gave no store: the library is lost when the process ends.
    NoStore,
    /// The recipe ranks by embeddings, and the host gave no embedder.
    NoEmbedder,
    /// Skills are in quarantine, and no policy of the recipe tries or releases them.
    Quarantined,
    /// Skills in use are proven on other models than the one that acts, and are offered to it in learning alone.
    ProvenElsewhere,
    /// Many attempts in learning had a skill, and none credited it or judged its effect.
    NeverCredited,
    /// Tasks take longer with a skill than those from which it was withheld at random
    /// ([`Lift::longer`](crate::stations::proof::Lift::longer)).
    TakesLonger,
    /// A run in the journal is not finished.
    UnfinishedRun,
    /// A host's part blocks its thread.
    BlockingPart,
    /// The gate's threshold was fitted for another model, adapter or prompt format: the gate injects nothing.
    OtherModel,
    /// The gate's absolute threshold was never fitted to the model that scores.
    Uncalibrated,
    /// The scores of the gate's decisions are no longer those that its threshold was fitted on.
    ScoresDrifted,
    /// Most of what a model writes cannot be read: it is too small for its job, or is asked in a form that it does not know.
    Unreadable,
    /// A policy failed.
    PolicyFailed,
    /// A group of one task was rolled out, and has no reward.
    GroupOfOne,
    /// The skills of a rollout were to be judged, and none could be: its reward lacks the term of content quality.
    NotReviewed,
}

impl FindingKind {
    /// Whether findings of this kind are logged as warnings. The other kinds may be intended by the host and are logged as
    /// information.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::NeverInjects
                | Self::NeverWrites
                | Self::NoRoles
                | Self::NoClock
                | Self::Quarantined
                | Self::ProvenElsewhere
                | Self::NeverCredited
                | Self::TakesLonger
                | Self::UnfinishedRun
                | Self::BlockingPart
                | Self::OtherModel
                | Self::Uncalibrated
                | Self::ScoresDrifted
                | Self::Unreadable
                | Self::PolicyFailed
                | Self::NotReviewed
        )
    }
}

/// One function that is disabled, the reason, and how to enable it.
///
/// [`Journeyman::open`](crate::run::Journeyman::open) checks a host's parts against the recipe. A finding that can arise only
/// later (a part that blocks, a skill in quarantine) is added when it arises. A finding that no longer holds is removed. Each
/// finding is logged once.
///
/// ```
/// use journeyman::{prelude::*, run::report::FindingKind};
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let findings = session.findings();
/// let finding = findings.iter().find(|one| one.kind == FindingKind::NoStore).expect("it has none");
/// println!("{finding}");
/// assert!(finding.hint.contains("Components::store"));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The subject.
    pub kind: FindingKind,
    /// The function that is disabled.
    pub consequence: String,
    /// The reason.
    pub reason: String,
    /// How to enable the function.
    pub hint: String,
    /// The part, run or skill, where a kind can have several findings.
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

/// The current findings, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Observed(Mutex<Vec<Finding>>);

impl Observed {
    /// Adds a finding and logs it, unless one of the same kind and subject is known.
    pub(crate) fn note(&self, finding: Finding) {
        let same = |one: &Finding| one.kind == finding.kind && one.about == finding.about;
        {
            // Released before the finding is logged: a subscriber may ask for the findings.
            let mut known = self.lock();
            if known.iter().any(same) {
                return;
            }
            known.push(finding.clone());
        }
        match finding.kind.is_warning() {
            true => tracing::warn!(kind = ?finding.kind, "{finding}"),
            false => tracing::info!(kind = ?finding.kind, "{finding}"),
        }
    }

    /// Replaces the findings for which `is_of_kind` holds by `now`.
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

    /// Removes a finding that no longer holds.
    pub(crate) fn forget(&self, kind: FindingKind, about: &str) {
        let is_it = |one: &Finding| one.kind == kind && one.about.as_deref() == Some(about);
        self.lock().retain(|one| !is_it(one));
    }

    /// All findings, in the order in which they arose.
    pub(crate) fn all(&self) -> Vec<Finding> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Finding>> {
        // Each change leaves the list consistent, so a poisoned lock can be used.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
