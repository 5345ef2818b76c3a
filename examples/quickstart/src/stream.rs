//! The tasks of a seed: a stream to learn from, and tasks that are held out of it.

use std::collections::BTreeMap;

use crate::way::Way;

use journeyman::{Result, Seed, TaskId, domain::Task};
use journeyman_toolworld::{
    skill_form,
    stream::{Member, StreamTask, Universe, UniverseSpec},
};

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
    /// The skill that each task's contract calls for, in the dialect's words; no agent sees it.
    pub truth: BTreeMap<TaskId, String>,
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
        let skills: BTreeMap<String, String> = universe
            .members()
            .iter()
            .map(|member| {
                let name = member.service.tool.name.to_string();
                (name, skill_form::to_draft(&member.skill()).body)
            })
            .collect();
        let tools: BTreeMap<TaskId, String> = stream
            .iter()
            .chain(&held_out)
            .map(|task| {
                let tool = task.world.goal.target.to_string();
                (TaskId::new(task.id.clone()), tool)
            })
            .collect();
        let truth = tools
            .iter()
            .filter_map(|(id, tool)| Some((id.clone(), skills.get(tool)?.clone())))
            .collect();
        let plain =
            |tasks: &[StreamTask]| tasks.iter().map(StreamTask::task).collect::<Result<_>>();
        Ok(Self {
            stream: plain(&stream)?,
            held_out: plain(&held_out)?,
            truth,
            tools,
            members: universe.members().to_vec(),
        })
    }

    /// The same tasks as this way shows them ([`Way::task`]).
    ///
    /// # Errors
    /// As [`Way::task`].
    pub fn spoken(mut self, way: Way, seed: Seed) -> Result<Self> {
        for tasks in [&mut self.stream, &mut self.held_out] {
            let spoken = tasks.drain(..).map(|task| way.task(task, seed));
            *tasks = spoken.collect::<Result<_>>()?;
        }
        Ok(self)
    }
}
