//! The open requests of one child process, and its state.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures::channel::{mpsc, oneshot};

use crate::{fault::ProcessFault, protocol::ChildMessage};

/// Messages of one execution that wait for the host. An executor waits for each answer, so more are a flood.
const BACKLOG: usize = 64;

/// Why a process is gone, and the end of what it said.
#[derive(Clone, Debug)]
pub(crate) struct Death {
    pub(crate) fault: ProcessFault,
    /// The end of its standard error, redacted.
    pub(crate) said: String,
}

/// Where the answers of a request go.
#[derive(Debug)]
pub(crate) enum Route {
    Once(oneshot::Sender<ChildMessage>),
    Execution(mpsc::Sender<ChildMessage>),
}

impl Route {
    /// A route for the messages of an execution.
    pub(crate) fn execution() -> (Self, mpsc::Receiver<ChildMessage>) {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        (Self::Execution(sender), receiver)
    }
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<u64, Route>,
    /// Requests that the host no longer waits for, and that may be answered nevertheless.
    abandoned: HashSet<u64>,
    episodes: usize,
    retired: bool,
    death: Option<Death>,
}

/// The open requests, shared by the host's calls and the threads of the process.
#[derive(Debug, Default)]
pub(crate) struct Table {
    state: Mutex<State>,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No call leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// The process's death.
    pub(crate) fn open(&self, id: u64, route: Route) -> Result<(), Death> {
        let mut state = self.lock();
        if let Some(death) = &state.death {
            return Err(death.clone());
        }
        state.open.insert(id, route);
        Ok(())
    }

    /// No longer waits for this request. Whether it was open.
    pub(crate) fn abandon(&self, id: u64) -> bool {
        let mut state = self.lock();
        let was_open = state.open.remove(&id).is_some();
        if was_open {
            state.abandoned.insert(id);
        }
        was_open
    }

    /// Expects an answer that nobody waits for.
    pub(crate) fn expect_unread(&self, id: u64) {
        self.lock().abandoned.insert(id);
    }

    /// Hands a message of the child to its request.
    ///
    /// # Errors
    /// `OutOfTurn`.
    pub(crate) fn deliver(&self, message: ChildMessage) -> Result<(), ProcessFault> {
        use ChildMessage as M;
        let (name, id, answers) = match &message {
            M::Hello { id, .. } => ("hello", *id, true),
            M::Observation { id, .. } => ("observation", *id, true),
            M::Transition { id, .. } => ("transition", *id, true),
            M::Closed { id } => ("closed", *id, true),
            M::Error { id, .. } => ("error", *id, true),
            M::Executed { id, .. } => ("executed", *id, true),
            M::Act { execution, .. } => ("act", *execution, false),
            M::Guide { execution, .. } => ("guide", *execution, false),
            M::Used { execution, .. } => ("used", *execution, false),
        };
        let fault = || ProcessFault::OutOfTurn {
            message: format!("{name} {id}"),
        };
        let mut state = self.lock();
        if state.abandoned.contains(&id) {
            if answers {
                state.abandoned.remove(&id);
            }
            return Ok(());
        }
        match state.open.get_mut(&id) {
            Some(Route::Execution(sender)) => {
                let sent = sender.try_send(message);
                if answers {
                    state.open.remove(&id);
                }
                sent.map_err(|_| fault())
            }
            Some(Route::Once(_)) if answers => {
                if let Some(Route::Once(sender)) = state.open.remove(&id) {
                    // A request whose future was dropped just now needs no answer.
                    let _ = sender.send(message);
                }
                Ok(())
            }
            _ => Err(fault()),
        }
    }

    /// The process is gone: nothing is answered any more.
    pub(crate) fn die(&self, death: Death) {
        let mut state = self.lock();
        state.death.get_or_insert(death);
        state.open.clear();
        state.abandoned.clear();
    }

    pub(crate) fn death(&self) -> Option<Death> {
        self.lock().death.clone()
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.lock().retired
    }

    /// Takes no new episodes. Whether it has none left.
    pub(crate) fn retire(&self) -> bool {
        let mut state = self.lock();
        state.retired = true;
        state.episodes == 0
    }

    /// Counts a new episode where the process takes any. Both under one lock: between them the process could be retired,
    /// and killed as one without episodes. Whether it is counted.
    pub(crate) fn begin_episode(&self) -> bool {
        let mut state = self.lock();
        let is_usable = state.death.is_none() && !state.retired;
        state.episodes += usize::from(is_usable);
        is_usable
    }

    /// Whether it was the last one of a process that takes no new ones.
    pub(crate) fn end_episode(&self) -> bool {
        let mut state = self.lock();
        state.episodes = state.episodes.saturating_sub(1);
        state.retired && state.episodes == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_takes_no_episodes_counts_none() {
        let table = Table::default();
        assert!(table.begin_episode() && table.begin_episode());
        assert!(!table.retire(), "two episodes are under way");
        assert!(!table.begin_episode(), "it is retired");
        assert!(!table.end_episode());
        assert!(table.end_episode(), "that was the last one");

        let dead = Table::default();
        dead.die(Death {
            fault: ProcessFault::Closed,
            said: String::new(),
        });
        assert!(!dead.begin_episode());
        assert!(Table::default().retire(), "it has no episodes");
    }
}
