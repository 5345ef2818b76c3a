//! The report of a run, as lines for people.

use std::fmt;

use super::{AttemptReport, MaintenanceUsage, RunReport, Sameness};
use crate::domain::SkillUse;

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

/// A line about the use of skills.
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
