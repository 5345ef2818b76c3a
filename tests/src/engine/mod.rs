//! The engine: many askers at once, exactness, and speed beside a bare loop.

#[path = "../../../adapters/llama-cpp/tests/support/bare.rs"]
pub(crate) mod bare;
mod exact;
#[path = "../../../adapters/llama-cpp/tests/support/gguf.rs"]
mod gguf;
mod mixed;

use journeyman_llama_cpp::{LlamaConfig, Precision};

use crate::{
    figures::{Figures, Outcome},
    library::told,
    source::bundled_model,
};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let model = bundled_model();
    let seed = figures.options().seed;
    exact::run(figures, &model)?;
    mixed::run(figures, &model)?;
    let seed = seed.0.to_string();
    let arguments = [
        "bench",
        "-q",
        "--profile",
        "dev",
        "-p",
        "shapes",
        "--bench",
        "engine",
        "--",
        "--seed",
        &seed,
    ];
    let bench = told::command("cargo", &arguments);
    told::run(figures, "beside a bare loop", bench)
}

/// The bundled model in full precision.
fn config(model: &std::path::Path) -> LlamaConfig {
    let mut config = LlamaConfig::new(model);
    config.precision = Precision::Full;
    config
}
