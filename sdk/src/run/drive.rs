//! The one loop that awaits: it holds the futures, performs needs and feeds the answers back. It spawns nothing, so
//! no runtime is forced on the host.

use std::{collections::BTreeSet, num::NonZeroUsize};

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::{Event, Need, NeedId, RunEntry, RunMachine, perform::Performer};
use crate::{contract::Journal, error::Result};

/// Which needs a driver performs itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of them.
    Everything,
    /// All but attempts: the host makes those itself.
    AllButAttempts,
}

/// Where a run is written down, and how far it got.
#[derive(Debug)]
pub(super) struct Log<'a> {
    journal: Option<&'a dyn Journal>,
    sequence: u64,
}

impl<'a> Log<'a> {
    /// A log that goes on after `sequence` entries.
    pub(super) fn new(journal: Option<&'a dyn Journal>, sequence: u64) -> Self {
        Self { journal, sequence }
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Writes entries down before what they say takes effect.
    pub(super) async fn write(&mut self, machine: &RunMachine, entries: &[RunEntry]) -> Result<()> {
        let Some(journal) = self.journal else {
            return Ok(());
        };
        let entries = (self.sequence..)
            .zip(entries)
            .map(|(sequence, entry)| entry.to_entry(machine.run(), sequence))
            .collect::<Result<Vec<_>>>()?;
        journal.append(&entries).await?;
        self.sequence += entries.len() as u64;
        Ok(())
    }
}

/// Drives a machine until it is finished, or until only attempts are left when those are the host's.
///
/// # Errors
/// When a commit or the journal fails. The machine then stands where it stood before that answer: nothing is lost,
/// and driving it again asks for the same.
pub(super) async fn drive(
    machine: &mut RunMachine,
    performer: &Performer,
    reach: Reach,
    in_flight: NonZeroUsize,
    log: &mut Log<'_>,
    on_event: &mut (dyn FnMut(&Event) + Send),
) -> Result<()> {
    let mut asked: BTreeSet<NeedId> = BTreeSet::new();
    let mut working = FuturesUnordered::new();
    happened(machine, log, on_event).await?;
    loop {
        for (id, need) in machine.needs() {
            let ours = reach == Reach::Everything || !matches!(need, Need::Attempt(_));
            if ours && working.len() < in_flight.get() && asked.insert(id) {
                working.push(performer.perform(need).map(move |answer| (id, answer)));
            }
        }
        let Some((id, answer)) = working.next().await else {
            return Ok(());
        };
        let answer = answer?;
        let entry = RunEntry::Answered {
            id,
            answer: Box::new(answer.clone()),
        };
        log.write(machine, &[entry]).await?;
        machine.answer(id, answer)?;
        asked.remove(&id);
        happened(machine, log, on_event).await?;
    }
}

/// Passes a machine's events on, into the journal and to the host.
pub(super) async fn happened(
    machine: &mut RunMachine,
    log: &mut Log<'_>,
    on_event: &mut (dyn FnMut(&Event) + Send),
) -> Result<()> {
    let events = machine.take_events();
    let entries: Vec<RunEntry> = events
        .iter()
        .map(|event| RunEntry::Happened {
            event: Box::new(event.clone()),
        })
        .collect();
    log.write(machine, &entries).await?;
    events.iter().for_each(on_event);
    Ok(())
}
