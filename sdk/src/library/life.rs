//! A skill's evidence besides rewards (HiSME 3.3, Eq. 12): exposures, judgements, its test bundle.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::AddAssign,
};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Attribution, BundleCase, CaseOutcome, ComparedPair, ExposureOutcome, InformationGain,
        Judgement, SkillUse, State,
    },
    id::{AttemptId, ModelId, RunId, TaskId, Version},
};

/// The greatest number of cases of a bundle; of more, the oldest integration and negative cases go first.
const MOST_CASES: usize = 12;

/// How often a skill was retrieved, injected and used (H8), in any of its versions. An attempt's use is what the agent said; where
/// it said nothing, what a role judged of the skill's effect ([`SkillUse::judged`]).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetime {
    /// Number of attempts for which it was retrieved.
    pub retrieved: u64,
    /// Number of attempts with it in the prompt.
    pub injected: u64,
    /// Number of attempts that are known to have followed it.
    pub used: u64,
    /// Number of attempts with it in the prompt of which nobody knows whether they followed it. The rest of `injected` did not.
    pub use_unknown: u64,
}

/// A judgement, and the run that made it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The judgement.
    pub attribution: Attribution,
    /// The run that made it, if one did.
    pub run: Option<RunId>,
}

impl Judged {
    /// A judgement of no run.
    pub fn new(attribution: Attribution) -> Self {
        Self {
            attribution,
            run: None,
        }
    }
}

/// A case of the bundle, and the run that added it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundledCase {
    /// The case.
    pub case: BundleCase,
    /// The run that added it, if one did.
    pub run: Option<RunId>,
}

/// The results of a version's test cases.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// Which version.
    pub version: Version,
    /// One for each case.
    pub outcomes: Vec<CaseOutcome>,
    /// The run that tested it, if one did.
    pub run: Option<RunId>,
}

/// A version's measured information gain.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gained {
    /// Which version.
    pub version: Version,
    /// How much its text raises the model's confidence in what was done successfully.
    pub gain: InformationGain,
    /// The run that measured it, if one did.
    pub run: Option<RunId>,
}

/// A pair of attempts that compares a version with what was before it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Which version.
    pub version: Version,
    /// The scores.
    pub pair: ComparedPair,
    /// The run that made it, if one did.
    pub run: Option<RunId>,
}

/// What is proven of a version on a model.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Which version.
    pub version: Version,
    /// The model, with its adapter.
    pub model: ModelId,
    /// Whether more is done with it than with what was before it, and not less.
    pub helps: bool,
    /// The run that proved it, if one did.
    pub run: Option<RunId>,
}

/// How a version stands with a model, where skills are released by proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StandingWith {
    /// It is proven to help this model, or nothing is proven of it with any, or nobody says which model acts.
    InUse,
    /// It is proven to help other models alone.
    ToProve,
    /// It is proven to harm this model.
    Out,
}

impl Tested {
    /// Number of cases that passed.
    pub fn passed(&self) -> usize {
        let passed = |outcome: &&CaseOutcome| outcome.has_passed();
        self.outcomes.iter().filter(passed).count()
    }
}

/// Numbers of a version's judgements, by kind.
#[non_exhaustive]
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
    /// The number of all judgements.
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

/// A recorded exposure of the skill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Exposed {
    pub(super) attempt: AttemptId,
    pub(super) version: Version,
    pub(super) injected: bool,
    pub(super) used: SkillUse,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<ExposureOutcome>,
    pub(super) run: Option<RunId>,
}

impl Exposed {
    /// The use with what a role judged, where the agent left it open.
    fn used_with(&self, judgements: &BTreeMap<(&AttemptId, Version), Judgement>) -> SkillUse {
        let judgement = judgements.get(&(&self.attempt, self.version));
        self.used.judged(judgement.copied())
    }
}

/// Results of a version's live attempts, for environments that cannot replay attempts.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveEvidence {
    /// Number of different tasks with a successful attempt without a refused action.
    pub tasks: u32,
    /// Number of successful attempts.
    pub done: u32,
    /// Number of failed attempts.
    pub failed: u32,
}

/// What set a version's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// The host, or a person.
    Host,
    /// A run.
    Run(RunId),
    /// The retirement of the run that the version came from.
    Retirement(RunId),
}

/// A change of a version's state.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSet {
    /// The version whose state was set.
    pub version: Version,
    /// Its state before.
    pub before: State,
    /// Its state after.
    pub state: State,
    /// What set it.
    pub by: SetBy,
}

/// A skill's evidence besides rewards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// The judgements, oldest first, of every version.
    pub judged: Vec<Judged>,
    /// The test bundle, oldest case first.
    pub bundle: Vec<BundledCase>,
    /// The results when the bundle ran last.
    pub tested: Option<Tested>,
    /// The pairs of attempts that compare versions with what was before them, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// What is proven of versions, one for each model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<Proof>,
    /// The information gain when it was measured last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gained: Option<Gained>,
    /// The changes of its versions' states, oldest first, without those of retired runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<StateSet>,
    /// The exposures that counted, one for each attempt and version.
    pub(super) exposed: BTreeSet<Exposed>,
    /// The attempts before the latest trial, where a trial was begun again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    past: BTreeSet<AttemptId>,
}

impl Life {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How often the skill was retrieved, injected and used.
    pub fn lifetime(&self) -> Lifetime {
        let mut lifetime = Lifetime::default();
        let judgements = self.judgements();
        for exposed in &self.exposed {
            let used = exposed.used_with(&judgements);
            let unknown = exposed.injected && used == SkillUse::Unknown;
            lifetime.retrieved += 1;
            lifetime.injected += u64::from(exposed.injected);
            lifetime.used += u64::from(used.is_followed());
            lifetime.use_unknown += u64::from(unknown);
        }
        lifetime
    }

    /// What a role judged of the skill's effect, by attempt and version.
    fn judgements(&self) -> BTreeMap<(&AttemptId, Version), Judgement> {
        let judged = self.judged.iter().map(|judged| &judged.attribution);
        judged
            .map(|told| ((&told.attempt, told.skill.version), told.judgement))
            .collect()
    }

    /// A role's judgement of a version's effect on an attempt, if there is one.
    pub fn judgement(&self, version: Version, attempt: &AttemptId) -> Option<Judgement> {
        let mut judged = self.judged.iter().map(|judged| &judged.attribution);
        let told = judged.find(|told| told.skill.version == version && told.attempt == *attempt)?;
        Some(told.judgement)
    }

    /// Results of a version's live attempts: of those with it in the prompt while it was on trial, those whose use of it `counts`.
    /// The use is that of [`lifetime`](Self::lifetime).
    pub fn live(&self, version: Version, counts: impl Fn(SkillUse) -> bool) -> LiveEvidence {
        let mut live = LiveEvidence::default();
        for outcome in self.live_outcomes(version, &counts) {
            live.done += u32::from(outcome.success);
            live.failed += u32::from(!outcome.success);
        }
        live.tasks = u32::try_from(self.live_tasks(version, &counts).len()).unwrap_or(u32::MAX);
        live
    }

    /// The tasks with a successful live attempt of a version without a refused action.
    pub(crate) fn live_tasks(
        &self,
        version: Version,
        counts: impl Fn(SkillUse) -> bool,
    ) -> BTreeSet<&TaskId> {
        let outcomes = self.live_outcomes(version, counts).into_iter();
        let clean = outcomes.filter(|outcome| outcome.success && outcome.refused == 0);
        clean.map(|outcome| &outcome.task).collect()
    }

    fn live_outcomes(
        &self,
        version: Version,
        counts: impl Fn(SkillUse) -> bool,
    ) -> Vec<&ExposureOutcome> {
        let judgements = self.judgements();
        let of_version = self.exposed.iter();
        let of_version =
            of_version.filter(|one| one.version == version && !self.past.contains(&one.attempt));
        let given = of_version.filter(|one| one.injected && counts(one.used_with(&judgements)));
        given.filter_map(|one| one.outcome.as_ref()).collect()
    }

    /// Begins a new trial: attempts and judgements of earlier trials do not count in it, and the bundle has to pass anew.
    pub(super) fn begin_trial(&mut self) {
        let exposed = self.exposed.iter().map(|one| &one.attempt);
        let judged = self.judged.iter().map(|one| &one.attribution.attempt);
        self.past.extend(exposed.chain(judged).cloned());
        self.tested = None;
        self.compared.clear();
        self.proofs.clear();
    }

    /// A version's judgements since its latest trial began: each version begins anew (algorithm 4: a refined
    /// skill's counts are reset).
    pub fn counts(&self, version: Version) -> JudgementCounts {
        self.latest_counts(version, usize::MAX)
    }

    /// The same for at most this many of its latest judgements.
    pub fn latest_counts(&self, version: Version, most: usize) -> JudgementCounts {
        let judged = self.judged_of(version);
        count(
            judged
                .filter(|told| !self.past.contains(&told.attempt))
                .take(most),
        )
    }

    /// A version's judgements in all its trials.
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

    /// Adds a judgement, unless the attempt judged this version before.
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

    /// The pairs that compare a version with what was before it, oldest first.
    pub fn pairs(&self, version: Version) -> impl Iterator<Item = &ComparedPair> {
        let of_version = self
            .compared
            .iter()
            .filter(move |one| one.version == version);
        of_version.map(|one| &one.pair)
    }

    /// The models on which a version is proven to help.
    pub fn proven_on(&self, version: Version) -> impl Iterator<Item = &ModelId> {
        let of_version = self.proofs.iter().filter(move |one| one.version == version);
        of_version.filter(|one| one.helps).map(|one| &one.model)
    }

    /// What is proven of a version on a model: that it helps, or that it harms.
    pub fn proven(&self, version: Version, model: &ModelId) -> Option<bool> {
        let mut proofs = self.proofs.iter();
        let proof = proofs.find(|one| one.version == version && one.model == *model)?;
        Some(proof.helps)
    }

    /// How a version stands with the model that acts.
    pub(crate) fn standing_with(&self, version: Version, model: Option<&ModelId>) -> StandingWith {
        let Some(model) = model else {
            return StandingWith::InUse;
        };
        match self.proven(version, model) {
            Some(true) => StandingWith::InUse,
            Some(false) => StandingWith::Out,
            None if self.proven_on(version).next().is_some() => StandingWith::ToProve,
            None => StandingWith::InUse,
        }
    }

    /// Takes a proof in the place of what was proven before of the version on this model; whether that is something else.
    pub(super) fn prove(&mut self, proof: Proof) -> bool {
        let new = self.proven(proof.version, &proof.model) != Some(proof.helps);
        if new {
            let other = |one: &Proof| (one.version, &one.model) != (proof.version, &proof.model);
            self.proofs.retain(other);
            self.proofs.push(proof);
        }
        new
    }

    /// Records of a version what is proven of an earlier one with the same text.
    pub(super) fn carry_proofs(&mut self, from: Version, to: Version) {
        let proofs = self.proofs.iter().filter(|one| one.version == from);
        let carried = proofs.map(|one| Proof {
            version: to,
            ..one.clone()
        });
        let carried: Vec<Proof> = carried.collect();
        self.proofs.extend(carried);
    }

    /// Adds the pairs of tasks that have none yet with their model, against the same version, and says whether there was one.
    pub(super) fn compare(
        &mut self,
        version: Version,
        pairs: &[ComparedPair],
        run: Option<&RunId>,
    ) -> bool {
        let before = self.compared.len();
        for pair in pairs {
            let same = |known: &ComparedPair| {
                let [known, new] =
                    [known, pair].map(|one| (&one.task, &one.model, one.against, &one.sources));
                known == new
            };
            if !self.pairs(version).any(same) {
                self.compared.push(Compared {
                    version,
                    pair: pair.clone(),
                    run: run.cloned(),
                });
            }
        }
        self.compared.len() > before
    }

    /// Adds an exposure, unless the attempt exposed this version before.
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
        let compared = self.compared.iter().map(|compared| &compared.run);
        let proofs = self.proofs.iter().map(|proof| &proof.run);
        let all = judged.chain(bundled).chain(exposed);
        let mut runs = all
            .chain(tested)
            .chain(gained)
            .chain(compared)
            .chain(proofs);
        let set = |set: &StateSet| matches!(&set.by, SetBy::Run(by) if by == run);
        runs.any(|made| made.as_ref() == Some(run)) || self.states.iter().any(set)
    }

    /// Takes back everything that a run added, but the states that it set.
    pub(super) fn take_back(&mut self, run: &RunId) {
        let other = |made: &Option<RunId>| made.as_ref() != Some(run);
        self.judged.retain(|judged| other(&judged.run));
        self.bundle.retain(|bundled| other(&bundled.run));
        self.exposed.retain(|exposed| other(&exposed.run));
        self.tested = self.tested.take().filter(|tested| other(&tested.run));
        self.gained = self.gained.take().filter(|gained| other(&gained.run));
        self.compared.retain(|compared| other(&compared.run));
        self.proofs.retain(|proof| other(&proof.run));
        let exposed = self.exposed.iter().map(|one| &one.attempt);
        let judged = self.judged.iter().map(|one| &one.attribution.attempt);
        let known: BTreeSet<&AttemptId> = judged.chain(exposed).collect();
        self.past.retain(|attempt| known.contains(attempt));
    }
}
