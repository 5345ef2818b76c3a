//! The session of a run's file, opened to attempt its tasks and to learn nothing from them.

use std::{collections::BTreeMap, fs::File, path::Path, sync::Arc};

use journeyman::{
    Result, Seed, TaskId,
    domain::Task,
    run::{Journeyman, Options},
};
use journeyman_mcp::ExpectationJudge;

use super::{
    form::{Form, RUN},
    library_of,
    parts::Parts,
    tasks::Tasks,
    tell_arms, tell_findings,
    trace::Trace,
};
use crate::{
    calibrated::Calibrated,
    library::open,
    output::tell,
    toml_file::Source,
    world::{World, tell_of_bundled},
};

/// A run's file that is to be opened, and what the arguments name in place of what is in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening<'a> {
    pub(super) file: &'a Path,
    /// The file's arm whose keys stand in the place of its own; none for the file without its arms.
    pub(super) arm: Option<&'a str>,
    /// What follows the file's name in the session's name.
    pub(super) behind: &'a str,
    pub(super) library: Option<&'a Path>,
    pub(super) seed: Option<u64>,
    /// The agent's model.
    pub(super) model: Option<&'a str>,
    /// Whether the file's library has to be there; else it is made. One that the arguments name has to be there anyway.
    pub(super) needs_library: bool,
}

/// An open session.
#[derive(Debug)]
pub(super) struct OpenRun {
    pub(super) journeyman: Journeyman,
    pub(super) held_out: BTreeMap<TaskId, Task>,
    /// What its calibration says of its threshold, if it has one.
    pub(super) calibrated: Option<Calibrated>,
    pub(super) seed: Seed,
    pub(super) world: World,
    pub(super) trace: Arc<Trace>,
    /// The name of the session, which no other process uses while this is open.
    pub(super) held: File,
}

impl Opening<'_> {
    /// Reads the file, starts the world, loads the model and opens the library.
    ///
    /// # Errors
    /// `Invalid` for a file that is refused; `NotFound` without a library that has to be there; those of the parts.
    pub(super) async fn open(self) -> Result<OpenRun> {
        let source = Source::read(RUN, self.file)?;
        let mut form = Form::read(&source)?;
        match self.arm {
            Some(arm) => form = form.of_arm(&source, arm)?,
            None => tell_arms(&form),
        }
        if let Some(model) = self.model {
            form.act_with(&source, model)?;
        }
        let folder = source.folder();
        let name = format!("{}{}", form.name(&source)?, self.behind);
        let recipe = form.recipe(&source, &folder)?;
        let calibrated = form.calibrated(&source, &folder)?;
        let held_out = form.held_out.get_ref();
        let tasks = Tasks::read(&folder, &form.tasks, held_out, form.protocol(), false)?;
        let judge = ExpectationJudge::new(tasks.expected);
        let library = library_of(self.library, true, &form, &folder).await?;
        if self.needs_library && self.library.is_none() {
            open(&library, false).await?;
        }
        let seed = Seed(self.seed.or(form.seed).unwrap_or(1));
        let mut options = Options::new(name.as_str(), seed);
        options.redactor = form.redactor();
        let trace = Trace::new(None, options.redactor.clone())?;
        let of = (&source, &form);
        let parts = Parts::open(of, &name, (&folder, &library), judge, &trace).await?;
        let file = self.file.display().to_string();
        let shown = self.arm.unwrap_or(&file);
        tell(&format!("{shown}: model {}", parts.model));
        tell_of_bundled(&parts.model);
        let journeyman = Journeyman::open(parts.components, recipe, options).await?;
        tell_findings(&journeyman);
        let held_out = tasks.held_out.into_iter();
        Ok(OpenRun {
            journeyman,
            held_out: held_out.map(|task| (task.id.clone(), task)).collect(),
            calibrated,
            seed,
            world: parts.world,
            trace,
            held: parts.held,
        })
    }
}
