//! The report of a run, and of its tasks, attempts and drafts.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Compaction, EndReason, Role, Selection, SkillRef, SkillUse, Usage},
    error::Error,
    id::{AttemptId, Category, Revision, RunId, Seed, TaskId},
    run::report::{CurationReport, Finding, LiftReport},
};

/// Where a decision was not made in more than one task in so many, a report's shares say nothing of the recipe.
const UNDECIDED_PART: usize = 20;

/// The report of one attempt.
///
/// ```
/// use journeyman::{domain::SkillUse, testing::sample};
///
/// let skill = sample::skill("close-ticket");
/// let report = sample::attempt_report("a-1", &[skill.clone()], true);
/// assert_eq!(report.injected, [skill.reference()]);
/// assert_eq!((report.used, report.success), (SkillUse::Followed, Some(true)));
/// ```
#[non_exhaustive]
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
    /// The texts mean the same in other words ([`Identity::Meaning`](crate::stations::admit::Identity::Meaning)).
    Meaning,
}

/// The known skill that a draft is the same as.
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillGain {
    /// The version of the skill.
    pub skill: SkillRef,
    /// The mean of two differences: mean reward with the skill minus the overall mean reward, and success rate with the
    /// skill minus the overall success rate.
    pub proxy: f64,
}

/// The report of one task.
///
/// ```
/// use journeyman::prelude::*;
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
/// let report = attempt.finish(Outcome::scored(false, 0.5)).await?.expect("its group is complete");
/// assert_eq!((report.task.as_str(), report.attempts[0].score), ("t-1", 0.5));
/// // No skill was there to be given.
/// assert!(report.selections[0].skills().is_empty());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
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
#[non_exhaustive]
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
///
/// ```
/// use journeyman::testing::sample;
///
/// let mut report = sample::run_report();
/// let mut task = sample::task_report("t-1");
/// task.attempts.push(sample::attempt_report("a-1", &[], true));
/// task.attempts.push(sample::attempt_report("a-2", &[], false));
/// report.tasks.push(task);
/// assert_eq!(report.success_rate(), Some(0.5));
/// assert!(report.errors().next().is_none() && report.not_measured().is_none());
/// println!("{report}");
/// ```
#[non_exhaustive]
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
    /// What tasks that went without skills by chance said of skills and of the library, in order: each verdict that was another one than
    /// before. Empty where the recipe withholds nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifts: Vec<LiftReport>,
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

// The report of a run, as lines for people.

/// A summary of several lines, for people.
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
        fmt_unusual(self, f)?;
        fmt_use(self, f)?;
        let admitted = self.written().filter(|one| one.admitted.is_some()).count();
        let refused = self.written().count() - admitted;
        let pool = self.pool;
        writeln!(
            f,
            "  skills written: {admitted}, drafts refused: {refused}, skills in use at the end: {pool}"
        )?;
        let same = |by| self.duplicates().filter(|one| one.by == by).count();
        let (bytes, meaning) = (same(Sameness::Bytes), same(Sameness::Meaning));
        if bytes + meaning > 0 {
            let confirming = self.duplicates().filter(|one| one.confirms).count();
            writeln!(
                f,
                "  drafts of a known skill: {bytes} in its words, {meaning} in others; new evidence for it: {confirming}"
            )?;
        }
        let abstracted = self.written().filter(|one| one.fallback).count();
        if abstracted > 0 {
            writeln!(
                f,
                "  of these drafts {abstracted} are traces abstracted without a model, since no answer of the writer could \
                 be read: see the events `FellBack`"
            )?;
        }
        fmt_maintenance(&self.maintenance, f)?;
        if let Some((attempt, error)) = self.errors().next() {
            let count = self.errors().count();
            writeln!(
                f,
                "  not made or not judged: {count} attempts, first {attempt}: {error}"
            )?;
        }
        fmt_context(self, f)?;
        if !self.roles.is_empty() {
            writeln!(f, "  roles, answers that could not be read: {}", self.roles)?;
        }
        for lift in &self.lifts {
            writeln!(f, "  {lift}")?;
        }
        for finding in &self.findings {
            writeln!(f, "  note: {finding}")?;
        }
        Ok(())
    }
}

/// What was not decided, and what was asked for again or put right.
fn fmt_unusual(report: &RunReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (report.not_measured(), report.undecided().count()) {
        (Some(why), _) => writeln!(f, "  not measured: {why}")?,
        (None, 0) => {}
        (None, count) => writeln!(f, "  decisions on skills that were not made: {count}")?,
    }
    let count = |of: fn(&AttemptReport) -> u32| report.attempts().map(of).sum::<u32>();
    let (again, repaired) = (count(|one| one.asked_again), count(|one| one.repaired));
    if again + repaired > 0 {
        writeln!(
            f,
            "  answers that were asked for again: {again}, calls that were put right: {repaired}"
        )?;
    }
    Ok(())
}

/// A line about the use of skills, and another one where that is not known.
fn fmt_use(report: &RunReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let injected = || report.attempts().filter(|one| !one.injected.is_empty());
    write!(
        f,
        "  with a skill in the prompt: {} attempts",
        injected().count()
    )?;
    if injected().count() > 0 {
        let of = |used| injected().filter(|one| one.used == used).count();
        let (followed, not) = (of(SkillUse::Followed), of(SkillUse::NotFollowed));
        let unknown = of(SkillUse::Unknown);
        write!(
            f,
            "; a skill was followed in {followed}, none in {not}, unknown in {unknown}"
        )?;
        if unknown > 0 {
            write!(
                f,
                "\n  why unknown: in {unknown} attempts nothing said whether a skill was followed: no line `Skill: …` with the name of just one \
                 skill of the prompt, or with `none`; in your own loop, no `AttemptHandle::used`; see docs/explanation/credit.md"
            )?;
        }
    }
    writeln!(f)
}

/// A line about the cost of maintenance, if it had any.
fn fmt_maintenance(cost: &MaintenanceUsage, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if cost.tokens() == 0 && cost.over_budget == 0 {
        return Ok(());
    }
    write!(
        f,
        "  maintenance: {} tokens of roles, {} tokens in {} attempts at test cases",
        cost.roles.total(),
        cost.cases.total(),
        cost.attempts
    )?;
    match cost.over_budget {
        0 => writeln!(f),
        count => writeln!(f, "; its budget left out {count} calls"),
    }
}

/// The lines about the model's context, where it was too short.
fn fmt_context(report: &RunReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let compacted = report.attempts().filter(|one| !one.compaction.is_none());
    let compacted = compacted.count();
    if compacted > 0 {
        writeln!(
            f,
            "  prompts made to fit the context in {compacted} attempts; left out {}",
            report.compaction()
        )?;
    }
    let ended = report.out_of_context().count();
    if ended > 0 {
        writeln!(
            f,
            "  ended for want of context, and not judged: {ended} attempts"
        )?;
    }
    Ok(())
}

// How many answers of each role could be read.

/// How the calls of one role went. A call is a request to the role with its repair, if there was one.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleCounts {
    /// Number of calls.
    pub asked: u64,
    /// Number of calls whose first answer could not be read, and the repair could.
    pub repaired: u64,
    /// Number of calls in which neither the answer nor its repair could be read, those with a fallback included.
    pub unreadable: u64,
    /// Number of calls that ended without an answer: the model failed, or its context was too short for the prompt.
    pub failed: u64,
    /// Number of calls whose prompt was made shorter to fit the model's context.
    pub shortened: u64,
}

impl RoleCounts {
    /// The share of answered calls in which no answer could be read, in [0, 1]; `None` where no call was answered.
    pub fn unreadable_share(&self) -> Option<f64> {
        self.share(self.unreadable)
    }

    /// The share of answered calls whose first answer could not be read, in [0, 1]; `None` where no call was answered.
    pub fn first_unreadable_share(&self) -> Option<f64> {
        self.share(self.repaired.saturating_add(self.unreadable))
    }

    fn share(&self, part: u64) -> Option<f64> {
        let answered = self.asked.saturating_sub(self.failed);
        (answered > 0).then(|| part as f64 / answered as f64)
    }

    fn add(&mut self, more: Self) {
        let pairs = [
            (&mut self.asked, more.asked),
            (&mut self.repaired, more.repaired),
            (&mut self.unreadable, more.unreadable),
            (&mut self.failed, more.failed),
            (&mut self.shortened, more.shortened),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

/// [`RoleCounts`] by role. A role that was never asked has none.
///
/// ```
/// use journeyman::{domain::Role, run::report::{RoleCounts, RoleTally}};
///
/// let mut tally = RoleTally::default();
/// let mut calls = RoleCounts::default();
/// (calls.asked, calls.repaired, calls.unreadable) = (50, 4, 1);
/// tally.count(Role::Extract, calls);
/// assert_eq!(tally.get(Role::Extract).unreadable_share(), Some(0.02));
/// assert_eq!(tally.to_string(), "extract 2.0% of 50 (4 more repaired)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoleTally(BTreeMap<Role, RoleCounts>);

impl RoleTally {
    /// Whether no role was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds calls of a role.
    pub fn count(&mut self, role: Role, calls: RoleCounts) {
        self.0.entry(role).or_default().add(calls);
    }

    /// Adds another tally.
    pub fn add(&mut self, more: &Self) {
        more.iter()
            .for_each(|(role, calls)| self.count(role, calls));
    }

    /// The calls of a role.
    pub fn get(&self, role: Role) -> RoleCounts {
        self.0.get(&role).copied().unwrap_or_default()
    }

    /// The roles that were asked, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Role, RoleCounts)> {
        self.0.iter().map(|(role, calls)| (*role, *calls))
    }
}

/// Each role with the share of its answers that could not be read, on one line.
impl fmt::Display for RoleTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (role, calls)) in self.iter().enumerate() {
            let between = if place > 0 { ", " } else { "" };
            let answered = calls.asked.saturating_sub(calls.failed);
            match calls.unreadable_share() {
                Some(share) => write!(f, "{between}{role} {:.1}% of {answered}", 100.0 * share)?,
                None => write!(f, "{between}{role} never answered")?,
            }
            let further = [
                (calls.repaired, "more repaired"),
                (calls.failed, "failed"),
                (calls.shortened, "with a shortened prompt"),
            ];
            let further = further.into_iter().filter(|(count, _)| *count > 0);
            let further: Vec<String> = further
                .map(|(count, words)| format!("{count} {words}"))
                .collect();
            if !further.is_empty() {
                write!(f, " ({})", further.join(", "))?;
            }
        }
        Ok(())
    }
}
