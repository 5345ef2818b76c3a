//! The tasks of a run, to learn from and to measure with.

use std::{collections::BTreeMap, path::Path};

use journeyman::{Error, Result, TaskId, domain::Task};
use journeyman_mcp::Expected;

use super::form::{HeldOut, RUN};
use crate::world::{Protocol, TaskReader};

/// The tasks to learn from, and those to measure with.
#[derive(Debug)]
pub(super) struct Tasks {
    pub(super) stream: Vec<Task>,
    pub(super) held_out: Vec<Task>,
    /// What the tasks of both parts expect, where the world has no outcome.
    pub(super) expected: BTreeMap<TaskId, Expected>,
}

impl Tasks {
    /// Reads both parts; paths are relative to `folder`. `learns` says that there has to be a task to learn from.
    ///
    /// # Errors
    /// Those of [`TaskReader::read`]; `Invalid` for too few tasks.
    pub(super) fn read(
        folder: &Path,
        tasks: &Path,
        held_out: &HeldOut,
        protocol: Protocol,
        learns: bool,
    ) -> Result<Self> {
        let least = usize::from(learns);
        let path = folder.join(tasks);
        let mut reader = TaskReader::new(RUN, protocol);
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
