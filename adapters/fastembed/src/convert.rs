//! Errors, and vectors of unit length.

use journeyman::{Error, ErrorKind, Result, contract::Embedding};

pub(crate) const LOAD: &str = "FastEmbedder::load";
pub(crate) const EMBED: &str = "FastEmbedder::embed";

/// How to get ONNX Runtime.
const FETCH: &str = "run `pip download --no-deps onnxruntime`, unpack the wheel (it is a ZIP file), and set ORT_DYLIB_PATH, or \
    FastEmbedderConfig::runtime, to the full path of its onnxruntime/capi/libonnxruntime.so.<version> (1.24 or later)";

/// ONNX Runtime is missing or cannot be used.
pub(crate) fn no_runtime(kind: ErrorKind, message: impl Into<String>) -> Error {
    Error::new(kind, LOAD, message).hint(FETCH)
}

/// A model's files were refused when they were loaded.
pub(crate) fn not_loaded(error: fastembed::Error) -> Error {
    use fastembed::Error as Fast;
    let (message, hint) = match &error {
        Fast::Ort(_) | Fast::OrtBuilder(_) | Fast::OrtSession(_) => (
            "ONNX Runtime cannot load model.onnx",
            "the file is damaged, incomplete or needs a later ONNX Runtime: export or fetch it again",
        ),
        _ => (
            "the tokenizer's files cannot be used",
            "take tokenizer.json, config.json, special_tokens_map.json and tokenizer_config.json (with model_max_length and \
             pad_token) from the model's own repository",
        ),
    };
    let reason = error.to_string();
    Error::new(ErrorKind::Corrupt, LOAD, message)
        .with("reason", reason)
        .hint(hint)
        .source_from(error)
}

/// A loaded model failed on a text.
pub(crate) fn not_computed(error: fastembed::Error) -> Error {
    let reason = error.to_string();
    Error::new(ErrorKind::Model, EMBED, "the model cannot embed a text")
        .with("reason", reason)
        .hint("the model's inputs have to be input_ids, attention_mask and at most token_type_ids; its output, states or vectors")
        .source_from(error)
}

/// The worker's thread is gone or could not be started.
pub(crate) fn no_worker(operation: &'static str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        operation,
        "the embedder's worker has ended",
    )
    .hint("load the embedder again")
}

/// The vector scaled to length 1.
pub(crate) fn unit(vector: &[f32]) -> Result<Embedding> {
    let squares: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if !(squares.is_finite() && squares > 0.0) {
        let message = "the model gave a vector that is zero or not finite";
        return Err(Error::new(ErrorKind::Model, EMBED, message)
            .hint("the model's file may be damaged, or its pooling another one"));
    }
    let length = squares.sqrt();
    Embedding::new(
        vector
            .iter()
            .map(|&x| (f64::from(x) / length) as f32)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_get_unit_length_and_what_has_no_direction_is_refused() {
        assert_eq!(unit(&[3.0, 4.0]).unwrap().components(), [0.6, 0.8]);
        for wrong in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0]] {
            assert_eq!(unit(&wrong).unwrap_err().kind(), ErrorKind::Model);
        }
    }
}
