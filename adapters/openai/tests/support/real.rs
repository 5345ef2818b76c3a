//! Real servers with the bundled model, on a loopback port, as `tests/adapters/servers.sh` sets them up.

use std::{
    env,
    fs::File,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use journeyman::domain::{Message, Prompt, Span, Speaker};
use journeyman_openai::{ApiKey, Config, Route};

pub(crate) const MODEL: &str = "apprentice";
pub(crate) const KEY: &str = "key-of-this-test-0123456789";
/// The context of the bundled model.
pub(crate) const CONTEXT: usize = 1024;
/// Tokens of the bundled model that are white space alone.
const SPACES: [u32; 3] = [49, 50, 72];
/// From the start to the first answer.
const START: Duration = Duration::from_secs(90);

/// A server's process, which ends when this is dropped.
pub(crate) struct Real {
    process: Child,
    port: u16,
}

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/apprentice/apprentice.gguf")
}

fn program(variable: &str) -> PathBuf {
    match env::var_os(variable) {
        Some(path) => path.into(),
        None => panic!("{variable} is not set; run: export $(bash tests/adapters/servers.sh)"),
    }
}

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Real {
    /// llama.cpp's server, with more arguments.
    pub(crate) fn llama_server(more: &[&str]) -> Self {
        let port = free_port();
        let mut command = Command::new(program("JOURNEYMAN_LLAMA_SERVER"));
        command.args(["--alias", MODEL, "--api-key", KEY, "--offline"]);
        command.args(["--ctx-size", "4096", "--parallel", "4", "--special"]);
        command.args([
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--model",
        ]);
        Self::start(
            command.arg(bundled()).args(more),
            port,
            "llama-server",
            "/health",
        )
    }

    /// The same with a template in which the bundled model calls tools. White space is held back: a JSON grammar permits any
    /// amount of it, and this model, which was taught no JSON, would write nothing else.
    pub(crate) fn with_tools() -> Self {
        let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/templates/tools.jinja");
        let template = template.to_str().unwrap();
        let spaces = SPACES.map(|id| format!("{id}-60"));
        let mut more = vec!["--jinja", "--chat-template-file", template];
        for space in &spaces {
            more.extend(["--logit-bias", space]);
        }
        Self::llama_server(&more)
    }

    /// The server of llama-cpp-python; without `logits_all` it keeps only the last token's logits.
    pub(crate) fn python(logits_all: bool) -> Self {
        let port = free_port();
        let mut command = Command::new(program("JOURNEYMAN_PYTHON_SERVER"));
        command.args([
            "-m",
            "llama_cpp.server",
            "--model_alias",
            MODEL,
            "--api_key",
            KEY,
        ]);
        command.args([
            "--n_ctx",
            &CONTEXT.to_string(),
            "--logits_all",
            &logits_all.to_string(),
        ]);
        command.args([
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--model",
        ]);
        Self::start(command.arg(bundled()), port, "python", "/v1/models")
    }

    fn start(command: &mut Command, port: u16, name: &str, path: &str) -> Self {
        let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{port}.log"));
        let output = File::create(&log).unwrap();
        // In a folder without files of the program's name.
        let command = command.current_dir(env!("CARGO_TARGET_TMPDIR"));
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.stderr(output).spawn().unwrap();
        let mut real = Self { process, port };
        let began = Instant::now();
        while !is_ready(port, path) {
            let ended = real.process.try_wait().unwrap();
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "{name} ended: {ended:?}\n{}", said());
            assert!(
                began.elapsed() < START,
                "{name} does not answer\n{}",
                said()
            );
            thread::sleep(Duration::from_millis(50));
        }
        real
    }

    pub(crate) fn config(&self, route: Route) -> Config {
        let mut config = super::config(&format!("http://127.0.0.1:{}/v1", self.port), MODEL, route);
        config.key = Some(ApiKey::new(KEY).unwrap());
        config.marks = vec!["<call>".to_owned()];
        config.known.insert(0, begun(" could you"));
        config
    }
}

/// Whether the server answers this path with 200: it listens before its model is loaded.
fn is_ready(port: u16, path: &str) -> bool {
    let asked = || {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n\r\n"
        )?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        std::io::Result::Ok(head.ends_with(b" 200"))
    };
    asked().unwrap_or(false)
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A prompt as the bundled model knows it, that a task begins with.
pub(crate) fn begun(task: &str) -> Prompt {
    spoken(&[("<s><task>", task)])
}

/// A prompt of markers, each with the words behind it.
pub(crate) fn spoken(parts: &[(&str, &str)]) -> Prompt {
    let spans = parts.iter().flat_map(|(marker, words)| {
        [
            Span::Control((*marker).to_owned()),
            Span::Data((*words).to_owned()),
        ]
    });
    Prompt {
        messages: vec![Message::new(Speaker::User, spans.collect())],
        open: Vec::new(),
    }
}
