//! The tasks of a run: JSON Lines.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use journeyman::{Error, Result, domain::Task};
use serde::Deserialize;
use serde_json::Value;

use super::form::{HeldOut, RUN};
use crate::files::unreadable;

/// Maximum bytes of a task.
const MOST_BYTES: u64 = 16 << 20;

/// The tasks to learn from, and those to measure with.
#[derive(Debug)]
pub(super) struct Tasks {
    pub(super) stream: Vec<Task>,
    pub(super) held_out: Vec<Task>,
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
}

impl Tasks {
    /// Reads both parts; paths are relative to `folder`.
    ///
    /// # Errors
    /// `NotFound` or `Unavailable` for a file that cannot be read; `Invalid` for a line that is no task, two tasks of one
    /// id, or too few tasks.
    pub(super) fn read(folder: &Path, tasks: &Path, held_out: &HeldOut) -> Result<Self> {
        let path = folder.join(tasks);
        let mut seen = BTreeSet::new();
        let mut stream = read(&path, &mut seen)?;
        let held_out = match held_out {
            HeldOut::File(file) => read(&folder.join(file), &mut seen)?,
            HeldOut::Last(count) => {
                let Some(at) = stream.len().checked_sub(*count).filter(|at| *at > 0) else {
                    let message = "no task is left to learn from";
                    return Err(Error::invalid(RUN, message)
                        .with("path", path.display())
                        .with("tasks", stream.len())
                        .hint("set `held_out` below the number of tasks"));
                };
                stream.split_off(at)
            }
        };
        if stream.is_empty() || held_out.is_empty() {
            let message = "there is no task to learn from, or none to measure with";
            return Err(Error::invalid(RUN, message)
                .with("learn", stream.len())
                .with("held_out", held_out.len())
                .hint("give at least one task a line in both parts"));
        }
        Ok(Self { stream, held_out })
    }
}

fn read(path: &Path, seen: &mut BTreeSet<String>) -> Result<Vec<Task>> {
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
        let refused = |message: &str| {
            Error::invalid(RUN, message)
                .with("path", path.display())
                .with("line", number)
                .hint("each line is a JSON object: id, instruction, and category, tags and payload if wanted")
        };
        if line.len() as u64 >= MOST_BYTES {
            return Err(refused("the task is longer than 16 MiB"));
        }
        // The parser's message is left out: it may repeat the content.
        let Line {
            id,
            instruction,
            category,
            tags,
            payload,
        } = serde_json::from_str(&line).map_err(|_| refused("the line is no task"))?;
        if id.is_empty() || !seen.insert(id.clone()) {
            return Err(refused("the id is empty, or another task has it"));
        }
        let mut task = Task::new(id, instruction)
            .with_tags(tags)
            .with_payload(payload);
        task.category = category.map(Into::into);
        tasks.push(task);
    }
    Ok(tasks)
}
