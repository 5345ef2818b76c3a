//! One child process that has introduced itself, and the requests to it.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self},
    },
    time::Duration,
};

use futures::{
    channel::oneshot,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::Error;

use crate::{
    child::{self, Handle, Order},
    config::ProcessConfig,
    convert,
    fault::{Ending, ProcessFault},
    protocol::{Capabilities, ChildMessage, HostMessage, Part, VERSION},
    table::{Death, Route, Table},
};

/// How a process introduced itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Introduction {
    pub(crate) name: String,
    pub(crate) capabilities: Capabilities,
}

/// A running process. Dropping it kills the process and its group.
#[derive(Debug)]
pub(crate) struct Connection {
    config: ProcessConfig,
    handle: Handle,
    table: Arc<Table>,
    next: AtomicU64,
}

impl Connection {
    /// Starts a process and shakes hands with it.
    pub(crate) async fn start(
        config: &ProcessConfig,
        part: Part,
    ) -> Result<(Arc<Self>, Introduction), Death> {
        let table = Arc::new(Table::default());
        let handle = child::start(config, &table).map_err(|fault| Death {
            fault,
            said: String::new(),
        })?;
        let connection = Arc::new(Self {
            config: config.clone(),
            handle,
            table,
            next: AtomicU64::new(1),
        });
        let hello = |id| HostMessage::Hello {
            id,
            protocol: VERSION,
            part,
        };
        let limit = config.start_limit;
        let answer = connection.ask("hello", hello, limit).await?;
        let introduction = match answer {
            ChildMessage::Hello {
                protocol: VERSION,
                part: is,
                name,
                capabilities,
                ..
            } if is == part => Introduction { name, capabilities },
            other => {
                let fault = match other {
                    ChildMessage::Hello {
                        protocol: VERSION,
                        part: is,
                        ..
                    } => ProcessFault::WrongPart { is, expected: part },
                    ChildMessage::Hello { protocol, .. } => {
                        ProcessFault::WrongVersion { version: protocol }
                    }
                    ChildMessage::Error { error, .. } => ProcessFault::Ended {
                        how: Ending::Refused {
                            message: convert::quoted(&error.message, &config.redactor),
                        },
                    },
                    _ => unexpected("hello"),
                };
                return Err(connection.death(fault));
            }
        };
        Ok((connection, introduction))
    }

    pub(crate) fn config(&self) -> &ProcessConfig {
        &self.config
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.handle.running.id()
    }

    /// The reason why it is gone. `None` also for a process that was retired.
    pub(crate) fn failure(&self) -> Option<Death> {
        self.table.death().filter(|_| !self.table.is_retired())
    }

    /// A new id for a request or an episode.
    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A fault of this process, with the end of its standard error.
    pub(crate) fn death(&self, fault: ProcessFault) -> Death {
        let said = self.handle.said(&self.config.redactor);
        Death { fault, said }
    }

    /// The error of an operation on this process.
    pub(crate) fn error(&self, operation: &'static str, death: &Death) -> Error {
        self.config.error(&death.fault, operation, &death.said)
    }

    /// Sends a request and waits for its answer. A request that is not answered in time, or whose future is dropped, is
    /// cancelled, and its process takes no new episodes.
    pub(crate) async fn ask(
        &self,
        request: &'static str,
        message: impl FnOnce(u64) -> HostMessage,
        limit: Duration,
    ) -> Result<ChildMessage, Death> {
        let id = self.next_id();
        let (sender, receiver) = oneshot::channel();
        self.table.open(id, Route::Once(sender))?;
        let waiting = Waiting {
            connection: self,
            id,
        };
        self.say(&message(id));
        match select(receiver, Delay::new(limit)).await {
            Either::Left((Ok(answer), _)) => Ok(answer),
            Either::Left((Err(_), _)) => Err(self.gone()),
            Either::Right(_) => {
                drop(waiting);
                Err(self.death(ProcessFault::NoAnswer { request, limit }))
            }
        }
    }

    /// Sends a request whose answer nobody waits for.
    pub(crate) fn ask_unread(&self, message: impl FnOnce(u64) -> HostMessage) {
        let id = self.next_id();
        self.table.expect_unread(id);
        self.say(&message(id));
    }

    /// Opens an execution, whose messages arrive at the route's receiver. It is cancelled when the guard is dropped.
    pub(crate) fn open(&self, id: u64, route: Route) -> Result<Waiting<'_>, Death> {
        self.table.open(id, route)?;
        Ok(Waiting {
            connection: self,
            id,
        })
    }

    /// Why nothing is answered any more.
    pub(crate) fn gone(&self) -> Death {
        let death = self.table.death();
        death.unwrap_or_else(|| self.death(ProcessFault::Closed))
    }

    /// Sends a message, without waiting.
    pub(crate) fn say(&self, message: &HostMessage) {
        match serde_json::to_vec(message) {
            Ok(mut frame) => {
                frame.push(b'\n');
                // A process that is gone answers nothing, which its table says.
                let _: Result<(), mpsc::SendError<_>> = self.handle.outbox.send(frame);
            }
            Err(error) => tracing::error!(%error, "a message cannot be written as JSON"),
        }
    }

    /// Ends the process because it broke the protocol.
    pub(crate) fn blame(&self, fault: ProcessFault) -> Death {
        let death = self.death(fault.clone());
        let _ = self.handle.orders.send(Order::End(fault));
        death
    }

    /// Counts a new episode; `None` where the process takes none.
    pub(crate) fn begin_episode(self: &Arc<Self>) -> Option<Counted> {
        self.table
            .begin_episode()
            .then(|| Counted(Arc::clone(self)))
    }

    /// Takes no new episodes; the process ends with its last one.
    pub(crate) fn retire(&self) {
        if self.table.retire() {
            self.handle.running.kill();
        }
    }

    /// Closes its standard input, and waits until it has ended; what does not end in time is killed.
    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        let order = Order::Close(self.config.close_limit, reply);
        let ordered = self.handle.orders.send(order).is_ok();
        // Behind the order: a fast child closes its standard output before the keeper knows that it may, and has less time then.
        let _ = self.handle.outbox.send(Vec::new());
        if ordered {
            // An error means that it has ended already.
            let _ = closed.await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.handle.running.kill();
        let _ = self.handle.orders.send(Order::End(ProcessFault::Closed));
    }
}

/// The fault of an answer of another type.
pub(crate) fn unexpected(request: &'static str) -> ProcessFault {
    ProcessFault::OutOfTurn {
        message: format!("an answer of another type to `{request}`"),
    }
}

/// A process that counts an episode of the holder's. It is not ended as one without episodes before this is dropped.
#[derive(Debug)]
pub(crate) struct Counted(Arc<Connection>);

impl Deref for Counted {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.table.end_episode() {
            self.handle.running.kill();
        }
    }
}

/// A request that is waited for.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    connection: &'a Connection,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.connection.table.abandon(self.id) {
            self.connection.say(&HostMessage::Cancel { id: self.id });
            self.connection.retire();
        }
    }
}
