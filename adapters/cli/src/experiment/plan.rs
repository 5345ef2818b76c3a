//! What an experiment's file comes to: arms, and the cells that they and the seeds make.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use journeyman::Result;
use journeyman_toolworld::{environment::Toolworld, stream::UniverseSpec};
use serde::Serialize;
use toml::Spanned;

use super::{
    arm::{Arm, Sweep, named},
    form::{Form, Source, WorldForm},
};

/// All that is to be measured.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) model: PathBuf,
    pub(super) deterministic: bool,
    /// That each engine computes with.
    pub(super) threads: u32,
    pub(super) seeds: Vec<u64>,
    pub(super) world: World,
    pub(super) arms: Vec<Arm>,
    /// The arm that the others are compared with.
    pub(super) baseline: usize,
    pub(super) sweeps: Vec<Sweep>,
}

/// Where the tasks come from, the same for all arms.
#[derive(Debug, Serialize)]
pub(super) struct World {
    /// Tasks that are learned from.
    pub(super) stream: usize,
    /// Tasks that are attempted with the library as it is at each checkpoint.
    pub(super) held_out: usize,
    /// How many times in the stream, the last at its end; once more before it.
    pub(super) checkpoints: usize,
    /// Calls that an attempt may make.
    pub(super) steps: usize,
    pub(super) universe: UniverseSpec,
}

impl World {
    /// After how many tasks the held-out ones are attempted.
    pub(super) fn positions(&self) -> Vec<usize> {
        let parts = 0..=self.checkpoints;
        parts
            .map(|part| self.stream * part / self.checkpoints)
            .collect()
    }
}

impl Plan {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let source = Source::read(path)?;
        let form = source.form()?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut arms = Vec::new();
        for arm in &form.arm {
            arms.push(Arm::read(&source, arm, folder)?);
        }
        let mut sweeps = Vec::new();
        for sweep in &form.sweep {
            sweeps.push(Sweep::read(&source, sweep, &form.arm, &mut arms)?);
        }
        let seeds = seeds(&source, &form.seeds)?;
        let plan = Self {
            name: name(&source, &form)?,
            model: folder.join(&form.model),
            deterministic: form.deterministic,
            threads: threads(&source, &form)?,
            seeds,
            world: world(&source, &form.world)?,
            baseline: match &form.baseline {
                Some(name) => named(&source, name, &arms)?,
                None => 0,
            },
            arms,
            sweeps,
        };
        plan.refuse_alike(&source, &form)?;
        Ok(plan)
    }

    /// The arm that says what skills cost: one without any, or else the baseline.
    pub(super) fn without_skills(&self) -> usize {
        let none = self.arms.iter().position(|arm| !arm.has_skills);
        none.unwrap_or(self.baseline)
    }

    /// Files of cells are named by arms.
    fn refuse_alike(&self, source: &Source<'_>, form: &Form) -> Result<()> {
        let mut taken = BTreeSet::new();
        for (at, arm) in self.arms.iter().enumerate() {
            if !taken.insert(slug(&arm.name)) {
                let made = |sweep: &Sweep| sweep.values.iter().any(|(_, arm)| *arm == at);
                let mut sweeps = form.sweep.iter().zip(&self.sweeps);
                let sweep = sweeps.find(|(_, sweep)| made(sweep));
                let span = match form.arm.get(at) {
                    Some(arm) => arm.name.span(),
                    None => sweep.map_or(0..0, |(form, _)| form.values.span()),
                };
                return Err(source
                    .refused(
                        span,
                        "two arms have the same name, or names that differ in case or signs alone",
                        "give each arm a name of its own",
                    )
                    .with("arm", &arm.name));
            }
        }
        Ok(())
    }
}

fn name(source: &Source<'_>, form: &Form) -> Result<String> {
    let name = form.name.get_ref();
    let sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(sound) {
        return Err(source.refused(
            form.name.span(),
            "this is no name of an experiment",
            "take 1 to 64 of a-z, 0-9 and hyphens: a folder has this name too",
        ));
    }
    Ok(name.clone())
}

/// A count of seeds from 1 on, or the seeds themselves.
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
        Some(threads) => {
            Err(source.refused(threads.span(), "so many threads cannot be", "take 1 to 512"))
        }
    }
}

fn world(source: &Source<'_>, form: &WorldForm) -> Result<World> {
    let count = |given: &Option<Spanned<usize>>, default: usize, most: usize| match given {
        None => Ok(default.min(most)),
        Some(given) if (1..=most).contains(given.get_ref()) => Ok(*given.get_ref()),
        Some(given) => {
            let message = "the number is out of range";
            Err(source.refused(given.span(), message, format!("take 1 to {most}")))
        }
    };
    let stream = count(&form.stream, 48, 1_000_000)?;
    let mut universe = UniverseSpec::default();
    for change in source.changes(&form.universe)? {
        universe = change.make(&universe).map_err(|refusal| {
            source
                .refused(change.span.clone(), refusal.message, refusal.hint)
                .with("field", format!("universe.{}", change.path))
        })?;
    }
    if universe.hidden + universe.plain == 0 {
        let message = "the universe has no tools";
        let span = form.universe.values().next().map_or(0..0, Spanned::span);
        return Err(source.refused(span, message, "set `hidden` or `plain` to 1 or more"));
    }
    Ok(World {
        stream,
        held_out: count(&form.held_out, 48, 1_000_000)?,
        // At most one after each task.
        checkpoints: count(&form.checkpoints, 4, stream)?,
        steps: count(&form.steps, Toolworld::STEPS, 1_000)?,
        universe,
    })
}

/// A name as a part of a file's name; those that differ in case alone are alike.
pub(super) fn slug(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || "-_.=+,".contains(c);
    let safe = name.chars().map(|c| if kept(c) { c } else { '-' });
    safe.flat_map(char::to_lowercase).collect()
}
