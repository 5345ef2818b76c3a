//! The services of toolworld: each seed is a world of its own with its tasks.

use std::sync::Arc;

use journeyman::{Result, domain::Task};
use journeyman_experiment::{Plan, Tasks};
use journeyman_toolworld::{
    environment::{Setup, Toolworld},
    general::manner::Manner,
    seed::Draws,
    stream::{StreamTask, Universe, UniverseSpec},
};
use serde::Serialize;
use toml::Spanned;

use super::{counts::count, form::ToolworldForm};
use crate::{toml_file::Source, world::World};

/// The settings of toolworld. The order of the fields is part of each cell's key.
#[derive(Debug, Serialize)]
pub(super) struct ToolworldSettings {
    /// Calls that an attempt may make.
    pub(super) steps: usize,
    pub(super) universe: UniverseSpec,
}

impl ToolworldSettings {
    /// # Errors
    /// `Invalid` with the line of a value that is refused.
    pub(super) fn read(source: &Source<'_>, form: &ToolworldForm) -> Result<Self> {
        let mut universe = UniverseSpec::default();
        for change in source.changes(&form.universe, &[])? {
            universe = change.make(&universe).map_err(|refusal| {
                let field = format!("universe.{}", change.path);
                source.unmade(change.span.clone(), &field, refusal)
            })?;
        }
        if universe.hidden + universe.plain == 0 {
            let message = "the universe has no tools";
            let span = form.universe.values().next().map_or(0..0, Spanned::span);
            return Err(source.refused(span, message, "set `hidden` or `plain` to 1 or more"));
        }
        Ok(Self {
            steps: count(source, &form.steps, Toolworld::STEPS, 1_000)?,
            universe,
        })
    }

    /// The world in words, for the report.
    pub(super) fn description(&self) -> String {
        format!(
            "toolworld with {} hidden contracts and {} plain tools, at most {} steps an attempt",
            self.universe.hidden, self.universe.plain, self.steps
        )
    }

    pub(super) fn open(&self) -> Result<World> {
        Ok(World::here(Arc::new(Toolworld::new(self.steps)?)))
    }

    pub(super) fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
        let universe = Universe::make(self.universe.clone(), seed)?;
        let stream = universe.stream(plan.stream);
        let held_out = universe.held_out(&stream, plan.held_out);
        // All services of a seed define their tools and word their answers in one manner, as one provider's would.
        let manner = Manner::named(&mut Draws::new("manner of the experiment", &[seed]));
        let task = |one: &StreamTask| -> Result<Task> {
            let mut task = one.task()?;
            task.payload = Setup::of(&task)?.with_manner(manner.clone()).to_json()?;
            Ok(task)
        };
        let tasks = |tasks: &[StreamTask]| tasks.iter().map(task).collect::<Result<Vec<Task>>>();
        Ok(Tasks {
            stream: tasks(&stream)?,
            held_out: tasks(&held_out)?,
        })
    }
}
