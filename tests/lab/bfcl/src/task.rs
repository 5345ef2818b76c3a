//! BFCL's tasks with their expected calls.

use std::process::Command;

use journeyman::{
    Error, ErrorKind, Result,
    domain::{Task, ToolCall},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::setting::Setting;

/// A task, and the calls of each turn that do it.
#[derive(Clone, Debug)]
pub struct BfclTask {
    /// The task with its first request; its payload is what the environment and the checker need.
    pub task: Task,
    /// The expected calls by turn.
    pub turns: Vec<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct Line {
    entry: Value,
    ground_truth: Value,
    calls: Vec<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    arguments: Map<String, Value>,
}

/// All tasks of the data folder, in its order. A script reads them, since the expected calls are Python text.
///
/// # Errors
/// `Unavailable` where the script fails, with what it says; `Corrupt` where it writes something else.
pub fn tasks(setting: &Setting) -> Result<Vec<BfclTask>> {
    let failed = |message: String| {
        Error::new(ErrorKind::Unavailable, "bfcl::tasks", message)
            .hint("run tests/lab/bfcl/setup.sh and give the interpreter that it prints; --data names BFCL's folder")
    };
    let output = Command::new(&setting.python)
        .args(setting.script("bfcl_tasks.py"))
        .output()
        .map_err(|error| failed(format!("the interpreter cannot be started: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().next_back().unwrap_or_default();
        return Err(failed(format!("the tasks cannot be read: {last}")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(task).collect()
}

fn task(line: &str) -> Result<BfclTask> {
    let corrupt = |reason: &str| {
        Error::new(ErrorKind::Corrupt, "bfcl::tasks", reason).hint("fetch BFCL's files anew")
    };
    let line: Line = serde_json::from_str(line).map_err(|error| corrupt(&error.to_string()))?;
    let id = line.entry["id"].as_str();
    let request = line.entry["question"][0][0]["content"].as_str();
    let (Some(id), Some(request)) = (id, request) else {
        return Err(corrupt("a task has no id or no request"));
    };
    let turns = line.calls.into_iter().map(|turn| {
        let calls = turn.into_iter();
        calls
            .map(|call| ToolCall::new(call.tool, call.arguments.into()))
            .collect()
    });
    let payload = json!({"entry": line.entry, "ground_truth": line.ground_truth});
    Ok(BfclTask {
        task: Task::new(id, request)
            .with_category("bfcl")
            .with_payload(payload),
        turns: turns.collect(),
    })
}
