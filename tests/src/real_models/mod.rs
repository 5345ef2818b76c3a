//! A public model at the speed that people know: SmolLM2-135M-Instruct beside llama.cpp as others ship it, in one run.

mod gpu;
mod neighbor;
mod peer;
mod precision;
mod quickstart;
pub(crate) use quickstart::silence;
mod speed;
mod streams;

use std::path::Path;

use journeyman_llama_cpp::{ModelInfo, PublicModel};
use shapes::{Quantization, Shape};

use crate::{
    figures::{Figures, Outcome, stats::median},
    source::{bundled_model, repository},
};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let root = repository();
    let seed = figures.options().seed;
    let peer = peer::set_up(&root)?;
    let smollm2 = PublicModel::named("smollm2")
        .ok_or("smollm2 is not known")?
        .fetch(&mut |line| told(line))?;
    let folder = figures.options().out.join("shapes");
    let shape = shapes::cached(&folder, Shape::B0_5, Quantization::Q8_0, seed)?;
    for (name, path) in [("SmolLM2", &smollm2), ("0.5B shape, Q8_0", &shape)] {
        speed::record(figures, name, path, &peer)?;
        streams::record(figures, name, path)?;
    }
    neighbor::record(figures, "SmolLM2", &smollm2)?;
    let bundled = bundled_model();
    figures.subject("bundled model", ModelInfo::read(&bundled)?.model.as_str());
    precision::record(figures, &bundled)?;
    quickstart::record(figures, &root, &bundled)
}

/// Measures and records what a GPU comes to.
pub fn run_gpu(figures: &mut Figures<'_>) -> Outcome {
    gpu::run(figures, &bundled_model())
}

/// A line of progress of something that does not know the figures.
pub(crate) fn told(line: &str) {
    use std::io::Write;
    // Progress that cannot be shown is no failure.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The name of a file without its folder, for keys.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
