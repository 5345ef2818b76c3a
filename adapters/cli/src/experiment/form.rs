//! The TOML form of an experiment's file. Unknown keys are refused.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::toml_file::Table;

/// The operation that errors of an experiment name.
pub(super) const EXPERIMENT: &str = "experiment";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    pub(super) name: Spanned<String>,
    pub(super) model: PathBuf,
    pub(super) seeds: Spanned<toml::Value>,
    /// The arm that the others are compared with; the first arm if left out.
    pub(super) baseline: Option<Spanned<String>>,
    #[serde(default = "yes")]
    pub(super) deterministic: bool,
    /// Threads of each engine.
    pub(super) threads: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) world: WorldForm,
    pub(super) arm: Vec<ArmForm>,
    #[serde(default)]
    pub(super) sweep: Vec<SweepForm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorldForm {
    pub(super) stream: Option<Spanned<usize>>,
    pub(super) held_out: Option<Spanned<usize>>,
    pub(super) checkpoints: Option<Spanned<usize>>,
    pub(super) steps: Option<Spanned<usize>>,
    #[serde(default)]
    pub(super) universe: Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArmForm {
    pub(super) name: Spanned<String>,
    pub(super) recipe: Spanned<String>,
    /// Paths of fields, each with the recipe whose value it gets, and behind a dot the path there if it is another.
    #[serde(default)]
    pub(super) take: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) set: Table,
    #[serde(default)]
    pub(super) unset: Vec<Spanned<String>>,
    /// The skills that the library starts with: `none`, `seeds` or a path.
    pub(super) library: Option<Spanned<String>>,
    pub(super) learn: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SweepForm {
    pub(super) arm: Spanned<String>,
    pub(super) path: Spanned<String>,
    pub(super) values: Spanned<Vec<Spanned<toml::Value>>>,
}

fn yes() -> bool {
    true
}
