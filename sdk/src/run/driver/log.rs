//! Where a run is written down. An entry takes effect only once it is kept.

use std::collections::VecDeque;

use crate::{
    contract::Journal,
    error::Result,
    report::Event,
    run::machine::{journal::RunEntry, run_machine::RunMachine},
};

/// A run's entries that are not kept yet, and how many are. A journal that fails leaves them queued: the next try
/// appends the very same entries, which a journal passes over when it has them (rule *once*).
#[derive(Debug)]
pub(crate) struct Log {
    sequence: u64,
    queue: VecDeque<RunEntry>,
}

impl Log {
    /// A log that goes on after `sequence` kept entries.
    pub(crate) fn new(sequence: u64) -> Self {
        Self {
            sequence,
            queue: VecDeque::new(),
        }
    }

    /// Queues an entry.
    pub(crate) fn push(&mut self, entry: RunEntry) {
        self.queue.push_back(entry);
    }

    /// Keeps what is queued, lets it take effect, and goes on with the events that follow from it.
    ///
    /// # Errors
    /// What the journal gives; nothing has taken effect then. `Invalid` or `Corrupt` for an answer that does not fit.
    pub(crate) async fn keep(
        &mut self,
        journal: Option<&dyn Journal>,
        machine: &mut RunMachine,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        loop {
            let events = machine.take_events().into_iter();
            self.queue.extend(events.map(|event| RunEntry::Happened {
                event: Box::new(event),
            }));
            if self.queue.is_empty() {
                return Ok(());
            }
            if let Some(journal) = journal {
                let entries = (self.sequence..)
                    .zip(&self.queue)
                    .map(|(sequence, entry)| entry.to_entry(machine.run(), sequence))
                    .collect::<Result<Vec<_>>>()?;
                journal.append(&entries).await?;
            }
            self.sequence += self.queue.len() as u64;
            while let Some(entry) = self.queue.pop_front() {
                match entry {
                    RunEntry::Answered { id, answer } => machine.answer(id, *answer)?,
                    RunEntry::Happened { event } => on_event(&event),
                    RunEntry::Started { .. } => {}
                }
            }
        }
    }
}
