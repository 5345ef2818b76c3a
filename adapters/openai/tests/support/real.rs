//! Real servers with the bundled model, on a loopback port, as `tests/adapters/servers.sh` sets them up.

use std::{
    env,
    fs::{self, File},
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
/// The context of a request at these servers.
pub(crate) const CONTEXT: usize = 1024;
/// The markers of the bundled model that are not among the usual ones.
const MARKS: [&str; 6] = [
    "<tools>",
    "</tools>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
];
/// From the start to the first answer.
const START: Duration = Duration::from_secs(90);

/// A server's process, which ends when this is dropped.
pub(crate) struct Real {
    process: Child,
    port: u16,
}

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lab/apprentice/apprentice.gguf")
}

/// The bundled model with `<|im_start|>`, its first token, as the BOS token: its own file names none, and llama-cpp-python scores
/// only texts that begin with it. The key of the token that ends a turn gives its place; that token ends a text too, by another key.
fn with_bos() -> PathBuf {
    let mut bytes = fs::read(bundled()).unwrap();
    let (from, to) = (
        b"tokenizer.ggml.eot_token_id",
        b"tokenizer.ggml.bos_token_id",
    );
    let at = bytes.windows(from.len()).position(|some| some == from);
    let at = at.unwrap();
    bytes[at..][..to.len()].copy_from_slice(to);
    // Behind the key stand the type of the value and the value.
    bytes[at + to.len() + 4..][..4].copy_from_slice(&0_u32.to_le_bytes());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("with-bos.gguf");
    // Tests at once write the same bytes: none reads half a file.
    let own = path.with_extension(format!("{:?}", thread::current().id()));
    fs::write(&own, bytes).unwrap();
    fs::rename(&own, &path).unwrap();
    path
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
    /// llama.cpp's server, which spells special tokens out, with more arguments.
    pub(crate) fn llama_server(more: &[&str]) -> Self {
        Self::of_llama_cpp(&[&["--special"][..], more].concat())
    }

    /// The same with calls of tools by the model's own template. There the server reads the special tokens itself.
    pub(crate) fn with_tools() -> Self {
        Self::of_llama_cpp(&["--jinja"])
    }

    fn of_llama_cpp(more: &[&str]) -> Self {
        let port = free_port();
        let mut command = Command::new(program("JOURNEYMAN_LLAMA_SERVER"));
        command.args(["--alias", MODEL, "--api-key", KEY, "--offline"]);
        command.args(["--ctx-size", "4096", "--parallel", "4"]);
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
        Self::start(command.arg(with_bos()), port, "python", "/v1/models")
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
        config.marks = MARKS.map(str::to_owned).to_vec();
        if route == Route::Completions {
            // It begins with the BOS token.
            config.known.insert(0, begun("could you"));
        }
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

/// A user's message with the begin of the answer, as the bundled model's template writes them.
pub(crate) fn begun(said: &str) -> Prompt {
    let spans = vec![
        Span::Control("<|im_start|>user\n".to_owned()),
        Span::Data(said.to_owned()),
        Span::Control("<|im_end|>\n<|im_start|>assistant\n".to_owned()),
    ];
    Prompt::new(vec![Message::new(Speaker::User, spans)])
}
