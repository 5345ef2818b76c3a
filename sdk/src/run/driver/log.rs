//! The journal of a run while it is driven. Entries that are known at one moment are written in one call.

use std::collections::VecDeque;

use crate::{
    contract::Journal,
    error::Result,
    policy::Answer,
    report::Event,
    run::machine::{
        journal::RunEntry,
        need::{NeedId, TurnAsk},
        run_machine::RunMachine,
    },
};

/// Entries of a run that the machine has not seen, or that the journal has not.
///
/// An answer takes effect at once, and is durable before a commit that may depend on it is made. If the process dies in
/// between, a resumed run asks again for what the journal lacks, and no commit was made from it. A journal that fails leaves
/// the entries in the queue: the next call appends the same entries, and a journal passes over those that it has (rule *once*).
#[derive(Debug)]
pub(crate) struct Log {
    /// Number of entries that the journal has.
    sequence: u64,
    /// Entries that the machine has not seen.
    arrived: VecDeque<RunEntry>,
    /// Entries that took effect, and that the journal has not.
    queue: Vec<RunEntry>,
    /// Whether the queue has an entry that is dear to lose.
    is_urgent: bool,
}

impl Log {
    /// A log that goes on after `sequence` entries of the journal.
    pub(crate) fn new(sequence: u64) -> Self {
        Self {
            sequence,
            arrived: VecDeque::new(),
            queue: Vec::new(),
            is_urgent: false,
        }
    }

    /// Takes in an answer, to take effect at the next [`settle`](Self::settle).
    pub(crate) fn answer(&mut self, id: NeedId, answer: Answer) {
        self.arrived.push_back(RunEntry::Answered {
            id,
            question: None,
            answer: Box::new(answer),
        });
    }

    /// Takes in the beginning of a run, a turn that asks for skills, or an event that the journal lacks.
    pub(crate) fn push(&mut self, entry: RunEntry) {
        self.arrived.push_back(entry);
    }

    /// Whether the queue has an entry that took long to get: an attempt, a verdict, the words of a role, a test case, a gain; or the
    /// run's beginning, which takes the run's id. Retrieval, scores and events are derived again in little time.
    pub(crate) fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// Lets everything that arrived take effect, and reports the events that follow from it.
    ///
    /// # Errors
    /// `Invalid` or `Corrupt` for an answer that does not fit.
    pub(crate) fn settle(
        &mut self,
        machine: &mut RunMachine,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        loop {
            let events = machine.take_events().into_iter();
            self.arrived.extend(events.map(|event| RunEntry::Happened {
                event: Box::new(event),
            }));
            let Some(mut entry) = self.arrived.pop_front() else {
                return Ok(());
            };
            match &mut entry {
                RunEntry::Answered {
                    id,
                    question,
                    answer,
                } => {
                    *question = machine.question(id);
                    machine.answer(id.clone(), Answer::clone(answer))?;
                }
                RunEntry::TurnAsked { ask } => machine.ask_turn(TurnAsk::clone(ask)),
                RunEntry::Happened { event } => on_event(event),
                RunEntry::Started { .. } => {}
            }
            self.is_urgent |= is_urgent(&entry);
            self.queue.push(entry);
        }
    }

    /// Makes everything that took effect durable.
    ///
    /// # Errors
    /// The journal's.
    pub(crate) async fn keep(
        &mut self,
        journal: Option<&dyn Journal>,
        machine: &RunMachine,
    ) -> Result<()> {
        if let Some(journal) = journal.filter(|_| !self.queue.is_empty()) {
            let entries = (self.sequence..)
                .zip(&self.queue)
                .map(|(sequence, entry)| entry.to_entry(machine.run(), sequence))
                .collect::<Result<Vec<_>>>()?;
            journal.append(&entries).await?;
        }
        self.sequence += self.queue.len() as u64;
        self.queue.clear();
        self.is_urgent = false;
        Ok(())
    }
}

fn is_urgent(entry: &RunEntry) -> bool {
    match entry {
        RunEntry::Started { .. } => true,
        RunEntry::Answered { answer, .. } => matches!(
            **answer,
            Answer::Attempted(_)
                | Answer::Judged(_)
                | Answer::Played(_)
                | Answer::Tried(_)
                | Answer::Gained(_)
        ),
        RunEntry::TurnAsked { .. } | RunEntry::Happened { .. } => false,
    }
}
