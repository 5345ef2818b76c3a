//! Tasks for a world of the user's own: JSON Lines.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use journeyman::{Error, Result, TaskId, domain::Task};
use journeyman_mcp::Expected;
use serde::Deserialize;
use serde_json::Value;

use super::form::Protocol;
use crate::files::unreadable;

/// Maximum bytes of a task.
const MOST_BYTES: u64 = 16 << 20;
const HINT: &str = "each line is a JSON object: id, instruction, and category, tags and payload if wanted; with an MCP \
    server also expect, with message or calls";

/// A task as a line has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    instruction: String,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    expect: Option<Expected>,
}

/// Reads files of tasks, of which no two may have the same id.
#[derive(Debug)]
pub(crate) struct TaskReader {
    operation: &'static str,
    protocol: Protocol,
    seen: BTreeSet<String>,
    /// What the tasks that were read expect, where the world has no outcome.
    pub(crate) expected: BTreeMap<TaskId, Expected>,
}

impl TaskReader {
    /// A reader of tasks for a world that speaks this; `operation` is what errors name.
    pub(crate) fn new(operation: &'static str, protocol: Protocol) -> Self {
        Self {
            operation,
            protocol,
            seen: BTreeSet::new(),
            expected: BTreeMap::new(),
        }
    }

    /// The tasks of a file. A task says what it expects exactly where the world, which is an MCP server then, has no outcome.
    ///
    /// # Errors
    /// `NotFound` or `Unavailable` for a file that cannot be read; `Invalid` for a line that is no task, two tasks of one
    /// id, and a task that expects nothing where it has to or something where it may not.
    pub(crate) fn read(&mut self, path: &Path) -> Result<Vec<Task>> {
        let operation = self.operation;
        let unread = |source| unreadable(operation, path, source);
        let mut reader = BufReader::new(File::open(path).map_err(unread)?);
        let mut tasks = Vec::new();
        for number in 1.. {
            let mut line = String::new();
            let mut limited = reader.by_ref().take(MOST_BYTES);
            if limited.read_line(&mut line).map_err(unread)? == 0 {
                break;
            }
            if line.trim().is_empty() {
                continue;
            }
            let task = self.task(&line).map_err(|message| {
                Error::invalid(operation, message)
                    .with("path", path.display())
                    .with("line", number)
                    .hint(HINT)
            })?;
            tasks.push(task);
        }
        Ok(tasks)
    }

    fn task(&mut self, line: &str) -> Result<Task, &'static str> {
        if line.len() as u64 >= MOST_BYTES {
            return Err("the task is longer than 16 MiB");
        }
        // The parser's message is left out: it may repeat the content.
        let Line {
            id,
            instruction,
            category,
            tags,
            payload,
            expect,
        } = serde_json::from_str(line).map_err(|_| "the line is no task")?;
        if id.is_empty() || !self.seen.insert(id.clone()) {
            return Err("the id is empty, or another task has it");
        }
        let mut task = Task::new(id, instruction)
            .with_tags(tags)
            .with_payload(payload);
        task.category = category.map(Into::into);
        match (self.protocol, expect) {
            (Protocol::Mcp, Some(expect)) if !expect.is_empty() => {
                self.expected.insert(task.id.clone(), expect);
            }
            (Protocol::Mcp, _) => {
                return Err(
                    "the task does not say what it expects, and an MCP server has no outcome",
                );
            }
            (Protocol::Process, Some(_)) => {
                return Err("the task says what it expects, but its world gives the outcome");
            }
            (Protocol::Process, None) => {}
        }
        Ok(task)
    }
}
