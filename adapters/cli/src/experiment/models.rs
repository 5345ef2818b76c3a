//! The models of an arm's single jobs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use journeyman::{Error, ModelId, Result};
use journeyman_experiment::Arm;
use journeyman_llama_cpp::ModelInfo;
use toml::Spanned;

use super::form::{EXPERIMENT, JobForm};
use crate::{
    files::{digest, unreadable},
    jobs::Job,
    model::load::{adapter_name, found_in},
    toml_file::Source,
};

/// The model of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobModel {
    /// The job's name.
    pub(super) name: String,
    pub(super) job: Job,
    /// The experiment's model if not given.
    pub(super) gguf: Option<PathBuf>,
    /// The adapter's file.
    pub(super) adapter: Option<PathBuf>,
}

impl JobModel {
    /// The models that an arm's form names. A role comes behind its group.
    pub(super) fn read(
        source: &Source<'_>,
        forms: &BTreeMap<String, Spanned<JobForm>>,
        folder: &Path,
    ) -> Result<Vec<Self>> {
        let mut models = Vec::new();
        for (name, form) in forms {
            let (span, form) = (form.span(), form.get_ref());
            let job = Job::named(source, name, span.clone())?;
            if form.gguf.is_none() && form.adapter.is_none() {
                return Err(source.refused(
                    span,
                    "the job has no model of its own",
                    "set `gguf`, `adapter` or both, or leave the job out",
                ));
            }
            models.push(Self {
                name: name.clone(),
                job,
                gguf: form
                    .gguf
                    .as_ref()
                    .map(|file| found_in(file, folder))
                    .transpose()?,
                adapter: form.adapter.as_ref().map(|file| folder.join(file)),
            });
        }
        models.sort_by_key(|model| model.job.order());
        Ok(models)
    }

    /// Writes into the arm which model does the job: for the report, and by content for the keys of its cells.
    ///
    /// # Errors
    /// Those of [`chat_model`], and `NotFound` or `Unavailable` for an adapter's file that cannot be read.
    pub(super) fn tell(&self, model: &str, arm: &mut Arm) -> Result<()> {
        let (mut says, mut content) = (model.to_owned(), String::new());
        if let Some(file) = &self.gguf {
            let info = chat_model(file).map_err(|error| error.with("job", &self.name))?;
            (says, content) = (info.model.to_string(), info.sha256);
        }
        if let Some(file) = &self.adapter {
            let digest = digest(file).map_err(|error| unreadable(EXPERIMENT, file, error))?;
            says = ModelId::new(format!("{says}+{}", adapter_name(file)?)).to_string();
            content = format!("{content}+{digest}");
        }
        arm.description
            .push_str(&format!(", {} by {says}", self.name));
        arm.models.insert(self.name.clone(), content);
        Ok(())
    }
}

/// What the file of a model says, which has to be one for chats: agent and roles are asked by its chat template.
///
/// # Errors
/// Those of [`ModelInfo::read`], and `Unsupported` for a file without a chat template.
pub(super) fn chat_model(file: &Path) -> Result<ModelInfo> {
    let info = ModelInfo::read(file)?;
    match info.chat_template {
        true => Ok(info),
        false => {
            let message = "a model of an experiment needs a chat template, and the file has none";
            Err(Error::unsupported(EXPERIMENT, message)
                .with("path", file.display())
                .with("model", &info.model)
                .hint("take an instruct model; `journeyman model info FILE` says whether a file has a chat template"))
        }
    }
}

/// The adapters that each model is used with, by the model's file; `None` is the experiment's.
pub(super) type Adapters = BTreeMap<Option<PathBuf>, BTreeMap<String, PathBuf>>;

/// The models that jobs use, each with the adapters that it is used with.
pub(super) fn used<'a>(models: impl IntoIterator<Item = &'a JobModel>) -> Result<Adapters> {
    let mut used = Adapters::new();
    for model in models {
        let adapters = used.entry(model.gguf.clone()).or_default();
        let Some(file) = &model.adapter else {
            continue;
        };
        let before = adapters.insert(adapter_name(file)?, file.clone());
        if before.is_some_and(|before| before != *file) {
            let message = "two adapters of one model have files of the same name";
            return Err(Error::invalid(EXPERIMENT, message)
                .with("path", file.display())
                .hint(
                    "rename one of the files: an adapter has its file's name, without the ending",
                ));
        }
    }
    Ok(used)
}
