//! The report of a run, and of its tasks, attempts and drafts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CurationReport, Finding, RoleTally};
use crate::{
    domain::{Compaction, EndReason, Selection, SkillRef, SkillUse, Usage},
    error::Error,
    id::{AttemptId, Category, Revision, RunId, Seed, TaskId},
};

/// Where a decision was not made in more than one task in so many, a report's shares say nothing of the recipe.
const UNDECIDED_PART: usize = 20;

/// The report of one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// The attempt's id.
    pub attempt: AttemptId,
    /// The skills that were injected, often one or none.
    pub injected: Vec<SkillRef>,
    /// Whether the agent followed an injected skill: followed if one was; not followed if that is known of each, or none was
    /// injected ([`SkillUse::of_any`]). What a role judges is not in it.
    pub used: SkillUse,
    /// Whether the task was done; `None` where the judge could not decide, or there is no verdict.
    pub success: Option<bool>,
    /// The verdict's score, 0 without a verdict.
    pub score: f64,
    /// The verdict's parts.
    pub parts: BTreeMap<String, f64>,
    /// The process score, in [0, 1], where the attempt was assessed (SCRIBE 3.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<f64>,
    /// The reward, where the verdict permits one.
    pub reward: Option<f64>,
    /// Number of steps.
    pub steps: u32,
    /// Tokens used by the agent.
    pub usage: Usage,
    /// Why the attempt ended; `None` where it could not be made.
    pub end: Option<EndReason>,
    /// What the agent's model wrote last, where that could not be read as an action: the first 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Why the skills of a later turn could not be chosen ([`Trajectory::undecided`](crate::domain::Trajectory::undecided)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Error>,
    /// Number of steps for which the agent's model was asked again, because its first answer could not be used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub asked_again: u32,
    /// Number of steps whose calls were put right ([`StepNote::Repaired`](crate::domain::StepNote)).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repaired: u32,
    /// A fault outside the agent: the attempt could not be made, a part failed during it, or it could not be judged.
    pub error: Option<Error>,
    /// What the agent's prompts left out so that they fit the model's context.
    #[serde(default, skip_serializing_if = "Compaction::is_none")]
    pub compaction: Compaction,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The beginning of what a model wrote, for people.
pub(crate) fn shown(text: &str) -> String {
    text.trim().chars().take(300).collect()
}

/// How a draft is the same as a known skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sameness {
    /// Description and body are equal.
    Bytes,
    /// The texts mean the same in other words ([`Identity::Meaning`](crate::admit::Identity::Meaning)).
    Meaning,
}

/// The known skill that a draft is the same as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicate {
    /// The skill.
    pub skill: SkillRef,
    /// How they are the same.
    pub by: Sameness,
    /// Whether the draft's attempt became a test case of the skill: an attempt that did not follow the skill came to it.
    pub confirms: bool,
}

/// The result of a draft: admitted as a skill, or refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteReport {
    /// The draft's title; `None` where the role gave no draft.
    pub title: Option<String>,
    /// Whether the draft was abstracted from a trace without a model, because no answer of the role could be parsed.
    pub fallback: bool,
    /// The admitted skill.
    pub admitted: Option<SkillRef>,
    /// Whether `admitted` is a new version of a skill that the library already had.
    pub revised: bool,
    /// Why no skill was admitted.
    pub refused: Option<String>,
    /// The known skill that the draft is the same as, if it was refused for that, or revives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Duplicate>,
}

/// The proxy of a skill's information gain: how much better the attempts with the skill went than all attempts of the run
/// so far (ARISE Eq. 15).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillGain {
    /// The version of the skill.
    pub skill: SkillRef,
    /// The mean of two differences: mean reward with the skill minus the overall mean reward, and success rate with the
    /// skill minus the overall success rate.
    pub proxy: f64,
}

/// The report of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskReport {
    /// The task's index in the stream, from 0.
    pub step: u64,
    /// The task's id.
    pub task: TaskId,
    /// The task's category, as the host gave it.
    pub category: Option<Category>,
    /// The task's labels.
    pub tags: Vec<String>,
    /// The selector's decisions: one for the whole group, or one for each attempt.
    pub selections: Vec<Selection>,
    /// The attempts, in order.
    pub attempts: Vec<AttemptReport>,
    /// Group-relative advantages (ARISE Eq. 5), in the order of `attempts`; `None` where the rewards are equal or one is
    /// missing.
    pub advantages: Option<Vec<f64>>,
    /// The result of each draft, and of each call of a curator that inserts or updates a skill; empty where no role was asked
    /// to write.
    pub written: Vec<WriteReport>,
    /// The curator's calls; `None` where no curator was asked (SkillOS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curation: Option<CurationReport>,
    /// The proxy of information gain of each skill that the task's attempts were given (ARISE Eq. 15), over the run up to
    /// and including this task. Only in learning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<SkillGain>,
    /// Tokens used by the roles and by the agent in test cases that were asked for the task, and gave an answer.
    #[serde(default)]
    pub role_usage: Usage,
    /// Tokens used by roles and test cases that were asked for the task and failed: an answer that could not be read, an
    /// attempt that could not be judged.
    #[serde(default)]
    pub failed_usage: Usage,
    /// How the calls of each role that was asked for the task went.
    #[serde(default, skip_serializing_if = "RoleTally::is_empty")]
    pub roles: RoleTally,
    /// The library's revision after the task.
    pub revision: Revision,
    /// The error of the task's policy, if it failed: then the report has no attempts, and nothing was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Error>,
}

impl TaskReport {
    /// The reasons for which its decisions on skills were not made as the recipe says ([`RunReport::undecided`]).
    pub fn undecided(&self) -> impl Iterator<Item = String> {
        let first = self.selections.iter().filter_map(Selection::fault);
        let later = self.attempts.iter();
        let later = later.filter_map(|attempt| attempt.undecided.as_ref());
        first
            .map(ToString::to_string)
            .chain(later.map(ToString::to_string))
    }
}

/// The cost of maintenance between tasks, failed calls included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceUsage {
    /// Tokens used by roles.
    pub roles: Usage,
    /// Tokens used by the agent in test cases.
    pub cases: Usage,
    /// Number of attempts at test cases.
    #[serde(default)]
    pub attempts: u64,
    /// Number of calls of roles, test cases and parts that the budget left out
    /// ([`MaintenanceBudget`](crate::domain::MaintenanceBudget)), each as often as it was left out.
    #[serde(default)]
    pub over_budget: u64,
}

impl MaintenanceUsage {
    /// Adds the tokens of an answer.
    pub(crate) fn add(&mut self, more: Self) {
        self.roles.add(more.roles);
        self.cases.add(more.cases);
        self.attempts = self.attempts.saturating_add(more.attempts);
        self.over_budget = self.over_budget.saturating_add(more.over_budget);
    }

    /// All tokens.
    pub fn tokens(&self) -> u64 {
        self.roles.total().saturating_add(self.cases.total())
    }
}

/// The report of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// The run's id.
    pub run: RunId,
    /// The seed from which all randomness of the run is derived.
    pub seed: Seed,
    /// The reports of the finished tasks, in order.
    pub tasks: Vec<TaskReport>,
    /// The library's revision at the end.
    pub revision: Revision,
    /// Number of skills in use (active or on trial) at the end.
    #[serde(default)]
    pub pool: u64,
    /// The cost of maintenance. Tokens of attempts, and of roles that are asked about a task, are in `tasks`.
    #[serde(default)]
    pub maintenance: MaintenanceUsage,
    /// How the calls of each role went, in tasks and in maintenance.
    #[serde(default, skip_serializing_if = "RoleTally::is_empty")]
    pub roles: RoleTally,
    /// The findings of the session at the end of the run: functions that were disabled, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl RunReport {
    /// The attempts of all tasks, in order.
    pub fn attempts(&self) -> impl Iterator<Item = &AttemptReport> {
        self.tasks.iter().flat_map(|task| &task.attempts)
    }

    /// The share of judged attempts that were done, in [0, 1]; `None` where none was judged. Attempts that were ended by a
    /// part's fault are not judged: compare two runs by this only where they have few [`errors`](Self::errors), and few attempts
    /// [out of context](Self::out_of_context), and where the gate has [decided](Self::not_measured).
    pub fn success_rate(&self) -> Option<f64> {
        let judged = self.attempts().filter_map(|attempt| attempt.success);
        let (mut done, mut all) = (0_u32, 0_u32);
        for success in judged {
            done += u32::from(success);
            all += 1;
        }
        (all > 0).then(|| f64::from(done) / f64::from(all))
    }

    /// The attempts with a fault outside the agent, each with its error.
    pub fn errors(&self) -> impl Iterator<Item = (&AttemptId, &Error)> {
        let attempts = self.attempts();
        attempts.filter_map(|attempt| Some((&attempt.attempt, attempt.error.as_ref()?)))
    }

    /// The reasons for which decisions on skills were not made as the recipe says, each with its task: a part that decides was not
    /// there, failed or took too long, and so no skill was given, whatever one would have been worth; within an attempt, those of
    /// the turn before stayed to its end.
    pub fn undecided(&self) -> impl Iterator<Item = (&TaskId, String)> {
        let tasks = self.tasks.iter();
        tasks.flat_map(|task| task.undecided().map(|reason| (&task.task, reason)))
    }

    /// Why the shares of this report say nothing of the recipe: in more than one task in twenty, of those with something to decide,
    /// a decision was [not made](Self::undecided). `None` where they do.
    pub fn not_measured(&self) -> Option<String> {
        let (_, first) = self.undecided().next()?;
        let is_undecided = |task: &&TaskReport| task.undecided().next().is_some();
        let has_candidates = |one: &Selection| !one.candidates.is_empty();
        let is_asked =
            |task: &&TaskReport| is_undecided(task) || task.selections.iter().any(has_candidates);
        let all = self.tasks.iter().filter(is_asked).count();
        let undecided = self.tasks.iter().filter(is_undecided).count();
        (undecided * UNDECIDED_PART > all).then(|| {
            format!(
                "in {undecided} of {all} tasks it was not decided whether a skill fits: {first}"
            )
        })
    }

    /// The attempts that ended for want of context, in order. They are not judged, and are not part of
    /// [`success_rate`](Self::success_rate).
    pub fn out_of_context(&self) -> impl Iterator<Item = &AttemptReport> {
        let lacks = |one: &&AttemptReport| matches!(one.end, Some(EndReason::ContextLength { .. }));
        self.attempts().filter(lacks)
    }

    /// What the agent's prompts left out so that they fit the model's context.
    pub fn compaction(&self) -> Compaction {
        let mut all = Compaction::NONE;
        self.attempts().for_each(|one| all.add(one.compaction));
        all
    }

    /// The result of each draft, in order.
    pub fn written(&self) -> impl Iterator<Item = &WriteReport> {
        self.tasks.iter().flat_map(|task| &task.written)
    }

    /// The drafts that are the same as a known skill, in order.
    pub fn duplicates(&self) -> impl Iterator<Item = &Duplicate> {
        self.written().filter_map(|one| one.duplicate.as_ref())
    }

    /// The error of a run in which every attempt had a fault outside the agent; `None` for any other run.
    pub(crate) fn nothing_done(&self, operation: &'static str) -> Option<Error> {
        let count = self.attempts().count();
        let failed = self.tasks.iter().filter_map(|task| task.failed.as_ref());
        let mut faults = self.errors().map(|(_, error)| error).chain(failed);
        let first = faults.next()?;
        if self.errors().count() < count {
            return None;
        }
        let message = match count {
            0 => format!("the policies of all {} tasks failed", self.tasks.len()),
            _ => format!("none of {count} attempts could be made and judged"),
        };
        let error = Error::new(first.kind(), operation, message)
            .with("run", &self.run)
            .with("first", first)
            .hint("correct the cause of the first error; the run's events have the other errors");
        Some(error.source_from(first.clone()))
    }
}
