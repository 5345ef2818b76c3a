//! An agent in another process.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::{
    StreamExt,
    channel::mpsc::Receiver,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::{
    Error, Result,
    contract::{Attempt, Episode, Executor, TurnContext},
    domain::{
        Action, EndReason, Exposure, Injection, SkillUse, Step, StepResult, Trajectory, Transition,
    },
    text::Redactor,
};

use crate::{
    config::ProcessConfig,
    connection::{Connection, unexpected},
    convert,
    protocol::{self, ChildMessage, End, Failure, FailureKind, HostMessage, Part},
    supply::Supply,
    table::{Death, Route},
};

const EXECUTE: &str = "Executor::execute";
/// Greatest time after the deadline for the process's own end of its attempt. The driver drops an executor that exceeds its
/// time limit by a second, and the attempt's steps with it.
const OVERTIME: Duration = Duration::from_millis(500);

/// An [`Executor`] that lives in another process, in any language, and speaks the protocol of `docs/reference/process-protocol.md`.
///
/// The process decides; the host acts in the episode, records every step, replays the attempt's prefix and keeps its time
/// limit. So a process that dies in the middle loses no step: the trajectory ends with [`EndReason::Failed`]. Several
/// attempts run at once in one process.
///
/// ```no_run
/// use std::sync::Arc;
/// use journeyman::contract::Executor;
/// use journeyman_process::{ProcessConfig, ProcessExecutor};
///
/// # futures::executor::block_on(async {
/// let config = ProcessConfig::new("/usr/bin/python3").with_arguments(["agent.py"]);
/// let agent: Arc<dyn Executor> = Arc::new(ProcessExecutor::start(config).await?);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct ProcessExecutor {
    supply: Supply,
}

impl ProcessExecutor {
    /// Starts the process and reads its name.
    ///
    /// # Errors
    /// As [`ProcessEnvironment::start`](crate::ProcessEnvironment::start), and `Unsupported` for an environment.
    pub async fn start(config: ProcessConfig) -> Result<Self> {
        let supply = Supply::start(config, Part::Executor, "ProcessExecutor::start").await?;
        Ok(Self { supply })
    }

    /// The name by which the process introduced itself.
    pub fn name(&self) -> &str {
        &self.supply.introduction.name
    }

    /// The id of the running process; `None` between a death and the next start.
    pub async fn process_id(&self) -> Option<u32> {
        self.supply.process_id().await
    }

    /// Lets the process end by itself within `close_limit`, and kills it then. Its attempts fail, and no other process is
    /// started.
    pub async fn close(&self) {
        self.supply.close().await;
    }
}

#[async_trait]
impl Executor for ProcessExecutor {
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        let deadline = Instant::now() + attempt.time_limit;
        let mut execution = Execution {
            trajectory: attempt.trajectory(),
            name: self.name(),
            redactor: &self.supply.config().redactor,
            turn: 0,
            deadline,
            attempt,
            episode,
        };
        for action in execution.attempt.prefix {
            if let Err(end) = execution.step(action.clone(), String::new()).await {
                return Ok(execution.end(end));
            }
        }
        if execution.is_over() {
            return Ok(execution.end(EndReason::Finished));
        }
        let start = execution.start()?;
        // Taken after the prefix, so that a process that is retired meanwhile is not the attempt's.
        let end = match self
            .supply
            .connection_within(EXECUTE, execution.left())
            .await
        {
            Ok(connection) => execution.run(&connection, start).await,
            Err(error) => Err(error),
        };
        match end {
            Ok(end) => Ok(execution.end(end)),
            Err(error) if execution.trajectory.steps.is_empty() => Err(error),
            Err(error) => Ok(execution.end(EndReason::Failed(error))),
        }
    }
}

/// One attempt under way.
struct Execution<'a> {
    attempt: Attempt<'a>,
    episode: &'a mut dyn Episode,
    trajectory: Trajectory,
    name: &'a str,
    redactor: &'a Redactor,
    /// The turn of the task, from 0; a turn ends with the end of the turn or a message to the user.
    turn: u32,
    deadline: Instant,
}

impl Execution<'_> {
    /// The time until the deadline.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn is_over(&self) -> bool {
        self.trajectory.outcome.is_some()
    }

    fn start(&self) -> Result<protocol::Attempt> {
        let attempt = &self.attempt;
        let steps = self.trajectory.steps.iter().map(convert::step);
        Ok(protocol::Attempt {
            id: attempt.id.as_str().to_owned(),
            task: convert::task(attempt.task),
            seed: attempt.seed.0,
            temperature: attempt.temperature,
            time_limit_ms: u64::try_from(attempt.time_limit.as_millis()).unwrap_or(u64::MAX),
            steps: steps.collect::<Result<_>>()?,
            observation: convert::observation(self.episode.observation()),
            skills: convert::skills(attempt.injection),
        })
    }

    /// Serves the process until the attempt ends.
    ///
    /// # Errors
    /// The process's failure.
    async fn run(
        &mut self,
        connection: &Connection,
        attempt: protocol::Attempt,
    ) -> Result<EndReason> {
        let failed = |death: Death| connection.error(EXECUTE, &death);
        let id = connection.next_id();
        let (route, mut messages) = Route::execution();
        let waiting = connection.open(id, route).map_err(failed)?;
        connection.say(&HostMessage::Execute { id, attempt });
        let end = loop {
            let left = self.left();
            let message = match next(&mut messages, left).await {
                Next::Message(message) => *message,
                Next::Gone => return Err(failed(connection.gone())),
                Next::Late => break EndReason::Deadline,
            };
            match message {
                ChildMessage::Act {
                    id,
                    action,
                    transcript,
                    ..
                } => match self.act(id, action, transcript).await {
                    Ok(answer) => {
                        connection.say(&answer);
                        if self.is_over() {
                            break EndReason::Finished;
                        }
                    }
                    Err((answer, end)) => {
                        connection.say(&answer);
                        break end;
                    }
                },
                ChildMessage::Guide { id, .. } => connection.say(&self.guide(id).await),
                used @ ChildMessage::Used { .. } => self.mark_used(used),
                ChildMessage::Executed { end, usage, .. } => {
                    self.trajectory.usage = convert::to_usage(usage);
                    return Ok(self.reason(end));
                }
                ChildMessage::Error { error, .. } => {
                    return Err(self.error(error));
                }
                _ => return Err(failed(connection.blame(unexpected("execute")))),
            }
        };
        // The attempt is decided. The process may still report what was used and spent.
        self.finish(connection, id, &mut messages).await;
        drop(waiting);
        Ok(end)
    }

    /// Waits for the process's own end of a decided attempt.
    async fn finish(
        &mut self,
        connection: &Connection,
        id: u64,
        messages: &mut Receiver<ChildMessage>,
    ) {
        if !self.is_over() {
            connection.say(&HostMessage::Cancel { id });
        }
        let until =
            (Instant::now() + connection.config().close_limit).min(self.deadline + OVERTIME);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Next::Message(message) = next(messages, left).await else {
                return;
            };
            match *message {
                ChildMessage::Act { id, .. } | ChildMessage::Guide { id, .. } => {
                    let error = Failure {
                        kind: FailureKind::Invalid,
                        message: "the attempt is over".to_owned(),
                        hint: Some("answer the `execute` with `executed`".to_owned()),
                        temporary: false,
                    };
                    connection.say(&HostMessage::Error { id, error });
                }
                used @ ChildMessage::Used { .. } => self.mark_used(used),
                ChildMessage::Executed { usage, .. } => {
                    self.trajectory.usage = convert::to_usage(usage);
                    return;
                }
                _ => return,
            }
        }
    }

    async fn act(
        &mut self,
        id: u64,
        action: protocol::Action,
        transcript: String,
    ) -> std::result::Result<HostMessage, (HostMessage, EndReason)> {
        match self.step(convert::to_action(action), transcript).await {
            Ok(transition) => Ok(HostMessage::Transition {
                id,
                transition: convert::transition(&transition),
            }),
            Err(end) => {
                let error = match &end {
                    EndReason::Failed(error) => convert::failure(error),
                    end => Failure {
                        kind: FailureKind::Timeout,
                        message: end.to_string(),
                        hint: None,
                        temporary: false,
                    },
                };
                Err((HostMessage::Error { id, error }, end))
            }
        }
    }

    /// Takes a step in the episode and records it.
    ///
    /// # Errors
    /// Why the attempt ends here.
    async fn step(
        &mut self,
        action: Action,
        transcript: String,
    ) -> std::result::Result<Transition, EndReason> {
        let seen = self.episode.observation().clone();
        let left = self.left();
        let transition = match select(self.episode.step(&action), Delay::new(left)).await {
            Either::Left((taken, _)) => taken.map_err(EndReason::Failed)?,
            Either::Right(_) => return Err(EndReason::Deadline),
        };
        let result = StepResult::from(&transition);
        let mut step = Step::new(action, result).seeing(seen).saying(transcript);
        step.turn = self.turn;
        self.turn += u32::from(step.ends_turn());
        self.trajectory.push(step);
        self.trajectory.outcome = transition.outcome.clone();
        Ok(transition)
    }

    async fn guide(&mut self, id: u64) -> HostMessage {
        let context = TurnContext::new(
            u32::try_from(self.trajectory.steps.len()).unwrap_or(u32::MAX),
            self.episode.observation(),
            &self.trajectory.steps,
        );
        match self.attempt.guidance.for_turn(&context).await {
            Ok(injection) => {
                self.expose(&injection);
                HostMessage::Guidance {
                    id,
                    skills: convert::skills(&injection),
                }
            }
            Err(error) => HostMessage::Error {
                id,
                error: convert::failure(&error),
            },
        }
    }

    fn expose(&mut self, injection: &Injection) {
        let since = u32::try_from(self.trajectory.steps.len()).unwrap_or(u32::MAX);
        for injected in &injection.skills {
            let exposures = &mut self.trajectory.exposures;
            if !exposures.iter().any(|known| known.skill == injected.skill) {
                let mut exposure = Exposure::new(injected.skill.clone(), SkillUse::Unknown);
                exposure.since = since;
                exposures.push(exposure);
            }
        }
    }

    /// Records what the process says of a skill. A skill that was not injected is passed over.
    fn mark_used(&mut self, message: ChildMessage) {
        let Some((skill, used)) = convert::to_use(message) else {
            return;
        };
        let mut exposures = self.trajectory.exposures.iter_mut();
        if let Some(exposure) = exposures.find(|known| known.skill == skill)
            && exposure.used < used
        {
            exposure.used = used;
            self.attempt.guidance.used(&skill, used);
        }
    }

    fn reason(&self, end: End) -> EndReason {
        match end {
            End::GaveUp => EndReason::GaveUp,
            End::StepBudget => EndReason::StepBudget,
            End::Unreadable => EndReason::Unreadable,
            End::Failed(failure) => EndReason::Failed(self.error(failure)),
        }
    }

    fn error(&self, failure: Failure) -> Error {
        convert::to_error(failure, EXECUTE, self.name, self.redactor)
    }

    /// The trajectory. The environment's outcome stands whatever happened afterwards.
    fn end(mut self, end: EndReason) -> Trajectory {
        self.trajectory.end = match self.is_over() {
            true => EndReason::Finished,
            false => end,
        };
        self.trajectory
    }
}

enum Next {
    Message(Box<ChildMessage>),
    Gone,
    Late,
}

async fn next(messages: &mut Receiver<ChildMessage>, limit: Duration) -> Next {
    match select(messages.next(), Delay::new(limit)).await {
        Either::Left((Some(message), _)) => Next::Message(Box::new(message)),
        Either::Left((None, _)) => Next::Gone,
        Either::Right(_) => Next::Late,
    }
}
