//! Commands of others that a figure runs, and what set-up they need.

use std::{
    env, io,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
};

use crate::source::repository;

/// The value of a variable that a set-up script prints; `None` where it is not set.
pub(crate) fn set_up(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from)
}

/// A built program of this repository: it lies beside this one, and a test in the folder `deps` below.
pub(super) fn built(name: &str) -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    let folders = program.ancestors().skip(1);
    let folder = folders.into_iter().find(|one| !one.ends_with("deps"));
    Ok(folder.unwrap_or(&program).join(name))
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command in the repository, to its end.
pub(crate) fn run(mut command: Command) -> io::Result<Ended> {
    let output = command
        .current_dir(repository())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("{command:?}: {error}")))?;
    Ok(Ended {
        status: output.status,
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Builds the command `journeyman`, and its path.
pub(super) fn journeyman() -> Result<PathBuf, Box<dyn std::error::Error + Send + Sync>> {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--package", "journeyman-cli"]);
    let built_it = run(build)?;
    if !built_it.status.success() {
        return Err(format!("the command cannot be built: {}", built_it.err).into());
    }
    Ok(built("journeyman")?)
}
