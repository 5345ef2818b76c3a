//! The one loop that awaits: it holds the futures, performs needs and feeds the answers back. It spawns nothing, so
//! no runtime is forced on the host.

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
        journal::RunEntry,
        need::{Need, NeedId, Station},
        run_machine::RunMachine,
    },
};

/// Which needs a driver performs itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All of them.
    Everything,
    /// All but attempts: the host makes those itself.
    AllButAttempts,
}

/// What a machine is driven with.
#[derive(Debug)]
pub(crate) struct Driver<'a> {
    pub(crate) performer: &'a Performer,
    pub(crate) journal: Option<&'a dyn Journal>,
    pub(crate) in_flight: NonZeroUsize,
}

impl Driver<'_> {
    /// Drives a machine until it is finished, or until only attempts are left when those are the host's.
    ///
    /// Everything that is known at one moment is made durable in one write: before a commit is made, before the driver waits
    /// with an [urgent](Log::is_urgent) entry in the log, and at the end.
    ///
    /// # Errors
    /// When a commit or the journal fails. Answers that are not durable are still in the log: whoever keeps machine and log can
    /// drive on, and a run that is resumed from its journal asks for them again.
    pub(crate) async fn drive(
        &self,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        let (requests, mut requested) = mpsc::unbounded();
        let mut waiting: Vec<TurnRequest> = Vec::new();
        let mut asked: BTreeSet<NeedId> = BTreeSet::new();
        let mut working = FuturesUnordered::new();
        loop {
            log.settle(machine, on_event)?;
            waiting = still_waiting(waiting, machine);
            let new = self.new_needs(machine, reach, &asked, working.len());
            if new.iter().any(|(_, need)| matches!(need, Need::Commit(_))) {
                log.keep(self.journal, machine).await?;
            }
            for (id, need) in new {
                asked.insert(id.clone());
                let desk = Desk {
                    attempt: id.clone(),
                    requests: requests.clone(),
                };
                let answer = self.performer.perform_at(need, Some(desk));
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

    /// What is to be performed and is not under way, as far as there is room.
    fn new_needs(
        &self,
        machine: &RunMachine,
        reach: Reach,
        asked: &BTreeSet<NeedId>,
        working: usize,
    ) -> Vec<(NeedId, Need)> {
        let room = Cell::new(self.in_flight.get().saturating_sub(working));
        machine.needs_among(&|id| {
            // An attempt waits for the selection for its turn, and has its place already.
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

/// Gives the attempts whose turns have their skills now these skills; the others wait on.
fn still_waiting(waiting: Vec<TurnRequest>, machine: &RunMachine) -> Vec<TurnRequest> {
    let mut still = Vec::new();
    for request in waiting {
        if request.reply.is_canceled() {
            continue;
        }
        match machine.turn_skills(&request.ask) {
            // An attempt that was given up waits no more.
            Some(skills) => drop(request.reply.send(skills)),
            None => still.push(request),
        }
    }
    still
}

/// What the driver waits for.
enum Next<T> {
    /// An answer to a need.
    Answered(T),
    /// An attempt under way asks for the skills of a turn.
    Asked(TurnRequest),
}

/// The next of these; none once nothing is under way.
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
