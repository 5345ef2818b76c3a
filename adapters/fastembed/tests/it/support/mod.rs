//! The bundled text encoder, and the ONNX Runtime that the environment names.

use std::path::PathBuf;

use journeyman_fastembed::{FastEmbedderConfig, Pooling};

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/lab/encoder/model")
}

/// The configuration of the bundled encoder, on the ONNX Runtime that `ORT_DYLIB_PATH` names.
pub(crate) fn with_runtime(pooling: Pooling) -> FastEmbedderConfig {
    assert!(
        std::env::var_os("ORT_DYLIB_PATH").is_some(),
        "ORT_DYLIB_PATH is not set; run: export ORT_DYLIB_PATH=$(bash tests/adapters/fastembed.sh)"
    );
    FastEmbedderConfig::new(folder(), pooling)
}
