//! An episode: a session with a server, and the steps that the judge is shown.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use journeyman::{
    Error, ErrorKind, Result,
    contract::{Episode, Judge, JudgeRequest},
    domain::{
        Action, EndReason, Observation, Outcome, Source, Step, StepResult, Task, ToolCall,
        Trajectory, Transition,
    },
};

use crate::{
    approval::ApprovedTools, config::McpConfig, connection::Connection, fault::McpFault,
    runtime::Runtime, tool_calls::Caller, usable::Usable,
};

const STEP: &str = "Episode::step";
const CLOSE: &str = "Episode::close";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    Open,
    /// A call is under way, or its future was dropped, or it failed: nobody knows whether the action was taken.
    Unknown,
    Over,
}

/// An episode at an MCP server.
pub(crate) struct McpEpisode {
    pub(crate) session: Option<Arc<Connection>>,
    pub(crate) state: State,
    pub(crate) seen: Observation,
    pub(crate) source: Source,
    pub(crate) usable: Usable,
    pub(crate) task: Task,
    /// What the judge is shown.
    pub(crate) trajectory: Trajectory,
    pub(crate) approved: ApprovedTools,
    pub(crate) config: Arc<McpConfig>,
    pub(crate) judge: Arc<dyn Judge>,
    pub(crate) runtime: Runtime,
}

impl fmt::Debug for McpEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self
            .session
            .as_ref()
            .and_then(|session| session.process_id());
        f.debug_struct("McpEpisode")
            .field("server", &self.config.name)
            .field("process_id", &id)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl McpEpisode {
    /// Makes calls in order, up to the first that is refused: their texts, and whether one was.
    async fn call(&mut self, calls: &[ToolCall]) -> Result<(String, bool)> {
        let Some(session) = self.session.clone() else {
            return Err(McpFault::Ended.error(STEP, &self.config, ""));
        };
        if session.take_list_changed() {
            self.list_again(session.clone()).await?;
        }
        let caller = Caller {
            session,
            usable: self.usable.clone(),
            approved: self.approved.clone(),
            config: self.config.clone(),
            is_renewed: false,
        };
        let work = caller.make(calls.to_vec(), STEP);
        let made = self.runtime.run(STEP, work).await?;
        if let Some((session, usable)) = made.renewed {
            self.session = Some(session);
            self.usable = usable;
            self.usable.warn(&self.config.name);
        }
        Ok((made.texts.join("\n"), made.is_error))
    }

    /// The server said that its tools changed: what changed is blocked from here on.
    async fn list_again(&mut self, session: Arc<Connection>) -> Result<()> {
        let work = async move {
            let listed = session.tools().await;
            listed.map_err(|fault| session.error(STEP, &fault))
        };
        let listed = self.runtime.run(STEP, work).await?;
        self.usable = Usable::new(&self.approved, &listed.tools);
        self.usable.warn(&self.config.name);
        Ok(())
    }

    fn record(&mut self, action: &Action, text: String, is_error: bool, source: Source) {
        let result = match is_error {
            true => StepResult::refused(text.clone(), source.clone()),
            false => StepResult::new(text.clone(), source.clone()),
        };
        let step = Step::new(action.clone(), result).seeing(self.seen.clone());
        self.trajectory.push(step);
        self.seen = Observation::new(text, source).with_tools(self.usable.tools.clone());
    }

    /// The judge's word on the episode so far.
    async fn outcome(&mut self) -> Result<Outcome> {
        self.trajectory.end = EndReason::Finished;
        let request = JudgeRequest::new(&self.task, &self.trajectory);
        let verdict = self.judge.judge(&request).await?;
        let Some(success) = verdict.success() else {
            return Err(Error::new(
                ErrorKind::Unavailable,
                STEP,
                "the judge could not decide how the task went",
            )
            .with("task", self.task.id.as_str())
            .hint(
                "nothing is learned from this attempt; give a judge that can tell for such tasks",
            ));
        };
        let mut outcome = Outcome::scored(success, verdict.score());
        outcome.parts = verdict.parts().clone();
        Ok(outcome)
    }
}

#[async_trait]
impl Episode for McpEpisode {
    fn observation(&self) -> &Observation {
        &self.seen
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        match self.state {
            State::Open => {}
            State::Unknown => {
                let message =
                    "the step before came to no answer, so the episode's state is unknown";
                let error = Error::new(ErrorKind::Unavailable, STEP, message).temporary();
                return Err(self.config.at_server(error).hint("begin the attempt anew"));
            }
            State::Over => {
                return Err(Error::invalid(STEP, "the episode is over").hint("begin another one"));
            }
        }
        self.state = State::Unknown;
        match action {
            Action::Call(calls) => {
                let (text, is_error) = self.call(calls).await?;
                self.record(action, text, is_error, self.source.clone());
                self.state = State::Open;
                let mut transition = Transition::next(self.seen.clone());
                transition.is_error = is_error;
                Ok(transition)
            }
            Action::Message(_) | Action::EndTurn => {
                self.record(action, String::new(), false, Source::trusted("task"));
                let outcome = self.outcome().await?;
                self.state = State::Over;
                Ok(Transition::end(self.seen.clone(), outcome))
            }
            _ => {
                self.state = State::Open;
                Err(Error::unsupported(STEP, "MCP has nothing for this action")
                    .hint("call tools, send a message or end the turn"))
            }
        }
    }

    async fn close(mut self: Box<Self>) -> Result<()> {
        // A call whose future was dropped may hold the session for a moment more: it is then dropped, which kills a child.
        let session = self.session.take().and_then(Arc::into_inner);
        let work = async move {
            if let Some(session) = session {
                session.close().await;
            }
            Ok(())
        };
        self.runtime.run(CLOSE, work).await
    }
}
