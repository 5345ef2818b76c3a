//! Loading a model's weights, or its vocabulary alone.

use std::{fs, path::Path};

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::model::{LlamaModel, params::LlamaModelParams};

use crate::{
    backend::backend,
    config::{GpuLayers, LlamaConfig},
};

const LOAD: &str = "LlamaCpp::load";
/// Files above this size, in bytes, are mapped into memory. Smaller ones are read, so that they may be replaced
/// meanwhile.
const MAPPED_FROM: u64 = 1 << 28;

/// Whether a file is mapped.
pub(crate) fn is_mapped(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > MAPPED_FROM)
}

/// Loads the weights with this number of layers on GPUs; with `None`, only the vocabulary.
pub(crate) fn load_model(config: &LlamaConfig, gpu_layers: Option<u32>) -> Result<LlamaModel> {
    let path = config.path.to_str().ok_or_else(|| {
        Error::invalid(LOAD, "the path is not UTF-8").hint("rename the file or its folders")
    })?;
    let mut params = LlamaModelParams::default()
        .with_n_gpu_layers(gpu_layers.unwrap_or(0))
        .with_vocab_only(gpu_layers.is_none())
        .with_use_mmap(is_mapped(&config.path));
    if config.gpu_layers == GpuLayers::None {
        // Otherwise llama.cpp still computes large batches on a GPU.
        params = params.with_devices(&[]).map_err(|error| {
            Error::new(ErrorKind::Internal, LOAD, "GPUs cannot be disabled").source_from(error)
        })?;
    }
    LlamaModel::load_from_file(backend()?, path, &params).map_err(|error| {
        Error::new(
            ErrorKind::Corrupt,
            LOAD,
            "llama.cpp refuses the file: tensors are missing or cut off, or it does not know the architecture",
        )
        .hint("copy or download the file again and compare its sha256; a newer architecture needs a newer llama.cpp; where \
             memory ran out meanwhile, free some")
        .source_from(error)
    })
}
