//! The tasks of a seed: a stream to learn from, and tasks that are held out of it.

use std::collections::BTreeMap;

use journeyman::{Result, Seed, TaskId, domain::Task};
use journeyman_toolworld::stream::{Member, Universe, UniverseSpec};

use crate::spoken;

/// How many tasks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// In the stream.
    pub stream: usize,
    /// Held out of it.
    pub held_out: usize,
}

/// The tasks of one universe of services, in words that the bundled model's training never saw together.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// To learn from.
    pub stream: Vec<Task>,
    /// The same contracts, in other words and with other values.
    pub held_out: Vec<Task>,
    /// The tool that each task is about: tasks of one tool share its contract, and so its skill.
    pub tools: BTreeMap<TaskId, String>,
    /// The services of the universe.
    pub members: Vec<Member>,
}

impl Tasks {
    /// The tasks of a seed.
    ///
    /// # Errors
    /// What the world gives for a universe that it cannot make.
    pub fn of(seed: Seed, split: Split) -> Result<Self> {
        let universe = Universe::make(UniverseSpec::default(), seed.0)?;
        let stream = universe.stream(split.stream);
        let held_out = universe.held_out(&stream, split.held_out);
        let tools: BTreeMap<TaskId, String> = stream
            .iter()
            .chain(&held_out)
            .map(|task| {
                let tool = task.world.goal.target.to_string();
                (TaskId::new(task.id.clone()), tool)
            })
            .collect();
        Ok(Self {
            stream: spoken::tasks(&stream, seed)?,
            held_out: spoken::tasks(&held_out, seed)?,
            tools,
            members: universe.members().to_vec(),
        })
    }
}
