//! Python children for the tests.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use journeyman_process::ProcessConfig;

/// The interpreter itself: what `python3` names may be a launcher that needs the host's variables.
static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let found = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("these tests need python3 (3.9 or later) in PATH");
    let path = String::from_utf8(found.stdout).unwrap();
    PathBuf::from(path.trim())
});

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A child of `tests/children` with the helper files in reach.
pub(crate) fn child(file: &str, arguments: &[&str]) -> ProcessConfig {
    let script = folder().join("tests/children").join(file);
    let mut all = vec![script.display().to_string()];
    all.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let mut config = ProcessConfig::new(PYTHON.as_path()).with_arguments(all);
    let path = folder().join("python").display().to_string();
    config.environment = vec![
        ("PYTHONPATH".to_owned(), path),
        ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
    ];
    config
}
