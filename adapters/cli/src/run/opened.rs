//! A run's file, and the session that a command opens of it.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use journeyman::{
    Result, Seed,
    contract::LanguageModel,
    domain::Task,
    recipe::Recipe,
    run::{
        Journeyman, Options,
        report::{Finding, FindingKind},
    },
};
use journeyman_disk::DiskStore;
use journeyman_mcp::ExpectationJudge;

use super::{
    form::{Form, RUN},
    parts::Parts,
    tasks::Tasks,
    trace::Trace,
};
use crate::{
    calibrated::Calibrated,
    library::open,
    output::tell,
    toml_file::Source,
    words::of_the_command,
    world::{TaskJudge, World, tell_of_bundled},
};

/// A run's file that is to be opened, and what a command's arguments name in place of what is in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening<'a> {
    /// The operation that refusals of the file's text name.
    pub(super) operation: &'static str,
    pub(super) file: &'a Path,
    /// The file's arm whose keys stand in the place of its own; none for the file without its arms.
    pub(super) arm: Option<&'a str>,
    /// What follows the file's name in the session's name, where another session of this name may be open.
    pub(super) behind: &'a str,
    /// What stands before the model in the line that names it, where a command opens two sessions.
    pub(super) label: Option<&'a str>,
    /// The agent's model.
    pub(super) model: Option<&'a str>,
    pub(super) library: Option<&'a Path>,
    /// Whether the file's library has to be there; else it is made.
    pub(super) needs_library: bool,
    pub(super) seed: Option<u64>,
    /// Whether there has to be a task to learn from.
    pub(super) learns: bool,
    /// The file of `--trace`.
    pub(super) trace: Option<&'a Path>,
}

impl<'a> Opening<'a> {
    /// A run's file as it is, to learn nothing from its tasks.
    pub(super) fn of(file: &'a Path) -> Self {
        Self {
            operation: RUN,
            file,
            arm: None,
            behind: "",
            label: None,
            model: None,
            library: None,
            needs_library: false,
            seed: None,
            learns: false,
            trace: None,
        }
    }

    /// Reads the file, and checks what can be checked without its tasks, its world and its model.
    ///
    /// # Errors
    /// `NotFound` or `Unavailable` for a file that cannot be read; `Invalid` for one that is refused.
    pub(super) fn read(self) -> Result<RunFile<'a>> {
        let source = Source::read(self.operation, self.file)?;
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
        Ok(RunFile {
            opening: self,
            source,
            form,
            folder,
            name,
            recipe,
            calibrated,
        })
    }
}

/// A run's file that was read.
#[derive(Debug)]
pub(super) struct RunFile<'a> {
    opening: Opening<'a>,
    pub(super) source: Source<'a>,
    pub(super) form: Form,
    /// The file's folder, which its paths start from.
    pub(super) folder: PathBuf,
    /// The session's name.
    name: String,
    pub(super) recipe: Recipe,
    calibrated: Option<Calibrated>,
}

/// The parts of a session that is to be opened.
#[derive(Debug)]
pub(super) struct OpenParts {
    pub(super) parts: Parts,
    pub(super) options: Options,
    pub(super) trace: Arc<Trace>,
}

/// An open session.
#[derive(Debug)]
pub(super) struct OpenRun {
    pub(super) journeyman: Journeyman,
    /// What it found when it was opened, which was said.
    pub(super) found: Vec<Finding>,
    /// The tasks to learn from.
    pub(super) stream: Vec<Task>,
    pub(super) held_out: Vec<Task>,
    /// What its calibration says of its threshold, if it has one.
    pub(super) calibrated: Option<Calibrated>,
    pub(super) seed: Seed,
    /// The agent's model.
    pub(super) agent: Option<Arc<dyn LanguageModel>>,
    pub(super) world: World,
    pub(super) trace: Arc<Trace>,
    pub(super) store: Arc<DiskStore>,
    /// The library's folder.
    pub(super) library: PathBuf,
    /// The name of the session, which no other process uses while this is open.
    pub(super) held: File,
}

impl RunFile<'_> {
    /// The library's folder: that of the arguments, or else the file's.
    pub(super) fn library(&self) -> PathBuf {
        match self.opening.library {
            Some(named) => named.to_owned(),
            None => {
                let of_file = self.form.library.as_deref();
                self.folder.join(of_file.unwrap_or(Path::new("library")))
            }
        }
    }

    /// Starts the world with this judge, loads the model and opens the library, which is made where there is none.
    ///
    /// # Errors
    /// Those of [`Trace::new`] and of [`Parts::open`].
    pub(super) async fn parts(
        &self,
        library: &Path,
        judge: impl Into<TaskJudge>,
    ) -> Result<OpenParts> {
        let seed = Seed(self.opening.seed.or(self.form.seed).unwrap_or(1));
        let mut options = Options::new(self.name.as_str(), seed);
        options.redactor = self.form.redactor();
        let trace = Trace::new(self.opening.trace, options.redactor.clone())?;
        let of = (&self.source, &self.form);
        let parts = Parts::open(of, &self.name, (&self.folder, library), judge, &trace).await?;
        tell(&match self.opening.label {
            Some(label) => format!("{label}: model {}", parts.model),
            None => format!("model {}", parts.model),
        });
        tell_of_bundled(&parts.model);
        Ok(OpenParts {
            parts,
            options,
            trace,
        })
    }

    /// Opens the session of the file's own tasks.
    ///
    /// # Errors
    /// `Invalid` for tasks that are refused; `NotFound` without a library that has to be there; those of the parts and of the session.
    pub(super) async fn open(self) -> Result<OpenRun> {
        let (form, opening) = (&self.form, self.opening);
        let held_out = form.held_out.get_ref();
        let protocol = form.protocol();
        let tasks = Tasks::read(
            &self.folder,
            &form.tasks,
            held_out,
            protocol,
            opening.learns,
        )?;
        let library = self.library();
        // Who learns nothing makes no library at a path that a person named: a mistyped one would be an empty library.
        if opening.needs_library || (opening.library.is_some() && !opening.learns) {
            open(&library, false).await?;
        }
        let judge = ExpectationJudge::new(tasks.expected);
        let OpenParts {
            parts,
            options,
            trace,
        } = self.parts(&library, judge).await?;
        let (seed, agent) = (options.seed, parts.components.model.clone());
        let journeyman = Journeyman::open(parts.components, self.recipe, options).await?;
        trace.begin()?;
        tell_findings(&journeyman);
        Ok(OpenRun {
            found: journeyman.findings(),
            journeyman,
            stream: tasks.stream,
            held_out: tasks.held_out,
            calibrated: self.calibrated,
            seed,
            agent,
            world: parts.world,
            trace,
            store: parts.store,
            library,
            held: parts.held,
        })
    }
}

/// Says that the arms of a file that is read without them are left out.
fn tell_arms(form: &Form) {
    if form.has_arms() {
        tell(
            "note: the file's arms are left out: `journeyman run FILE --compare` compares two arms",
        );
    }
}

/// Says what a session finds to be wrong with its parts.
pub(super) fn tell_findings(journeyman: &Journeyman) {
    let findings = journeyman.findings().into_iter();
    // A session is read-only where the command is to learn nothing.
    for finding in findings.filter(|finding| finding.kind != FindingKind::ReadOnly) {
        tell(&format!("note: {}", of_the_command(&finding.to_string())));
    }
}
