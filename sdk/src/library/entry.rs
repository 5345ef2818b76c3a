//! A skill with the library's data about it.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};

use super::life::{Life, SetBy, StateSet};
use crate::{
    domain::{Origin, Skill, SkillName, SkillRef, State, Taint, Tier},
    id::{AttemptId, Revision, RunId, SkillId, Version},
};

/// A credit that entered a skill's utility.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The attempt, or the first attempt of its group.
    pub attempt: AttemptId,
    /// The version that was credited.
    pub version: Version,
    /// The reward, finite.
    pub reward: f64,
    /// Number of attempts with the skill; at least 1.
    pub uses: u64,
    /// The moving average's weight of the past when it was given.
    pub beta: f64,
    /// The run that gave it, if one did.
    pub run: Option<RunId>,
}

/// The merge that a skill was a source of. A source is archived at once, or, where the merged skill begins beside it, when that comes
/// into use.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// The merged skill.
    pub into: SkillId,
    /// The source's version.
    pub version: Version,
    /// The source's state before it was archived.
    pub from: State,
}

/// One skill with its evidence.
///
/// ```
/// use journeyman::prelude::*;
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let text = "---\nname: close-ticket\ndescription: Closes a ticket.\n---\nVerify, then close.\n";
/// session.add(vec![Skill::from_skill_md(text)?], "version 1").await?;
///
/// let library = session.library().await?;
/// let entry = library.get(&"close-ticket".into()).expect("it was added");
/// assert_eq!((entry.uses, entry.credits, entry.versions().count()), (0, 0, 1));
/// assert!(!entry.awaits_evidence());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The current version.
    pub skill: Skill,
    /// The versions before it, oldest first.
    pub history: Vec<Skill>,
    /// The tier.
    pub tier: Tier,
    /// The moving average of its rewards (C.2), in the unit of the rewards; always finite.
    pub utility: f64,
    /// Number of attempts with it, in any of its versions.
    pub uses: u64,
    /// Number of credits of the current version.
    pub credits: u64,
    /// The revision that added it.
    pub added_at: Revision,
    /// The revision that gave it its current version, or that deleted it.
    pub changed_at: Revision,
    /// The credits since it was added, oldest first: utility, uses and credits follow from them.
    pub evidence: Vec<Evidence>,
    /// The merge that it was a source of, where there was one.
    pub merged: Option<Merged>,
    /// Exposures, judgements and test bundle.
    #[serde(default, skip_serializing_if = "Life::is_empty")]
    pub life: Life,
    /// [`Skill::content_sha256`] of the current version when it was added.
    pub sha256: String,
    /// The initial utility.
    pub(super) began: f64,
    /// The attempts whose credits counted, of any version, also before the skill was deleted.
    pub(super) seen: BTreeSet<AttemptId>,
}

impl Entry {
    /// A new skill without evidence.
    pub(super) fn new(skill: Skill, tier: Tier, utility: f64, added_at: Revision) -> Self {
        Self {
            sha256: skill.content_sha256(),
            skill,
            history: Vec::new(),
            tier,
            utility,
            uses: 0,
            credits: 0,
            added_at,
            changed_at: added_at,
            evidence: Vec::new(),
            merged: None,
            life: Life::default(),
            began: utility,
            seen: BTreeSet::new(),
        }
    }

    /// Every version, oldest first.
    pub fn versions(&self) -> impl DoubleEndedIterator<Item = &Skill> {
        self.history.iter().chain([&self.skill])
    }

    /// Replaces the current version with a new one.
    pub(super) fn replace(&mut self, mut skill: Skill) {
        if skill.parents.is_empty() {
            skill.parents.push(self.skill.reference());
        }
        self.sha256 = skill.content_sha256();
        let before = std::mem::replace(&mut self.skill, skill);
        self.history.push(before);
        self.credits = 0;
    }

    /// Renames the skill. The content's hash includes the name.
    pub(super) fn rename(&mut self, name: SkillName) {
        if name != self.skill.name {
            self.skill.name = name;
            self.sha256 = self.skill.content_sha256();
        }
    }

    /// Adds a credit (C.2, Update).
    pub(super) fn credit(&mut self, evidence: Evidence) {
        self.count(&evidence);
        self.evidence.push(evidence);
    }

    /// What set the current state; `None` where it is as it was when the version came, or as a merge left it.
    pub fn state_set(&self) -> Option<&StateSet> {
        let mut states = self.life.states.iter();
        let last = states.rfind(|set| set.version == self.skill.version)?;
        (last.state == self.skill.state).then_some(last)
    }

    /// Whether it waits in quarantine for evidence or a person: the library holds it back for what it was made from, and nobody
    /// has decided about it since. One that the host, a person or the end of a trial holds there has a
    /// [`state_set`](Self::state_set).
    pub fn awaits_evidence(&self) -> bool {
        let is_held = self.skill.state == State::Quarantined && is_suspect(&self.skill);
        is_held && self.state_set().is_none()
    }

    /// Whether the host, or a person, took it out of use.
    pub fn is_out_by_host(&self) -> bool {
        let by_host = self.state_set().is_some_and(|set| match &set.by {
            SetBy::Host => true,
            SetBy::Run(run) => run.is_by_host(),
            SetBy::Retirement(_) => false,
        });
        let out = [State::Quarantined, State::Disabled, State::Archived];
        by_host && out.contains(&self.skill.state)
    }

    /// Whether the retirement of the run that the current version came from disabled it.
    pub fn is_out_by_retirement(&self) -> bool {
        let set = self.state_set().map(|set| &set.by);
        self.skill.state == State::Disabled && matches!(set, Some(SetBy::Retirement(_)))
    }

    /// Records that the retirement of a run took back the earlier versions that it made, or that were made from these.
    pub(super) fn mark_taken_back(&mut self, made: &BTreeSet<SkillRef>, run: &RunId) {
        let before = self.history.iter();
        let before = before.filter(|version| made.contains(&version.reference()));
        let marks: Vec<StateSet> = before
            .filter(|version| !self.is_retired(version.version, run))
            .map(|version| StateSet {
                version: version.version,
                before: version.state,
                state: State::Disabled,
                by: SetBy::Retirement(run.clone()),
            })
            .collect();
        self.life.states.extend(marks);
    }

    /// Records that the retirement of a run took back the current version, which the host or a person has taken out of use: their
    /// word stays.
    pub(super) fn mark_retired_below_host(&mut self, run: &RunId) {
        let host = self.state_set().cloned();
        self.life.states.push(StateSet {
            version: self.skill.version,
            before: self.skill.state,
            state: State::Disabled,
            by: SetBy::Retirement(run.clone()),
        });
        // Without the host's word it is what the retirement made of it.
        let host = host.map(|set| StateSet {
            before: State::Disabled,
            ..set
        });
        self.life.states.extend(host);
    }

    /// Whether the retirement of this run set the version's state.
    pub(super) fn is_retired(&self, version: Version, run: &RunId) -> bool {
        let mut states = self.life.states.iter();
        states.any(|set| {
            set.version == version && matches!(&set.by, SetBy::Retirement(by) if by == run)
        })
    }

    /// Sets the state of the current version.
    pub(super) fn set_state(&mut self, state: State, by: SetBy) {
        self.life.states.push(StateSet {
            version: self.skill.version,
            before: self.skill.state,
            state,
            by,
        });
        self.skill.state = state;
        self.merged = None;
    }

    /// Archives a source whose merged skill came into use. It stays a source, so that the merge can be taken back.
    pub(super) fn give_way(&mut self, by: SetBy) {
        let from = self.skill.state;
        let merged = self.merged.take();
        self.set_state(State::Archived, by);
        self.merged = merged.map(|merged| Merged { from, ..merged });
    }

    /// Whether it was archived by [`give_way`](Self::give_way), and not by the merge itself.
    pub(crate) fn gave_way(&self) -> bool {
        let was_in_use = |merged: &Merged| merged.from != State::Archived;
        self.skill.state == State::Archived
            && self.state_set().is_some()
            && self.merged.as_ref().is_some_and(was_in_use)
    }

    /// Records that the current version, an edit of the one for which the host or a person `set` the state, has that state by the
    /// same decision; not where the edit came with another state.
    pub(super) fn leave_out(&mut self, set: StateSet) {
        if set.state == self.skill.state {
            let version = self.skill.version;
            self.life.states.push(StateSet { version, ..set });
        }
    }

    /// Records for the current version, which has the state of one of these versions, what set it; and what is proven of the second,
    /// whose text it has.
    pub(super) fn carry_state(&mut self, from: [Version; 2]) {
        self.life.carry_proofs(from[1], self.skill.version);
        let states = &self.life.states;
        let of = |version: Version| states.iter().filter(move |set| set.version == version);
        let same = |version: &Version| {
            let last = of(*version).next_back();
            last.is_some_and(|set| set.state == self.skill.state)
        };
        let carried: Vec<StateSet> = from.into_iter().find(same).map_or(Vec::new(), |version| {
            let carried = of(version).cloned();
            let version = self.skill.version;
            carried.map(|set| StateSet { version, ..set }).collect()
        });
        self.life.states.extend(carried);
    }

    /// Takes back the states that a run set, and gives the versions whose state is another one then.
    fn take_back_states(&mut self, run: &RunId) -> BTreeMap<Version, State> {
        let mut back = BTreeMap::new();
        for mut set in std::mem::take(&mut self.life.states) {
            if matches!(&set.by, SetBy::Run(by) if by == run) {
                back.entry(set.version).or_insert(set.before);
            } else {
                // What was set on top of it stays, now on top of what was before.
                if let Some(before) = back.remove(&set.version) {
                    set.before = before;
                }
                self.life.states.push(set);
            }
        }
        back
    }

    /// Takes back what a run did to it: its credits, evidence and the states that it set. Attempts stay seen: a replay does not
    /// count.
    pub(super) fn take_back(&mut self, run: &RunId) {
        let sets = self.life.states.len();
        let merged_away = self.skill.state == State::Archived && !self.gave_way();
        for (version, state) in self.take_back_states(run) {
            let current = version == self.skill.version;
            let mut versions = self.history.iter_mut().chain([&mut self.skill]);
            match &mut self.merged {
                Some(merged) if current && merged_away => merged.from = state,
                _ => {
                    if let Some(skill) = versions.find(|skill| skill.version == version) {
                        skill.state = state;
                    }
                }
            }
        }
        // Without the run it gave way from another state.
        if self.life.states.len() < sets && self.gave_way() {
            let before = self.state_set().map(|set| set.before);
            if let (Some(before), Some(merged)) = (before, &mut self.merged) {
                merged.from = before;
            }
        }
        self.evidence
            .retain(|credit| credit.run.as_ref() != Some(run));
        let kept = std::mem::take(&mut self.evidence);
        (self.utility, self.uses, self.credits) = (self.began, 0, 0);
        for credit in &kept {
            self.count(credit);
        }
        self.evidence = kept;
        self.life.take_back(run);
    }

    /// Whether a run credited, exposed, judged or tested it.
    pub(super) fn is_touched_by(&self, run: &RunId) -> bool {
        let mut credits = self.evidence.iter().map(|credit| credit.run.as_ref());
        credits.any(|credited| credited == Some(run)) || self.life.is_touched_by(run)
    }

    fn count(&mut self, credit: &Evidence) {
        self.utility = credit.beta * self.utility + (1.0 - credit.beta) * credit.reward;
        self.uses = self.uses.saturating_add(credit.uses);
        self.credits += u64::from(credit.version == self.skill.version);
    }

    /// Lower utility first, then smaller id.
    pub(super) fn rank(&self, other: &Self) -> Ordering {
        // Utilities are finite, so they always compare; 0 and -0 are equal.
        self.utility
            .partial_cmp(&other.utility)
            .unwrap_or(Ordering::Equal)
            .then_with(|| self.skill.id.cmp(&other.skill.id))
    }

    /// The latest version before the current one that was in use when it was replaced, and that no retirement took back.
    pub(crate) fn in_use_before(&self) -> Option<&Skill> {
        let mut before = self.not_taken_back();
        before.find(|version| version.state == State::Active)
    }

    /// The versions that the current one was made from and that were in use, the latest first. Neither one that was rolled
    /// back nor one that a retirement took back is among them.
    pub(super) fn actives_made_from(&self) -> impl Iterator<Item = &Skill> {
        let parent = |skill: &Skill| {
            let mut parents = skill.parents.iter();
            let is_before = |one: &&SkillRef| one.id == skill.id && one.version < skill.version;
            let parent = parents.find(is_before)?.version;
            self.history.iter().find(|one| one.version == parent)
        };
        let made_from = std::iter::successors(parent(&self.skill), move |skill| parent(skill));
        let in_use = made_from.filter(|version| version.state == State::Active);
        in_use.filter(|version| !self.is_taken_back(version))
    }

    /// The latest version before the current one that no retirement took back.
    pub(crate) fn version_before(&self) -> Option<&Skill> {
        self.not_taken_back().next()
    }

    /// The versions before the current one, the latest first, without those that a retirement took back.
    fn not_taken_back(&self) -> impl Iterator<Item = &Skill> {
        let before = self.history.iter().rev();
        before.filter(|version| !self.is_taken_back(version))
    }

    fn is_taken_back(&self, version: &Skill) -> bool {
        let mut states = self.life.states.iter();
        states.any(|set| set.version == version.version && matches!(set.by, SetBy::Retirement(_)))
    }

    /// The latest version of which `bad` does not hold, the current one apart.
    pub(super) fn latest_without(&self, bad: &BTreeSet<SkillRef>) -> Option<&Skill> {
        let mut before = self.history.iter().rev();
        before.find(|version| !bad.contains(&version.reference()))
    }
}

/// Whether a version is quarantined until it is released: tainted or imported, and not a person's.
pub(super) fn is_suspect(skill: &Skill) -> bool {
    let origin = skill.provenance.origin;
    origin != Origin::Human && (skill.taint == Taint::Tainted || origin == Origin::Imported)
}
