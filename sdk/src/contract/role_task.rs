//! What a role is asked: its task, and the material that it works on.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Lesson, Prototype, Role, RoleRule, Rubric, Skill, Subgoal, Task, Trace},
    id::Category,
};

/// A task of a role.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleTask {
    /// Write one skill from the best successful attempts of a group.
    Summarize {
        /// One or two attempts, the best first.
        attempts: Vec<Trace>,
        /// The greatest length of each attempt in the prompt, in characters; without it the role's own, which it cannot exceed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown_chars: Option<NonZeroUsize>,
        /// Whether the fallback keeps the beginning of what the agent wrote in an attempt without a call
        /// ([`Roles::fallback`](super::Roles::fallback)).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keeps_reasoning: bool,
    },
    /// Write a skill from one attempt.
    Extract {
        /// The attempt.
        attempt: Box<Trace>,
        /// The number of this request among the requests for the same attempt, from 0.
        candidate: u32,
        /// The role's rules.
        rules: Vec<RoleRule>,
    },
    /// Write one skill from the common part of attempts at several tasks, or of several skills.
    Refactor {
        /// The attempts of the group, and the stored attempts from which its skills were made; few or none where a host added
        /// the skills.
        attempts: Vec<Trace>,
        /// The skills in the group, often none.
        skills: Vec<Skill>,
        /// The common part of attempts and skills, in words.
        reason: String,
        /// The group's identity; not part of the prompt.
        group: String,
        /// The role's rules.
        rules: Vec<RoleRule>,
    },
    /// Write a new version of a skill, from attempts that had it in the prompt.
    Refine {
        /// The skill's current version.
        skill: Box<Skill>,
        /// Attempts with the skill in the prompt, the most informative first; at least one.
        attempts: Vec<Trace>,
        /// One line for each case of the skill's test bundle that fails: why it fails.
        failures: Vec<String>,
        /// The role's rules.
        rules: Vec<RoleRule>,
        /// Whether the answer may also change the skill's name, kind, scope and tools, or archive it
        /// ([`RefinePolicy::whole`](crate::maintain::RefinePolicy::whole)).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        whole: bool,
    },
    /// Judge a skill's effect on an attempt.
    Attribute {
        /// The attempt.
        attempt: Box<Trace>,
        /// The skill's index in the attempt's injection, from 0.
        skill: usize,
    },
    /// Propose test cases for a skill, as fragments of an attempt.
    Bundle {
        /// The skill.
        skill: Box<Skill>,
        /// The attempt.
        attempt: Box<Trace>,
    },
    /// Rewrite the rules of another role, from the results of the skill versions that it made.
    Evolve {
        /// The other role.
        role: Role,
        /// That role's present rules.
        rules: Vec<RoleRule>,
        /// The skill versions that it made, each with its results; only versions with enough evidence.
        rows: Vec<Experience>,
    },
    /// Cut an attempt into subgoals.
    Segment {
        /// The attempt.
        attempt: Box<Trace>,
        /// The wording of the request.
        prompt: SegmentPrompt,
    },
    /// Distil a prototype from the subgoals of a cluster.
    DistilPrototype {
        /// Subgoals of the cluster, each in its attempt; at least one, those nearest to the center first.
        members: Vec<SubgoalInAttempt>,
    },
    /// Find the prototype of a subgoal.
    Route {
        /// The subgoal.
        subgoal: Box<SubgoalInAttempt>,
        /// The prototypes to choose from.
        prototypes: Vec<Prototype>,
    },
    /// Score a subgoal.
    Score {
        /// The subgoal.
        subgoal: Box<SubgoalInAttempt>,
        /// The rubric that the score is bound to; `None` for an open judgement.
        rubric: Option<Box<Rubric>>,
        /// The number of this request among the requests for the same subgoal, from 0.
        repeat: u32,
    },
    /// Decide on changes of the library after an attempt.
    Curate {
        /// The attempt.
        attempt: Box<Trace>,
        /// Whether the attempt is judged to have done the task; `None` where that is not known. In a run it is the word of the
        /// host's [`Judge`](crate::contract::Judge), or the agent's own where the judge gives it beside its verdict, as in the paper
        /// ([`Verdict::SELF_JUDGED`](crate::domain::Verdict::SELF_JUDGED)).
        correct: Option<bool>,
        /// The skills that were retrieved for the task.
        skills: Vec<Skill>,
    },
    /// Tag a task with the skills that it needs.
    Tag {
        /// The task.
        task: Box<Task>,
    },
    /// Say what a failed attempt teaches.
    Lesson {
        /// The attempt.
        attempt: Box<Trace>,
    },
    /// Distil the skills of a bank from patterns and lessons.
    DistilBank {
        /// The category of the skills; `None` for general ones.
        category: Option<Category>,
        /// Patterns of successes and lessons of failures, at least one.
        findings: Vec<Finding>,
        /// The skills that the bank has for it.
        skills: Vec<Skill>,
    },
    /// Judge the text of a skill.
    Review {
        /// The skill.
        skill: Box<Skill>,
    },
}

/// A subgoal with the attempt that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubgoalInAttempt {
    /// The attempt.
    pub attempt: Trace,
    /// The subgoal; its steps are steps of the attempt.
    pub subgoal: Subgoal,
}

/// The wording of a request to cut an attempt into subgoals (SCRIBE 3.1, A.1).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentPrompt {
    /// The main prompt for attempts with tools (appendix D).
    #[default]
    Main,
    /// The main prompt for reasoning without tools (appendix D).
    Reasoning,
    /// M1: the key intermediate subgoals of a solution.
    Narrative,
    /// M2: every part of a solution in exactly one subgoal.
    Coverage,
    /// T1: the intents that the agent completes.
    Intent,
    /// T2: failures, corrections and fallbacks are subgoals too.
    FailureAware,
}

/// What an attempt at a task taught: an entry of the material that a bank is distilled from (SkillRL 3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The task, in words.
    pub task: String,
    /// The pattern of a success, or the lesson of a failure.
    pub taught: Taught,
}

/// A pattern or a lesson.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taught {
    /// The pattern of a success, in words.
    Pattern(String),
    /// The lesson of a failure.
    Lesson(Lesson),
}

impl RoleTask {
    /// The role that performs this task.
    pub fn role(&self) -> Role {
        match self {
            Self::Summarize { .. } => Role::Summarize,
            Self::Extract { .. } => Role::Extract,
            Self::Refactor { .. } => Role::Refactor,
            Self::Refine { .. } => Role::Refine,
            Self::Attribute { .. } => Role::Attribute,
            Self::Bundle { .. } => Role::Bundle,
            Self::Evolve { .. } => Role::Evolve,
            Self::Segment { .. } => Role::Segment,
            Self::DistilPrototype { .. } => Role::DistilPrototype,
            Self::Route { .. } => Role::Route,
            Self::Score { .. } => Role::Score,
            Self::Curate { .. } => Role::Curate,
            Self::Tag { .. } => Role::Tag,
            Self::Lesson { .. } => Role::Lesson,
            Self::DistilBank { .. } => Role::DistilBank,
            Self::Review { .. } => Role::Review,
        }
    }

    /// The attempts in the role's prompt.
    pub fn attempts(&self) -> &[Trace] {
        match self {
            Self::Summarize { attempts, .. }
            | Self::Refactor { attempts, .. }
            | Self::Refine { attempts, .. } => attempts,
            Self::Extract { attempt, .. }
            | Self::Attribute { attempt, .. }
            | Self::Bundle { attempt, .. }
            | Self::Segment { attempt, .. }
            | Self::Curate { attempt, .. }
            | Self::Lesson { attempt } => std::slice::from_ref(attempt.as_ref()),
            Self::Route { subgoal, .. } | Self::Score { subgoal, .. } => {
                std::slice::from_ref(&subgoal.attempt)
            }
            // The attempts of a cluster are with its subgoals.
            Self::DistilPrototype { .. } => &[],
            Self::Evolve { .. }
            | Self::Tag { .. }
            | Self::DistilBank { .. }
            | Self::Review { .. } => &[],
        }
    }
}

/// A version that a role made, with its results: a row of the role's replay buffer (HiSME Eq. 17).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experience {
    /// The version.
    pub skill: Skill,
    /// How often it was judged helpful, with every skill that says word for word the same.
    pub helpful: u32,
    /// How often it was judged harmful.
    pub harmful: u32,
    /// How often it was judged neither, or it could not be told.
    pub other: u32,
    /// The result of its test bundle; `None` where it was never tested.
    pub bundle: Option<BundleCounts>,
    /// Judgements of the version that it replaced; `None` for a first version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<VersionJudgements>,
    /// The skill's state now, in words: `active`, `disabled`, `revised`.
    pub fate: String,
}

/// How many cases of a test bundle a version passes. In JSON an array: `passed`, then `cases`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct BundleCounts {
    /// Number of cases that passed.
    pub passed: u32,
    /// Number of cases in the bundle.
    pub cases: u32,
}

impl From<(u32, u32)> for BundleCounts {
    fn from((passed, cases): (u32, u32)) -> Self {
        Self { passed, cases }
    }
}

impl From<BundleCounts> for (u32, u32) {
    fn from(counts: BundleCounts) -> Self {
        (counts.passed, counts.cases)
    }
}

/// How often a version was judged helpful and harmful. In JSON an array: `helpful`, then `harmful`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct VersionJudgements {
    /// Number of attempts in which the version was judged helpful.
    pub helpful: u32,
    /// Number of attempts in which the version was judged harmful.
    pub harmful: u32,
}

impl From<(u32, u32)> for VersionJudgements {
    fn from((helpful, harmful): (u32, u32)) -> Self {
        Self { helpful, harmful }
    }
}

impl From<VersionJudgements> for (u32, u32) {
    fn from(judgements: VersionJudgements) -> Self {
        (judgements.helpful, judgements.harmful)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_counts_are_arrays_in_json() {
        let (passed, cases) = (2, 3);
        let bundle = BundleCounts { passed, cases };
        assert_eq!(serde_json::to_string(&bundle).unwrap(), "[2,3]");
        assert_eq!(
            serde_json::from_str::<BundleCounts>("[2,3]").unwrap(),
            bundle
        );
        let (helpful, harmful) = (4, 5);
        let judgements = VersionJudgements { helpful, harmful };
        assert_eq!(serde_json::to_string(&judgements).unwrap(), "[4,5]");
        assert_eq!(
            serde_json::from_str::<VersionJudgements>("[4,5]").unwrap(),
            judgements
        );
        assert!(serde_json::from_str::<BundleCounts>("[2]").is_err());
    }
}
