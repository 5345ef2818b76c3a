//! A world of the user's own, as a run's file names it, with a file of tasks.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use journeyman::{
    Result, Seed,
    agent::ModelExecutorOptions,
    domain::{Task, sha256_hex},
    text::Redactor,
};
use journeyman_experiment::{Plan, Tasks};
use journeyman_mcp::ExpectationJudge;
use serde::Serialize;
use toml::Spanned;

use super::{
    counts::{Counts, PLAN_KEYS, count},
    form::{EXPERIMENT, Form, OfWorld},
};
use crate::{
    files::digest,
    output::tell,
    toml_file::{Source, Table},
    world::{TaskReader, World, WorldConfig, WorldForm, WorldTable},
};

/// The settings of the world, and its tasks. What is serialized is part of each cell's key, in this order.
#[derive(Debug, Serialize)]
pub(super) struct OwnWorld {
    /// Maximum steps of an attempt.
    pub(super) steps: u32,
    /// The SHA-256 of `[world]` as it is written, without secrets.
    world: String,
    /// The SHA-256 of the files that the settings name: the tasks, the world's own code and the approved tools.
    files: BTreeMap<&'static str, String>,
    #[serde(skip)]
    pub(super) config: WorldConfig,
    #[serde(skip)]
    tasks: Vec<Task>,
    #[serde(skip)]
    judge: ExpectationJudge,
    /// Removes the world's secrets from what cells keep.
    #[serde(skip)]
    pub(super) redactor: Redactor,
    /// Whether skills from what the world says may be used at once.
    #[serde(skip)]
    trusted: bool,
    /// The world in words, for the report.
    #[serde(skip)]
    pub(super) description: String,
}

impl OwnWorld {
    /// The world of a file that names `tasks`, and how many of them a cell has.
    ///
    /// # Errors
    /// `Invalid` with the line of a key that is refused, and for too few tasks; those of the file of tasks.
    pub(super) fn read(
        source: &Source<'_>,
        form: &Form,
        table: &Spanned<Table>,
        tasks: &Spanned<PathBuf>,
    ) -> Result<(Self, Counts)> {
        refuse_misplaced(source, table.get_ref())?;
        let OfWorld { world } = source.form::<OfWorld<Spanned<WorldForm>>>()?;
        let folder = source.folder();
        let redactor = world.get_ref().redactor(std::iter::empty());
        let config = WorldTable {
            source,
            form: &world,
            folder: &folder,
            name: form.name.get_ref(),
            redactor: redactor.clone(),
        }
        .config()?;
        let world = world.get_ref();
        let counts = Counts::read(source, &form.stream, &form.held_out, &form.checkpoints)?;
        let most = ModelExecutorOptions::default().max_steps;
        let steps = count(source, &form.steps, most as usize, 1_000)?;
        let path = folder.join(tasks.get_ref());
        let mut reader = TaskReader::new(EXPERIMENT, world.protocol());
        let read = reader.read(&path)?;
        refuse_too_few(source, tasks, read.len(), &counts)?;
        // What was read is made of texts, numbers, lists and tables.
        let written = serde_json::to_string(table.get_ref()).unwrap_or_default();
        let own = Self {
            steps: u32::try_from(steps).unwrap_or(most),
            world: sha256_hex(redactor.redact(&written).as_bytes()),
            files: files(&path, world, &folder, &config),
            description: format!(
                "{} tasks of {} in {}, at most {steps} steps an attempt",
                read.len(),
                tasks.get_ref().display(),
                world.description(&redactor),
            ),
            tasks: read,
            judge: ExpectationJudge::new(reader.expected),
            trusted: world.trusted(),
            config,
            redactor,
        };
        Ok((own, counts))
    }

    /// Opens the world once and closes it. An experiment does so before it loads a model, so that a fault of the world costs no waiting.
    /// `learns` is whether an arm writes skills; in a world that is not trusted these would wait in quarantine, and the check warns of it.
    /// Returns whether the world can be set up again.
    ///
    /// # Errors
    /// Those of [`World::open`] and [`World::check`].
    pub(super) async fn check(&self, learns: bool) -> Result<bool> {
        let world = self.open().await?;
        let checked = world.check(EXPERIMENT).await;
        let resettable = world.environment.capabilities().resettable;
        world.close().await;
        checked?;
        if !resettable {
            tell(
                "the world cannot be set up again: cells run one after another, each attempts the held-out tasks once, after learning, and \
                 may find what the cells before it left, of other arms too",
            );
        }
        if learns && !self.trusted {
            tell(
                "note: the world is not trusted, so skills that a cell learns from it wait in quarantine, and its agent is given none; if \
                 what it says is yours, set `trusted = true` in [world]",
            );
        }
        Ok(resettable)
    }

    pub(super) async fn open(&self) -> Result<World> {
        World::open(EXPERIMENT, self.config.clone(), self.judge.clone()).await
    }

    /// The tasks of a seed: all of the file's in an order drawn by the seed, the first for the stream and the next held out.
    pub(super) fn tasks(&self, plan: &Plan, seed: u64) -> Tasks {
        let mut tasks = self.tasks.clone();
        for at in (1..tasks.len()).rev() {
            let drawn = Seed(seed).derive("order of an experiment's tasks", at as u64);
            tasks.swap(at, drawn.index(at + 1).unwrap_or(at));
        }
        let held_out = tasks.iter().skip(plan.stream).take(plan.held_out);
        let held_out = held_out.cloned().collect();
        tasks.truncate(plan.stream);
        Tasks::new(tasks, held_out)
    }
}

/// Refuses keys in [world] that stand beside `tasks`.
fn refuse_misplaced(source: &Source<'_>, table: &Table) -> Result<()> {
    let found = PLAN_KEYS
        .iter()
        .find_map(|key| Some((key, table.get(*key)?)));
    match found {
        None => Ok(()),
        Some((key, value)) => Err(source.refused(
            value.span(),
            format!("`{key}` stands beside `tasks`"),
            "move it out of [world], to the keys above it",
        )),
    }
}

fn refuse_too_few(
    source: &Source<'_>,
    tasks: &Spanned<PathBuf>,
    there: usize,
    counts: &Counts,
) -> Result<()> {
    let due = counts.stream + counts.held_out;
    if there >= due {
        return Ok(());
    }
    let message = format!(
        "the file has {there} tasks, and a cell takes {due}: {} to learn from and {} held out",
        counts.stream, counts.held_out
    );
    let hint = "set `stream` and `held_out` to fewer, or add tasks";
    let refused = source.refused(tasks.span(), message, hint);
    Err(refused.with("tasks", tasks.get_ref().display()))
}

/// The SHA-256 of each file that can be read. Of those that cannot, opening the world tells.
fn files(
    tasks: &Path,
    world: &WorldForm,
    folder: &Path,
    config: &WorldConfig,
) -> BTreeMap<&'static str, String> {
    let mut files = world.code(folder);
    files.insert("tasks", tasks.to_owned());
    if let WorldConfig::Mcp { approved, .. } = config {
        files.insert("approved", approved.clone());
    }
    let files = files.into_iter();
    files
        .filter_map(|(what, path)| Some((what, digest(&path).ok()?)))
        .collect()
}
