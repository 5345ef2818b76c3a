//! Backends that are loaded at run time, the processor's too. `JOURNEYMAN_TEST_BACKENDS` names the folder of their
//! libraries, which llama.cpp must not find by itself: `dynamic-backends.sh` in the folder above sees to that and runs it.
#![cfg(feature = "dynamic-backends")]

use std::path::{Path, PathBuf};

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::{ScoreRequest, Scorer, TokenScores},
};
use journeyman_llama_cpp::{
    DeviceKind, IsolatedLlama, LlamaConfig, LlamaCpp, Template, devices, load_backends,
};

use crate::support::{Tiny, isolated_config, prompt};

fn folder() -> PathBuf {
    let folder = std::env::var_os("JOURNEYMAN_TEST_BACKENDS");
    folder.expect("run dynamic-backends.sh").into()
}

fn config(path: &Path) -> LlamaConfig {
    let mut config = LlamaConfig::new(path);
    config.template = Template::None;
    config
}

fn score(model: &dyn Scorer) -> Vec<TokenScores> {
    let request = ScoreRequest::new(
        prompt("find the coffee by the mast"),
        vec!["the".to_owned(), "one".to_owned()],
    );
    block_on(model.score(&request)).unwrap()
}

/// One test, since what is loaded stays loaded.
#[test]
#[ignore = "it needs a folder that llama.cpp does not find by itself: dynamic-backends.sh runs it"]
fn models_compute_on_what_is_loaded_from_a_folder() {
    let file = Tiny::default().file();
    assert!(devices().unwrap().is_empty(), "llama.cpp found some itself");
    let error = LlamaCpp::load(config(&file.0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-backends");
    std::fs::create_dir_all(&empty).unwrap();
    let error = load_backends(&empty).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);

    // A worker loads them for itself.
    let mut isolated = isolated_config(&file.0);
    isolated.model.backends = Some(folder());
    let isolated = IsolatedLlama::load(isolated).unwrap();
    assert!(devices().unwrap().is_empty());

    let mut own = config(&file.0);
    own.backends = Some(folder());
    own.deterministic = true;
    let own = LlamaCpp::load(own).unwrap();
    assert_eq!(score(&*isolated), score(&*own));

    // What is there already is no fault.
    let loaded = load_backends(&folder()).unwrap();
    let kinds: Vec<DeviceKind> = loaded.iter().map(|device| device.kind).collect();
    assert_eq!(kinds, [DeviceKind::Cpu], "{loaded:?}");
}
