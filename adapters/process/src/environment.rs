//! An environment in another process.

use std::fmt;

use async_trait::async_trait;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    contract::{Environment, EnvironmentCapabilities, Episode},
    domain::{Action, Observation, Source, Task, Transition, Trust},
};

use crate::{
    config::ProcessConfig,
    connection::{Counted, unexpected},
    convert,
    protocol::{self, ChildMessage, HostMessage, Part},
    supply::Supply,
};

const RESET: &str = "Environment::reset";
const STEP: &str = "Episode::step";
const CLOSE: &str = "Episode::close";

/// An [`Environment`] that lives in another process, in any language, and speaks the protocol of `docs/reference/process-protocol.md`.
///
/// One process holds any number of episodes at once. A process that dies fails its episodes as `Unavailable` (temporary),
/// and the next `reset` starts another one. A step that is not answered in time, or whose future is dropped, loses its
/// episode; the process then takes no new episodes and is killed when its last one is closed. Dropping the environment
/// and its episodes kills the process with its group.
///
/// ```no_run
/// use journeyman::{Seed, contract::Environment, domain::{Action, Task}};
/// use journeyman_process::{ProcessConfig, ProcessEnvironment};
///
/// # futures::executor::block_on(async {
/// let config = ProcessConfig::new("/usr/bin/python3").with_arguments(["desk.py"]);
/// let environment = ProcessEnvironment::start(config).await?;
/// let mut episode = environment.reset(&Task::new("ticket-17", "Close the ticket."), Seed(7)).await?;
/// let answer = episode.step(&Action::Message("close it".to_owned())).await?;
/// println!("{}", answer.observation.text);
/// episode.close().await?;
/// environment.close().await;
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct ProcessEnvironment {
    supply: Supply,
}

impl ProcessEnvironment {
    /// Starts the process and reads its name and guarantees.
    ///
    /// # Errors
    /// `NotFound` or `Unavailable` where the program cannot be started or ends; `Timeout` where it does not introduce itself
    /// in time; `Unsupported` for an executor or another version of the protocol. The source is a
    /// [`ProcessFault`](crate::ProcessFault).
    pub async fn start(config: ProcessConfig) -> Result<Self> {
        let supply = Supply::start(config, Part::Environment, "ProcessEnvironment::start").await?;
        Ok(Self { supply })
    }

    /// The name by which the process introduced itself: the source of its observations.
    pub fn name(&self) -> &str {
        &self.supply.introduction.name
    }

    /// The id of the running process; `None` between a death and the next start.
    pub async fn process_id(&self) -> Option<u32> {
        self.supply.process_id().await
    }

    /// Lets the process end by itself within `close_limit`, and kills it then. Its episodes fail, and no other process is
    /// started.
    pub async fn close(&self) {
        self.supply.close().await;
    }
}

#[async_trait]
impl Environment for ProcessEnvironment {
    fn capabilities(&self) -> EnvironmentCapabilities {
        let capabilities = &self.supply.introduction.capabilities;
        match (capabilities.deterministic, capabilities.resettable) {
            (true, _) => EnvironmentCapabilities::deterministic(),
            (false, true) => EnvironmentCapabilities::resettable(),
            (false, false) => EnvironmentCapabilities::default(),
        }
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        let connection = self.supply.connection(RESET).await?;
        let name = self.name().to_owned();
        let source = match self.supply.config().trust {
            Trust::Trusted => Source::trusted(name),
            _ => Source::untrusted(name),
        };
        // Made first: an answer that comes to nothing closes the episode when this is dropped.
        let mut episode = ProcessEpisode {
            id: connection.next_id(),
            state: State::Open,
            seen: Observation::new("", source.clone()),
            source,
            connection,
        };
        let (task, id) = (convert::task(task), episode.id);
        let reset = |request| HostMessage::Reset {
            id: request,
            episode: id,
            task,
            seed: seed.0,
        };
        match episode.ask(RESET, "reset", reset).await? {
            ChildMessage::Observation { observation, .. } => {
                episode.seen = convert::to_observation(observation, &episode.source, &[]);
                Ok(Box::new(episode))
            }
            _ => Err(episode.blame(RESET, "reset")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    /// A step is under way, or its future was dropped: nobody knows whether the action was taken.
    Stepping,
    Over,
    Closed,
}

/// An episode in another process.
struct ProcessEpisode {
    connection: Counted,
    id: u64,
    state: State,
    seen: Observation,
    source: Source,
}

impl fmt::Debug for ProcessEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessEpisode")
            .field("id", &self.id)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl ProcessEpisode {
    /// Asks within the request limit. A failure that the child reports is an error.
    async fn ask(
        &self,
        operation: &'static str,
        request: &'static str,
        message: impl FnOnce(u64) -> HostMessage,
    ) -> Result<ChildMessage> {
        let config = self.connection.config();
        let limit = match operation {
            CLOSE => config.close_limit,
            _ => config.request_limit,
        };
        let answer = self.connection.ask(request, message, limit).await;
        match answer {
            Ok(ChildMessage::Error { error, .. }) => {
                let (name, redactor) = (&self.source.name, &config.redactor);
                Err(convert::to_error(error, operation, name, redactor))
            }
            Ok(answer) => Ok(answer),
            Err(death) => Err(self.connection.error(operation, &death)),
        }
    }

    /// Ends the process, since it answered with a message of another type.
    fn blame(&self, operation: &'static str, request: &'static str) -> Error {
        let death = self.connection.blame(unexpected(request));
        self.connection.error(operation, &death)
    }

    fn transition(&mut self, transition: protocol::Transition) -> Result<Transition> {
        let outcome = transition.outcome.map(convert::to_outcome).transpose();
        let outcome = outcome.map_err(|reason| {
            Error::new(ErrorKind::Unavailable, STEP, reason)
                .with("process", &self.source.name)
                .hint("give a score in [0, 1] and finite parts")
        })?;
        let tools = &self.seen.tools;
        self.seen = convert::to_observation(transition.observation, &self.source, tools);
        self.state = match &outcome {
            Some(_) => State::Over,
            None => State::Open,
        };
        let mut next = Transition::next(self.seen.clone());
        next.is_error = transition.is_error;
        next.outcome = outcome;
        Ok(next)
    }
}

#[async_trait]
impl Episode for ProcessEpisode {
    fn observation(&self) -> &Observation {
        &self.seen
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        match self.state {
            State::Open => {}
            State::Stepping => {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    STEP,
                    "the step before was not answered, so the episode's state is unknown",
                )
                .temporary()
                .hint("begin the attempt anew"));
            }
            State::Over | State::Closed => {
                return Err(Error::invalid(STEP, "the episode is over").hint("begin another one"));
            }
        }
        let (action, id) = (convert::action(action)?, self.id);
        let step = |request| HostMessage::Step {
            id: request,
            episode: id,
            action,
        };
        self.state = State::Stepping;
        match self.ask(STEP, "step", step).await {
            Ok(ChildMessage::Transition { transition, .. }) => self.transition(transition),
            Ok(_) => Err(self.blame(STEP, "step")),
            Err(error) => Err(error),
        }
    }

    async fn close(mut self: Box<Self>) -> Result<()> {
        let id = self.id;
        let close = |request| HostMessage::Close {
            id: request,
            episode: id,
        };
        let asked = self.ask(CLOSE, "close", close).await;
        // From here on dropping it only counts it as ended. A future that is dropped before closes it again.
        self.state = State::Closed;
        match asked {
            Ok(ChildMessage::Closed { .. }) => Ok(()),
            Ok(_) => Err(self.blame(CLOSE, "close")),
            Err(error) => Err(error),
        }
    }
}

impl Drop for ProcessEpisode {
    fn drop(&mut self) {
        if self.state != State::Closed {
            let episode = self.id;
            (self.connection).ask_unread(|id| HostMessage::Close { id, episode });
        }
    }
}
