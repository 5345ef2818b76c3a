//! What a run reports.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::{
    domain::{EndReason, Selection, SkillRef, Usage},
    error::Error,
    id::{AttemptId, Category, Revision, RunId, Seed, TaskId},
};

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// Which attempt.
    pub attempt: AttemptId,
    /// The skills that were injected, often one or none.
    pub injected: Vec<SkillRef>,
    /// Whether the agent said that it used it.
    pub used: bool,
    /// Whether the task was done; `None` when nobody could tell.
    pub success: Option<bool>,
    /// The verdict's score, 0 without a verdict.
    pub score: f64,
    /// The verdict's parts.
    pub parts: BTreeMap<String, f64>,
    /// The reward, where there is a verdict.
    pub reward: Option<f64>,
    /// Number of steps.
    pub steps: u32,
    /// What it cost.
    pub usage: Usage,
    /// Why it ended; `None` when it could not be made.
    pub end: Option<EndReason>,
    /// What went wrong outside the agent: the attempt could not be made, a part failed in its middle, or it could not be
    /// judged.
    pub error: Option<Error>,
}

/// What became of a draft.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteReport {
    /// The title, where there is a draft.
    pub title: Option<String>,
    /// Whether it is the trace abstraction.
    pub fallback: bool,
    /// The skill that came of it.
    pub admitted: Option<SkillRef>,
    /// Whether `admitted` is a new version of a skill that was there.
    pub revised: bool,
    /// Why nothing came of it.
    pub refused: Option<String>,
}

/// What the attempts that were given a skill came to beside all others of the run so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillGain {
    /// Which version.
    pub skill: SkillRef,
    /// Half of what its mean reward is above everybody's and half of what its rate of success is, in the unit of rewards.
    pub proxy: f64,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskReport {
    /// Its place in the stream, from 0.
    pub step: u64,
    /// Which task.
    pub task: TaskId,
    /// The host's own grouping.
    pub category: Option<Category>,
    /// Its labels.
    pub tags: Vec<String>,
    /// What the gate decided, once a query or once a rollout.
    pub selections: Vec<Selection>,
    /// The attempts, in order.
    pub attempts: Vec<AttemptReport>,
    /// Group-relative advantages (ARISE Eq. 5); `None` for a group of equal rewards or without verdicts.
    pub advantages: Option<Vec<f64>>,
    /// What became of each draft, where writing was due.
    pub written: Vec<WriteReport>,
    /// The proxy of information gain of each skill that its attempts were given, after it (ARISE Eq. 15); in learning alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<SkillGain>,
    /// Tokens of the roles, and of the agent in test cases, that were asked for the task; of those that failed, too.
    #[serde(default)]
    pub role_usage: Usage,
    /// The library's revision after the task.
    pub revision: Revision,
    /// Why the task's policy failed, where it did: then there are no attempts, and nothing was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Error>,
}

/// The tokens of maintenance between the tasks, also of calls that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceUsage {
    /// Of roles.
    pub roles: Usage,
    /// Of the agent in test cases.
    pub cases: Usage,
}

impl MaintenanceUsage {
    /// Adds the tokens of an answer.
    pub(crate) fn add(&mut self, more: Self) {
        self.roles.add(more.roles);
        self.cases.add(more.cases);
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Which run.
    pub run: RunId,
    /// What all its randomness follows from.
    pub seed: Seed,
    /// Its tasks, in order.
    pub tasks: Vec<TaskReport>,
    /// The library's revision at the end.
    pub revision: Revision,
    /// The tokens of maintenance. Those of the agent's attempts and of the roles that are asked about a task are in `tasks`.
    #[serde(default)]
    pub maintenance: MaintenanceUsage,
    /// What did not happen with the host's parts, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl RunReport {
    /// The attempts of all tasks, in order.
    pub fn attempts(&self) -> impl Iterator<Item = &AttemptReport> {
        self.tasks.iter().flat_map(|task| &task.attempts)
    }

    /// The share of judged attempts that were done, in [0, 1]; `None` where none was judged. What a part's fault ended is not
    /// judged: compare two runs by this only where their [`errors`](Self::errors) are few.
    pub fn success_rate(&self) -> Option<f64> {
        let judged = self.attempts().filter_map(|attempt| attempt.success);
        let (mut done, mut all) = (0_u32, 0_u32);
        for success in judged {
            done += u32::from(success);
            all += 1;
        }
        (all > 0).then(|| f64::from(done) / f64::from(all))
    }

    /// What went wrong outside the agent: the attempts that could not be made or judged, each with the reason.
    pub fn errors(&self) -> impl Iterator<Item = (&AttemptId, &Error)> {
        let attempts = self.attempts();
        attempts.filter_map(|attempt| Some((&attempt.attempt, attempt.error.as_ref()?)))
    }

    /// What became of each draft of a skill, in order.
    pub fn written(&self) -> impl Iterator<Item = &WriteReport> {
        self.tasks.iter().flat_map(|task| &task.written)
    }

    /// The error of a run none of whose attempts came to a verdict, all of them for a fault outside the agent.
    pub(crate) fn nothing_done(&self, operation: &'static str) -> Option<Error> {
        let count = self.attempts().count();
        let failed = self.tasks.iter().filter_map(|task| task.failed.as_ref());
        let mut faults = self.errors().map(|(_, error)| error).chain(failed);
        let first = faults.next()?;
        if self.errors().count() < count {
            return None;
        }
        let message = format!("none of {count} attempts could be made and judged");
        let error = Error::new(first.kind(), operation, message)
            .with("run", &self.run)
            .with("first", first)
            .hint("put right what the first error names; the run's events have the others");
        Some(error.source_from(first.clone()))
    }
}

/// A summary for people, of some lines.
impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tasks, attempts) = (self.tasks.len(), self.attempts().count());
        writeln!(
            f,
            "run {} (seed {}): {tasks} tasks, {attempts} attempts",
            self.run, self.seed
        )?;
        match self.success_rate() {
            Some(rate) => {
                let judged = || self.attempts().filter(|one| one.success.is_some());
                let count = judged().count() as f64;
                let score: f64 = judged().map(|one| one.score).sum();
                let steps: f64 = judged().map(|one| f64::from(one.steps)).sum();
                writeln!(
                    f,
                    "  done: {:.1}% of the judged attempts; on average a score of {:.2} in {:.1} steps",
                    100.0 * rate,
                    score / count,
                    steps / count
                )?;
            }
            None => writeln!(f, "  done: no attempt was judged")?,
        }
        let injected = self.attempts().filter(|one| !one.injected.is_empty());
        writeln!(
            f,
            "  with a skill in the prompt: {} attempts",
            injected.count()
        )?;
        let admitted = self.written().filter(|one| one.admitted.is_some()).count();
        let refused = self.written().count() - admitted;
        writeln!(f, "  skills written: {admitted}, drafts refused: {refused}")?;
        let abstracted = self.written().filter(|one| one.fallback).count();
        if abstracted > 0 {
            writeln!(
                f,
                "  of these drafts {abstracted} are traces abstracted without a model, since no answer of the writer could \
                 be read: see the events `FellBack`"
            )?;
        }
        if let Some((attempt, error)) = self.errors().next() {
            let count = self.errors().count();
            writeln!(
                f,
                "  not made or not judged: {count} attempts, first {attempt}: {error}"
            )?;
        }
        for finding in &self.findings {
            writeln!(f, "  note: {finding}")?;
        }
        Ok(())
    }
}
