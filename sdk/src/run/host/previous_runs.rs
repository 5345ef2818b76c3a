//! The runs that earlier processes began under the same session name, read from the store and the journal.

use std::collections::BTreeMap;

use crate::{
    contract::{Journal, JournalEntry},
    domain::Committed,
    error::Result,
    id::RunId,
    policy::Policies,
    report::{EventKind, Finding, FindingKind},
    run::machine::{
        effect::Effect,
        journal::{RunEntry, replay},
    },
};

/// The previous runs of a session.
#[derive(Debug, Default)]
pub(crate) struct PreviousRuns {
    /// For each kind of run, the number of the next run.
    pub(crate) next_numbers: BTreeMap<String, u64>,
    /// A finding about the latest run of `learn`, if it is not finished and can be resumed.
    pub(crate) unfinished: Option<Finding>,
}

impl PreviousRuns {
    /// Reads the runs from the commits and the journal.
    ///
    /// # Errors
    /// The journal's error.
    pub(crate) async fn load(
        (session, policies): (&str, &Policies),
        committed: &[Committed],
        journal: Option<&dyn Journal>,
    ) -> Result<Self> {
        let mut previous = Self::default();
        let causes = committed.iter().filter_map(|one| one.cause.run.as_ref());
        causes.for_each(|run| previous.count(session, run));
        let Some(journal) = journal else {
            return Ok(previous);
        };
        let runs = journal.runs().await?;
        runs.iter().for_each(|run| previous.count(session, run));
        let latest = previous
            .next_numbers
            .get("learn")
            .and_then(|next| next.checked_sub(1));
        let latest = latest.map(|latest| RunId::new(format!("{session}/learn-{latest}")));
        if let Some(run) = latest.filter(|run| runs.contains(run))
            && let entries = journal.read(&run).await?
            && !is_finished(&entries)
            && is_resumable(&entries, policies)
        {
            previous.unfinished = Some(
                Finding::new(
                    FindingKind::UnfinishedRun,
                    format!("the remaining tasks of run {run} are not attempted"),
                    "the run was interrupted",
                    "continue it with `Journeyman::resume`; `Journeyman::unfinished_runs` lists all such runs",
                )
                .about(run.as_str()),
            );
        }
        Ok(previous)
    }

    fn count(&mut self, session: &str, run: &RunId) {
        let rest = run.as_str().strip_prefix(session);
        // The runs of rollouts are named below the call that made them.
        let first = rest
            .and_then(|rest| rest.strip_prefix('/'))
            .and_then(|rest| rest.split('/').next());
        let Some((kind, number)) = first.and_then(|first| first.rsplit_once('-')) else {
            return;
        };
        if let Ok(number) = number.parse::<u64>() {
            let next = self.next_numbers.entry(kind.to_owned()).or_default();
            *next = (*next).max(number.saturating_add(1));
        }
    }
}

/// Whether an unfinished run can be resumed: its policies are registered, and no attempt is missing that only the host can
/// make.
pub(crate) fn is_resumable(entries: &[JournalEntry], policies: &Policies) -> bool {
    let first = entries.first().map(RunEntry::from_entry);
    match first {
        Some(Ok(RunEntry::Started { by_host: true, .. })) => {
            let effects = replay(entries, policies).map(|machine| machine.effects());
            effects.is_ok_and(|effects| {
                !effects
                    .iter()
                    .any(|(_, effect)| matches!(effect, Effect::Attempt(_)))
            })
        }
        Some(Ok(RunEntry::Started { machine, .. })) => machine.recipe().resolve(policies).is_ok(),
        // Written by another version, or damaged.
        _ => false,
    }
}

/// Whether a run's journal has the event of its end. Entries that cannot be read are ignored.
pub(crate) fn is_finished(entries: &[JournalEntry]) -> bool {
    entries.iter().rev().any(|entry| {
        let Ok(RunEntry::Happened { event }) = RunEntry::from_entry(entry) else {
            return false;
        };
        matches!(event.kind, EventKind::RunFinished { .. })
    })
}
