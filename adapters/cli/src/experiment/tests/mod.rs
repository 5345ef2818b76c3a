//! Tests without a model: the experiment's file, and the skills that a library starts with.
#![allow(clippy::unwrap_used)]

mod planned;
mod started;

use journeyman::Result;
use tempfile::TempDir;

use super::plan::PlanFile;

/// A file of this text, read.
fn planned(text: &str) -> Result<PlanFile> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("experiment.toml");
    std::fs::write(&path, text).unwrap();
    PlanFile::read(&path)
}
