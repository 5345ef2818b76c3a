//! The TOML form of a run's file. Unknown keys are refused.

use std::{
    collections::BTreeMap,
    env, fs,
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use journeyman::{
    Error, Result, domain::Trust, recipe::Recipe, select::GateCalibration, text::Redactor,
};
use journeyman_mcp::{HttpEndpoint, McpConfig, McpServer};
use journeyman_process::ProcessConfig;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{
    earlier::refuse_dialect,
    model_form::{JobForms, JobModel, ModelForm, jobs},
    world_config::WorldConfig,
};
use crate::{
    changes::Change,
    files::unreadable,
    jobs::Job,
    recipes::recipe_of,
    stemming::Language,
    toml_file::{Source, Table},
};

/// The operation that errors of a run's file name.
pub(super) const RUN: &str = "run";
/// Minimum length of a variable's value that is hidden because of the variable's name. With a shorter one, a variable
/// `USE_TOKEN = "false"` would hide each `false` of the run.
const SECRET_BYTES: usize = 8;

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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorldForm {
    /// What the world speaks.
    #[serde(default)]
    protocol: Protocol,
    /// A path, or a name that is looked up in PATH.
    program: Option<PathBuf>,
    /// The arguments of `program`.
    #[serde(default)]
    arguments: Vec<String>,
    /// The variables that the process gets.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Names of the command's own variables that the process gets too.
    #[serde(default)]
    pass: Vec<String>,
    /// Whether skills from what the world says may be used at once.
    #[serde(default)]
    trusted: bool,
    /// Time limit of a request (60).
    request_seconds: Option<NonZeroU32>,
    /// An MCP server over HTTP.
    url: Option<String>,
    /// The name of the variable that holds its bearer token.
    token_variable: Option<String>,
    /// The file with the MCP server's approved tools.
    approved: Option<PathBuf>,
    /// The user's promise that a new MCP session finds the server as the first one did.
    resettable: Option<bool>,
    /// The user's promise that the same calls of a new MCP session give the same results.
    deterministic: Option<bool>,
}

/// What a world speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    /// The process protocol: an environment with outcomes.
    #[default]
    Process,
    /// The Model Context Protocol: tools alone.
    Mcp,
}

fn standard() -> Spanned<String> {
    Spanned::new(0..0, "standard".to_owned())
}

impl Form {
    pub(super) fn read(source: &Source<'_>) -> Result<Self> {
        refuse_dialect(source)?;
        source.form()
    }

    /// The name of the session: small letters of ASCII, digits and hyphens.
    pub(super) fn name(&self, source: &Source<'_>) -> Result<&str> {
        let name = self.name.get_ref();
        let sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(sound) {
            return Err(source.refused(
                self.name.span(),
                "this is not a name for a run",
                "take at most 64 of a-z, 0-9 and hyphens",
            ));
        }
        Ok(name)
    }

    /// The named recipe with the file's changes, and the gate's threshold for the model if the file names its calibration.
    pub(super) fn recipe(&self, source: &Source<'_>, folder: &Path) -> Result<Recipe> {
        let mut recipe = recipe_of(source, self.recipe.get_ref(), self.recipe.span())?;
        let taken_away = self.unset.iter().map(|path| Change {
            path: path.get_ref().clone(),
            value: None,
            replaces: false,
            span: path.span(),
        });
        for change in source.changes(&self.set)?.into_iter().chain(taken_away) {
            recipe = change.make(&recipe).map_err(|refusal| {
                source
                    .refused(change.span.clone(), refusal.message, refusal.hint)
                    .with("field", &change.path)
            })?;
        }
        let jobs = self.jobs(source)?;
        let gate = jobs.iter().find(|job| job.job == Job::Gate);
        let scores = gate.map_or(&self.model, |gate| &gate.model);
        if let Some(named) = &scores.get_ref().calibration {
            let file = folder.join(named.get_ref());
            let text = fs::read_to_string(&file).map_err(|error| unreadable(RUN, &file, error))?;
            let of_file = |error: Error| error.with("path", file.display());
            let fitted = GateCalibration::from_json(&text).map_err(of_file)?;
            if fitted.found.is_some() && self.stems.is_some() {
                let message = "the calibration counts the score of a search without stems";
                let error = Error::invalid(RUN, message)
                    .hint("leave out `stems`, or calibrate with `--score`");
                return Err(of_file(error));
            }
            recipe.calibrate(&fitted).map_err(of_file)?;
        }
        recipe.validate()?;
        Ok(recipe)
    }

    /// The models of single jobs.
    pub(super) fn jobs(&self, source: &Source<'_>) -> Result<Vec<JobModel>> {
        jobs(source, &self.model, &self.model_for)
    }

    /// Removes secrets from what the run keeps and prints: known forms, the keys of the models' servers, the world's token, and the
    /// world's variables that are named as secrets. Short values stay, since they may be ordinary words: fewer than 4 bytes, and
    /// fewer than [`SECRET_BYTES`] where only the name tells.
    pub(super) fn redactor(&self) -> Redactor {
        let world = self.world.get_ref();
        let models = self.model_for.values().chain([&self.model]);
        let keys = models.filter_map(|model| model.get_ref().key_variable.as_ref());
        let keys = keys
            .chain(&world.token_variable)
            .filter_map(|name| env::var(name).ok());
        let passed = world.pass.iter().filter(|name| is_of_a_secret(name));
        let passed = passed.filter_map(|name| env::var(name).ok());
        let given = world.environment.iter();
        let given = given.filter(|(name, _)| is_of_a_secret(name));
        let guessed = passed.chain(given.map(|(_, value)| value.clone()));
        let guessed = guessed.filter(|value| value.len() >= SECRET_BYTES);
        let hidden = keys
            .chain(guessed)
            .filter(|value| Redactor::new([value.clone()]).is_ok());
        Redactor::new(hidden).unwrap_or_default()
    }

    /// What the world speaks.
    pub(super) fn protocol(&self) -> Protocol {
        self.world.get_ref().protocol
    }

    /// How the world is reached. Its process' working folder is the file's.
    pub(super) fn world(&self, source: &Source<'_>, folder: &Path) -> Result<WorldConfig> {
        let world = self.world.get_ref();
        let of_mcp = world.url.is_some()
            || world.token_variable.is_some()
            || world.approved.is_some()
            || world.resettable.is_some()
            || world.deterministic.is_some();
        match (world.protocol, &world.program, &world.url) {
            (Protocol::Process, Some(program), None) if !of_mcp => {
                Ok(WorldConfig::Process(self.process(source, folder, program)?))
            }
            (Protocol::Process, ..) => Err(self.unfit(
                source,
                "a world of the process protocol has a program, and nothing of MCP",
                "set `program`, or `protocol = \"mcp\"` for an MCP server",
            )),
            (Protocol::Mcp, Some(program), None) => {
                let child = self.process(source, folder, program)?;
                self.mcp(source, folder, McpServer::Process(child))
            }
            (Protocol::Mcp, None, Some(url)) => {
                let mut endpoint = HttpEndpoint::new(url);
                if let Some(variable) = &world.token_variable {
                    endpoint = endpoint.with_token(self.variable(source, variable)?);
                }
                self.mcp(source, folder, McpServer::Http(endpoint))
            }
            (Protocol::Mcp, ..) => Err(self.unfit(
                source,
                "the MCP server is named twice or not at all",
                "set either `program` with `arguments`, or `url`",
            )),
        }
    }

    fn unfit(&self, source: &Source<'_>, message: &str, hint: &str) -> Error {
        source.refused(self.world.span(), message, hint)
    }

    fn mcp(&self, source: &Source<'_>, folder: &Path, server: McpServer) -> Result<WorldConfig> {
        let world = self.world.get_ref();
        let mut config = McpConfig::new(self.name(source)?, server);
        config.trust = world.trust();
        config.resettable = world.resettable.unwrap_or(false);
        config.deterministic = world.deterministic.unwrap_or(false);
        config.redactor = self.redactor();
        if let Some(limit) = world.request_limit() {
            config.request_limit = limit;
        }
        let approved = world.approved.as_deref();
        let approved = folder.join(approved.unwrap_or(Path::new("approved-tools.json")));
        Ok(WorldConfig::Mcp { config, approved })
    }

    fn process(&self, source: &Source<'_>, folder: &Path, program: &Path) -> Result<ProcessConfig> {
        let world = self.world.get_ref();
        // A name alone is looked up in PATH.
        let program = match program.components().count() {
            1 => program.to_owned(),
            _ => folder.join(program),
        };
        let mut config = ProcessConfig::new(program).with_arguments(&world.arguments);
        config.folder = Some(folder.to_owned());
        config.environment = world.environment.clone().into_iter().collect();
        for name in &world.pass {
            let value = self.variable(source, name)?;
            config.environment.push((name.clone(), value));
        }
        config.trust = world.trust();
        config.redactor = self.redactor();
        if let Some(limit) = world.request_limit() {
            config.request_limit = limit;
        }
        Ok(config)
    }

    /// The value of one of the command's own variables.
    fn variable(&self, source: &Source<'_>, name: &str) -> Result<String> {
        env::var(name).map_err(|_| {
            self.unfit(
                source,
                "a variable that the world shall get is not set",
                "set it, or take its name out of the file",
            )
            .with("variable", name)
        })
    }
}

/// Whether a variable is named as a secret. Its last word decides: `SHOP_TOKEN` is, `MAX_TOKENS` and `KEYBOARD` are not.
fn is_of_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let last = name.rsplit('_').next();
    last.is_some_and(|last| ["KEY", "TOKEN", "SECRET", "PASSWORD"].contains(&last))
}

impl WorldForm {
    fn trust(&self) -> Trust {
        match self.trusted {
            true => Trust::Trusted,
            false => Trust::Untrusted,
        }
    }

    fn request_limit(&self) -> Option<Duration> {
        self.request_seconds
            .map(|seconds| Duration::from_secs(seconds.get().into()))
    }
}
