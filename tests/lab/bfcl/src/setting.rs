//! Where the interpreter, the scripts and the tasks are.

use std::path::{Path, PathBuf};

use journeyman::{Result, domain::Trust};
use journeyman_process::{ProcessConfig, ProcessEnvironment};

/// Where the interpreter and the tasks are.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The interpreter that `setup.sh` prints.
    pub python: PathBuf,
    /// The folder with BFCL's tasks and the tools' documents. `None` for those of the package: its tasks of even number.
    pub data: Option<PathBuf>,
}

impl Setting {
    /// The absolute path of a folder of this repository, which holds the scripts.
    fn folder(path: &str) -> String {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        here.join(path).display().to_string()
    }

    /// The arguments of one of the scripts.
    pub(crate) fn script(&self, name: &str) -> Vec<String> {
        let mut script = vec![Self::folder(&format!("python/{name}"))];
        if let Some(data) = &self.data {
            script.extend(["--data".to_owned(), data.display().to_string()]);
        }
        script
    }

    /// Starts the environment. Its observations show the state of the services where `shows_state` says so.
    ///
    /// # Errors
    /// As [`ProcessEnvironment::start`].
    pub async fn world(&self, shows_state: bool) -> Result<ProcessEnvironment> {
        let mut arguments = self.script("bfcl_world.py");
        arguments.extend(shows_state.then(|| "--state".to_owned()));
        let mut config = ProcessConfig::new(&self.python).with_arguments(arguments);
        let helper = Self::folder("../../../adapters/process/python");
        config.environment = vec![("PYTHONPATH".to_owned(), helper)];
        config.trust = Trust::Trusted;
        ProcessEnvironment::start(config).await
    }
}
