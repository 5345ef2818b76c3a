//! The world of a run: a process that speaks the process protocol, or an MCP server.

use std::{
    error::Error as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use journeyman::{
    Error, Result,
    builtin::EnvironmentJudge,
    contract::{Environment, Judge},
    text::first_object,
};
use journeyman_mcp::{ApprovedTools, ExpectationJudge, McpEnvironment, McpFault, list_tools};
use journeyman_process::ProcessEnvironment;
use serde_json::Value;

use super::{form::RUN, world_config::WorldConfig};
use crate::{
    files::{unreadable, unwritable},
    output::{tell, warn},
};

/// The world, with the judge of its attempts.
#[derive(Debug)]
pub(super) struct World {
    pub(super) environment: Arc<dyn Environment>,
    pub(super) judge: Arc<dyn Judge>,
    process: Option<Arc<ProcessEnvironment>>,
}

impl World {
    /// Starts the process, or asks the MCP server for its tools and compares them with the approved ones.
    pub(super) async fn open(config: WorldConfig, judge: ExpectationJudge) -> Result<Self> {
        match config {
            WorldConfig::Process(config) => {
                let process = Arc::new(ProcessEnvironment::start(config).await?);
                Ok(Self {
                    environment: process.clone(),
                    judge: Arc::new(EnvironmentJudge),
                    process: Some(process),
                })
            }
            WorldConfig::Mcp { config, approved } => {
                let tools = read(&approved)?;
                refuse_unknown(&judge, &tools, &approved)?;
                let judge: Arc<dyn Judge> = Arc::new(judge);
                let world = McpEnvironment::new(config, tools, judge.clone()).await?;
                let checked = world.check().await?;
                for finding in checked.findings {
                    tell(&format!("note: {finding}"));
                }
                for blocked in checked.blocked {
                    // A name with two definitions cannot be approved: its own hint says whom to tell.
                    let warned = match blocked.source().and_then(|cause| cause.downcast_ref()) {
                        Some(McpFault::ToolTwice { .. }) => blocked,
                        _ => blocked.hint(
                            "read the tool's definition, and approve it with `run FILE --approve-tools`",
                        ),
                    };
                    warn(&warned);
                }
                Ok(Self {
                    environment: Arc::new(world),
                    judge,
                    process: None,
                })
            }
        }
    }

    pub(super) async fn close(&self) {
        if let Some(process) = &self.process {
            process.close().await;
        }
    }
}

/// Refuses tasks that nobody could do, since they expect a call of a tool that agents may not call.
fn refuse_unknown(judge: &ExpectationJudge, tools: &ApprovedTools, approved: &Path) -> Result<()> {
    let is_unknown = |tool: &str| tools.names().all(|name| name != tool);
    let Some((task, call)) = judge.calls().find(|(_, call)| is_unknown(&call.tool)) else {
        return Ok(());
    };
    let names: Vec<&str> = tools.names().collect();
    Err(Error::invalid(
        RUN,
        "a task expects the call of a tool that is not approved, so that it can never be done",
    )
    .with("task", task)
    .with("tool", &call.tool)
    .with("approved tools", names.join(", "))
    .with("path", approved.display())
    .hint(
        "mend the name in the task's `expect`, or read the server's tools and approve them with `run FILE --approve-tools`",
    ))
}

fn read(path: &Path) -> Result<ApprovedTools> {
    const HINT: &str = "`run FILE --approve-tools` shows the server's tools and writes the file";
    let text = fs::read_to_string(path).map_err(|error| unreadable(RUN, path, error).hint(HINT))?;
    serde_json::from_str(&text).or_else(|error| {
        // A person who takes out the last line leaves a comma.
        let object = first_object(&text).map(Value::Object);
        let read = object
            .ok()
            .and_then(|object| serde_json::from_value(object).ok());
        read.ok_or_else(|| {
            Error::invalid(RUN, "this is no file of approved tools")
                .with("path", path.display())
                .with("line", error.line())
                .hint(HINT)
        })
    })
}

/// Shows the tools of an MCP server and approves them all, in the file; how many.
pub(super) async fn approve(config: WorldConfig) -> Result<(usize, PathBuf)> {
    let WorldConfig::Mcp { config, approved } = config else {
        return Err(
            Error::invalid(RUN, "only tools of MCP servers are approved")
                .hint("leave --approve-tools out, or set `protocol = \"mcp\"` in [world]"),
        );
    };
    let listed = list_tools(&config).await?;
    for finding in listed.all_findings() {
        tell(&format!("note: {finding}"));
    }
    let tools = listed.tools;
    let names = tools.iter().map(|tool| tool.definition.name.as_str());
    for name in withdrawn(&approved, names) {
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
    fs::write(&approved, text + "\n").map_err(|error| unwritable(RUN, &approved, error))?;
    Ok((tools.len(), approved))
}

/// The tools that a file of approved tools leaves out, so that nobody gives back by accident what was withdrawn.
fn withdrawn<'a>(approved: &Path, tools: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let Ok(before) = read(approved) else {
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
        let check = |tool| refuse_unknown(&expected(tool), &tools, Path::new("tools.json"));
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
        let told = || withdrawn(&path, ["look", "rest"].into_iter());
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
            read(&path).map(|tools| serde_json::to_value(tools).unwrap())
        };
        assert_eq!(approved(&whole).unwrap().as_object().unwrap().len(), 2);
        let left = approved(&last).unwrap();
        assert_eq!(left, serde_json::json!({"look": one}));
        let cut = approved(&whole[..40]).unwrap_err();
        assert!(cut.to_string().contains("line"), "{cut}");
    }
}
