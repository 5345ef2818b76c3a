//! What needs no model: the file, what is measured of given reports and commits, and the report of given cells.
#![allow(clippy::unwrap_used)]

mod measured;
mod planned;
mod reported;
mod started;

use journeyman::Result;
use tempfile::TempDir;

use super::plan::Plan;

/// What a file of this text comes to.
fn planned(text: &str) -> Result<Plan> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("experiment.toml");
    std::fs::write(&path, text).unwrap();
    Plan::read(&path)
}
