//! Reads an experiment's file as a plan, with the settings of its world and the model's file.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use journeyman::Result;
use journeyman_experiment::{Conditions, Plan, Sweep};
use toml::Spanned;

use super::{
    arm::{ArmPlan, Start, named, sweep},
    form::{EXPERIMENT, Form},
    models::JobModel,
    world::{Settings, World},
};
use crate::{
    model::{layers::Layers, load::found_in},
    toml_file::Source,
};

/// The content of an experiment's file. The plan lacks what only other files have: the model's name and digest, and the
/// arms' first skills.
#[derive(Debug)]
pub(super) struct PlanFile {
    pub(super) plan: Plan,
    pub(super) model: PathBuf,
    pub(super) settings: Settings,
    /// The folder of llama.cpp's backends. They are code, and so no part of a cell's key.
    pub(super) backends: Option<PathBuf>,
    /// What each arm's library starts with, in the order of the plan's arms.
    pub(super) starts: Vec<Start>,
    /// The models of each arm's single jobs, in the order of the plan's arms.
    pub(super) models: Vec<Vec<JobModel>>,
}

impl PlanFile {
    /// `report_only` is whether nothing will be run.
    ///
    /// # Errors
    /// `Invalid` with the line, where the file or a value in it is refused; `NotFound` or `Unavailable` where the file, or
    /// that of its tasks, cannot be read.
    pub(super) fn read(path: &Path, report_only: bool) -> Result<Self> {
        let source = Source::read(EXPERIMENT, path)?;
        let form: Form = source.form()?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut arms = Vec::new();
        for arm in &form.arm {
            arms.push(ArmPlan::read(&source, arm, folder)?);
        }
        let mut sweeps = Vec::new();
        for form_sweep in &form.sweep {
            sweeps.push(sweep(&source, form_sweep, form.arm.len(), &mut arms)?);
        }
        let seeds = seeds(&source, &form.seeds)?;
        let name = source.check_name(&form.name, "an experiment")?;
        let threads = threads(&source, &form)?;
        let (world, counts) = World::read(&source, &form, report_only)?;
        let baseline = match &form.baseline {
            Some(name) => named(&source, name, &arms)?,
            None => 0,
        };
        let mut conditions = Conditions::new("", world.description());
        conditions.deterministic = form.deterministic;
        conditions.threads = threads;
        let (mut starts, mut models) = (Vec::new(), Vec::new());
        let arms = arms.into_iter().map(|arm| {
            starts.push(arm.start);
            models.push(arm.models);
            arm.arm
        });
        let arms = arms.collect();
        let mut plan = Plan::new(name, conditions, arms);
        plan.seeds = seeds;
        plan.stream = counts.stream;
        plan.held_out = counts.held_out;
        plan.checkpoints = counts.checkpoints;
        plan.redactor = world.redactor();
        plan.baseline = baseline;
        plan.sweeps = sweeps;
        refuse_doubled(&plan, &source, &form)?;
        Ok(Self {
            plan,
            model: found_in(&form.model, folder)?,
            settings: Settings {
                world,
                stems: form.stems,
                gpu_layers: form.gpu_layers.map(|Layers(layers)| layers),
            },
            backends: form.backends.map(|named| folder.join(named)),
            starts,
            models,
        })
    }
}

/// Refuses two arms whose cells would have the same file names.
fn refuse_doubled(plan: &Plan, source: &Source<'_>, form: &Form) -> Result<()> {
    let Some(at) = plan.doubled_arm() else {
        return Ok(());
    };
    let made = |sweep: &Sweep| sweep.values.iter().any(|(_, arm)| *arm == at);
    let mut sweeps = form.sweep.iter().zip(&plan.sweeps);
    let sweep = sweeps.find(|(_, sweep)| made(sweep));
    let span = match form.arm.get(at) {
        Some(arm) => arm.name.span(),
        None => sweep.map_or(0..0, |(form, _)| form.values.span()),
    };
    let refused = source.refused(
        span,
        "two arms have the same name, or names that differ in case or signs alone",
        "give each arm a name of its own",
    );
    let name = plan.arms.get(at).map_or("", |arm| arm.name.as_str());
    Err(refused.with("arm", name))
}

/// The seeds from 1 to a number, or those of a list.
fn seeds(source: &Source<'_>, form: &Spanned<toml::Value>) -> Result<Vec<u64>> {
    let refused = || {
        source.refused(
            form.span(),
            "these are no seeds",
            "give how many there are (5), or a list of different whole numbers ([1, 2, 7])",
        )
    };
    let number = |value: &toml::Value| {
        let number = value.as_integer();
        number.and_then(|number| u64::try_from(number).ok())
    };
    let seeds: Vec<u64> = match form.get_ref() {
        toml::Value::Array(values) => {
            let seeds = values.iter().map(number).collect::<Option<Vec<u64>>>();
            seeds.ok_or_else(refused)?
        }
        count => {
            let count = number(count).filter(|count| *count <= 100_000);
            (1..=count.ok_or_else(refused)?).collect()
        }
    };
    let different: BTreeSet<u64> = seeds.iter().copied().collect();
    if seeds.is_empty() || different.len() < seeds.len() {
        return Err(refused());
    }
    Ok(seeds)
}

fn threads(source: &Source<'_>, form: &Form) -> Result<u32> {
    match &form.threads {
        None => Ok(1),
        Some(threads) if (1..=512).contains(threads.get_ref()) => Ok(*threads.get_ref()),
        Some(threads) => Err(source.refused(
            threads.span(),
            "the number of threads is out of range",
            "take 1 to 512",
        )),
    }
}
