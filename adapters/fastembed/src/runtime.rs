//! Loading ONNX Runtime.

use std::{
    env,
    panic::catch_unwind,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use journeyman::{Error, ErrorKind, Result};
use ort::{LoadDynamicError, environment::Environment};

use crate::convert::{LOAD, no_runtime};

const VARIABLE: &str = "ORT_DYLIB_PATH";

struct Loaded {
    path: PathBuf,
    environment: Environment,
}

/// The one library of this process.
static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

/// ONNX Runtime's environment, from this library or the one that `ORT_DYLIB_PATH` names. ort itself would load the
/// library at its first use, and panic where it cannot.
pub(crate) fn environment(path: Option<&Path>) -> Result<Environment> {
    let named = || {
        env::var_os(VARIABLE)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let Some(path) = path.map(Path::to_owned).or_else(named) else {
        let message = format!("no ONNX Runtime is named: {VARIABLE} is not set");
        return Err(no_runtime(ErrorKind::NotFound, message));
    };
    let found = path.canonicalize().ok().filter(|path| path.is_file());
    let Some(found) = found else {
        let message = "there is no ONNX Runtime at this path";
        return Err(no_runtime(ErrorKind::NotFound, message).with("path", path.display()));
    };
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Loaded { path, environment }) = &*loaded {
        if *path == found {
            return Ok(environment.clone());
        }
        return Err(
            Error::invalid(LOAD, "this process has loaded another ONNX Runtime")
                .with("loaded", path.display())
                .with("asked", found.display())
                .hint("name one library for all embedders of a process"),
        );
    }
    let started = catch_unwind(|| start(&found));
    let environment = started
        .unwrap_or_else(|_| {
            Err(no_runtime(
                ErrorKind::Unavailable,
                "ONNX Runtime panicked while it was loaded",
            ))
        })
        .map_err(|error| error.with("path", found.display()))?;
    let kept = environment.clone();
    *loaded = Some(Loaded {
        path: found,
        environment: kept,
    });
    Ok(environment)
}

fn start(path: &Path) -> Result<Environment> {
    let builder = ort::init_from(path).map_err(|error| {
        let (kind, message) = match &error {
            LoadDynamicError::BadVersion { version_str, .. } => (
                ErrorKind::Unsupported,
                format!(
                    "ONNX Runtime {version_str} is too old: 1.{} or later is needed",
                    ort::MINOR_VERSION
                ),
            ),
            LoadDynamicError::MissingApi { .. } | LoadDynamicError::InvalidVersionString => (
                ErrorKind::Invalid,
                "the file is another library than ONNX Runtime".to_owned(),
            ),
            LoadDynamicError::Dlopen { .. } => (
                ErrorKind::Unavailable,
                "the system cannot load the library".to_owned(),
            ),
        };
        no_runtime(kind, message).source_from(error)
    })?;
    builder.build().map_err(|error| {
        no_runtime(ErrorKind::Unavailable, "ONNX Runtime makes no environment").source_from(error)
    })
}
