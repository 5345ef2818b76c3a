//! What the conformance suite does not ask: equality with PyTorch, limits, and bad input.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{ErrorKind, agent::VectorRetriever, contract::Embedder};
use journeyman_fastembed::{FastEmbedder, FastEmbedderConfig, Pooling};

use crate::support;

/// A copy of the bundled encoder, to be damaged.
fn copied() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(support::folder()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}

fn refused(config: FastEmbedderConfig, kind: ErrorKind, says: &[&str]) {
    let error = FastEmbedder::load(config).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    for text in says {
        assert!(
            error.to_string().contains(text),
            "{text} is not in: {error}"
        );
    }
}

const FETCH: [&str; 3] = [
    "pip download",
    "capi/libonnxruntime.so.<version>",
    "ORT_DYLIB_PATH",
];

#[test]
fn a_runtime_that_is_missing_is_named_with_the_file_to_fetch() {
    let mut config = FastEmbedderConfig::new(support::folder(), Pooling::Mean);
    config.runtime = Some("no/such/libonnxruntime.so".into());
    refused(config.clone(), ErrorKind::NotFound, &FETCH);
    config.runtime = Some(support::folder());
    refused(config, ErrorKind::NotFound, &FETCH);
}

#[test]
fn a_file_that_is_no_library_is_refused() {
    let mut config = FastEmbedderConfig::new(support::folder(), Pooling::Mean);
    config.runtime = Some(support::folder().join("model.onnx"));
    refused(config, ErrorKind::Unavailable, &FETCH);
}

/// A shared library of this source.
fn library(folder: &Path, source: &str) -> PathBuf {
    let (code, library) = (folder.join("it.c"), folder.join("it.so"));
    fs::write(&code, source).unwrap();
    let mut compiler = Command::new("cc");
    let compiler = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
    let status = compiler
        .arg(&code)
        .status()
        .expect("this test needs cc, a C compiler");
    assert!(status.success(), "cc makes no shared library here");
    library
}

#[test]
fn an_old_runtime_and_another_library_are_refused() {
    let old = "static const void *api(unsigned version) { (void)version; return 0; }\n\
               static const char *version(void) { return \"1.20.1\"; }\n\
               struct base { const void *(*api)(unsigned); const char *(*version)(void); };\n\
               static const struct base all = { api, version };\n\
               const struct base *OrtGetApiBase(void) { return &all; }\n";
    let cases = [
        (
            old,
            ErrorKind::Unsupported,
            "1.20.1 is too old: 1.24 or later",
        ),
        (
            "int other(void) { return 1; }\n",
            ErrorKind::Invalid,
            "another library",
        ),
    ];
    for (source, kind, says) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut config = FastEmbedderConfig::new(support::folder(), Pooling::Mean);
        config.runtime = Some(library(folder.path(), source));
        refused(config, kind, &[says, FETCH[0], FETCH[1], FETCH[2]]);
    }
}

#[test]
#[ignore = "needs ORT_DYLIB_PATH: what tests/adapters/fastembed.sh prints"]
fn damaged_and_missing_files_are_named() {
    let config = support::with_runtime(Pooling::Mean);
    let files = [
        ("model.onnx", "ONNX Runtime cannot load model.onnx"),
        ("tokenizer.json", "the tokenizer's files cannot be used"),
        ("config.json", "the tokenizer's files cannot be used"),
        (
            "special_tokens_map.json",
            "the tokenizer's files cannot be used",
        ),
        (
            "tokenizer_config.json",
            "the tokenizer's files cannot be used",
        ),
    ];
    for (file, says) in files {
        let copy = copied();
        let mut config = config.clone();
        config.folder = copy.path().to_owned();
        let path = copy.path().join(file);
        let whole = fs::read(&path).unwrap();
        for damaged in [&b""[..], b"{\"a\"", &whole[..whole.len() / 2]] {
            fs::write(&path, damaged).unwrap();
            refused(config.clone(), ErrorKind::Corrupt, &[says, "hint"]);
        }
        fs::remove_file(&path).unwrap();
        refused(config.clone(), ErrorKind::NotFound, &[file, "hint"]);
        fs::write(&path, &whole).unwrap();
        FastEmbedder::load(config).unwrap();
    }
}

#[test]
#[ignore = "needs ORT_DYLIB_PATH: what tests/adapters/fastembed.sh prints"]
fn vectors_are_those_of_pytorch() {
    let config = support::with_runtime(Pooling::Mean);
    let model = FastEmbedder::load(config).unwrap();
    let lines = fs::read_to_string(support::folder().join("embedded.jsonl")).unwrap();
    assert!(lines.lines().count() > 30);
    for line in lines.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = row["text"].as_str().unwrap();
        let found = block_on(model.embed(&[text])).unwrap().remove(0);
        let due: Vec<f64> = serde_json::from_value(row["vector"].clone()).unwrap();
        assert_eq!(found.components().len(), due.len());
        for (found, due) in found.components().iter().zip(due) {
            assert!((f64::from(*found) - due).abs() < 1e-4, "{text:?}");
        }
    }
}

#[test]
#[ignore = "needs ORT_DYLIB_PATH: what tests/adapters/fastembed.sh prints"]
fn calls_have_limits() {
    let mut config = support::with_runtime(Pooling::Mean);
    config.time_limit = Duration::ZERO;
    let model = FastEmbedder::load(config).unwrap();
    let error = block_on(model.embed(&["late"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    // A text far beyond the model's length is cut.
    let config = support::with_runtime(Pooling::Mean);
    let model = FastEmbedder::load(config).unwrap();
    let long = "repair the bucket ".repeat(10_000);
    assert_eq!(block_on(model.embed(&[long.as_str()])).unwrap().len(), 1);
}

#[test]
#[ignore = "needs ORT_DYLIB_PATH: what tests/adapters/fastembed.sh prints"]
fn another_pooling_or_model_is_another_space() {
    let mean = support::with_runtime(Pooling::Mean);
    let mut cls = mean.clone();
    cls.pooling = Pooling::Cls;
    let (mean, cls) = (
        FastEmbedder::load(mean).unwrap(),
        FastEmbedder::load(cls).unwrap(),
    );
    assert_ne!(mean.space(), cls.space());
    let vectors = VectorRetriever::new(Arc::clone(&mean) as Arc<dyn Embedder>).vectors();
    let error = VectorRetriever::with_vectors(cls, vectors.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("rebuild the index"), "{error}");
    VectorRetriever::with_vectors(mean, vectors).unwrap();
}
