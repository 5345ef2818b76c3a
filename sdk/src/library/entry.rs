//! What the library knows of one skill.

use std::{cmp::Ordering, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use super::life::Life;
use crate::{
    domain::{Skill, SkillName, SkillRef, State, Tier},
    id::{AttemptId, Revision, RunId, SkillId, Version},
};

/// One credit that counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// By which attempt, or the group's first.
    pub attempt: AttemptId,
    /// To which version.
    pub version: Version,
    /// The reward, finite.
    pub reward: f64,
    /// How many attempts were given the skill; at least 1.
    pub uses: u64,
    /// The moving average's weight of the past when it was given.
    pub beta: f64,
    /// The run that gave it, if one did.
    pub run: Option<RunId>,
}

/// What a skill was merged into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// Which skill.
    pub into: SkillId,
    /// The version that was merged.
    pub version: Version,
    /// The state before.
    pub from: State,
}

/// One skill with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The current version.
    pub skill: Skill,
    /// The versions before it, oldest first.
    pub history: Vec<Skill>,
    /// Where it is kept.
    pub tier: Tier,
    /// The moving average of its rewards (C.2), in the unit of the rewards; always finite.
    pub utility: f64,
    /// How many attempts were given it, in any of its versions.
    pub uses: u64,
    /// How many times this version was credited.
    pub credits: u64,
    /// The revision that added it.
    pub added_at: Revision,
    /// The revision that gave it its current version, or that deleted it.
    pub changed_at: Revision,
    /// The credits since it was added, oldest first: utility, uses and credits follow from them.
    pub evidence: Vec<Evidence>,
    /// What it was merged into, where it was.
    pub merged: Option<Merged>,
    /// What attempts did with it and what it did to them, and the cases that it has to pass.
    #[serde(default, skip_serializing_if = "Life::is_empty")]
    pub life: Life,
    /// What [`Skill::content_sha256`] gave when the current version came in.
    pub sha256: String,
    /// What the utility began at.
    pub(super) began: f64,
    /// The attempts that were credited already, in any version and before it was deleted.
    pub(super) seen: BTreeSet<AttemptId>,
}

impl Entry {
    /// A skill that has just come, without evidence.
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

    /// Puts a new version in the place of the current one.
    pub(super) fn replace(&mut self, mut skill: Skill) {
        if skill.parents.is_empty() {
            skill.parents.push(self.skill.reference());
        }
        self.sha256 = skill.content_sha256();
        let before = std::mem::replace(&mut self.skill, skill);
        self.history.push(before);
        self.credits = 0;
    }

    /// A name is a part of what the hash is of.
    pub(super) fn rename(&mut self, name: SkillName) {
        if name != self.skill.name {
            self.skill.name = name;
            self.sha256 = self.skill.content_sha256();
        }
    }

    /// Takes in one more credit (C.2, Update).
    pub(super) fn credit(&mut self, evidence: Evidence) {
        self.count(&evidence);
        self.evidence.push(evidence);
    }

    /// Takes the credits of a run back; whether there were any. Their attempts stay seen: a replay does not count.
    pub(super) fn take_back(&mut self, run: &RunId) -> bool {
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.evidence)
            .into_iter()
            .partition(|credit| credit.run.as_ref() == Some(run));
        (self.utility, self.uses, self.credits) = (self.began, 0, 0);
        for credit in &kept {
            self.count(credit);
        }
        self.evidence = kept;
        self.life.take_back(run);
        !gone.is_empty()
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

    /// The latest version of which `bad` does not hold, the current one apart.
    pub(super) fn latest_without(&self, bad: &BTreeSet<SkillRef>) -> Option<&Skill> {
        let mut before = self.history.iter().rev();
        before.find(|version| !bad.contains(&version.reference()))
    }
}
