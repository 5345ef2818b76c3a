//! The world of a run or of an experiment's cell: a process that speaks the process protocol, or an MCP server.

mod config;
mod form;
mod tasks;

use std::{error::Error as _, fs, path::Path, sync::Arc};

use journeyman::{
    Error, Result,
    agent::EnvironmentJudge,
    contract::{Environment, Judge},
    text::first_object,
};
use journeyman_mcp::{ApprovedTools, ExpectationJudge, McpEnvironment, McpFault, list_tools};
use journeyman_process::ProcessEnvironment;
use serde_json::{Value, json};

pub(crate) use self::{
    config::WorldConfig,
    form::{Protocol, WorldForm, WorldTable},
    tasks::TaskReader,
};
use crate::{
    files::{unreadable, unwritable},
    output::{Answer, Exit, of_them, tell, warn},
    progress::Progress,
};

/// The world, with the judge of its attempts.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) judge: Arc<dyn Judge>,
    place: Place,
}

/// What judges the attempts in a world that has no outcome: an MCP server's.
#[derive(Clone, Debug)]
pub(crate) struct TaskJudge {
    judge: Arc<dyn Judge>,
    /// The calls that tasks expect have to be of approved tools.
    expected: ExpectationJudge,
}

impl TaskJudge {
    /// A judge that knows what some tasks expect.
    pub(crate) fn new(judge: Arc<dyn Judge>, expected: ExpectationJudge) -> Self {
        Self { judge, expected }
    }
}

impl From<ExpectationJudge> for TaskJudge {
    fn from(expected: ExpectationJudge) -> Self {
        Self::new(Arc::new(expected.clone()), expected)
    }
}

/// Where a world is.
#[derive(Debug)]
enum Place {
    Process(Arc<ProcessEnvironment>),
    Server(Arc<McpEnvironment>),
}

impl World {
    /// Starts the process, or prepares for sessions with the MCP server; `operation` is the command that errors name.
    pub(crate) async fn open(
        operation: &'static str,
        config: WorldConfig,
        judge: impl Into<TaskJudge>,
    ) -> Result<Self> {
        match config {
            WorldConfig::Process(config) => {
                let process = Arc::new(ProcessEnvironment::start(config).await?);
                Ok(Self {
                    environment: process.clone(),
                    judge: Arc::new(EnvironmentJudge),
                    place: Place::Process(process),
                })
            }
            WorldConfig::Mcp { config, approved } => {
                let tools = read(operation, &approved)?;
                let TaskJudge { judge, expected } = judge.into();
                refuse_unknown(operation, &expected, &tools, &approved)?;
                let server = McpEnvironment::new(config, tools, judge.clone()).await?;
                let server = Arc::new(server);
                Ok(Self {
                    environment: server.clone(),
                    judge,
                    place: Place::Server(server),
                })
            }
        }
    }

    /// Asks an MCP server for its tools, compares them with the approved ones, and tells what it finds.
    pub(crate) async fn check(&self, operation: &'static str) -> Result<()> {
        let Place::Server(server) = &self.place else {
            return Ok(());
        };
        let checked = server.check().await?;
        for finding in checked.findings {
            tell(&format!("note: {finding}"));
        }
        for blocked in checked.blocked {
            // A name with two definitions cannot be approved: its own hint says whom to tell.
            let warned = match blocked.source().and_then(|cause| cause.downcast_ref()) {
                Some(McpFault::ToolTwice { .. }) => blocked,
                _ => blocked.hint(format!(
                    "read the tool's definition, and approve it with `{operation} FILE --approve-tools`",
                )),
            };
            warn(&warned);
        }
        Ok(())
    }

    pub(crate) async fn close(&self) {
        if let Place::Process(process) = &self.place {
            process.close().await;
        }
    }
}

/// How the bundled model's name begins.
const BUNDLED: &str = "apprentice";

/// Says that the bundled model, if it is this one, knows other worlds alone.
pub(crate) fn tell_of_bundled(model: &str) {
    if model.starts_with(BUNDLED) {
        tell(
            "note: the bundled model is made for the services of the quickstart (toolworld) alone; in a world of your own expect \
             nothing of it, and name another one (docs/how-to/models.md)",
        );
    }
}

/// Refuses tasks that nobody could do, since they expect a call of a tool that agents may not call.
fn refuse_unknown(
    operation: &'static str,
    judge: &ExpectationJudge,
    tools: &ApprovedTools,
    approved: &Path,
) -> Result<()> {
    let is_unknown = |tool: &str| tools.names().all(|name| name != tool);
    let Some((task, call)) = judge.calls().find(|(_, call)| is_unknown(&call.tool)) else {
        return Ok(());
    };
    let names: Vec<&str> = tools.names().collect();
    Err(Error::invalid(
        operation,
        "a task expects the call of a tool that is not approved, so that it can never be done",
    )
    .with("task", task)
    .with("tool", &call.tool)
    .with("approved tools", names.join(", "))
    .with("path", approved.display())
    .hint(format!(
        "mend the name in the task's `expect`, or read the server's tools and approve them with `{operation} FILE --approve-tools`",
    )))
}

fn read(operation: &'static str, path: &Path) -> Result<ApprovedTools> {
    let hinted = |error: Error| {
        error.hint(format!(
            "`{operation} FILE --approve-tools` shows the server's tools and writes the file"
        ))
    };
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| hinted(unreadable(operation, path, error)))?;
    serde_json::from_str(&text).or_else(|error| {
        // A person who takes out the last line leaves a comma.
        let object = first_object(&text).map(Value::Object);
        let read = object
            .ok()
            .and_then(|object| serde_json::from_value(object).ok());
        read.ok_or_else(|| {
            let message = "this is no file of approved tools";
            let refused = Error::invalid(operation, message).with("path", path.display());
            hinted(refused.with("line", error.line()))
        })
    })
}

/// Shows the tools of an MCP server and approves them all, in the file.
///
/// # Errors
/// `Invalid` for a world that is none; those of the server and of the file.
pub(crate) async fn approve(operation: &'static str, world: Option<WorldConfig>) -> Result<Answer> {
    let Some(WorldConfig::Mcp { config, approved }) = world else {
        return Err(
            Error::invalid(operation, "only tools of MCP servers are approved")
                .hint("leave --approve-tools out, or set `protocol = \"mcp\"` in [world]"),
        );
    };
    let progress = Progress::of("asking the server for its tools");
    let listed = list_tools(&config).await?;
    drop(progress);
    for finding in listed.all_findings() {
        tell(&format!("note: {finding}"));
    }
    let tools = listed.tools;
    let names = tools.iter().map(|tool| tool.definition.name.as_str());
    for name in withdrawn(operation, &approved, names) {
        tell(&format!(
            "note: {name} was not in {} and is approved now; take its line out if you had withdrawn it",
            approved.display()
        ));
    }
    for tool in &tools {
        let one = &tool.definition;
        tell(&format!(
            "{} {}\n  {}",
            one.name, tool.sha256, one.description
        ));
        tell(&format!("  takes {}", one.input_schema));
    }
    let text = serde_json::to_string_pretty(&ApprovedTools::all(&tools)).unwrap_or_default();
    fs::write(&approved, text + "\n").map_err(|error| unwritable(operation, &approved, error))?;
    let (count, file) = (tools.len(), approved.display().to_string());
    Ok(Answer {
        text: format!(
            "approved as now defined: {}, in {file}\nTake a line out of the file to withdraw a tool.\n",
            of_them(count as u64, "tool", "tools")
        ),
        json: json!({"approved": count, "file": file}),
        exit: Exit::Done,
    })
}

/// The tools that a file of approved tools leaves out, so that nobody gives back by accident what was withdrawn.
fn withdrawn<'a>(
    operation: &'static str,
    approved: &Path,
    tools: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    let Ok(before) = read(operation, approved) else {
        return Vec::new();
    };
    tools
        .filter(|name| before.names().all(|known| known != *name))
        .collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_task_that_expects_a_tool_which_is_not_approved_is_refused() {
        let expected = |tool: &str| {
            let due = serde_json::json!({"calls": [{"tool": tool}]});
            let due = serde_json::from_value(due).unwrap();
            ExpectationJudge::new([("t".into(), due)])
        };
        let tools = serde_json::json!({"look": "0".repeat(64)});
        let tools: ApprovedTools = serde_json::from_value(tools).unwrap();
        let check = |tool| refuse_unknown("run", &expected(tool), &tools, Path::new("tools.json"));
        assert!(check("look").is_ok());
        let refused = check("lok").unwrap_err().to_string();
        for part in ["lok", "look", "tools.json"] {
            assert!(refused.contains(part), "{refused}");
        }
    }

    #[test]
    fn tools_that_the_file_leaves_out_are_told_before_they_are_approved_again() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("tools.json");
        let told = || withdrawn("run", &path, ["look", "rest"].into_iter());
        assert!(told().is_empty(), "the first approval");
        fs::write(&path, format!("{{\"look\": \"{}\"}}", "0".repeat(64))).unwrap();
        assert_eq!(told(), ["rest"]);
    }

    #[test]
    fn a_line_can_be_taken_out_of_the_approved_tools() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("tools.json");
        let (one, two) = ("0".repeat(64), "1".repeat(64));
        let whole = format!("{{\n  \"look\": \"{one}\",\n  \"rest\": \"{two}\"\n}}\n");
        let last = format!("{{\n  \"look\": \"{one}\",\n}}\n");
        let approved = |text: &str| {
            fs::write(&path, text).unwrap();
            read("run", &path).map(|tools| serde_json::to_value(tools).unwrap())
        };
        assert_eq!(approved(&whole).unwrap().as_object().unwrap().len(), 2);
        let left = approved(&last).unwrap();
        assert_eq!(left, serde_json::json!({"look": one}));
        let cut = approved(&whole[..40]).unwrap_err();
        assert!(cut.to_string().contains("line"), "{cut}");
    }
}
