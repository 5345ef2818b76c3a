//! The driver's loop: it performs the effects of a run's machine concurrently and gives the answers back to the machine. It
//! spawns no tasks, so the host is free to use any async runtime.

use std::{
    cell::Cell,
    collections::BTreeSet,
    future::{Future, poll_fn},
    num::NonZeroUsize,
    task::Poll,
};

use futures::{
    FutureExt, StreamExt,
    channel::mpsc::{self, UnboundedReceiver},
    stream::FuturesUnordered,
};

use super::{
    log::Log,
    performer::Performer,
    turning::{Desk, TurnRequest},
};
use crate::{
    contract::Journal,
    error::Result,
    report::Event,
    run::machine::{
        effect::{Effect, EffectId, Station},
        journal::RunEntry,
        run_machine::RunMachine,
    },
};

/// The effects that a driver performs itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All effects.
    Everything,
    /// All effects except attempts, which the host makes in its own loop.
    AllButAttempts,
}

/// Drives a run's machine with a host's parts.
#[derive(Debug)]
pub(crate) struct Driver<'a> {
    pub(crate) performer: &'a Performer,
    pub(crate) journal: Option<&'a dyn Journal>,
    pub(crate) in_flight: NonZeroUsize,
}

impl Driver<'_> {
    /// Drives a machine until it is finished; with [`Reach::AllButAttempts`], until only attempts are left.
    ///
    /// Pending log entries are written to the journal in one call: before a commit is made, before the driver waits while the
    /// log has an [urgent](Log::is_urgent) entry, and at the end.
    ///
    /// # Errors
    /// The error of a commit or of the journal. Answers that are not yet in the journal stay in the log: a caller that keeps
    /// machine and log can call this again, and a run that is resumed from its journal asks for them again.
    pub(crate) async fn drive(
        &self,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        let (requests, mut requested) = mpsc::unbounded();
        let mut waiting: Vec<TurnRequest> = Vec::new();
        let mut asked: BTreeSet<EffectId> = BTreeSet::new();
        let mut working = FuturesUnordered::new();
        loop {
            log.settle(machine, on_event)?;
            waiting = still_waiting(waiting, machine);
            let new = self.new_needs(machine, reach, &asked, working.len());
            if new
                .iter()
                .any(|(_, effect)| matches!(effect, Effect::Commit(_)))
            {
                log.keep(self.journal, machine).await?;
            }
            for (id, effect) in new {
                asked.insert(id.clone());
                let desk = Desk {
                    attempt: id.clone(),
                    requests: requests.clone(),
                };
                let answer = self.performer.perform_at(effect, Some(desk));
                working.push(answer.map(move |answer| (id, answer)));
            }
            let next = match next(&mut working, &mut requested).now_or_never() {
                Some(next) => next,
                None => {
                    if log.is_urgent() {
                        log.keep(self.journal, machine).await?;
                    }
                    next(&mut working, &mut requested).await
                }
            };
            match next {
                Some(Next::Answered((id, answer))) => {
                    log.answer(id.clone(), answer?);
                    asked.remove(&id);
                }
                Some(Next::Asked(request)) => {
                    let ask = Box::new(request.ask.clone());
                    log.push(RunEntry::TurnAsked { ask });
                    waiting.push(request);
                }
                None if reach == Reach::Everything || log.is_urgent() => {
                    return log.keep(self.journal, machine).await;
                }
                None => return Ok(()),
            }
        }
    }

    /// The effects to start now: those that are not yet being performed, up to the concurrency limit.
    fn new_needs(
        &self,
        machine: &RunMachine,
        reach: Reach,
        asked: &BTreeSet<EffectId>,
        working: usize,
    ) -> Vec<(EffectId, Effect)> {
        let room = Cell::new(self.in_flight.get().saturating_sub(working));
        machine.effects_among(&|id| {
            // The attempt that waits for this selection already counts towards the limit.
            if id.station == Station::Turn {
                return !asked.contains(id);
            }
            let ours = reach == Reach::Everything || id.station != Station::Attempt;
            let wanted = ours && room.get() > 0 && !asked.contains(id);
            room.set(room.get() - usize::from(wanted));
            wanted
        })
    }
}

/// Replies to the turn requests whose skills are selected, and returns the other requests.
fn still_waiting(waiting: Vec<TurnRequest>, machine: &RunMachine) -> Vec<TurnRequest> {
    let mut still = Vec::new();
    for request in waiting {
        if request.reply.is_canceled() {
            continue;
        }
        match machine.turn_skills(&request.ask) {
            // Sending fails if the attempt was dropped in the meantime, and then nothing needs the skills.
            Some(skills) => drop(request.reply.send(skills)),
            None => still.push(request),
        }
    }
    still
}

/// An event that wakes the driver.
enum Next<T> {
    /// An effect was answered.
    Answered(T),
    /// A running attempt asks for the skills of a turn.
    Asked(TurnRequest),
}

/// Waits for the next event; none if no effect is being performed.
async fn next<F: Future>(
    working: &mut FuturesUnordered<F>,
    requested: &mut UnboundedReceiver<TurnRequest>,
) -> Option<Next<F::Output>> {
    poll_fn(|context| match working.poll_next_unpin(context) {
        Poll::Ready(answered) => Poll::Ready(answered.map(Next::Answered)),
        Poll::Pending => match requested.poll_next_unpin(context) {
            Poll::Ready(Some(request)) => Poll::Ready(Some(Next::Asked(request))),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        },
    })
    .await
}
