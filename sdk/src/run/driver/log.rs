//! The queue between a run's machine and its journal. All pending entries are written to the journal in one call.

use std::collections::VecDeque;

use crate::{
    contract::Journal,
    error::Result,
    policy::Answer,
    report::Event,
    run::machine::{effect::EffectId, journal::RunEntry, run_machine::RunMachine},
};

/// Entries of a run that are not yet applied to the machine, or not yet written to the journal.
///
/// An answer is applied to the machine before it is in the journal, and is written to the journal before a commit that may
/// depend on it. If the process dies in between, the resumed run asks the missing questions again, and no commit depended on
/// the lost answers. If the journal fails, the entries stay in the queue: the next call appends them again, and the journal
/// ignores those that it already has (rule *once* of [`Journal`]).
#[derive(Debug)]
pub(crate) struct Log {
    /// Number of entries in the journal.
    sequence: u64,
    /// Entries that are not yet applied to the machine.
    arrived: VecDeque<RunEntry>,
    /// Entries that are applied to the machine, and not yet in the journal.
    queue: Vec<RunEntry>,
    /// Whether the queue has an entry that is expensive to obtain again.
    is_urgent: bool,
    /// Whether there is a journal. Without one nothing is queued.
    is_kept: bool,
}

impl Log {
    /// An empty log for a run with `sequence` entries in its journal.
    pub(crate) fn new(sequence: u64, journal: Option<&dyn Journal>) -> Self {
        Self {
            sequence,
            arrived: VecDeque::new(),
            queue: Vec::new(),
            is_urgent: false,
            is_kept: journal.is_some(),
        }
    }

    /// Adds an answer. The next [`settle`](Self::settle) applies it.
    pub(crate) fn answer(&mut self, id: EffectId, answer: Answer) {
        self.arrived.push_back(RunEntry::Answered {
            id,
            question: None,
            answer: Box::new(answer),
        });
    }

    /// Adds another entry: the start of a run, a turn that asks for skills, or an event that the journal lacks.
    pub(crate) fn push(&mut self, entry: RunEntry) {
        self.arrived.push_back(entry);
    }

    /// Whether the queue has an entry that is expensive to obtain again (an attempt, a verdict, a role's answer, the result of
    /// a test case, a gain), or the start of the run, which reserves the run's id. Retrieval, scores and events are cheap.
    pub(crate) fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// Applies all added entries to the machine, and passes the resulting events to `on_event`.
    ///
    /// # Errors
    /// `Invalid` or `Corrupt` for an answer that the machine refuses.
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
            let Some(entry) = self.arrived.pop_front() else {
                return Ok(());
            };
            let recorded = self.is_kept.then(|| recorded(&entry, machine));
            match entry {
                RunEntry::Answered { id, answer, .. } => machine.answer(id, *answer)?,
                RunEntry::TurnAsked { ask } => machine.ask_turn(*ask),
                RunEntry::Happened { event } => on_event(&event),
                RunEntry::Started { .. } => {}
            }
            if let Some(entry) = recorded {
                self.is_urgent |= is_urgent(&entry);
                self.queue.push(entry);
            }
        }
    }

    /// Writes all applied entries to the journal, if there is one.
    ///
    /// # Errors
    /// The journal's error.
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

/// The entry as the journal keeps it: an answer with the digest of its question.
fn recorded(entry: &RunEntry, machine: &RunMachine) -> RunEntry {
    let mut entry = entry.clone();
    if let RunEntry::Answered { id, question, .. } = &mut entry {
        *question = machine.question(id);
    }
    entry
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
