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
    /// # Errors
    /// When a commit or the journal fails. What was answered and not kept is still in the log, and driving on asks
    /// for what else is missing: nothing is lost.
    pub(crate) async fn drive(
        &self,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        let mut asked: BTreeSet<NeedId> = BTreeSet::new();
        let mut working = FuturesUnordered::new();
        log.keep(self.journal, machine, on_event).await?;
        loop {
            let new = self.new_needs(machine, reach, &asked, working.len());
            for (id, need) in new {
                asked.insert(id.clone());
                let answer = self.performer.perform(need);
                working.push(answer.map(move |answer| (id, answer)));
            }
            let Some((id, answer)) = working.next().await else {
                return Ok(());
            };
            log.push(RunEntry::Answered {
                id: id.clone(),
                answer: Box::new(answer?),
            });
            log.keep(self.journal, machine, on_event).await?;
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
