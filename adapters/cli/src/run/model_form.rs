//! The models of a run's file: `[model]` for every job, and `[model_for.JOB]` for single ones.

use std::{
    collections::BTreeMap,
    path::{self, Path, PathBuf},
};

use journeyman::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::{
    jobs::Job,
    model::{
        layers::{self, Layers},
        load::found,
    },
    toml_file::Source,
};

/// The tables `[model_for.JOB]`.
pub(super) type JobForms = BTreeMap<String, Spanned<ModelForm>>;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelForm {
    /// A GGUF file, or the name of a public model, which is fetched at its first use.
    pub(super) gguf: Option<PathBuf>,
    /// The address below which `/models` lies.
    pub(super) server: Option<String>,
    /// The model's name at the server.
    pub(super) name: Option<String>,
    /// The name of the variable that holds the server's key.
    pub(super) key_variable: Option<String>,
    /// An adapter (LoRA) of the model: a GGUF file, or its name at the server.
    pub(super) adapter: Option<String>,
    /// Maximum tokens of prompt and output together.
    pub(super) context: Option<u32>,
    /// Maximum tokens of one answer, thoughts included; 512 if left out.
    pub(super) answer_tokens: Option<std::num::NonZeroU32>,
    /// Threads that compute; if left out, one for each physical core, and one alone for a small model.
    pub(super) threads: Option<u32>,
    /// Layers on GPUs: `none`, `all`, `fit` for as many as their free memory holds, or a number; `fit` if left out.
    #[serde(default)]
    #[schemars(schema_with = "layers::schema")]
    pub(super) gpu_layers: Option<Layers>,
    /// The folder of llama.cpp's backends, in a build that loads them.
    pub(super) backends: Option<PathBuf>,
    /// The file of `journeyman model calibrate` for this model.
    #[schemars(with = "Option<PathBuf>")]
    pub(super) calibration: Option<Spanned<PathBuf>>,
    /// The chat template, by name; the GGUF file's own if left out.
    pub(super) template: Option<String>,
    /// Compute in full precision, one request at a time in batches of a fixed shape: a run repeats to the byte.
    #[serde(default)]
    pub(super) exact: bool,
}

impl ModelForm {
    /// What is loaded once, whichever adapters it is used with.
    pub(super) fn without_adapter(&self) -> Self {
        Self {
            adapter: None,
            calibration: None,
            ..self.clone()
        }
    }

    /// Another model, with the keys that do not belong to this one alone: of the same server, where this is a server's; else a file, as
    /// seen from the current folder and not from the run's file, or a public model.
    ///
    /// # Errors
    /// Those of fetching a public model.
    pub(super) fn replaced_by(&self, model: &str) -> Result<Self> {
        let mut other = Self {
            template: None,
            ..self.without_adapter()
        };
        if other.server.is_some() {
            other.name = Some(model.to_owned());
        } else {
            let file = found(Path::new(model))?;
            other.gguf = Some(path::absolute(&file).unwrap_or(file));
        }
        Ok(other)
    }
}

/// A table `[model_for.JOB]`.
#[derive(Clone, Debug)]
pub(super) struct JobModel {
    pub(super) name: String,
    pub(super) job: Job,
    pub(super) model: Spanned<ModelForm>,
}

/// The models of single jobs. A role comes behind its group, and so has its own model where both are named. A table that names no
/// model is for that of `[model]`, with its own adapter or none.
///
/// # Errors
/// `Invalid` with the table's line for a job that nobody knows, and for keys that such a table does not take.
pub(super) fn jobs(
    source: &Source<'_>,
    model: &Spanned<ModelForm>,
    forms: &JobForms,
) -> Result<Vec<JobModel>> {
    let mut jobs = Vec::new();
    for (name, form) in forms {
        let refused = |message: &str, hint: &str| source.refused(form.span(), message, hint);
        let job = Job::named(source, name, form.span())?;
        if job == Job::Agent {
            return Err(refused(
                "the agent's model is that of [model]",
                "put these keys into [model], and the other jobs into [model_for.JOB]",
            ));
        }
        jobs.push(JobModel {
            name: name.clone(),
            job,
            model: Spanned::new(
                form.span(),
                of_job(form.get_ref(), model.get_ref(), refused)?,
            ),
        });
    }
    jobs.sort_by_key(|job| job.job.order());
    Ok(jobs)
}

/// The whole form of a job's model.
fn of_job(
    form: &ModelForm,
    model: &ModelForm,
    refused: impl Fn(&str, &str) -> journeyman::Error,
) -> Result<ModelForm> {
    let (adapter, calibration) = (form.adapter.clone(), form.calibration.clone());
    if form.gguf.is_some() || form.server.is_some() {
        return Ok(form.clone());
    }
    if form.without_adapter() != ModelForm::default() {
        return Err(refused(
            "the job's model is not named",
            "set `gguf`, or `server` and `name`; for the model of [model] leave out all but `adapter` and `calibration`",
        ));
    }
    Ok(ModelForm {
        adapter,
        calibration,
        ..model.clone()
    })
}
