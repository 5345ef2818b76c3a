//! How a child process is started and bounded.

use std::{
    env, fmt,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use journeyman::{Error, Result, domain::Trust, text::Redactor};

use crate::{death_signal::die_with_owner, fault::ProcessFault};

/// The greatest length of a line, unless the host says otherwise: 8 MiB.
const LINE_CAP: NonZeroUsize = NonZeroUsize::new(8 * 1024 * 1024).expect("not 0");

/// The greatest length of a command in an error, in characters.
const QUOTED: usize = 500;

/// The configuration of a child process. Create it with [`ProcessConfig::new`], then set its fields. Defaults are in
/// parentheses.
///
/// ```
/// use journeyman_process::ProcessConfig;
///
/// let mut config = ProcessConfig::new("python3").with_arguments(["desk.py"]);
/// config.environment.push(("DESK_TOKEN".to_owned(), "from the host's own store".to_owned()));
/// ```
#[non_exhaustive]
#[derive(Clone)]
pub struct ProcessConfig {
    /// The executable file: a path, or a name that is looked up in the host's `PATH`. No shell is involved. The child has
    /// none of the host's variables, so a launcher that needs some, such as a pyenv shim, does not run: name the
    /// interpreter itself.
    pub program: PathBuf,
    /// Its arguments (none).
    pub arguments: Vec<String>,
    /// Its whole environment (empty). `Debug` shows the names alone, since values are often secrets.
    pub environment: Vec<(String, String)>,
    /// Its working folder. `None`: the host's.
    pub folder: Option<PathBuf>,
    /// The host's trust in what its observations say (untrusted): skills distilled from untrusted text start in quarantine.
    pub trust: Trust,
    /// Time limit from the start to the answer to `hello` (30 s).
    pub start_limit: Duration,
    /// Time limit of a `reset` and of a `step` (60 s). An attempt has the limit that the run gives it.
    pub request_limit: Duration,
    /// Time limit of a `close`, of the end of a cancelled attempt (at most 500 ms after the attempt's deadline), and of the
    /// end of the process (5 s).
    pub close_limit: Duration,
    /// The greatest length of a line on standard output in bytes (8 MiB).
    pub line_cap: NonZeroUsize,
    /// Maximum number of failed processes within `restart_window` (5). After that calls are refused until the window has
    /// passed.
    pub restarts: usize,
    /// See `restarts` (60 s).
    pub restart_window: Duration,
    /// Redacts what errors quote from the arguments, standard output, standard error and the child's own failures (the known
    /// forms of secrets).
    pub redactor: Redactor,
}

impl fmt::Debug for ProcessConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every field is named here, so that a new one is not forgotten.
        let Self {
            program,
            arguments,
            environment,
            folder,
            trust,
            start_limit,
            request_limit,
            close_limit,
            line_cap,
            restarts,
            restart_window,
            redactor,
        } = self;
        let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("ProcessConfig")
            .field("program", program)
            .field("arguments", arguments)
            .field("environment", &names)
            .field("folder", folder)
            .field("trust", trust)
            .field("start_limit", start_limit)
            .field("request_limit", request_limit)
            .field("close_limit", close_limit)
            .field("line_cap", line_cap)
            .field("restarts", restarts)
            .field("restart_window", restart_window)
            .field("redactor", redactor)
            .finish()
    }
}

impl ProcessConfig {
    /// The defaults for a program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            trust: Trust::Untrusted,
            start_limit: Duration::from_secs(30),
            request_limit: Duration::from_secs(60),
            close_limit: Duration::from_secs(5),
            line_cap: LINE_CAP,
            restarts: 5,
            restart_window: Duration::from_secs(60),
            redactor: Redactor::default(),
        }
    }

    /// The same with arguments.
    #[must_use]
    pub fn with_arguments(
        mut self,
        arguments: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// The command that starts the program: without a shell, with the variables of `environment` alone, in a process group of
    /// its own. On Linux the child is killed when the thread that starts it ends. An adapter that speaks another protocol
    /// with its child starts it by this command.
    ///
    /// ```
    /// use journeyman_process::ProcessConfig;
    ///
    /// let config = ProcessConfig::new("sh").with_arguments(["-c", "test -z \"$HOME\""]);
    /// # #[cfg(unix)]
    /// assert!(config.command()?.status().is_ok_and(|status| status.success()));
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `NotFound` where there is no such program. The source is a [`ProcessFault`].
    pub fn command(&self) -> Result<Command> {
        match self.executable() {
            Ok(program) => Ok(self.prepared(&program)),
            Err(fault) => Err(self.error(&fault, "ProcessConfig::command", "")),
        }
    }

    /// The program and its arguments on one line, for an error that names the child: redacted, and cut after 500 characters. The
    /// value of an option whose name speaks of a secret (`--api-key`, `--password`) is hidden whatever it looks like. The variables of
    /// `environment` are not part of it.
    ///
    /// ```
    /// use journeyman_process::ProcessConfig;
    ///
    /// let desk = ProcessConfig::new("python3").with_arguments(["desk.py", "--password=q7Zt", "--api-key", "9Lw4", "-v"]);
    /// let shown = "python3 desk.py --password=[redacted: secret] --api-key [redacted: secret] -v";
    /// assert_eq!(desk.command_line(), shown);
    /// ```
    pub fn command_line(&self) -> String {
        let program = self.program.display().to_string();
        self.shown(&format!("{program} {}", without_secrets(&self.arguments)))
    }

    /// The error of an operation on a process of this configuration; `said` is the end of its standard error.
    pub(crate) fn error(&self, fault: &ProcessFault, operation: &'static str, said: &str) -> Error {
        let program = self.program.display().to_string();
        let arguments = self.shown(&without_secrets(&self.arguments));
        fault.error(operation, (&program, &arguments), said)
    }

    /// A text of the configuration in an error. It is redacted before it is cut: a part of a secret has no known form.
    pub(crate) fn shown(&self, text: &str) -> String {
        let text = self.redactor.redact(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").chars().take(QUOTED).collect()
    }

    pub(crate) fn prepared(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        die_with_owner(&mut command);
        command
    }

    /// The program's absolute path. It is found here since the child, without variables, has no `PATH`.
    pub(crate) fn executable(&self) -> Result<PathBuf, ProcessFault> {
        let missing = |reason: &str| ProcessFault::NotStarted {
            reason: reason.to_owned(),
            missing: true,
        };
        let is_path = self.program.components().count() > 1 || self.program.is_absolute();
        if is_path {
            let path = std::path::absolute(&self.program);
            let path = path.map_err(|error| missing(&error.to_string()))?;
            return match path.is_file() {
                true => Ok(path),
                false => Err(missing("there is no such file")),
            };
        }
        let found = env::var_os("PATH").and_then(|path| {
            let folders: Vec<PathBuf> = env::split_paths(&path).collect();
            let files = folders.into_iter().map(|folder| folder.join(&self.program));
            files.into_iter().find(|file| is_executable(file))
        });
        found.ok_or_else(|| missing("no folder of the host's PATH has a file of this name"))
    }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// What an option's name holds whose value is a secret.
const SECRET_NAMES: [&str; 8] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "key",
    "auth",
];
const HIDDEN: &str = "[redacted: secret]";

/// The arguments on one line, with the values of options that are named for a secret hidden, in both forms: `--x=v` and `--x v`.
fn without_secrets(arguments: &[String]) -> String {
    let mut is_value = false;
    let words = arguments.iter().map(|word| {
        // A secret may begin with one hyphen.
        if std::mem::take(&mut is_value) && !word.starts_with("--") {
            return HIDDEN.to_owned();
        }
        let (name, value) = match word.split_once('=') {
            Some((name, _)) => (name, true),
            None => (word.as_str(), false),
        };
        let lower = name.to_lowercase();
        if !SECRET_NAMES.iter().any(|secret| lower.contains(secret)) {
            return word.clone();
        }
        is_value = word.starts_with('-') && !value;
        match value {
            true => format!("{name}={HIDDEN}"),
            false => word.clone(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_an_option_that_is_named_for_a_secret_is_hidden_whatever_it_looks_like() {
        let check = |arguments: &[&str], shown: &str| {
            let config = ProcessConfig::new("desk").with_arguments(arguments.iter().copied());
            assert_eq!(config.command_line(), format!("desk {shown}"));
        };
        check(&["--api-key", "ab"], "--api-key [redacted: secret]");
        check(&["--token=ab", "-v"], "--token=[redacted: secret] -v");
        check(
            &["--password", "-ab", "--port", "9"],
            "--password [redacted: secret] --port 9",
        );
        check(&["--no-auth", "--port", "9"], "--no-auth --port 9");
        check(&["DESK_SECRET=ab"], "DESK_SECRET=[redacted: secret]");
        check(&["desk.py", "--day", "monday"], "desk.py --day monday");
    }
}
