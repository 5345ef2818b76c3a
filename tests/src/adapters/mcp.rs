//! An official reference server as an environment, and the library served to the official client and to the official
//! conformance package.

mod conformance;

use std::{path::Path, process::Command, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::EnvironmentJudge,
    contract::Environment,
    domain::{Action, Task},
};
use journeyman_mcp::{ApprovedTools, McpConfig, McpEnvironment, McpServer, list_tools};
use journeyman_process::ProcessConfig;
use serde_json::{Value, json};

use super::external::{self, set_up};
use crate::figures::{Bound, Figures, Outcome};

const PYTHON: &str = "JOURNEYMAN_MCP_PYTHON";
const TOOLS: &str = "reference MCP server: tools answered as documented, % of those that it lists";
const LISTED: &str = "reference MCP server: tools that it lists";
const CLIENT: &str = "library served to the official MCP client: checks that failed";
const EQUAL: &str = "files that the official client read, equal in SHA-256, over both transports";
const PACKAGE: &str = "JOURNEYMAN_MCP_CONFORMANCE";
const CONFORMANCE: &str = "official conformance package, scenarios on skills: checks that failed";
const PASSED: &str = "official conformance package, scenarios on skills: checks that passed";

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    match set_up(PYTHON) {
        None => {
            figures.progress(format_args!(
                "missing: {PYTHON} is not set; run: export {PYTHON}=$(bash tests/adapters/mcp.sh)"
            ));
            figures.record(TOOLS, f64::NAN, Bound::AtLeast(100.0));
            figures.record(CLIENT, f64::NAN, Bound::AtMost(0.0));
            figures.record(EQUAL, f64::NAN, Bound::AtLeast(1.0));
        }
        Some(python) => {
            let (listed, answered) =
                figures.once("reference server", || Ok(block_on(reference(&python))?))?;
            figures.record(LISTED, listed as f64, Bound::AtLeast(1.0));
            let share = 100.0 * answered as f64 / listed as f64;
            figures.record(TOOLS, share, Bound::AtLeast(100.0));
            let (failed, files) = figures.once("official client", || client(&python))?;
            figures.record(CLIENT, failed as f64, Bound::AtMost(0.0));
            figures.record(EQUAL, files as f64, Bound::AtLeast(1.0));
        }
    }
    conformance(figures)
}

fn conformance(figures: &mut Figures<'_>) -> Outcome {
    let Some(package) = set_up(PACKAGE) else {
        figures.progress(format_args!(
            "missing: {PACKAGE} is not set; run: export {PACKAGE}=$(bash tests/adapters/mcp_conformance.sh)"
        ));
        figures.record(PASSED, f64::NAN, Bound::AtLeast(1.0));
        figures.record(CONFORMANCE, f64::NAN, Bound::AtMost(0.0));
        return Ok(());
    };
    let checks = conformance::run(&package)?;
    for failed in &checks.failed {
        figures.progress(format_args!("failed: {failed}"));
    }
    let (warned, skipped) = (checks.warned, checks.skipped);
    figures.progress(format_args!("{warned} warnings, {skipped} checks skipped"));
    figures.record(PASSED, checks.passed as f64, Bound::AtLeast(1.0));
    figures.record(CONFORMANCE, checks.failed.len() as f64, Bound::AtMost(0.0));
    Ok(())
}

/// The tools that `mcp-server-time` lists, and those that answer as its documentation says.
async fn reference(python: &Path) -> Result<(usize, usize)> {
    let arguments = ["-m", "mcp_server_time", "--local-timezone", "UTC"];
    let child = ProcessConfig::new(python).with_arguments(arguments);
    let config = McpConfig::new("time", McpServer::Process(child));
    let listed = list_tools(&config).await?.tools;
    let approved = ApprovedTools::all(&listed);
    let judge = Arc::new(EnvironmentJudge);
    let time = McpEnvironment::new(config, approved, judge).await?;
    let mut answered = 0;
    for tool in &listed {
        let mut episode = time
            .reset(&Task::new("time", "What time is it?"), Seed(1))
            .await?;
        let (arguments, of) = match tool.definition.name.as_str() {
            "get_current_time" => (
                json!({"timezone": "Asia/Tokyo"}),
                current as fn(&Value) -> bool,
            ),
            "convert_time" => {
                let arguments = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
                (arguments, converted as fn(&Value) -> bool)
            }
            // A tool that this has no documented answer for counts as not answered.
            _ => continue,
        };
        let call = Action::call(tool.definition.name.as_str(), arguments);
        let step = episode.step(&call).await?;
        let said: Value = serde_json::from_str(&step.observation.text).unwrap_or_default();
        answered += usize::from(!step.is_error && of(&said));
        episode.close().await?;
    }
    Ok((listed.len(), answered))
}

/// `get_current_time` gives the zone, the time with the zone's offset, and whether it is summer time: never in Tokyo.
fn current(said: &Value) -> bool {
    let time = said["datetime"].as_str().unwrap_or_default();
    said["timezone"] == "Asia/Tokyo" && time.ends_with("+09:00") && said["is_dst"] == false
}

/// `convert_time` gives both times and their difference.
fn converted(said: &Value) -> bool {
    let time = said["target"]["datetime"].as_str().unwrap_or_default();
    time.contains("T21:00:00+09:00") && said["time_difference"] == "+9.0h"
}

/// The checks that failed, and the files that were equal.
fn client(
    python: &Path,
) -> std::result::Result<(usize, usize), Box<dyn std::error::Error + Send + Sync>> {
    let mut command = Command::new(python);
    command
        .arg("tests/adapters/mcp_client.py")
        .arg(external::journeyman()?)
        .arg("skills");
    let ended = external::run(command)?;
    let lines = ended
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("mcp client, "));
    let counts = lines.filter_map(|line| {
        let (before, _) = line.split_once(" files equal")?;
        before.rsplit(' ').next()?.parse::<usize>().ok()
    });
    let counts: Vec<usize> = counts.collect();
    let failed = ended
        .err
        .lines()
        .filter(|line| line.contains(": expected "))
        .count();
    if counts.len() != 2 || ended.status.success() != (failed == 0) {
        return Err(format!(
            "the official client ended with {}: {}{}",
            ended.status, ended.out, ended.err
        )
        .into());
    }
    Ok((failed, counts.iter().sum()))
}
