//! The world of an experiment: the user's own, with a file of tasks.

use futures::executor::block_on;
use journeyman::{Error, Result, text::Redactor};
use journeyman_experiment::{Arm, Plan, Tasks};
use journeyman_llama_cpp::GpuLayers;
use serde::Serialize;
use toml::Spanned;

use super::{
    counts::Counts,
    form::{EXPERIMENT, Form},
    former_world::FormerWorld,
    own_world::OwnWorld,
};
use crate::{
    output::Answer,
    stemming::Language,
    toml_file::{Source, Table},
    world,
};

/// Keys of [world] of which a world of the user's own has one at least.
const OWN_KEYS: [&str; 3] = ["protocol", "program", "url"];

/// What to do with a file that names no tasks.
const NO_TASKS: &str = "set `tasks` to a file of tasks, and [world] to that of a run's file: docs/how-to/experiments.md has a whole \
    experiment (`examples/experiments/services.toml`). Older files without `tasks` ran in the built-in world `toolworld`, which was removed; \
    `--report --any-build` still reports their finished cells.";

/// Everything that tasks and attempts follow from, beside the plan and the models. Part of each cell's key, in this order.
#[derive(Debug, Serialize)]
pub(super) struct Settings {
    #[serde(flatten)]
    pub(super) world: World,
    /// Left out where there are none: cells of before have this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stems: Option<Language>,
    /// The layers on GPUs, which round in their own way. Left out where the file names none, as `stems` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gpu_layers: Option<GpuLayers>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum World {
    /// That of an experiment of before, whose finished cells are reported.
    Former(FormerWorld),
    Own(Box<OwnWorld>),
}

impl World {
    /// The world of a file. One that names no tasks is of before, and is read where `report_only` says that nothing is run.
    ///
    /// # Errors
    /// `Invalid` with the line of what is refused; those of [`OwnWorld::read`].
    pub(super) fn read(
        source: &Source<'_>,
        form: &Form,
        report_only: bool,
    ) -> Result<(Self, Counts)> {
        match (&form.tasks, &form.world) {
            (Some(tasks), Some(table)) => {
                let (own, counts) = OwnWorld::read(source, form, table, tasks)?;
                Ok((Self::Own(Box::new(own)), counts))
            }
            (Some(tasks), None) => Err(source.refused(
                tasks.span(),
                "there are tasks, and no world to do them in",
                "add the [world] of a run's file",
            )),
            (None, table) if report_only && is_former(form) => {
                let (former, counts) = FormerWorld::read(source, table.is_some())?;
                Ok((Self::Former(former), counts))
            }
            (None, table) => {
                let span = table.as_ref().map_or(form.name.span(), Spanned::span);
                Err(source.refused(span, "the experiment has no tasks", NO_TASKS))
            }
        }
    }

    /// The world in words, for the report.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Former(former) => former.description(),
            Self::Own(own) => own.description.clone(),
        }
    }

    /// Removes the world's secrets from what cells keep.
    pub(super) fn redactor(&self) -> Redactor {
        match self {
            Self::Former(_) => Redactor::default(),
            Self::Own(own) => own.redactor.clone(),
        }
    }

    /// Maximum steps of the agent, where not the world itself counts them.
    pub(super) fn agent_steps(&self) -> Option<u32> {
        match self {
            Self::Former(_) => None,
            Self::Own(own) => Some(own.steps),
        }
    }

    /// Looks for what is wrong with the world before any cell begins, and whether cells may run at once: not in a world that cannot be
    /// set up again. Blocks, on a thread without an executor.
    pub(super) fn check(&self, plan: &Plan) -> Result<bool> {
        match self {
            Self::Former(_) => Err(not_run()),
            Self::Own(own) => {
                let waits = |arm: &Arm| arm.recipe.maintenance.quarantine.is_none();
                let learns = plan.arms.iter().any(|arm| arm.learns && waits(arm));
                let at_once = block_on(own.check(learns))?;
                world::tell_of_bundled(&plan.conditions.model);
                Ok(at_once)
            }
        }
    }

    /// The world for one cell. Blocks, on a thread without an executor.
    pub(super) fn open(&self) -> Result<world::World> {
        match self {
            Self::Former(_) => Err(not_run()),
            Self::Own(own) => block_on(own.open()),
        }
    }

    pub(super) fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
        match self {
            Self::Former(_) => Err(not_run()),
            Self::Own(own) => Ok(own.tasks(plan, seed)),
        }
    }

    /// Approves the tools of an MCP server. Blocks, on a thread without an executor.
    pub(super) fn approve(&self) -> Result<Answer> {
        match self {
            Self::Former(_) => Err(not_run()),
            Self::Own(own) => block_on(world::approve(EXPERIMENT, Some(own.config.clone()))),
        }
    }
}

/// Whether a file without tasks is one of before: what it says of the world and of the numbers of tasks stands in [world].
fn is_former(form: &Form) -> bool {
    let beside = [&form.stream, &form.held_out, &form.checkpoints, &form.steps];
    let names_own = |table: &Table| OWN_KEYS.iter().any(|key| table.contains_key(*key));
    let is_own = (form.world.as_ref()).is_some_and(|table| names_own(table.get_ref()));
    !is_own && beside.iter().all(|given| given.is_none())
}

fn not_run() -> Error {
    let message = "no cell is run in the built-in world `toolworld`, which was removed";
    Error::unsupported(EXPERIMENT, message).hint(NO_TASKS)
}
