//! A server of the tests, in Python without packages.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, LazyLock},
    time::Duration,
};

use journeyman::{
    domain::{Action, Verdict},
    testing::{Play, ScriptedJudge},
};
use journeyman_mcp::{
    ApprovedTools, HttpEndpoint, McpConfig, McpEnvironment, McpServer, list_tools,
};
use journeyman_process::ProcessConfig;
use serde_json::Value;

/// The interpreter itself: what `python3` names may be a launcher that needs the host's variables.
static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let found = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("these tests need python3 (3.9 or later) in PATH");
    PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
});

fn child_path(name: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/children");
    script.join(name).display().to_string()
}

fn script(name: &str, argument: &str) -> McpServer {
    let child = ProcessConfig::new(PYTHON.as_path());
    McpServer::Process(child.with_arguments([child_path(name).as_str(), argument]))
}

/// A server over stdio that gives these answers.
pub(crate) fn odd(answers: &Value) -> McpConfig {
    let mut config = McpConfig::new("odd", script("odd.py", &answers.to_string()));
    config.request_limit = Duration::from_secs(60);
    config
}

/// A server over HTTP; it ends when this is dropped.
pub(crate) struct OddHttp {
    server: Child,
    pub(crate) port: u16,
}

impl OddHttp {
    pub(crate) fn start(oddity: &str) -> Self {
        let mut server = Command::new(PYTHON.as_path())
            .args([child_path("odd_http.py").as_str(), oddity])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let output = server.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut port).unwrap();
        let port = port.trim().parse().unwrap();
        Self { server, port }
    }

    pub(crate) fn config(&self) -> McpConfig {
        let url = format!("http://127.0.0.1:{}/mcp", self.port);
        let mut config = McpConfig::new("odd", McpServer::Http(HttpEndpoint::new(url)));
        config.request_limit = Duration::from_secs(60);
        config
    }
}

impl Drop for OddHttp {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The counter, with a fault by its name or none.
pub(crate) fn desk(fault: &str) -> McpConfig {
    let mut config = McpConfig::new("desk", script("desk.py", fault));
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
    ApprovedTools::all(&list_tools(&desk("")).await.unwrap().tools)
}

pub(crate) async fn environment(config: McpConfig) -> McpEnvironment {
    McpEnvironment::new(config, approved().await, judge())
        .await
        .unwrap()
}
