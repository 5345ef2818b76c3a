//! What a host supplies: the world's settings and tasks, and the parts that attempt them.

use journeyman::{Result, contract::Components, domain::Task};
use serde::Serialize;

use crate::{arm::Arm, plan::Plan};

/// A world and its agent, as an experiment needs them.
pub trait Host: Sync {
    /// The world's settings.
    type World: Serialize;
    /// What a cell uses while it runs, such as a loaded model.
    type Engine: Send;

    /// The world's settings beside the plan's numbers of tasks: everything else that tasks and attempts follow from.
    /// They are part of each cell's key, so a cell with other settings is another cell. They serialize as a struct or a
    /// map, whose names are none of `stream`, `held_out` and `checkpoints`.
    fn world(&self) -> &Self::World;

    /// The engines for `cells` cells, at least one engine. Each engine runs one cell at a time on a thread of its own,
    /// so their number is the number of cells that run at once.
    ///
    /// # Errors
    /// The host's own; no cell runs then.
    fn engines(&self, plan: &Plan, cells: usize) -> Result<Vec<Self::Engine>>;

    /// Prepares an engine for its next cell: starts what one cell alone may use, such as a process with a state. Called on
    /// the engine's thread, which has no executor then. By default nothing.
    ///
    /// # Errors
    /// The host's own; the cell fails then, without a call of [`Host::end`].
    fn begin(&self, _engine: &mut Self::Engine) -> Result<()> {
        Ok(())
    }

    /// Ends what [`Host::begin`] started, after the cell, on the same thread; not behind a panic, which ends the experiment. By default
    /// nothing.
    fn end(&self, _engine: &mut Self::Engine) {}

    /// The tasks of a seed, the same for all arms.
    ///
    /// # Errors
    /// The host's own; the cell fails then.
    fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks>;

    /// The parts for one session of an arm: agent, world and judge, and as the recipe needs them scorer, prompt format, model,
    /// roles, retriever, tokenizer and clock. Called for the stream and for each checkpoint. A retriever follows one
    /// library, so each call gives a new one. The experiment sets [`Components::store`] itself.
    ///
    /// # Errors
    /// The host's own; the cell fails then.
    fn components(&self, engine: &Self::Engine, arm: &Arm) -> Result<Components>;
}

/// The tasks of one seed. The tag `hidden` marks a task that has something to learn: the report shows tasks with and
/// without it apart.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// The tasks to learn from, in order; [`Plan::stream`](crate::Plan::stream) of them.
    pub stream: Vec<Task>,
    /// The tasks that are measured with; [`Plan::held_out`](crate::Plan::held_out) of them, none of them in the stream.
    pub held_out: Vec<Task>,
}

impl Tasks {
    /// Tasks to learn from, and held-out ones.
    pub fn new(stream: Vec<Task>, held_out: Vec<Task>) -> Self {
        Self { stream, held_out }
    }
}
