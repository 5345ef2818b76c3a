//! A run's progress on standard error, and why nothing came of it where nothing did.

use std::collections::{BTreeMap, BTreeSet};

use futures::{
    StreamExt,
    future::{Either, select},
};
use journeyman::{
    Result, SkillId,
    domain::Decision,
    report::{Event, EventKind, RunReport, TaskReport},
    run::Journeyman,
};

use super::trace::Trace;
use crate::output::tell;

/// Prints a run's progress on standard error while it goes on.
pub(super) async fn follow(
    journeyman: &Journeyman,
    run: impl Future<Output = Result<RunReport>>,
    total: usize,
    trace: &Trace,
) -> Result<(RunReport, Reasons)> {
    let mut events = journeyman.events();
    let mut run = std::pin::pin!(run);
    let library = journeyman.library().await?;
    let named = library
        .entries()
        .map(|one| (one.skill.id.clone(), one.skill.name.to_string()));
    let mut progress = Progress {
        total,
        ended: 0,
        names: named.collect(),
        reasons: Reasons::default(),
    };
    let mut show = |event: Event| {
        trace.event(&event);
        progress.show(&event);
    };
    loop {
        match select(events.next(), run.as_mut()).await {
            Either::Left((Some(event), _)) => show(event),
            Either::Left((None, _)) => {}
            Either::Right((report, _)) => {
                while let Ok(event) = events.try_recv() {
                    show(event);
                }
                return Ok((report?, progress.reasons));
            }
        }
    }
}

/// Why skills were not written, and why none was given to the agent.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    written: usize,
    not_written: Counts,
    given: usize,
    not_given: Counts,
}

impl Reasons {
    /// The reasons why no skill was written, where none was.
    pub(super) fn none_written(&self) -> Option<String> {
        let none = self.written == 0 && !self.not_written.is_empty();
        none.then(|| format!("No skill was written: {}.", self.not_written.listed()))
    }

    /// The reasons why no skill was given to the agent, where none was.
    pub(super) fn none_given(&self) -> Option<String> {
        let none = self.given == 0 && !self.not_given.is_empty();
        none.then(|| {
            let listed = self.not_given.listed();
            format!("No skill was given to the agent: {listed}.")
        })
    }

    fn note(&mut self, event: &EventKind) {
        match event {
            EventKind::Admitted { .. } => self.written += 1,
            EventKind::NotDue { reason } | EventKind::Refused { reason } => {
                self.not_written.note(reason.clone());
            }
            EventKind::CallRefused { refusal, .. } => self.not_written.note(refusal.to_string()),
            EventKind::RoleFailed { role, reason } => {
                self.not_written
                    .note(format!("role {role} failed: {reason}"));
            }
            EventKind::Selected { selection, .. } => match &selection.decision {
                Decision::Nothing(reason) => self.not_given.note(reason.to_string()),
                _ => self.given += 1,
            },
            _ => {}
        }
    }
}

/// How often each reason was said. Those that differ in their numbers alone are one.
#[derive(Debug, Default)]
struct Counts(BTreeMap<String, Said>);

/// A reason as it was first said.
#[derive(Debug)]
struct Said {
    first: String,
    count: usize,
    /// Whether it was also said with other numbers.
    varies: bool,
}

impl Counts {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn note(&mut self, reason: String) {
        let key = reason.replace(|c: char| c.is_ascii_digit() || "+-.".contains(c), "");
        let said = self.0.entry(key).or_insert_with(|| Said {
            first: reason.clone(),
            count: 0,
            varies: false,
        });
        said.count += 1;
        said.varies |= said.first != reason;
    }

    /// The three reasons that were said most often.
    fn listed(&self) -> String {
        let mut said: Vec<&Said> = self.0.values().collect();
        said.sort_by_key(|one| std::cmp::Reverse(one.count));
        let shown = said
            .iter()
            .take(3)
            .map(|one| match (one.count, one.varies) {
                (1, _) => format!("{} (once)", one.first),
                (count, false) => format!("{} ({count} times)", one.first),
                (count, true) => {
                    format!("{} ({count} times, with these or other numbers)", one.first)
                }
            });
        shown.collect::<Vec<_>>().join("; ")
    }
}

/// What was seen of a run.
#[derive(Debug)]
struct Progress {
    total: usize,
    ended: usize,
    /// The names of the skills that are known.
    names: BTreeMap<SkillId, String>,
    reasons: Reasons,
}

impl Progress {
    fn show(&mut self, event: &Event) {
        self.reasons.note(&event.kind);
        match &event.kind {
            EventKind::Admitted { skill, revised, .. } => {
                let how = if *revised { "revised" } else { "learned" };
                tell(&format!("    {how} {}: {}", skill.name, skill.description));
                self.names.insert(skill.id.clone(), skill.name.to_string());
            }
            EventKind::TaskFinished { report, .. } => {
                self.ended += 1;
                let line = self.line(report);
                tell(&format!("  [{}/{}] {line}", self.ended, self.total));
            }
            _ => {}
        }
    }

    fn line(&self, report: &TaskReport) -> String {
        let all = report.attempts.len();
        let done = report
            .attempts
            .iter()
            .filter(|one| one.success == Some(true));
        let mut line = format!("{}: done {} of {all}", report.task, done.count());
        let injected = report.attempts.iter().flat_map(|one| &one.injected);
        let skills: BTreeSet<&SkillId> = injected.map(|skill| &skill.id).collect();
        if !skills.is_empty() {
            let name = |id: &SkillId| self.names.get(id).cloned().unwrap_or(id.to_string());
            let names: Vec<String> = skills.into_iter().map(name).collect();
            line.push_str(&format!(", with {}", names.join(", ")));
        }
        let fault = report.attempts.iter().find_map(|one| one.error.as_ref());
        if let Some(fault) = fault.or(report.failed.as_ref()) {
            line.push_str(&format!("; fault: {}", fault.message()));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_their_numbers_are_one() {
        let mut counts = Counts::default();
        for score in ["0.123", "-1.5", "4.75"] {
            counts.note(format!("the score, {score} nats, is not above 5"));
        }
        counts.note("no candidate was found".to_owned());
        assert_eq!(
            counts.listed(),
            "the score, 0.123 nats, is not above 5 (3 times, with these or other numbers); no candidate was found (once)"
        );
    }
}
