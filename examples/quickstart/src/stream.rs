//! The tasks of a seed: a stream to learn from, and tasks that are held out of it.

use std::collections::BTreeMap;

use journeyman::{Result, Seed, TaskId, domain::Task};
use journeyman_toolworld::{
    stream::{Member, StreamTask, Universe, UniverseSpec},
    trade::Trade,
};

use crate::spoken;

/// How many tasks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// In the stream.
    pub stream: usize,
    /// Held out of it.
    pub held_out: usize,
}

impl Split {
    /// So many in the stream, and twice as many held out.
    pub const fn of(stream: usize) -> Self {
        Self {
            stream,
            held_out: 2 * stream,
        }
    }
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
    /// The tasks of a seed, with the names of the bundled model's training, as the figures have them.
    ///
    /// # Errors
    /// What the world gives for a universe that it cannot make.
    pub fn of(seed: Seed, split: Split) -> Result<Self> {
        let universe = Universe::make(UniverseSpec::default(), seed.0)?;
        Self::about(&universe, split, |tasks| spoken::tasks(tasks, seed))
    }

    /// The tasks of a seed with the names of a trade, and services that answer in sentences, as the quickstart has them.
    ///
    /// # Errors
    /// What the world gives for a universe that it cannot make.
    pub fn of_trade(trade: Trade, seed: Seed, split: Split) -> Result<Self> {
        let UniverseSpec { hidden, plain, .. } = UniverseSpec::default();
        let universe = Universe::of_trade(trade, hidden, plain, seed.0)?;
        Self::about(&universe, split, |tasks| {
            spoken::tasks_in_sentences(tasks, seed)
        })
    }

    fn about(
        universe: &Universe,
        split: Split,
        spoken: impl Fn(&[StreamTask]) -> Result<Vec<Task>>,
    ) -> Result<Self> {
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
            stream: spoken(&stream)?,
            held_out: spoken(&held_out)?,
            tools,
            members: universe.members().to_vec(),
        })
    }
}
