//! Real servers with the bundled model, as `tests/adapters/servers.sh` sets them up.

use std::{
    error::Error,
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Result,
    domain::{Message, Prompt, Span, Speaker},
};
use journeyman_openai::{Config, OpenAi, Route};
use journeyman_toolworld::general::chatml::{END, MARKS};

use crate::{adapters::external::set_up, source::bundled_model};

pub(super) const LLAMA_SERVER: &str = "JOURNEYMAN_LLAMA_SERVER";
pub(super) const PYTHON_SERVER: &str = "JOURNEYMAN_PYTHON_SERVER";
const MODEL: &str = "apprentice";
const CONTEXT: usize = 4096;

pub(super) type Tried<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The bundled model with its first token as the BOS token: its own file names none, and llama-cpp-python scores only texts that
/// begin with it. The key of the token that ends a turn gives its place.
fn with_bos() -> Tried<PathBuf> {
    let mut bytes = fs::read(bundled_model())?;
    let (from, to) = (
        b"tokenizer.ggml.eot_token_id",
        b"tokenizer.ggml.bos_token_id",
    );
    let at = bytes.windows(from.len()).position(|some| some == from);
    let at = at.ok_or("the bundled model names no token that ends a turn")?;
    bytes[at..][..to.len()].copy_from_slice(to);
    // Behind the key stand the type of the value and the value.
    bytes[at + to.len() + 4..][..4].copy_from_slice(&0_u32.to_le_bytes());
    let path = std::env::temp_dir().join(format!("with-bos-{}.gguf", std::process::id()));
    fs::write(&path, bytes)?;
    Ok(path)
}

/// A task as the bundled model's template renders it, with the marks in the prompt.
pub(super) fn asked(task: &str) -> Prompt {
    let begin = MARKS[0];
    let spans = [
        Span::Control(format!("{begin}user\n")),
        Span::Data(task.to_owned()),
        Span::Control(format!("{END}\n{begin}assistant\n")),
    ];
    Prompt::new(vec![Message::new(Speaker::User, spans.to_vec())])
}

/// A server's process, which ends when this is dropped.
pub(super) struct Server {
    process: Child,
    port: u16,
    /// Where it logs.
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    pub(super) fn llama_server(more: &[&str]) -> Tried<Self> {
        let mut command = Command::new(set_up(LLAMA_SERVER).unwrap_or_default());
        command.args(["--alias", MODEL, "--offline", "--jinja"]);
        command.args(["--ctx-size", "16384", "--parallel", "4"]);
        command.args(more);
        Self::start(command, "/health", &bundled_model())
    }

    pub(super) fn python(more: &[&str]) -> Tried<Self> {
        let mut command = Command::new(set_up(PYTHON_SERVER).unwrap_or_default());
        command.args(["-m", "llama_cpp.server", "--model_alias", MODEL]);
        command.args(["--logits_all", "true", "--n_ctx", &CONTEXT.to_string()]);
        command.args(more);
        Self::start(command, "/v1/models", &with_bos()?)
    }

    fn start(mut command: Command, path: &str, model: &Path) -> Tried<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = tempfile::tempdir()?;
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.arg("--model").arg(model.canonicalize()?);
        let command = command.current_dir(folder.path());
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let log = File::create(folder.path().join("log"))?;
        let mut server = Self {
            process: command.stderr(log).spawn()?,
            port,
            _folder: folder,
        };
        let began = Instant::now();
        while !is_ready(port, path) {
            if server.process.try_wait()?.is_some() || began.elapsed() > Duration::from_secs(90) {
                return Err(
                    "a model server does not start: build it again by tests/adapters/servers.sh"
                        .into(),
                );
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    pub(super) fn config(&self, route: Route) -> Config {
        let mut config = Config::new(format!("http://127.0.0.1:{}/v1", self.port), MODEL);
        config.route = route;
        config.context = NonZeroUsize::new(CONTEXT);
        config.marks = MARKS.map(str::to_owned).to_vec();
        if route == Route::Completions {
            config.known.insert(0, asked("unseal the coffee"));
        }
        config
    }

    pub(super) fn connect(&self, route: Route) -> Result<OpenAi> {
        block_on(OpenAi::connect(self.config(route)))
    }
}

/// Whether the server answers this path with 200: it listens before its model is loaded.
fn is_ready(port: u16, path: &str) -> bool {
    let asked = || {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        std::io::Result::Ok(head.ends_with(b" 200"))
    };
    asked().unwrap_or(false)
}
