//! What a skill's life leaves behind beside rewards (HiSME 3.3, Eq. 12): exposures, judgements, its bundle.

use std::{collections::BTreeSet, ops::AddAssign};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Attribution, BundleCase, CaseOutcome, ExposureOutcome, InformationGain, Judgement},
    id::{AttemptId, RunId, Version},
};

/// The greatest number of cases of a bundle; of more, the oldest integration and negative cases go first.
const MOST_CASES: usize = 12;

/// How often a skill was found, given and used (H8), in any of its versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetime {
    /// In how many attempts it was among those that were found.
    pub retrieved: u64,
    /// In how many it stood in the prompt.
    pub injected: u64,
    /// In how many the agent said that it used it.
    pub used: u64,
}

/// A judgement, and the run that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The judgement.
    pub attribution: Attribution,
    /// The run that made it, if one did.
    pub run: Option<RunId>,
}

/// A case of the bundle, and the run that put it there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundledCase {
    /// The case.
    pub case: BundleCase,
    /// The run that put it there, if one did.
    pub run: Option<RunId>,
}

/// What came of a version's cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// Which version.
    pub version: Version,
    /// Case by case.
    pub outcomes: Vec<CaseOutcome>,
    /// The run that tested it, if one did.
    pub run: Option<RunId>,
}

/// What was measured of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gained {
    /// Which version.
    pub version: Version,
    /// How much its text raises the model's confidence in what was done successfully.
    pub gain: InformationGain,
    /// The run that measured it, if one did.
    pub run: Option<RunId>,
}

impl Tested {
    /// How many cases passed.
    pub fn passed(&self) -> usize {
        let passed = |outcome: &&CaseOutcome| outcome.has_passed();
        self.outcomes.iter().filter(passed).count()
    }
}

/// How often a version was judged what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgementCounts {
    /// Helpful.
    pub helpful: u32,
    /// Harmful.
    pub harmful: u32,
    /// Neutral.
    pub neutral: u32,
    /// Uncertain.
    pub uncertain: u32,
}

impl JudgementCounts {
    /// All of them.
    pub fn total(&self) -> u32 {
        self.helpful + self.harmful + self.neutral + self.uncertain
    }

    fn count(&mut self, judgement: Judgement) {
        match judgement {
            Judgement::Helpful => self.helpful += 1,
            Judgement::Harmful => self.harmful += 1,
            Judgement::Neutral => self.neutral += 1,
            Judgement::Uncertain => self.uncertain += 1,
        }
    }
}

impl AddAssign for JudgementCounts {
    fn add_assign(&mut self, more: Self) {
        self.helpful += more.helpful;
        self.harmful += more.harmful;
        self.neutral += more.neutral;
        self.uncertain += more.uncertain;
    }
}

fn count<'a>(judgements: impl Iterator<Item = &'a Attribution>) -> JudgementCounts {
    let mut counts = JudgementCounts::default();
    judgements.for_each(|told| counts.count(told.judgement));
    counts
}

/// An exposure that counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Exposed {
    pub(super) attempt: AttemptId,
    pub(super) version: Version,
    pub(super) injected: bool,
    pub(super) used: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<ExposureOutcome>,
    pub(super) run: Option<RunId>,
}

/// What live attempts say of a version, where nothing can be played again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveEvidence {
    /// At how many different tasks an attempt with it was done without a refused action.
    pub tasks: u32,
    /// How many attempts with it were done.
    pub done: u32,
    /// How many were not.
    pub failed: u32,
}

/// The run that set a skill's state, with the version that the skill had.
///
/// In JSON an array: the version, then the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Version, RunId)", into = "(Version, RunId)")]
pub struct StateSetter {
    /// The version whose state was set.
    pub version: Version,
    /// The run that set it.
    pub run: RunId,
}

impl From<(Version, RunId)> for StateSetter {
    fn from((version, run): (Version, RunId)) -> Self {
        Self { version, run }
    }
}

impl From<StateSetter> for (Version, RunId) {
    fn from(setter: StateSetter) -> Self {
        (setter.version, setter.run)
    }
}

/// What a skill's life leaves behind beside rewards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// The judgements, oldest first, of every version.
    pub judged: Vec<Judged>,
    /// The cases that it has to pass, oldest first.
    pub bundle: Vec<BundledCase>,
    /// What came of them when they ran last.
    pub tested: Option<Tested>,
    /// Its information gain when that was measured last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gained: Option<Gained>,
    /// The run that set the state last; `None` where the host set it, or where it is as it was when the skill was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_set_by: Option<StateSetter>,
    /// By attempt and version.
    pub(super) exposed: BTreeSet<Exposed>,
    /// The attempts before the latest trial, where a trial was begun again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    past: BTreeSet<AttemptId>,
}

impl Life {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How often it was found, given and used.
    pub fn lifetime(&self) -> Lifetime {
        let mut lifetime = Lifetime::default();
        for exposed in &self.exposed {
            lifetime.retrieved += 1;
            lifetime.injected += u64::from(exposed.injected);
            lifetime.used += u64::from(exposed.used);
        }
        lifetime
    }

    /// What the attempts with a version came to, of those that stood in the prompt while it was on trial; with `used` of
    /// those alone that said that they used it.
    pub fn live(&self, version: Version, used: bool) -> LiveEvidence {
        let of_version = self.exposed.iter();
        let of_version =
            of_version.filter(|one| one.version == version && !self.past.contains(&one.attempt));
        let given = of_version.filter(|one| if used { one.used } else { one.injected });
        let mut live = LiveEvidence::default();
        let mut tasks = BTreeSet::new();
        for outcome in given.filter_map(|one| one.outcome.as_ref()) {
            live.done += u32::from(outcome.success);
            live.failed += u32::from(!outcome.success);
            if outcome.success && outcome.refused == 0 {
                tasks.insert(&outcome.task);
            }
        }
        live.tasks = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        live
    }

    /// Begins a new trial: attempts and judgements of an earlier one say nothing in it, since somebody had reason to try the
    /// skill again, and its bundle has to pass anew.
    pub(super) fn begin_trial(&mut self) {
        let exposed = self.exposed.iter().map(|one| &one.attempt);
        let judged = self.judged.iter().map(|one| &one.attribution.attempt);
        self.past.extend(exposed.chain(judged).cloned());
        self.tested = None;
    }

    /// How often a version was judged what, since its latest trial began: each version begins anew (algorithm 4: a refined
    /// skill's counts are reset).
    pub fn counts(&self, version: Version) -> JudgementCounts {
        self.latest_counts(version, usize::MAX)
    }

    /// The same of its latest judgements alone, so many at most.
    pub fn latest_counts(&self, version: Version, most: usize) -> JudgementCounts {
        let judged = self.judged_of(version);
        count(
            judged
                .filter(|told| !self.past.contains(&told.attempt))
                .take(most),
        )
    }

    /// How often a version was judged what, in all its trials.
    pub fn counts_of_all_trials(&self, version: Version) -> JudgementCounts {
        count(self.judged_of(version))
    }

    /// The judgements since the latest trial began, oldest first, of every version.
    pub fn judged_in_trial(&self) -> impl Iterator<Item = &Attribution> {
        let judged = self.judged.iter().map(|judged| &judged.attribution);
        judged.filter(|told| !self.past.contains(&told.attempt))
    }

    /// The judgements of a version, the latest first.
    fn judged_of(&self, version: Version) -> impl Iterator<Item = &Attribution> {
        let judged = self.judged.iter().rev().map(|judged| &judged.attribution);
        judged.filter(move |told| told.skill.version == version)
    }

    /// Whether the version passed its whole bundle when that ran last; `None` where it never ran.
    pub fn passes(&self, version: Version) -> Option<bool> {
        let tested = self.tested.as_ref()?;
        (tested.version == version).then(|| tested.passed() == tested.outcomes.len())
    }

    /// Takes a judgement in, unless the attempt judged this version before.
    pub(super) fn judge(&mut self, judged: Judged) -> bool {
        let same = |known: &Judged| {
            let (known, new) = (&known.attribution, &judged.attribution);
            known.attempt == new.attempt && known.skill == new.skill
        };
        let new = !self.judged.iter().any(same);
        if new {
            self.judged.push(judged);
        }
        new
    }

    /// Takes an exposure in, unless the attempt exposed this version before.
    pub(super) fn expose(&mut self, exposed: Exposed) -> bool {
        let same =
            |known: &Exposed| known.attempt == exposed.attempt && known.version == exposed.version;
        let new = !self.exposed.iter().any(same);
        new && self.exposed.insert(exposed)
    }

    pub(super) fn patch(&mut self, cases: &[BundleCase], dropped: &[String], run: Option<&RunId>) {
        self.bundle
            .retain(|known| !dropped.contains(&known.case.name));
        for case in cases {
            self.bundle.retain(|known| known.case.name != case.name);
            self.bundle.push(BundledCase {
                case: case.clone(),
                run: run.cloned(),
            });
        }
        while self.bundle.len() > MOST_CASES {
            let unit = crate::domain::CaseKind::Unit;
            let whole = self.bundle.iter().position(|known| known.case.kind != unit);
            self.bundle.remove(whole.unwrap_or(0));
        }
    }

    pub(super) fn is_touched_by(&self, run: &RunId) -> bool {
        let judged = self.judged.iter().map(|judged| &judged.run);
        let bundled = self.bundle.iter().map(|bundled| &bundled.run);
        let exposed = self.exposed.iter().map(|exposed| &exposed.run);
        let tested = self.tested.iter().map(|tested| &tested.run);
        let gained = self.gained.iter().map(|gained| &gained.run);
        let all = judged.chain(bundled).chain(exposed);
        let mut runs = all.chain(tested).chain(gained);
        runs.any(|made| made.as_ref() == Some(run))
    }

    /// Takes a run's word back.
    pub(super) fn take_back(&mut self, run: &RunId) {
        let other = |made: &Option<RunId>| made.as_ref() != Some(run);
        self.judged.retain(|judged| other(&judged.run));
        self.bundle.retain(|bundled| other(&bundled.run));
        self.exposed.retain(|exposed| other(&exposed.run));
        self.tested = self.tested.take().filter(|tested| other(&tested.run));
        self.gained = self.gained.take().filter(|gained| other(&gained.run));
        let exposed = self.exposed.iter().map(|one| &one.attempt);
        let judged = self.judged.iter().map(|one| &one.attribution.attempt);
        let known: BTreeSet<&AttemptId> = judged.chain(exposed).collect();
        self.past.retain(|attempt| known.contains(attempt));
    }
}
