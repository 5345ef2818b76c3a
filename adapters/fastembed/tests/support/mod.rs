//! The bundled text encoder, and the ONNX Runtime that the environment names.
#![allow(dead_code)]

use std::path::PathBuf;

use journeyman_fastembed::{FastEmbedderConfig, Pooling};

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/encoder/model")
}

/// The configuration of the bundled encoder; `None`, and a line that says so, where no ONNX Runtime is named.
pub(crate) fn with_runtime(pooling: Pooling) -> Option<FastEmbedderConfig> {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        println!(
            "SKIPPED: ORT_DYLIB_PATH is not set; run: export ORT_DYLIB_PATH=$(bash tests/adapters/fastembed.sh)"
        );
        return None;
    }
    Some(FastEmbedderConfig::new(folder(), pooling))
}
