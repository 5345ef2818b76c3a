//! What changes a library. Changes record inputs, never results, so that a better fold can be replayed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    AttemptNote, Attribution, BundleCase, CaseOutcome, ExposureOutcome, FileRef, HandledMark,
    InformationGain, Role, RoleRule, Skill, SkillRef, State, TierPolicy, Trace, tier_policy::check,
};
use crate::{
    error::{Error, ErrorKind, Result},
    id::{AttemptId, CommitKey, Revision, RunId, SkillId, TaskId, Version},
};

/// A version is bounded above, so that there is always a next one.
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
    check(count <= most, "rules", count, "at most 5")?;
    let lengths = rules.iter().map(|rule| rule.0.chars().count());
    let longest = lengths.max().unwrap_or(1);
    check(
        longest <= RoleRule::MAX,
        "rules",
        longest,
        "at most 300 characters each",
    )
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
    /// In neither: its state is not an offered one.
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
    /// The tiers' numbers from here on.
    Configure(TierPolicy),
    /// What an exposure brought (Update, C.2). A replayed attempt counts once.
    Credit {
        /// Which skill, in which version.
        skill: SkillRef,
        /// What tells this credit from every other: the attempt, or the group's first.
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
        /// What it was made of; at least one, no two the same, and not the new one itself.
        sources: Vec<SkillId>,
    },
    /// Evict, Load and Delete, in this order (C.2, C.3).
    Maintain,
    /// An earlier version comes back, as a new version.
    RollBack {
        /// Which skill.
        skill: SkillId,
        /// Which of its versions.
        to: Version,
        /// Why.
        reason: String,
    },
    /// A run and everything that came from it is taken back (J6).
    RetireRun {
        /// Which run.
        run: RunId,
        /// Why.
        reason: String,
    },
    /// A skill that was deleted comes back.
    Restore {
        /// Which skill.
        skill: SkillId,
        /// Why.
        reason: String,
    },
    /// An offered skill moves to the other tier.
    Place {
        /// Which skill.
        skill: SkillId,
        /// Where to: cache or reservoir.
        tier: Tier,
        /// Why.
        reason: String,
    },
    /// A text was taken out of what was committed before, and out of these skills' versions. Nothing changes by it but
    /// that whoever folded the earlier commits folds them anew ([`Committed::erases`]): it is the trace of an erasure.
    Erased {
        /// The skills with versions that held it.
        skills: Vec<SkillId>,
    },
    /// What an attempt did with a skill that was found for it (HiSME 3.3). An attempt counts once for each version.
    Expose {
        /// Which skill, in which version.
        skill: SkillRef,
        /// Which attempt.
        attempt: AttemptId,
        /// Whether it stood in the prompt.
        injected: bool,
        /// Whether the agent said that it used it.
        used: bool,
        /// How the attempt went, for a skill on trial that stood in the prompt; `None` for others, and where nobody could tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<ExposureOutcome>,
    },
    /// What a skill did to an attempt (HiSME 3.3). An attempt is judged once for each version.
    Attribute(Attribution),
    /// What of a skill's bundle changes (HiSME 3.3).
    PatchBundle {
        /// Which skill.
        skill: SkillId,
        /// Cases that it has to pass from here on, beside those it has; one of a name that is there takes its place.
        cases: Vec<BundleCase>,
        /// The names of those that it need not pass any more.
        dropped: Vec<String>,
    },
    /// What came of a version's cases.
    Test {
        /// Which skill, in which version.
        skill: SkillRef,
        /// Case by case.
        outcomes: Vec<CaseOutcome>,
    },
    /// What was measured of a version (ARISE D.3): for people, nothing is decided by it.
    Gain {
        /// Which skill, in which version.
        skill: SkillRef,
        /// How much.
        gain: InformationGain,
    },
    /// An attempt to be kept for roles that look across attempts.
    Observe(Box<Trace>),
    /// How an attempt of a small group went, to be compared with later ones at like tasks.
    Note(AttemptNote),
    /// A maintenance step was tried: a group of attempts or a skill with its evidence, by a role, or a skill's bundle.
    Handled {
        /// The step, and whether it is due again.
        fingerprint: HandledMark,
    },
    /// What a role keeps to from here on (HiSME 3.4); at most [`RoleRule::MOST`].
    SetRules {
        /// Which role.
        role: Role,
        /// All its rules.
        rules: Vec<RoleRule>,
    },
    /// Live attempts release a version from its trial. Where the skill has another version or state by then, nothing happens.
    Release {
        /// Which skill, in which version.
        skill: SkillRef,
        /// The evidence, in words.
        reason: String,
    },
    /// A person or evidence moves a skill to another state.
    SetState {
        /// Which skill.
        skill: SkillId,
        /// Where it goes.
        state: State,
        /// Why.
        reason: String,
    },
}

impl LibraryChange {
    /// Checks what must hold whatever library the change meets. A writer checks before it commits: the fold
    /// refuses what breaks these rules, and passes over what merely comes too late.
    ///
    /// # Errors
    /// `Invalid` for a policy out of its ranges, a credit whose reward is not finite or that names no use, and
    /// a skill of version 0 or over 2^32 - 1 or with too many or too large files, a merge of nothing, of itself or of one skill twice, and a place that is no
    /// tier; a case whose least score is none; more rules than a role may have, or one too long.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Configure(policy) => policy.validate(),
            Self::Credit { reward, uses, .. } => {
                check(reward.is_finite(), "reward", reward, "finite")?;
                check(*uses >= 1, "uses", uses, "at least 1")
            }
            Self::Add(skill) | Self::Revise(skill) => check_skill(skill),
            Self::Merge { skill, sources } => {
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
            Self::Gain { gain, .. } => {
                check(gain.nats.is_finite(), "nats", gain.nats, "finite")?;
                check(gain.attempts >= 1, "attempts", gain.attempts, "at least 1")
            }
            Self::Maintain
            | Self::Expose { .. }
            | Self::Attribute(_)
            | Self::Test { .. }
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
    /// The skill that the change brings, where it brings one.
    pub fn skill(&self) -> Option<&Skill> {
        match self {
            Self::Add(skill) | Self::Revise(skill) | Self::Merge { skill, .. } => Some(skill),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn skill_mut(&mut self) -> Option<&mut Skill> {
        match self {
            Self::Add(skill) | Self::Revise(skill) | Self::Merge { skill, .. } => Some(skill),
            _ => None,
        }
    }
}

/// Why a commit was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The run that made it, if one did.
    pub run: Option<RunId>,
    /// The task it came from, if one did.
    pub task: Option<TaskId>,
    /// In words.
    pub reason: String,
}

/// Changes to be made together or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The revision that the changes were decided on.
    pub base: Revision,
    /// Never applied twice.
    pub key: CommitKey,
    /// Why.
    pub cause: Cause,
    /// What, in order.
    pub changes: Vec<LibraryChange>,
}

impl Commit {
    /// The files that the commit's skills name, to be put before it is made.
    pub fn files(&self) -> impl Iterator<Item = &FileRef> {
        let skills = self.changes.iter().filter_map(LibraryChange::skill);
        skills.flat_map(|skill| skill.files.values())
    }

    /// The commit is refused where a file that it names is not there.
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

    /// The commit as it is made on a store's last revision.
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

/// Changes that were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Committed {
    /// The library's revision after them.
    pub revision: Revision,
    /// The commit's key.
    pub key: CommitKey,
    /// Why.
    pub cause: Cause,
    /// What, in order.
    pub changes: Vec<LibraryChange>,
}

impl Committed {
    /// Whether it says that what was committed before it is not what it was. Who follows a store by folding on folds
    /// everything anew then.
    pub fn erases(&self) -> bool {
        let erases = |change| matches!(change, &LibraryChange::Erased { .. });
        self.changes.iter().any(erases)
    }
}
