//! The tasks of a run: JSON Lines.

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

use super::form::{HeldOut, Protocol, RUN};
use crate::files::unreadable;

/// Maximum bytes of a task.
const MOST_BYTES: u64 = 16 << 20;
const HINT: &str = "each line is a JSON object: id, instruction, and category, tags and payload if wanted; with an MCP \
    server also expect, with message or calls";

/// The tasks to learn from, and those to measure with.
#[derive(Debug)]
pub(super) struct Tasks {
    pub(super) stream: Vec<Task>,
    pub(super) held_out: Vec<Task>,
    /// What the tasks of both parts expect, where the world has no outcome.
    pub(super) expected: BTreeMap<TaskId, Expected>,
}

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

impl Tasks {
    /// Reads both parts; paths are relative to `folder`. `learns` says that there has to be a task to learn from. A task says
    /// what it expects exactly where the world, which is an MCP server then, has no outcome.
    ///
    /// # Errors
    /// `NotFound` or `Unavailable` for a file that cannot be read; `Invalid` for a line that is no task, two tasks of one
    /// id, too few tasks, or one that expects nothing where it has to or something where it may not.
    pub(super) fn read(
        folder: &Path,
        tasks: &Path,
        held_out: &HeldOut,
        protocol: Protocol,
        learns: bool,
    ) -> Result<Self> {
        let least = usize::from(learns);
        let path = folder.join(tasks);
        let mut reader = Reader {
            seen: BTreeSet::new(),
            expected: BTreeMap::new(),
            protocol,
        };
        let mut stream = reader.read(&path)?;
        let held_out = match held_out {
            HeldOut::File(file) => reader.read(&folder.join(file))?,
            HeldOut::Last(count) => {
                let Some(at) = stream.len().checked_sub(*count).filter(|at| *at >= least) else {
                    let message = match learns {
                        true => "no task is left to learn from",
                        false => "there are fewer tasks than are to be held out",
                    };
                    return Err(Error::invalid(RUN, message)
                        .with("path", path.display())
                        .with("tasks", stream.len())
                        .hint("set `held_out` below the number of tasks"));
                };
                stream.split_off(at)
            }
        };
        if stream.len() < least || held_out.is_empty() {
            let message = "there is no task to learn from, or none to measure with";
            return Err(Error::invalid(RUN, message)
                .with("learn", stream.len())
                .with("held_out", held_out.len())
                .hint(
                    "hold out one task at least (`held_out`), and leave one at least to learn from",
                ));
        }
        Ok(Self {
            stream,
            held_out,
            expected: reader.expected,
        })
    }
}

/// What was read so far of both parts.
struct Reader {
    seen: BTreeSet<String>,
    expected: BTreeMap<TaskId, Expected>,
    protocol: Protocol,
}

impl Reader {
    fn read(&mut self, path: &Path) -> Result<Vec<Task>> {
        let unread = |source| unreadable(RUN, path, source);
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
                Error::invalid(RUN, message)
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
