//! Changes of a library, and commits. Changes record inputs, never results, so that a better fold can be replayed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Anchor, AnchorScores, Assessment, Assignment, AttemptNote, Attribution, BundleCase,
        CaseOutcome, ComparedPair, ExposureOutcome, FileRef, HandledMark, InformationGain,
        Prototype, Role, RoleRule, Segmentation, Skill, SkillRef, SkillUse, State, TierPolicy,
        Trace, skill_use, tier_policy::check,
    },
    error::{Error, ErrorKind, Result},
    id::{
        AttemptId, CommitKey, ModelId, PrototypeId, Revision, RunId, SkillId, TaskId, Timestamp,
        Version,
    },
};

/// Checks files and version. A version has an upper bound, so that there is always a next one.
fn check_skill(skill: &Skill) -> Result<()> {
    FileRef::check(&skill.files)?;
    let version = skill.version;
    check(version > Version(0), "version", version, "at least 1")?;
    let most = u64::from(u32::MAX);
    check(version.0 <= most, "version", version, "at most 4294967295")
}

fn check_cases(cases: &[BundleCase]) -> Result<()> {
    let least = cases.iter().map(|case| case.least_score);
    let wrong = least.into_iter().find(|least| !(0.0..=1.0).contains(least));
    match wrong {
        None => Ok(()),
        Some(wrong) => check(false, "least_score", wrong, "in [0, 1]"),
    }
}

fn check_rules(rules: &[RoleRule]) -> Result<()> {
    let (count, most) = (rules.len(), RoleRule::MOST);
    check(count <= most, "rules", count, "at most 5")
}

/// Checks the spans and the routers' confidence.
fn check_assessment(assessment: &Assessment) -> Result<()> {
    let subgoals = assessment.subgoals.iter();
    Segmentation::try_from(
        subgoals
            .clone()
            .map(|one| one.subgoal.clone())
            .collect::<Vec<_>>(),
    )?;
    let confidences = subgoals.filter_map(|one| one.route.as_ref());
    let mut wrong = confidences.filter(|route| !(0.0..=1.0).contains(&route.confidence));
    match wrong.next() {
        None => Ok(()),
        Some(route) => check(false, "confidence", route.confidence, "in [0, 1]"),
    }
}

fn check_prototypes(prototypes: &[Prototype]) -> Result<()> {
    prototypes.iter().try_for_each(Prototype::validate)?;
    let ids: BTreeSet<&PrototypeId> = prototypes.iter().map(|one| &one.id).collect();
    let unique = ids.len() == prototypes.len();
    check(unique, "prototypes", prototypes.len(), "of different ids")
}

/// Where a library keeps a skill.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The pool that is offered.
    Cache,
    /// Offered skills that the cache has no room for.
    Reservoir,
    /// In neither tier: its state is not an offered one.
    Aside,
}

/// One change of a library.
///
/// ```
/// use journeyman::{Version, domain::{LibraryChange, SkillRef}};
///
/// let skill = SkillRef { id: "close-ticket".into(), version: Version(1) };
/// let credit = |reward| LibraryChange::Credit {
///     skill: skill.clone(),
///     attempt: "run/0/0".into(),
///     reward,
///     uses: 1,
/// };
/// assert!(credit(1.0).validate().is_ok());
/// let error = credit(f64::NAN).validate().unwrap_err();
/// assert_eq!(error.message(), "reward must be finite, and is NaN");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LibraryChange {
    /// Sets the policy of the tiers.
    Configure(TierPolicy),
    /// The reward of an exposure (Update, C.2). A replayed attempt counts once.
    Credit {
        /// Which skill, in which version.
        skill: SkillRef,
        /// The credit's identity: the attempt, or the first attempt of its group.
        attempt: AttemptId,
        /// The reward, finite.
        reward: f64,
        /// How many attempts were given the skill; at least 1.
        uses: u64,
    },
    /// A new skill enters the cache (Add, C.2).
    Add(Box<Skill>),
    /// A new version of a skill that is there.
    Revise(Box<Skill>),
    /// Several skills become one new skill, and are archived.
    Merge {
        /// The new one.
        skill: Box<Skill>,
        /// The skills that were merged; at least one, no two the same, and not the new one itself.
        sources: Vec<SkillId>,
        /// Whether they stay as they are until the new one becomes active, on trial, in quarantine or in another state, and are archived
        /// then. No effect where it begins active.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        beside: bool,
    },
    /// Evict, Load and Delete, in this order (C.2, C.3).
    Maintain,
    /// Makes an earlier version the current one, as a new version.
    RollBack {
        /// Which skill.
        skill: SkillId,
        /// Which of its versions.
        to: Version,
        /// Why.
        reason: String,
    },
    /// Takes back a run and everything that came from it (J6).
    RetireRun {
        /// Which run.
        run: RunId,
        /// Why.
        reason: String,
    },
    /// Restores a deleted skill.
    Restore {
        /// Which skill.
        skill: SkillId,
        /// Why.
        reason: String,
    },
    /// Moves an offered skill to the other tier.
    Place {
        /// Which skill.
        skill: SkillId,
        /// The new tier: cache or reservoir.
        tier: Tier,
        /// Why.
        reason: String,
    },
    /// Records that a text was removed from earlier commits, and with them from these skills' versions. It has no other
    /// effect than that a reader of the earlier commits has to fold them anew ([`Committed::erases`](super::Committed::erases)).
    Erased {
        /// The skills with versions that held it.
        skills: Vec<SkillId>,
    },
    /// An attempt's exposure to a retrieved skill (HiSME 3.3). An attempt counts once for each version.
    Expose {
        /// Which skill, in which version.
        skill: SkillRef,
        /// Which attempt.
        attempt: AttemptId,
        /// Whether the skill was in the prompt.
        injected: bool,
        /// Whether the agent followed it, where that is known.
        #[serde(deserialize_with = "skill_use::stored")]
        used: SkillUse,
        /// The attempt's outcome, for a skill that was in the prompt on trial or tried in quarantine; `None` for other skills, and
        /// without a verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<ExposureOutcome>,
    },
    /// A judgement of a skill's effect on an attempt (HiSME 3.3). An attempt is judged once for each version.
    Attribute(Attribution),
    /// Changes a skill's test bundle (HiSME 3.3).
    PatchBundle {
        /// Which skill.
        skill: SkillId,
        /// Cases to add; a case replaces the one with its name.
        cases: Vec<BundleCase>,
        /// The names of the cases to remove.
        dropped: Vec<String>,
    },
    /// The results of a version's test cases.
    Test {
        /// Which skill, in which version.
        skill: SkillRef,
        /// One for each case.
        outcomes: Vec<CaseOutcome>,
    },
    /// Pairs of attempts that compare a version with what was before it. A task counts once.
    Compare {
        /// Which skill, in which version.
        skill: SkillRef,
        /// One for each task.
        pairs: Vec<ComparedPair>,
    },
    /// It is proven that more, or less, is done with a version on a model than with what was before it. Its state stays.
    Prove {
        /// Which skill, in which version.
        skill: SkillRef,
        /// The model, with its adapter.
        model: ModelId,
        /// Whether it is more.
        helps: bool,
    },
    /// A version's measured information gain (ARISE D.3). For people: no decision depends on it.
    Gain {
        /// Which skill, in which version.
        skill: SkillRef,
        /// The gain.
        gain: InformationGain,
    },
    /// Keeps an attempt for roles that work on several attempts.
    Observe(Box<Trace>),
    /// The result of an attempt of a small group, to be compared with later attempts at similar tasks.
    Note(AttemptNote),
    /// What chance gave the attempts at a task of the skills that were chosen for it, and how they went. They count once.
    Assign(Box<Assignment>),
    /// A maintenance step was tried: a group of attempts or a skill with its evidence, by a role, or a skill's bundle.
    Handled {
        /// The step, and whether it is due again.
        fingerprint: HandledMark,
    },
    /// Sets a role's rules (HiSME 3.4); at most [`RoleRule::MOST`].
    SetRules {
        /// Which role.
        role: Role,
        /// All its rules.
        rules: Vec<RoleRule>,
    },
    /// An attempt's subgoals with their prototypes and scores (SCRIBE 3.2). An attempt is assessed once.
    Assess(Box<Assessment>),
    /// Sets the prototypes (SCRIBE 3.2): all of them.
    SetPrototypes(Vec<Prototype>),
    /// Chooses the anchors (SCRIBE A.3): all of them.
    SetAnchors(Vec<Anchor>),
    /// The scores of the anchors at a checkpoint (SCRIBE A.3).
    CheckAnchors(Vec<AnchorScores>),
    /// Releases a version from its trial by live attempts, or from quarantine by evidence. No effect where the skill has another
    /// version or state by then, or is held in quarantine ([`Entry::awaits_evidence`](crate::library::Entry::awaits_evidence)).
    Release {
        /// Which skill, in which version.
        skill: SkillRef,
        /// The evidence, in words.
        reason: String,
        /// Whether it releases from quarantine, and not from a trial.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        from_quarantine: bool,
    },
    /// Sets a skill's state, by a person or by evidence.
    SetState {
        /// Which skill.
        skill: SkillId,
        /// The new state.
        state: State,
        /// Why.
        reason: String,
    },
}

impl LibraryChange {
    /// Checks the rules that hold in every library. A writer checks before it commits: the fold refuses a change that breaks
    /// a rule, and passes over a change that comes too late.
    ///
    /// # Errors
    /// `Invalid` for a policy out of its ranges, a credit whose reward is not finite or that names no use, and
    /// a skill of version 0 or over 2^32 - 1 or with too many or too large files, a merge of no skill, of itself or of one skill
    /// twice, a place that is no tier, subgoals that leave a step out, a confidence that is not in [0, 1], an assignment of no skill or by a
    /// chance that is none, prototypes of one id or without a checklist, a case whose least score and a pair of which a score is not in [0, 1], more rules than a role may have, and a rule
    /// that is too long.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Configure(policy) => policy.validate(),
            Self::Credit { reward, uses, .. } => {
                check(reward.is_finite(), "reward", reward, "finite")?;
                check(*uses >= 1, "uses", uses, "at least 1")
            }
            Self::Add(skill) | Self::Revise(skill) => check_skill(skill),
            Self::Merge { skill, sources, .. } => {
                check_skill(skill)?;
                let own = sources.contains(&skill.id);
                check(!own, "sources", &skill.id, "other skills than the new one")?;
                let different: BTreeSet<&SkillId> = sources.iter().collect();
                check(
                    different.len() == sources.len(),
                    "sources",
                    sources.len(),
                    "different skills",
                )?;
                check(!sources.is_empty(), "sources", 0, "at least 1")
            }
            Self::RollBack { to, .. } => check(*to > Version(0), "to", to, "at least 1"),
            Self::Place { tier, .. } => check(
                *tier != Tier::Aside,
                "tier",
                "aside",
                "cache or reservoir (set another state to put a skill aside)",
            ),
            Self::PatchBundle { cases, .. } => check_cases(cases),
            Self::SetRules { rules, .. } => check_rules(rules),
            Self::Note(note) => {
                let sound = (0.0..=1.0).contains(&note.score);
                check(sound, "score", note.score, "in [0, 1]")?;
                let (count, most) = (note.words.len(), AttemptNote::WORDS);
                check(count <= most, "words", count, "at most 64")
            }
            Self::Assign(assignment) => assignment.validate(),
            Self::Compare { pairs, .. } => pairs.iter().try_for_each(ComparedPair::validate),
            Self::Gain { gain, .. } => {
                check(gain.nats.is_finite(), "nats", gain.nats, "finite")?;
                check(gain.attempts >= 1, "attempts", gain.attempts, "at least 1")
            }
            Self::Assess(assessment) => check_assessment(assessment),
            Self::SetPrototypes(prototypes) => check_prototypes(prototypes),
            Self::Maintain
            | Self::SetAnchors(_)
            | Self::CheckAnchors(_)
            | Self::Expose { .. }
            | Self::Attribute(_)
            | Self::Test { .. }
            | Self::Prove { .. }
            | Self::Observe(_)
            | Self::Handled { .. }
            | Self::SetState { .. }
            | Self::Release { .. }
            | Self::RetireRun { .. }
            | Self::Erased { .. }
            | Self::Restore { .. } => Ok(()),
        }
    }
}

impl LibraryChange {
    /// The skill that the change adds or revises, where it does.
    pub fn skill(&self) -> Option<&Skill> {
        match self {
            Self::Add(skill) | Self::Revise(skill) | Self::Merge { skill, .. } => Some(skill),
            _ => None,
        }
    }

    /// The skill of the library whose text or state the change decides, where it is one.
    pub(crate) fn decides_about(&self) -> Option<&SkillId> {
        match self {
            Self::Revise(skill) => Some(&skill.id),
            Self::SetState { skill, .. } | Self::RollBack { skill, .. } => Some(skill),
            Self::Release { skill, .. } => Some(&skill.id),
            _ => None,
        }
    }

    pub(crate) fn archives(&self) -> Option<&SkillId> {
        match self {
            Self::SetState {
                skill,
                state: State::Archived,
                ..
            } => Some(skill),
            _ => None,
        }
    }

    /// As [`LibraryChange::skill`], mutable.
    pub fn skill_mut(&mut self) -> Option<&mut Skill> {
        match self {
            Self::Add(skill) | Self::Revise(skill) | Self::Merge { skill, .. } => Some(skill),
            _ => None,
        }
    }
}

/// Why a commit was made.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The run that made it, if one did.
    pub run: Option<RunId>,
    /// The task it came from, if one did.
    pub task: Option<TaskId>,
    /// In words.
    pub reason: String,
    /// When, by the host's clock; `None` where it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl Cause {
    /// A reason in words.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            run: None,
            task: None,
            reason: reason.into(),
            at: None,
        }
    }
}

/// Changes to be made together or not at all.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The revision that the changes were decided on.
    pub base: Revision,
    /// The commit's identity: a key is committed once.
    pub key: CommitKey,
    /// Why.
    pub cause: Cause,
    /// The changes, in order.
    pub changes: Vec<LibraryChange>,
}

impl Commit {
    /// Changes that were decided on a base, under a key.
    pub fn new(
        base: Revision,
        key: impl Into<CommitKey>,
        cause: Cause,
        changes: Vec<LibraryChange>,
    ) -> Self {
        Self {
            base,
            key: key.into(),
            cause,
            changes,
        }
    }
}

impl Commit {
    /// The files of the commit's skills; a writer puts them before the commit.
    pub fn files(&self) -> impl Iterator<Item = &FileRef> {
        let skills = self.changes.iter().filter_map(LibraryChange::skill);
        skills.flat_map(|skill| skill.files.values())
    }

    /// Refuses the commit where one of its files is missing.
    ///
    /// # Errors
    /// `Invalid`, with the file's hash.
    pub fn check_files(&self, is_there: impl Fn(&FileRef) -> Result<bool>) -> Result<()> {
        for file in self.files() {
            if !is_there(file)? {
                return Err(Error::invalid(
                    "SkillStore::commit",
                    "the commit names a file that was not put",
                )
                .with("sha256", &file.sha256)
                .hint("put the skill's files with `SkillFiles::put` before the commit"));
            }
        }
        Ok(())
    }

    /// The commit on top of a store's last revision.
    ///
    /// # Errors
    /// `Conflict` where that is not the revision that its changes were decided on; `Invalid` for a change that no library
    /// takes ([`LibraryChange::validate`]).
    pub fn made_on(&self, last: Revision) -> Result<Committed> {
        for (index, change) in self.changes.iter().enumerate() {
            change
                .validate()
                .map_err(|error| error.with("change", index))?;
        }
        if self.base != last {
            return Err(Error::new(
                ErrorKind::Conflict,
                "SkillStore::commit",
                "the base is not the last revision",
            )
            .with("base", self.base)
            .with("last", last)
            .hint("read what came since and commit on the last revision"));
        }
        Ok(Committed {
            revision: last.next(),
            key: self.key.clone(),
            cause: self.cause.clone(),
            changes: self.changes.clone(),
        })
    }
}

/// A commit as a store keeps it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Committed {
    /// The library's revision after them.
    pub revision: Revision,
    /// The commit's key.
    pub key: CommitKey,
    /// Why.
    pub cause: Cause,
    /// The changes, in order.
    pub changes: Vec<LibraryChange>,
}

impl Committed {
    /// Changes that made a revision, under a key.
    pub fn new(
        revision: Revision,
        key: impl Into<CommitKey>,
        cause: Cause,
        changes: Vec<LibraryChange>,
    ) -> Self {
        Self {
            revision,
            key: key.into(),
            cause,
            changes,
        }
    }
}

impl Committed {
    /// Whether earlier commits were changed by an erasure. A reader that folds commit by commit then has to fold all commits
    /// anew.
    pub fn erases(&self) -> bool {
        let erases = |change| matches!(change, &LibraryChange::Erased { .. });
        self.changes.iter().any(erases)
    }

    /// The skills about whose text or state the host, or a person, decided; none where a run made it.
    pub(crate) fn decided_by_host(&self) -> Vec<&SkillId> {
        match self.cause.run.as_ref().is_none_or(RunId::is_by_host) {
            true => self
                .changes
                .iter()
                .filter_map(LibraryChange::decides_about)
                .collect(),
            false => Vec::new(),
        }
    }
}
