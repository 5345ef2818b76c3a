//! The one loop that awaits: it holds the futures, performs needs and feeds the answers back. It spawns nothing, so
//! no runtime is forced on the host.

use std::{cell::Cell, collections::BTreeSet, num::NonZeroUsize};

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::{log::Log, perform::Performer};
use crate::{
    contract::Journal,
    error::Result,
    report::Event,
    run::machine::{
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
    /// When a commit or the journal fails. Answers that are not durable are still in the log, and driving on asks for what
    /// else is missing: nothing is lost.
    pub(crate) async fn drive(
        &self,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        let mut asked: BTreeSet<NeedId> = BTreeSet::new();
        let mut working = FuturesUnordered::new();
        loop {
            log.settle(machine, on_event)?;
            let new = self.new_needs(machine, reach, &asked, working.len());
            if new.iter().any(|(_, need)| matches!(need, Need::Commit(_))) {
                log.keep(self.journal, machine).await?;
            }
            for (id, need) in new {
                asked.insert(id.clone());
                let answer = self.performer.perform(need);
                working.push(answer.map(move |answer| (id, answer)));
            }
            let next = match working.next().now_or_never() {
                Some(next) => next,
                None => {
                    if log.is_urgent() {
                        log.keep(self.journal, machine).await?;
                    }
                    working.next().await
                }
            };
            let Some((id, answer)) = next else {
                return log.keep(self.journal, machine).await;
            };
            log.answer(id.clone(), answer?);
            asked.remove(&id);
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
        let room = Cell::new(self.in_flight.get() - working);
        machine.needs_among(&|id| {
            let ours = reach == Reach::Everything || id.station != Station::Attempt;
            let wanted = ours && room.get() > 0 && !asked.contains(id);
            room.set(room.get() - usize::from(wanted));
            wanted
        })
    }
}
