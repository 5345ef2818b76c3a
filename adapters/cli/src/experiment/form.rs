//! The TOML form of an experiment's file. Unknown keys are refused.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use toml::Spanned;

use crate::{
    model::layers::{self, Layers},
    stemming::Language,
    toml_file::Table,
    world::WorldForm,
};

/// The operation that errors of an experiment name.
pub(super) const EXPERIMENT: &str = "experiment";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    /// a-z, 0-9 and hyphens.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// A GGUF model with a chat template, such as any instruct model, or the name of a public one (`smollm2`).
    pub(super) model: PathBuf,
    /// A number, for the seeds from 1 to it; or a list.
    #[schemars(schema_with = "seeds")]
    pub(super) seeds: Spanned<toml::Value>,
    /// The arm that the others are compared with; the first arm if left out.
    #[schemars(with = "Option<String>")]
    pub(super) baseline: Option<Spanned<String>>,
    /// Whether the same file gives the same numbers on the same machine and build.
    #[serde(default = "yes")]
    pub(super) deterministic: bool,
    /// Threads of each engine.
    #[schemars(with = "Option<u32>")]
    pub(super) threads: Option<Spanned<u32>>,
    /// Layers of each model on GPUs: `none`, `all`, `fit` for as many as their free memory holds, or a number; `fit` if left out.
    #[serde(default)]
    #[schemars(schema_with = "layers::schema")]
    pub(super) gpu_layers: Option<Layers>,
    /// The folder of llama.cpp's backends, in a build that loads them.
    pub(super) backends: Option<PathBuf>,
    /// JSON Lines with the tasks of the world.
    // Only a file of before, of which finished cells are reported, has none; nor a world.
    #[schemars(with = "PathBuf")]
    pub(super) tasks: Option<Spanned<PathBuf>>,
    /// Of `tasks`, those to learn from (48).
    #[schemars(with = "Option<usize>")]
    pub(super) stream: Option<Spanned<usize>>,
    /// Of `tasks`, those that are held out to measure with (48).
    #[schemars(with = "Option<usize>")]
    pub(super) held_out: Option<Spanned<usize>>,
    /// Checkpoints in the stream, the last at its end (4).
    #[schemars(with = "Option<usize>")]
    pub(super) checkpoints: Option<Spanned<usize>>,
    /// Maximum steps of an attempt (16).
    #[schemars(with = "Option<usize>")]
    pub(super) steps: Option<Spanned<usize>>,
    /// The language whose inflected words also find skills by their stems (none).
    pub(super) stems: Option<Language>,
    /// The world in which every cell learns, by the keys of a run's file.
    // Read once more by itself: [`OfWorld`].
    #[schemars(with = "WorldForm")]
    pub(super) world: Option<Spanned<Table>>,
    /// The ways to learn that are compared.
    pub(super) arm: Vec<ArmForm>,
    /// Copies of arms with other values of one field.
    #[serde(default)]
    pub(super) sweep: Vec<SweepForm>,
}

/// The world of the file, whose other keys [`Form`] has.
#[derive(Debug, Deserialize)]
pub(super) struct OfWorld<T> {
    pub(super) world: T,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ArmForm {
    /// The arm's name, unique in more than case and punctuation.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The recipe's name, or `none` for no skills at all.
    #[schemars(with = "String")]
    pub(super) recipe: Spanned<String>,
    /// Paths of fields, each with the recipe whose value it gets, and behind a dot the path there if it is another.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) take: BTreeMap<String, Spanned<String>>,
    /// Fields of the recipe by their paths in its JSON form.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(super) set: Table,
    /// Paths of fields that get no value.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) unset: Vec<Spanned<String>>,
    /// The skills that the library starts with: `none`, `seeds` or a path.
    #[schemars(with = "Option<String>")]
    pub(super) library: Option<Spanned<String>>,
    /// `false`: the arm keeps the library that it starts with.
    #[schemars(with = "Option<bool>")]
    pub(super) learn: Option<Spanned<bool>>,
    /// Models of single jobs: of `agent`, `gate`, a group of roles (`writers`, `judge`, `curator`, `router`) or a role.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, JobForm>")]
    pub(super) model_for: BTreeMap<String, Spanned<JobForm>>,
}

/// The model of a job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JobForm {
    /// A GGUF model, or the name of a public one; the experiment's if left out.
    pub(super) gguf: Option<PathBuf>,
    /// The GGUF file of an adapter (LoRA) of the model.
    pub(super) adapter: Option<PathBuf>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SweepForm {
    /// The arm that is copied.
    #[schemars(with = "String")]
    pub(super) arm: Spanned<String>,
    /// The field that differs.
    #[schemars(with = "String")]
    pub(super) path: Spanned<String>,
    /// Its value in each copy.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub(super) values: Spanned<Vec<Spanned<toml::Value>>>,
}

fn yes() -> bool {
    true
}

fn seeds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [
        {"type": "integer", "minimum": 1},
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
    ]})
}
