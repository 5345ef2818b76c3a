//! The TOML form of a run's file. Unknown keys are refused.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    path::{Path, PathBuf},
};

use journeyman::{
    Error, Result, recipe::Recipe, stations::select::GateCalibration, text::Redactor,
};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{
    earlier::refuse_dialect,
    model_form::{JobForms, JobModel, ModelForm, jobs},
};
use crate::{
    calibrated::{self, Calibrated},
    changes::with_reason,
    jobs::Job,
    recipes::{self, recipe_of},
    stemming::Language,
    toml_file::{Source, Table},
    world::{Protocol, WorldConfig, WorldForm, WorldTable},
};

/// The operation that errors of a run's file name.
pub(super) const RUN: &str = "run";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    /// At most 64 of a-z, 0-9 and hyphens; the prefix of the runs' ids.
    #[schemars(with = "String")]
    name: Spanned<String>,
    /// The recipe to learn with (`standard`).
    #[serde(default = "standard")]
    #[schemars(with = "Option<String>")]
    recipe: Spanned<String>,
    /// Of all randomness (1).
    pub(super) seed: Option<u64>,
    /// The library's folder (`library`).
    pub(super) library: Option<PathBuf>,
    /// JSON Lines with the tasks.
    pub(super) tasks: PathBuf,
    /// How many tasks at the end of `tasks` are held out, or another such file.
    #[schemars(with = "HeldOut")]
    pub(super) held_out: Spanned<HeldOut>,
    /// Maximum steps of an attempt.
    pub(super) steps: Option<NonZeroU32>,
    /// The language whose inflected words also find skills by their stems (none).
    pub(super) stems: Option<Language>,
    /// Fields of the recipe by their paths in its JSON form.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    set: Table,
    /// Paths of fields that get no value.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    unset: Vec<Spanned<String>>,
    /// A GGUF file, or a model of a server.
    #[schemars(with = "ModelForm")]
    pub(super) model: Spanned<ModelForm>,
    /// Models of single jobs, in place of `model`: of `gate`, of a group of roles (`writers`, `judge`, `curator`, `router`) or of a
    /// role. One that names no model is for `model`, with another adapter.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ModelForm>")]
    pub(super) model_for: JobForms,
    /// Where the agent acts.
    #[schemars(with = "WorldForm")]
    world: Spanned<WorldForm>,
    /// The ways to run that `--compare` compares, by their names.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ArmForm>")]
    arms: BTreeMap<String, Spanned<ArmForm>>,
    /// What an arm adds: it is made after the file's own `set` and `unset`.
    #[serde(skip)]
    arm: FieldChanges,
}

/// `set` and `unset` of an arm.
#[derive(Debug, Default)]
struct FieldChanges {
    set: Table,
    unset: Vec<Spanned<String>>,
}

/// Keys that stand in the place of the file's own. Those of `set`, `unset` and `model_for` are added to the file's, and hold against them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArmForm {
    /// The recipe.
    #[schemars(with = "Option<String>")]
    recipe: Option<Spanned<String>>,
    /// Of all randomness.
    seed: Option<u64>,
    /// The library's folder.
    library: Option<PathBuf>,
    /// JSON Lines with the tasks.
    tasks: Option<PathBuf>,
    /// How many tasks at the end of `tasks` are held out, or another such file.
    #[schemars(with = "Option<HeldOut>")]
    held_out: Option<Spanned<HeldOut>>,
    /// Maximum steps of an attempt.
    steps: Option<NonZeroU32>,
    /// The language whose inflected words also find skills by their stems.
    stems: Option<Language>,
    /// Fields of the recipe by their paths in its JSON form, beside those of the file.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    set: Table,
    /// Paths of fields that get no value, beside those of the file.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    unset: Vec<Spanned<String>>,
    /// A GGUF file, or a model of a server.
    #[schemars(with = "Option<ModelForm>")]
    model: Option<Spanned<ModelForm>>,
    /// Models of single jobs, beside those of the file.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ModelForm>")]
    model_for: JobForms,
    /// Where the agent acts.
    #[schemars(with = "Option<WorldForm>")]
    world: Option<Spanned<WorldForm>>,
}

/// The tasks that nothing is learned from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum HeldOut {
    /// This many at the end of the tasks' file.
    Last(usize),
    /// A file of their own.
    File(PathBuf),
}

/// Whether what an arm sets takes the place of what the file has at a path: the same field, or a part of the selector that the arm replaces.
fn replaces(set: &Table, path: &str) -> bool {
    const SELECTOR: &str = "select.selector";
    let is_part = path.starts_with(SELECTOR) && set.contains_key(SELECTOR);
    is_part || set.contains_key(path)
}

fn standard() -> Spanned<String> {
    Spanned::new(0..0, "standard".to_owned())
}

impl Form {
    pub(super) fn read(source: &Source<'_>) -> Result<Self> {
        refuse_dialect(source)?;
        source.form()
    }

    /// Whether the file has arms.
    pub(super) fn has_arms(&self) -> bool {
        !self.arms.is_empty()
    }

    /// The names of the file's two arms, in its order.
    ///
    /// # Errors
    /// `Invalid` for more arms or fewer, and for a name that is none.
    pub(super) fn two_arms(&self, source: &Source<'_>) -> Result<[String; 2]> {
        let mut arms: Vec<(&String, &Spanned<ArmForm>)> = self.arms.iter().collect();
        arms.sort_by_key(|(_, arm)| arm.span().start);
        for (name, arm) in &arms {
            source.check_arm(name, arm.span())?;
        }
        if let [(first, _), (second, _)] = arms.as_slice() {
            return Ok([(*first).clone(), (*second).clone()]);
        }
        let count = arms.len();
        let hint = match count {
            0 | 1 => {
                "write two tables `[arms.NAME]`, each with the keys in which it differs from the file, or name another file behind \
                 `--compare`"
            }
            _ => "leave two in the file; `journeyman experiment` compares more",
        };
        let message = format!("two arms are compared, and the file has {count}");
        Err(Error::invalid(RUN, message)
            .with("path", source.path.display())
            .hint(hint))
    }

    /// The file with the keys of an arm in the place of its own.
    ///
    /// # Errors
    /// `Invalid` where the file has no such arm.
    pub(super) fn of_arm(mut self, source: &Source<'_>, name: &str) -> Result<Self> {
        let arm = self.arms.remove(name).ok_or_else(|| {
            Error::invalid(RUN, "the file has no such arm")
                .with("path", source.path.display())
                .with("arm", name)
                .hint("it was changed while it was read: call the command again")
        })?;
        let arm = arm.into_inner();
        // In the place of the file's, not beside it. The options of a selector are those of the one that is named.
        self.set.retain(|path, _| !replaces(&arm.set, path));
        self.unset
            .retain(|path| !replaces(&arm.set, path.get_ref()));
        self.model_for.extend(arm.model_for);
        Ok(Self {
            name: self.name,
            recipe: arm.recipe.unwrap_or(self.recipe),
            seed: arm.seed.or(self.seed),
            library: arm.library.or(self.library),
            tasks: arm.tasks.unwrap_or(self.tasks),
            held_out: arm.held_out.unwrap_or(self.held_out),
            steps: arm.steps.or(self.steps),
            stems: arm.stems.or(self.stems),
            set: self.set,
            unset: self.unset,
            model: arm.model.unwrap_or(self.model),
            model_for: self.model_for,
            world: arm.world.unwrap_or(self.world),
            arms: BTreeMap::new(),
            arm: FieldChanges {
                set: arm.set,
                unset: arm.unset,
            },
        })
    }

    /// The name of the session.
    pub(super) fn name(&self, source: &Source<'_>) -> Result<&str> {
        source.check_name(&self.name, "a run")
    }

    /// The named recipe with the file's changes, and the gate's threshold for the model if the file names its calibration.
    pub(super) fn recipe(&self, source: &Source<'_>, folder: &Path) -> Result<Recipe> {
        let mut recipe = recipe_of(source, self.recipe.get_ref(), self.recipe.span())?;
        let mut changes = source.changes(&self.set, &self.unset)?;
        changes.extend(source.changes(&self.arm.set, &self.arm.unset)?);
        for change in changes {
            let made = change.make(&recipe);
            recipe =
                made.map_err(|refusal| source.unmade(change.span.clone(), &change.path, refusal))?;
        }
        if let Some((file, fitted)) = self.calibration(source, folder)? {
            let calibrated = recipe.calibrate(&fitted);
            calibrated.map_err(|error| error.with("path", file.display()))?;
        }
        recipes::check(&recipe).map_err(|error| match std::error::Error::source(&error) {
            None => error,
            Some(_) => {
                let explained = Error::invalid(RUN, with_reason(&error));
                error.facts().fold(explained, |explained, (name, fact)| {
                    explained.with(name.to_owned(), fact)
                })
            }
        })?;
        Ok(recipe)
    }

    /// What the calibration that the file names says of its threshold; `None` where it names none.
    pub(super) fn calibrated(
        &self,
        source: &Source<'_>,
        folder: &Path,
    ) -> Result<Option<Calibrated>> {
        let calibration = self.calibration(source, folder)?;
        Ok(calibration.map(|(_, fitted)| Calibrated::of(&fitted)))
    }

    /// The calibration of the model that scores, with its file; `None` where the run's file names none.
    fn calibration(
        &self,
        source: &Source<'_>,
        folder: &Path,
    ) -> Result<Option<(PathBuf, GateCalibration)>> {
        let jobs = self.jobs(source)?;
        let gate = jobs.iter().find(|job| job.job == Job::Gate);
        let scores = gate.map_or(&self.model, |gate| &gate.model);
        let Some(named) = &scores.get_ref().calibration else {
            return Ok(None);
        };
        let file = folder.join(named.get_ref());
        let fitted = calibrated::read(RUN, &file)?;
        if fitted.found.is_some() && self.stems.is_some() {
            let message = "the calibration counts the score of a search without stems";
            return Err(Error::invalid(RUN, message)
                .with("path", file.display())
                .hint("leave out `stems`, or calibrate with `--score`"));
        }
        Ok(Some((file, fitted)))
    }

    /// Lets another model act. The other jobs keep the models that the file gives them.
    ///
    /// # Errors
    /// Those of [`Form::jobs`] and of [`ModelForm::replaced_by`].
    pub(super) fn act_with(&mut self, source: &Source<'_>, model: &str) -> Result<()> {
        let jobs = self.jobs(source)?;
        self.model_for = jobs.into_iter().map(|job| (job.name, job.model)).collect();
        let other = self.model.get_ref().replaced_by(model)?;
        self.model = Spanned::new(self.model.span(), other);
        Ok(())
    }

    /// The models of single jobs.
    pub(super) fn jobs(&self, source: &Source<'_>) -> Result<Vec<JobModel>> {
        jobs(source, &self.model, &self.model_for)
    }

    /// Removes secrets from what the run keeps and prints: known forms, the keys of the models' servers, and the world's.
    pub(super) fn redactor(&self) -> Redactor {
        let models = self.model_for.values().chain([&self.model]);
        let keys = models.filter_map(|model| model.get_ref().key_variable.as_ref());
        self.world.get_ref().redactor(keys)
    }

    /// What the world speaks.
    pub(super) fn protocol(&self) -> Protocol {
        self.world.get_ref().protocol()
    }

    /// How the world is reached. Its process' working folder is the file's.
    pub(super) fn world(&self, source: &Source<'_>, folder: &Path) -> Result<WorldConfig> {
        let table = WorldTable {
            source,
            form: &self.world,
            folder,
            name: self.name(source)?,
            redactor: self.redactor(),
        };
        table.config()
    }
}
