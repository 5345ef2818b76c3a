//! A server of the tests, in Python without packages.
#![allow(dead_code, clippy::expect_used, clippy::unwrap_used, missing_docs)]

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock},
    time::Duration,
};

use journeyman::{
    domain::{Action, Verdict},
    testing::{Play, ScriptedJudge},
};
use journeyman_mcp::{ApprovedTools, McpConfig, McpEnvironment, McpServer, list_tools};
use journeyman_process::ProcessConfig;

/// The interpreter itself: what `python3` names may be a launcher that needs the host's variables.
static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let found = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("these tests need python3 (3.9 or later) in PATH");
    PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
});

/// The counter, with a fault by its name or none.
pub(crate) fn desk(fault: &str) -> McpConfig {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/children/desk.py");
    let script = script.display().to_string();
    let child = ProcessConfig::new(PYTHON.as_path()).with_arguments([script.as_str(), fault]);
    let mut config = McpConfig::new("desk", McpServer::Process(child));
    config.deterministic = true;
    config.request_limit = Duration::from_secs(20);
    config
}

/// Success where the agent's last word is `done`; no verdict where it is `unsure`.
pub(crate) fn judge() -> Arc<ScriptedJudge> {
    Arc::new(ScriptedJudge::by(|request, _| {
        let last = request
            .trajectory
            .steps
            .last()
            .map(|step| step.action.clone());
        Play::Give(match last {
            Some(Action::Message(text)) if text == "unsure" => Verdict::undecided(),
            Some(Action::Message(text)) => Verdict::binary(text == "done"),
            _ => Verdict::binary(false),
        })
    }))
}

/// What is approved of the counter as it should be.
pub(crate) async fn approved() -> ApprovedTools {
    ApprovedTools::all(&list_tools(&desk("")).await.unwrap())
}

pub(crate) async fn environment(config: McpConfig) -> McpEnvironment {
    McpEnvironment::new(config, approved().await, judge())
        .await
        .unwrap()
}
