//! The process in use, and its successors.

use std::{
    collections::VecDeque,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{
    future::{Either, select},
    lock::Mutex,
};
use futures_timer::Delay;
use journeyman::Error;

use crate::{
    config::ProcessConfig,
    connection::{Connection, Counted, Introduction},
    fault::ProcessFault,
    protocol::Part,
    table::Death,
};

/// Gives the running process, and starts another one when it is gone.
#[derive(Debug)]
pub(crate) struct Supply {
    config: ProcessConfig,
    part: Part,
    pub(crate) introduction: Introduction,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    connection: Option<Arc<Connection>>,
    /// The times of failures within the window, the oldest first.
    failures: VecDeque<Instant>,
    last: String,
    closed: bool,
}

impl Supply {
    /// Starts the first process.
    pub(crate) async fn start(
        config: ProcessConfig,
        part: Part,
        operation: &'static str,
    ) -> Result<Self, Error> {
        let started = Connection::start(&config, part).await;
        let (connection, introduction) =
            started.map_err(|death| error(&config, operation, &death))?;
        let state = State {
            connection: Some(connection),
            failures: VecDeque::new(),
            last: String::new(),
            closed: false,
        };
        Ok(Self {
            config,
            part,
            introduction,
            state: Mutex::new(state),
        })
    }

    pub(crate) fn config(&self) -> &ProcessConfig {
        &self.config
    }

    /// The process in use, with an episode counted; another one is started where it is gone.
    ///
    /// # Errors
    /// `Unavailable` when processes fail too often, after `close`, and when none can be started.
    pub(crate) async fn connection(&self, operation: &'static str) -> Result<Counted, Error> {
        let mut state = self.state.lock().await;
        if state.closed {
            return Err(self.error(operation, ProcessFault::Closed));
        }
        if let Some(connection) = &state.connection {
            if let Some(counted) = connection.begin_episode() {
                return Ok(counted);
            }
            if let Some(death) = connection.failure() {
                state.failed(death.fault.to_string());
            }
            // Its episodes keep it.
            state.connection = None;
        }
        self.check(&mut state, operation)?;
        let started = Connection::start(&self.config, self.part).await;
        let started = started.and_then(|(connection, introduction)| {
            match introduction == self.introduction {
                true => (connection.begin_episode())
                    .ok_or_else(|| connection.gone())
                    .map(|counted| (connection, counted)),
                false => Err(connection.death(ProcessFault::Changed {
                    was: describe(&self.introduction),
                    is: describe(&introduction),
                })),
            }
        });
        match started {
            Ok((connection, counted)) => {
                state.connection = Some(connection);
                Ok(counted)
            }
            Err(death) => {
                state.failed(death.fault.to_string());
                Err(error(&self.config, operation, &death))
            }
        }
    }

    /// [`connection`](Self::connection), or `Timeout` where none introduces itself within this time.
    pub(crate) async fn connection_within(
        &self,
        operation: &'static str,
        limit: Duration,
    ) -> Result<Counted, Error> {
        let starting = pin!(self.connection(operation));
        match select(starting, Delay::new(limit)).await {
            Either::Left((connection, _)) => connection,
            Either::Right(_) => {
                let request = "hello";
                Err(self.error(operation, ProcessFault::NoAnswer { request, limit }))
            }
        }
    }

    /// Refuses where processes failed too often within the window.
    fn check(&self, state: &mut State, operation: &'static str) -> Result<(), Error> {
        let window = self.config.restart_window;
        while state
            .failures
            .front()
            .is_some_and(|at| at.elapsed() >= window)
        {
            state.failures.pop_front();
        }
        if state.failures.len() <= self.config.restarts {
            return Ok(());
        }
        let fault = ProcessFault::TooManyRestarts {
            times: state.failures.len(),
            window,
            last: state.last.clone(),
        };
        Err(self.error(operation, fault))
    }

    fn error(&self, operation: &'static str, fault: ProcessFault) -> Error {
        let said = String::new();
        error(&self.config, operation, &Death { fault, said })
    }

    /// The running process's id.
    pub(crate) async fn process_id(&self) -> Option<u32> {
        let state = self.state.lock().await;
        state
            .connection
            .as_ref()
            .and_then(|connection| connection.process_id())
    }

    /// Ends the process; no other one is started.
    pub(crate) async fn close(&self) {
        let mut state = self.state.lock().await;
        state.closed = true;
        if let Some(connection) = state.connection.take() {
            connection.close().await;
        }
    }
}

impl State {
    fn failed(&mut self, why: String) {
        self.failures.push_back(Instant::now());
        self.last = why;
    }
}

fn describe(introduction: &Introduction) -> String {
    let capabilities = &introduction.capabilities;
    format!(
        "{}, resettable: {}, deterministic: {}",
        introduction.name, capabilities.resettable, capabilities.deterministic
    )
}

fn error(config: &ProcessConfig, operation: &'static str, death: &Death) -> Error {
    config.error(&death.fault, operation, &death.said)
}
