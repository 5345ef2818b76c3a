//! What earlier starts of a session began.

use std::collections::BTreeMap;

use crate::{
    contract::{Journal, JournalEntry},
    domain::Committed,
    error::Result,
    id::RunId,
    policy::Policies,
    report::{EventKind, Finding, FindingKind},
    run::machine::{
        journal::{RunEntry, replay},
        need::Need,
    },
};

/// The runs of a session that the store and the journal know.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// How many runs of each kind began.
    pub(crate) counts: BTreeMap<String, u64>,
    /// That the latest run over a stream of tasks was not finished, where it was not.
    pub(crate) unfinished: Option<Finding>,
}

impl Begun {
    /// # Errors
    /// What the journal gives.
    pub(crate) async fn of(
        (session, policies): (&str, &Policies),
        committed: &[Committed],
        journal: Option<&dyn Journal>,
    ) -> Result<Self> {
        let mut begun = Self::default();
        let causes = committed.iter().filter_map(|one| one.cause.run.as_ref());
        causes.for_each(|run| begun.count(session, run));
        let Some(journal) = journal else {
            return Ok(begun);
        };
        let runs = journal.runs().await?;
        runs.iter().for_each(|run| begun.count(session, run));
        let latest = begun
            .counts
            .get("learn")
            .and_then(|next| next.checked_sub(1));
        let latest = latest.map(|latest| RunId::new(format!("{session}/learn-{latest}")));
        if let Some(run) = latest.filter(|run| runs.contains(run))
            && let entries = journal.read(&run).await?
            && !is_finished(&entries)
            && can_go_on(&entries, policies)
        {
            begun.unfinished = Some(
                Finding::new(
                    FindingKind::UnfinishedRun,
                    format!("the tasks that are left of run {run} are not attempted"),
                    "the run was interrupted",
                    "go on with it by `Journeyman::resume`; `Journeyman::unfinished_runs` lists all",
                )
                .about(run.as_str()),
            );
        }
        Ok(begun)
    }

    fn count(&mut self, session: &str, run: &RunId) {
        let rest = run.as_str().strip_prefix(session);
        let Some((kind, number)) = rest
            .and_then(|rest| rest.strip_prefix('/'))
            .and_then(|rest| rest.rsplit_once('-'))
        else {
            return;
        };
        if let Ok(number) = number.parse::<u64>() {
            let next = self.counts.entry(kind.to_owned()).or_default();
            *next = (*next).max(number.saturating_add(1));
        }
    }
}

/// Whether a run that is not finished can be gone on with: no attempt of it is missing that is the host's own to make.
pub(crate) fn can_go_on(entries: &[JournalEntry], policies: &Policies) -> bool {
    let first = entries.first().map(RunEntry::from_entry);
    match first {
        Some(Ok(RunEntry::Started { by_host: true, .. })) => {
            let needs = replay(entries, policies).map(|machine| machine.needs());
            needs.is_ok_and(|needs| {
                !needs
                    .iter()
                    .any(|(_, need)| matches!(need, Need::Attempt(_)))
            })
        }
        Some(Ok(RunEntry::Started { machine, .. })) => machine.recipe().resolve(policies).is_ok(),
        // Another version's, or damaged.
        _ => false,
    }
}

/// Whether a run's journal has its end. Entries that cannot be read count as no end.
pub(crate) fn is_finished(entries: &[JournalEntry]) -> bool {
    entries.iter().rev().any(|entry| {
        let Ok(RunEntry::Happened { event }) = RunEntry::from_entry(entry) else {
            return false;
        };
        matches!(event.kind, EventKind::RunFinished { .. })
    })
}
