//! The world of an experiment: toolworld, or one of the user's own with a file of tasks.

use futures::executor::block_on;
use journeyman::{Result, text::Redactor};
use journeyman_experiment::{Arm, Plan, Tasks};
use journeyman_llama_cpp::GpuLayers;
use serde::Serialize;

use super::{
    counts::{Counts, PLAN_KEYS},
    form::{EXPERIMENT, Form, OfWorld, ToolworldForm},
    own_world::OwnWorld,
    toolworld::ToolworldSettings,
};
use crate::{
    output::Answer,
    stemming::Language,
    toml_file::{Source, Table},
    world::{self, WorldConfig},
};

/// Keys of [world] of which a world of the user's own has one at least.
const OWN_KEYS: [&str; 3] = ["protocol", "program", "url"];

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
    Toolworld(ToolworldSettings),
    Own(Box<OwnWorld>),
}

impl World {
    /// The world of a file: the user's own where the file names tasks, else toolworld.
    ///
    /// # Errors
    /// `Invalid` with the line of what is refused; those of [`OwnWorld::read`].
    pub(super) fn read(source: &Source<'_>, form: &Form) -> Result<(Self, Counts)> {
        match (&form.tasks, &form.world) {
            (Some(tasks), Some(table)) => {
                let (own, counts) = OwnWorld::read(source, form, table, tasks)?;
                Ok((Self::Own(Box::new(own)), counts))
            }
            (Some(tasks), None) => Err(source.refused(
                tasks.span(),
                "there are tasks, and no world to do them in",
                "add the [world] of a run's file; without `tasks` the world is toolworld",
            )),
            (None, Some(table)) if is_own(table.get_ref()) => Err(source.refused(
                table.span(),
                "the world has no tasks",
                "set `tasks` to a file of tasks, as in a run's file",
            )),
            (None, table) => {
                refuse_plan_keys(source, form)?;
                let form = match table {
                    None => ToolworldForm::default(),
                    Some(_) => source.form::<OfWorld<ToolworldForm>>()?.world,
                };
                let counts = Counts::read(source, &form.stream, &form.held_out, &form.checkpoints)?;
                let settings = ToolworldSettings::read(source, &form)?;
                Ok((Self::Toolworld(settings), counts))
            }
        }
    }

    /// The world in words, for the report.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Toolworld(settings) => settings.description(),
            Self::Own(own) => own.description.clone(),
        }
    }

    /// Removes the world's secrets from what cells keep.
    pub(super) fn redactor(&self) -> Redactor {
        match self {
            Self::Toolworld(_) => Redactor::default(),
            Self::Own(own) => own.redactor.clone(),
        }
    }

    /// Maximum steps of the agent, where not the world itself counts them.
    pub(super) fn agent_steps(&self) -> Option<u32> {
        match self {
            Self::Toolworld(_) => None,
            Self::Own(own) => Some(own.steps),
        }
    }

    /// Looks for what is wrong with the world before any cell begins, and whether cells may run at once: not in a world that cannot be
    /// set up again. Blocks, on a thread without an executor.
    pub(super) fn check(&self, plan: &Plan) -> Result<bool> {
        match self {
            Self::Toolworld(_) => Ok(true),
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
            Self::Toolworld(settings) => settings.open(),
            Self::Own(own) => block_on(own.open()),
        }
    }

    pub(super) fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
        match self {
            Self::Toolworld(settings) => settings.tasks(plan, seed),
            Self::Own(own) => Ok(own.tasks(plan, seed)),
        }
    }

    /// Approves the tools of an MCP server. Blocks, on a thread without an executor.
    pub(super) fn approve(&self) -> Result<Answer> {
        let config: Option<WorldConfig> = match self {
            Self::Toolworld(_) => None,
            Self::Own(own) => Some(own.config.clone()),
        };
        block_on(world::approve(EXPERIMENT, config))
    }
}

fn is_own(table: &Table) -> bool {
    OWN_KEYS.iter().any(|key| table.contains_key(*key))
}

/// Refuses keys beside `tasks` that stand in [world] for toolworld.
fn refuse_plan_keys(source: &Source<'_>, form: &Form) -> Result<()> {
    let given = [&form.stream, &form.held_out, &form.checkpoints, &form.steps];
    let mut given = PLAN_KEYS.iter().zip(given);
    match given.find_map(|(key, given)| Some((key, given.as_ref()?))) {
        None => Ok(()),
        Some((key, given)) => Err(source.refused(
            given.span(),
            format!("`{key}` stands in [world] where the world is toolworld"),
            "move it into [world], or set `tasks` and the [world] of a run's file for one of your own",
        )),
    }
}
