//! The tools of an MCP server as an environment.

use std::sync::Arc;

use async_trait::async_trait;
use journeyman::{
    Error, Result, Seed,
    contract::{Environment, EnvironmentCapabilities, Episode, Judge},
    domain::{Observation, Source, Task, Trajectory, Trust},
};

use crate::{
    approval::ApprovedTools,
    config::McpConfig,
    connection::Connection,
    episode::{McpEpisode, State},
    fault::McpFault,
    listed_tool::ListedTool,
    runtime::Runtime,
    tool_listing::{self, ToolListing},
    usable::Usable,
};

const LIST: &str = "list_tools";
const RESET: &str = "Environment::reset";

/// The tools of a server, for a person to read and approve, with what is wrong with its list
/// ([`ToolListing::all_findings`]). Begins a session for that and ends it.
///
/// # Errors
/// `Invalid` for an address that cannot be used or a setting of a child that has no effect
/// ([`McpServer`](crate::McpServer)); `NotFound` or `Unavailable` where the server cannot be reached, `Timeout` where it does
/// not answer; the source is an [`McpFault`].
pub async fn list_tools(config: &McpConfig) -> Result<ToolListing> {
    let config = Arc::new(config.clone());
    let runtime = Runtime::start(LIST).await?;
    let name = config.name.clone();
    let work = async move {
        let (connection, listed) = Connection::begin(config, LIST).await?;
        connection.close().await;
        Ok(listed)
    };
    let listed = runtime.run(LIST, work).await?;
    for finding in listed.all_findings() {
        tracing::warn!(server = %name, %finding, "the server's list of tools has a fault");
    }
    Ok(listed)
}

/// What a server's list of tools comes to for the approved ones.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ToolCheck {
    /// The approved tools that cannot be used now: an error for each, which names the tool.
    pub blocked: Vec<Error>,
    /// What is wrong with the list, and what was put right of approved tools; for a person.
    pub findings: Vec<String>,
}

/// An [`Environment`] of the tools of an MCP server.
///
/// - A server has no tasks: the host brings them. The first observation is the task's instruction with the approved tools.
/// - A server has no outcome: the agent's message to the user, or the end of its turn, ends the episode, and the host's
///   [`Judge`] says how it went. With [`EnvironmentJudge`](journeyman::agent::EnvironmentJudge) in the components it is
///   asked once. A judge that cannot decide fails the attempt, so that nothing is learned from a guess.
/// - Each episode has a session of its own, and a child process of its own where the server is one.
/// - An agent sees the tools that are approved as the server has them now. A tool whose definition changed is blocked, the
///   others go on; a call of it is refused, and [`check`](Self::check) has the reason.
///
/// ```no_run
/// use std::sync::Arc;
/// use journeyman::{Seed, contract::{Environment, Judge}, domain::{Action, Task}};
/// use journeyman_mcp::{ApprovedTools, McpConfig, McpEnvironment, McpServer, list_tools};
/// use journeyman_process::ProcessConfig;
/// use serde_json::json;
///
/// # async fn run(judge: Arc<dyn Judge>) -> journeyman::Result<()> {
/// let server = ProcessConfig::new("/usr/bin/python3").with_arguments(["-m", "mcp_server_time"]);
/// let config = McpConfig::new("time", McpServer::Process(server));
/// let approved = ApprovedTools::all(&list_tools(&config).await?.tools); // after a person has read them
/// let environment = McpEnvironment::new(config, approved, judge).await?;
/// let task = Task::new("t-1", "What time is it in Lima?");
/// let mut episode = environment.reset(&task, Seed(7)).await?;
/// let call = Action::call("get_current_time", json!({"timezone": "America/Lima"}));
/// println!("{}", episode.step(&call).await?.observation.text);
/// episode.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct McpEnvironment {
    config: Arc<McpConfig>,
    approved: ApprovedTools,
    judge: Arc<dyn Judge>,
    runtime: Runtime,
}

impl McpEnvironment {
    /// An environment. No session is begun yet.
    ///
    /// # Errors
    /// `Invalid` for an address that cannot be used or a setting of a child that has no effect ([`McpServer`](crate::McpServer));
    /// `Unavailable` where the system starts no thread.
    pub async fn new(
        config: McpConfig,
        approved: ApprovedTools,
        judge: Arc<dyn Judge>,
    ) -> Result<Self> {
        const NEW: &str = "McpEnvironment::new";
        config.check(NEW)?;
        Ok(Self {
            config: Arc::new(config),
            approved,
            judge,
            runtime: Runtime::start(NEW).await?,
        })
    }

    /// Compares the server's list of tools with the approved ones. Begins a session for that.
    ///
    /// # Errors
    /// As [`list_tools`].
    pub async fn check(&self) -> Result<ToolCheck> {
        let listed = list_tools(&self.config).await?;
        let usable = Usable::new(&self.approved, &listed.tools);
        let faults = usable.blocked.values();
        let faults = faults.filter(|fault| !matches!(fault, McpFault::ToolNotApproved { .. }));
        let blocked = faults.map(|fault| fault.error("McpEnvironment::check", &self.config, ""));
        let is_approved = |tool: &&ListedTool| self.approved.check(tool).is_ok();
        let of_tools = listed.tools.iter().filter(is_approved);
        let of_tools = of_tools.flat_map(tool_listing::findings);
        Ok(ToolCheck {
            blocked: blocked.collect(),
            findings: listed.findings.iter().cloned().chain(of_tools).collect(),
        })
    }
}

#[async_trait]
impl Environment for McpEnvironment {
    fn capabilities(&self) -> EnvironmentCapabilities {
        match (self.config.deterministic, self.config.resettable) {
            (true, _) => EnvironmentCapabilities::deterministic(),
            (false, true) => EnvironmentCapabilities::resettable(),
            (false, false) => EnvironmentCapabilities::default(),
        }
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        if task.instruction.trim().is_empty() {
            return Err(Error::invalid(RESET, "the task has no instruction")
                .with("task", task.id.as_str())
                .hint("write what the agent is to do into `instruction`: a server has no tasks"));
        }
        let (config, approved) = (self.config.clone(), self.approved.clone());
        let begin = async move {
            let (connection, listed) = Connection::begin(config, RESET).await?;
            let usable = Usable::new(&approved, &listed.tools);
            if usable.tools.is_empty() {
                let changed = usable.blocked.values().find(|fault| {
                    matches!(
                        fault,
                        McpFault::ToolChanged { .. }
                            | McpFault::ToolMissing { .. }
                            | McpFault::ToolTwice { .. }
                    )
                });
                return Err(connection.error(RESET, changed.unwrap_or(&McpFault::NoTools)));
            }
            Ok((connection, usable))
        };
        let (connection, usable) = self.runtime.run(RESET, begin).await?;
        usable.warn(&self.config.name);
        let source = match self.config.trust {
            Trust::Trusted => Source::trusted(self.config.name.clone()),
            _ => Source::untrusted(self.config.name.clone()),
        };
        let seen = Observation::new(task.instruction.clone(), Source::trusted("task"));
        Ok(Box::new(McpEpisode {
            seen: seen.with_tools(usable.tools.clone()),
            trajectory: Trajectory::new("mcp".into(), task.id.clone(), seed),
            session: Some(Arc::new(connection)),
            state: State::Open,
            task: task.clone(),
            approved: self.approved.clone(),
            config: self.config.clone(),
            judge: self.judge.clone(),
            runtime: self.runtime.clone(),
            usable,
            source,
        }))
    }
}
