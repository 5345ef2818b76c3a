//! `[world]` of a run's or an experiment's file. Unknown keys are refused.

use std::{
    collections::BTreeMap,
    env,
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use journeyman::{Error, Result, domain::Trust, text::Redactor};
use journeyman_mcp::{HttpEndpoint, McpConfig, McpServer};
use journeyman_process::ProcessConfig;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::config::WorldConfig;
use crate::toml_file::Source;

/// Minimum length of a variable's value that is hidden because of the variable's name. With a shorter one, a variable
/// `USE_TOKEN = "false"` would hide each `false` of the run.
const SECRET_BYTES: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldForm {
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
pub(crate) enum Protocol {
    /// The process protocol: an environment with outcomes.
    #[default]
    Process,
    /// The Model Context Protocol: tools alone.
    Mcp,
}

impl WorldForm {
    /// What the world speaks.
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether skills from what the world says may be used at once.
    pub(crate) fn trusted(&self) -> bool {
        self.trusted
    }

    /// Removes secrets from what is kept and printed: known forms, the values of the variables `keys`, the world's token, and
    /// the world's variables that are named as secrets. Short values stay, since they may be ordinary words: fewer than 4
    /// bytes, and fewer than [`SECRET_BYTES`] where only the name tells.
    pub(crate) fn redactor<'a>(&'a self, keys: impl Iterator<Item = &'a String>) -> Redactor {
        let keys = keys
            .chain(&self.token_variable)
            .filter_map(|name| env::var(name).ok());
        let passed = self.pass.iter().filter(|name| is_of_a_secret(name));
        let passed = passed.filter_map(|name| env::var(name).ok());
        let given = self.environment.iter();
        let given = given.filter(|(name, _)| is_of_a_secret(name));
        let guessed = passed.chain(given.map(|(_, value)| value.clone()));
        let guessed = guessed.filter(|value| value.len() >= SECRET_BYTES);
        let hidden = keys
            .chain(guessed)
            .filter(|value| Redactor::new([value.clone()]).is_ok());
        Redactor::new(hidden).unwrap_or_default()
    }

    /// The files of the world's own code, as far as they can be told: the program where a path names it, and the first argument
    /// that is a file.
    pub(crate) fn code(&self, folder: &Path) -> BTreeMap<&'static str, PathBuf> {
        let program = self.program.as_deref().filter(|program| is_path(program));
        let program = program.map(|program| folder.join(program));
        let mut arguments = self.arguments.iter().map(|argument| folder.join(argument));
        let script = arguments.find(|path| path.is_file());
        let files = [("program", program), ("script", script)].into_iter();
        files
            .filter_map(|(what, path)| Some((what, path?)))
            .collect()
    }

    /// The world in a few words, without secrets.
    pub(crate) fn description(&self, redactor: &Redactor) -> String {
        let Some(program) = &self.program else {
            return "an MCP server over HTTP".to_owned();
        };
        let mut command = ProcessConfig::new(program).with_arguments(&self.arguments);
        command.redactor = redactor.clone();
        let kind = match self.protocol {
            Protocol::Process => "the process",
            Protocol::Mcp => "the MCP server",
        };
        format!("{kind} `{}`", command.command_line())
    }

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

/// `[world]`, and what its settings need of the file that it stands in.
#[derive(Debug)]
pub(crate) struct WorldTable<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) form: &'a Spanned<WorldForm>,
    /// The file's folder, which is the process' working folder.
    pub(crate) folder: &'a Path,
    /// The file's `name`, which an MCP server has too.
    pub(crate) name: &'a str,
    pub(crate) redactor: Redactor,
}

impl WorldTable<'_> {
    /// How the world is reached.
    ///
    /// # Errors
    /// `Invalid` with the table's line for keys that do not fit each other, and for a variable that is not set.
    pub(crate) fn config(&self) -> Result<WorldConfig> {
        let world = self.form.get_ref();
        let of_mcp = world.url.is_some()
            || world.token_variable.is_some()
            || world.approved.is_some()
            || world.resettable.is_some()
            || world.deterministic.is_some();
        match (world.protocol, &world.program, &world.url) {
            (Protocol::Process, Some(program), None) if !of_mcp => {
                Ok(WorldConfig::Process(self.process(program)?))
            }
            (Protocol::Process, ..) => Err(self.unfit(
                "a world of the process protocol has a program, and nothing of MCP",
                "set `program`, or `protocol = \"mcp\"` for an MCP server",
            )),
            (Protocol::Mcp, Some(program), None) => {
                let child = self.process(program)?;
                Ok(self.mcp(McpServer::Process(child)))
            }
            (Protocol::Mcp, None, Some(url)) => {
                let mut endpoint = HttpEndpoint::new(url);
                if let Some(variable) = &world.token_variable {
                    endpoint = endpoint.with_token(self.variable(variable)?);
                }
                Ok(self.mcp(McpServer::Http(endpoint)))
            }
            (Protocol::Mcp, ..) => Err(self.unfit(
                "the MCP server is named twice or not at all",
                "set either `program` with `arguments`, or `url`",
            )),
        }
    }

    fn unfit(&self, message: &str, hint: &str) -> Error {
        self.source.refused(self.form.span(), message, hint)
    }

    fn mcp(&self, server: McpServer) -> WorldConfig {
        let world = self.form.get_ref();
        let mut config = McpConfig::new(self.name, server);
        config.trust = world.trust();
        config.resettable = world.resettable.unwrap_or(false);
        config.deterministic = world.deterministic.unwrap_or(false);
        config.redactor = self.redactor.clone();
        if let Some(limit) = world.request_limit() {
            config.request_limit = limit;
        }
        let approved = world.approved.as_deref();
        let approved = approved.unwrap_or(Path::new("approved-tools.json"));
        WorldConfig::Mcp {
            config,
            approved: self.folder.join(approved),
        }
    }

    fn process(&self, program: &Path) -> Result<ProcessConfig> {
        let world = self.form.get_ref();
        // A name alone is looked up in PATH.
        let program = match is_path(program) {
            true => self.folder.join(program),
            false => program.to_owned(),
        };
        let mut config = ProcessConfig::new(program).with_arguments(&world.arguments);
        config.folder = Some(self.folder.to_owned());
        config.environment = world.environment.clone().into_iter().collect();
        for name in &world.pass {
            let value = self.variable(name)?;
            config.environment.push((name.clone(), value));
        }
        config.trust = world.trust();
        config.redactor = self.redactor.clone();
        if let Some(limit) = world.request_limit() {
            config.request_limit = limit;
        }
        Ok(config)
    }

    /// The value of one of the command's own variables.
    fn variable(&self, name: &str) -> Result<String> {
        env::var(name).map_err(|_| {
            self.unfit(
                "a variable that the world shall get is not set",
                "set it, or take its name out of the file",
            )
            .with("variable", name)
        })
    }
}

/// Whether a program is named by a path, and not by a name that is looked up in PATH.
fn is_path(program: &Path) -> bool {
    program.components().count() != 1
}

/// Whether a variable is named as a secret. Its last word decides: `SHOP_TOKEN` is, `MAX_TOKENS` and `KEYBOARD` are not.
fn is_of_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let last = name.rsplit('_').next();
    last.is_some_and(|last| ["KEY", "TOKEN", "SECRET", "PASSWORD"].contains(&last))
}
