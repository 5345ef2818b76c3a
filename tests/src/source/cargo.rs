//! What Cargo says of the workspace, without the network.

use std::{io, process::Command};

use super::repository;

/// The standard output of a `cargo` command in the repository.
///
/// # Errors
/// When it cannot be run, or fails.
pub fn cargo(arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new("cargo");
    let output = command.args(arguments).current_dir(repository()).output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        let message = format!("cargo {}: {reason}", arguments.join(" "));
        return Err(io::Error::other(message));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The workspace's packages for this machine, as JSON: those of other machines need not have been fetched.
///
/// # Errors
/// When `cargo` cannot be run, or fails.
pub fn metadata() -> io::Result<String> {
    let version = cargo(&["--version", "--verbose"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| io::Error::other("cargo does not say its host"))?;
    let mut arguments = vec!["metadata", "--format-version", "1", "--offline"];
    arguments.extend(["--filter-platform", host]);
    cargo(&arguments)
}
