//! A run's progress on standard error, and why nothing came of it where nothing did.

use std::collections::{BTreeMap, BTreeSet};

use futures::{
    StreamExt,
    future::{Either, select},
};
use journeyman::{
    Result, SkillId,
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
    /// How often each reason was said.
    not_written: BTreeMap<String, usize>,
    given: usize,
    not_given: BTreeMap<String, usize>,
}

impl Reasons {
    /// The reasons why no skill was written, where none was.
    pub(super) fn none_written(&self) -> Option<String> {
        let none = self.written == 0 && !self.not_written.is_empty();
        none.then(|| format!("No skill was written: {}.", listed(&self.not_written)))
    }

    /// The reasons why no skill was given to the agent, where none was.
    pub(super) fn none_given(&self) -> Option<String> {
        let none = self.given == 0 && !self.not_given.is_empty();
        none.then(|| {
            format!(
                "No skill was given to the agent: {}.",
                listed(&self.not_given)
            )
        })
    }

    fn note(&mut self, event: &EventKind) {
        let mut count = |reason: String| *self.not_written.entry(reason).or_default() += 1;
        match event {
            EventKind::Admitted { .. } => self.written += 1,
            EventKind::NotDue { reason } | EventKind::Refused { reason } => count(reason.clone()),
            EventKind::RoleFailed { role, reason } => {
                count(format!("role {role} failed: {reason}"))
            }
            EventKind::Selected {
                selection, names, ..
            } => match names.is_empty() {
                true => *self.not_given.entry(selection.to_string()).or_default() += 1,
                false => self.given += 1,
            },
            _ => {}
        }
    }
}

/// The three reasons that were said most often.
fn listed(reasons: &BTreeMap<String, usize>) -> String {
    let mut reasons: Vec<(&String, &usize)> = reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown = reasons.iter().take(3);
    let shown: Vec<String> = shown
        .map(|(reason, count)| format!("{reason} ({count} times)"))
        .collect();
    shown.join("; ")
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
