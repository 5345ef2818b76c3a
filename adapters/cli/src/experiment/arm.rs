//! Reads the arms of an experiment's file, and makes an arm for each value of a sweep.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use journeyman::Result;
use journeyman_experiment::{Arm, Sweep, value_text};
use toml::Spanned;

use super::{
    form::{ArmForm, SweepForm},
    models::JobModel,
};
use crate::{
    changes::{Change, with_reason},
    recipes::{self, recipe_of},
    toml_file::Source,
};

/// Maximum bytes of the name of an arm that a sweep makes.
const MOST_NAME: usize = 160;

/// An arm, and where its first skills come from.
#[derive(Clone, Debug)]
pub(super) struct ArmPlan {
    pub(super) arm: Arm,
    pub(super) start: Start,
    pub(super) models: Vec<JobModel>,
}

/// The skills that an arm's library starts with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Start {
    Empty,
    /// ARISE's seed skills.
    Seeds,
    /// A skill's folder, a folder of skills' folders, or a library's folder.
    Folder(PathBuf),
}

impl ArmPlan {
    pub(super) fn read(source: &Source<'_>, form: &ArmForm, folder: &Path) -> Result<Self> {
        let name = form.name.get_ref();
        source.check_arm(name, form.name.span())?;
        let base = form.recipe.get_ref().as_str();
        let arm = if base == "none" {
            refuse_more(source, form)?;
            Arm::without_skills(name)
        } else {
            let mut arm = Arm::new(name, recipe_of(source, base, form.recipe.span())?);
            arm.learns = form.learn.as_ref().is_none_or(|learn| *learn.get_ref());
            arm
        };
        let mut arm = Self {
            arm,
            start: start(form, folder),
            models: JobModel::read(source, &form.model_for, folder)?,
        };
        arm.arm.description = base.to_owned();
        if let Some(library) = form.library.as_ref().filter(|one| *one.get_ref() != "none") {
            arm.describe(&format!("library {}", library.get_ref()));
        }
        if arm.arm.has_skills && !arm.arm.learns {
            arm.describe("nothing is learned");
        }
        for (path, from) in &form.take {
            arm.take(source, path, from)?;
        }
        for change in source.changes(&form.set, &form.unset)? {
            arm.change(source, &change)?;
        }
        arm.check(source, form.name.span())?;
        Ok(arm)
    }

    /// Gives a field the value that it has in another recipe, or that another field has there.
    fn take(&mut self, source: &Source<'_>, path: &str, from: &Spanned<String>) -> Result<()> {
        let (name, at) = match from.get_ref().split_once('.') {
            Some((name, at)) => (name, at),
            None => (from.get_ref().as_str(), path),
        };
        let other = recipe_of(source, name, from.span())?;
        let made = Change::taken(path, (&other, at), from.span())
            .and_then(|change| change.make(&self.arm.recipe));
        self.arm.recipe = made.map_err(|refusal| {
            let unmade = source.unmade(from.span(), path, refusal);
            unmade.with("arm", &self.arm.name)
        })?;
        self.describe(&format!("{path} of {}", from.get_ref()));
        Ok(())
    }

    fn change(&mut self, source: &Source<'_>, change: &Change) -> Result<()> {
        self.arm.recipe = change.make(&self.arm.recipe).map_err(|refusal| {
            let unmade = source.unmade(change.span.clone(), &change.path, refusal);
            unmade.with("arm", &self.arm.name)
        })?;
        let value = change
            .value
            .as_ref()
            .map_or("nothing".to_owned(), value_text);
        self.describe(&format!("{} = {value}", change.path));
        Ok(())
    }

    fn describe(&mut self, more: &str) {
        self.arm.description.push_str(", ");
        self.arm.description.push_str(more);
    }

    fn check(&self, source: &Source<'_>, span: Range<usize>) -> Result<()> {
        recipes::check(&self.arm.recipe).map_err(|error| {
            let hint = error
                .hint_text()
                .unwrap_or("set it to a value in its range");
            let refused = source.refused(span, with_reason(&error), hint);
            let facts = error.facts().fold(refused, |refused, (name, fact)| {
                refused.with(name.to_owned(), fact)
            });
            facts.with("arm", &self.arm.name)
        })
    }
}

/// Makes an arm for each value of a sweep. The first `written` arms stand in the file; no sweep is made of a sweep's arm.
pub(super) fn sweep(
    source: &Source<'_>,
    form: &SweepForm,
    written: usize,
    arms: &mut Vec<ArmPlan>,
) -> Result<Sweep> {
    let base = named(source, &form.arm, arms.get(..written).unwrap_or_default())?;
    let Some(base) = arms.get(base).cloned().filter(|base| base.arm.has_skills) else {
        let message = "an arm without skills has nothing to sweep";
        return Err(source.refused(form.arm.span(), message, "name another arm"));
    };
    if form.values.get_ref().is_empty() {
        let hint = "give at least one value";
        return Err(source.refused(form.values.span(), "there are no values", hint));
    }
    let path = form.path.get_ref();
    let field = path.rsplit('.').next().unwrap_or(path);
    let mut values = Vec::new();
    for value in form.values.get_ref() {
        let json = source.json(value.get_ref(), &value.span())?;
        let mut swept = base.clone();
        swept.arm.name = format!("{}, {field}={}", base.arm.name, value_text(&json));
        if swept.arm.name.len() > MOST_NAME {
            let message = "the value is too long to name an arm by";
            return Err(source.refused(value.span(), message, "make an arm of its own for it"));
        }
        let change = Change {
            path: path.clone(),
            value: Some(json.clone()),
            replaces: false,
            span: value.span(),
        };
        swept.change(source, &change)?;
        swept.check(source, value.span())?;
        values.push((json, arms.len()));
        arms.push(swept);
    }
    Ok(Sweep::new(base.arm.name, path.clone(), values))
}

/// Refuses settings that an arm without skills cannot have.
fn refuse_more(source: &Source<'_>, form: &ArmForm) -> Result<()> {
    let take = form.take.values().next().map(Spanned::span);
    let set = form.set.values().next().map(Spanned::span);
    let unset = form.unset.first().map(Spanned::span);
    let library = form.library.as_ref().map(Spanned::span);
    let learn = form.learn.as_ref().map(Spanned::span);
    let mut models = form.model_for.iter();
    let model = models.find(|(job, _)| *job != "agent");
    let model = model.map(|(_, form)| form.span());
    let first = take.or(set).or(unset).or(library).or(learn).or(model);
    match first {
        None => Ok(()),
        Some(span) => Err(source.refused(
            span,
            "an arm with the recipe `none` has no skills, and so nothing to set",
            "leave it out, or take another recipe",
        )),
    }
}

fn start(form: &ArmForm, folder: &Path) -> Start {
    match form
        .library
        .as_ref()
        .map(|library| library.get_ref().as_str())
    {
        None | Some("none") => Start::Empty,
        Some("seeds") => Start::Seeds,
        Some(path) => Start::Folder(folder.join(path)),
    }
}

/// The index of the arm of this name.
pub(super) fn named(
    source: &Source<'_>,
    name: &Spanned<String>,
    arms: &[ArmPlan],
) -> Result<usize> {
    let found = arms.iter().position(|arm| arm.arm.name == *name.get_ref());
    found.ok_or_else(|| {
        let names: Vec<&str> = arms.iter().map(|arm| arm.arm.name.as_str()).collect();
        let hint = format!("there are: {}", names.join("; "));
        source.refused(name.span(), "there is no arm of this name", hint)
    })
}
