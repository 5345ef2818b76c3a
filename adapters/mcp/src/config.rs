//! How an MCP server is reached and bounded.

use std::{fmt, num::NonZeroUsize, time::Duration};

use journeyman::{domain::Trust, text::Redactor};
use journeyman_process::ProcessConfig;

const TEXT_CAP: NonZeroUsize = NonZeroUsize::new(256 * 1024).expect("not 0");
const MESSAGE_CAP: NonZeroUsize = NonZeroUsize::new(8 * 1024 * 1024).expect("not 0");

/// Where a server is.
#[non_exhaustive]
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a host has one for each server, not a list of them"
)]
pub enum McpServer {
    /// A child process, over its standard streams. Of the configuration its program, arguments, environment and folder are
    /// used; the limits are those of [`McpConfig`].
    Process(ProcessConfig),
    /// A server, over streamable HTTP.
    Http(HttpEndpoint),
}

/// An endpoint of streamable HTTP.
#[derive(Clone)]
pub struct HttpEndpoint {
    pub(crate) url: String,
    pub(crate) token: Option<String>,
}

/// Omits the token, and the address, which may hold a password.
impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint").finish_non_exhaustive()
    }
}

impl HttpEndpoint {
    /// An endpoint by its URL, such as `http://127.0.0.1:8000/mcp`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            token: None,
        }
    }

    /// With a bearer token. It is sent to this URL alone: redirects are not followed.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}

/// The configuration of a connection to an MCP server. Create it with [`McpConfig::new`], then set its fields. Defaults are
/// in parentheses.
///
/// ```
/// use journeyman_mcp::{HttpEndpoint, McpConfig, McpServer};
/// use journeyman_process::ProcessConfig;
///
/// let child = ProcessConfig::new("/usr/bin/python3").with_arguments(["-m", "mcp_server_time"]);
/// let time = McpConfig::new("time", McpServer::Process(child));
/// let desk = HttpEndpoint::new("http://127.0.0.1:8000/mcp").with_token("from the host's own store");
/// let desk = McpConfig::new("desk", McpServer::Http(desk));
/// assert!(!time.deterministic && desk.name == "desk");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// The host's name for the server: the source of its texts, and its name in errors.
    pub name: String,
    /// Where it is.
    pub server: McpServer,
    /// The host's trust in the texts of results (untrusted): skills distilled from untrusted text start in quarantine.
    pub trust: Trust,
    /// Whether a new session finds the server as the first one did, whatever earlier sessions changed (false). A promise of the
    /// host: MCP has no such word, and most servers keep what a session changed. Without it each task is attempted once.
    pub resettable: bool,
    /// Whether the same calls of a new session give the same results, too (false). A promise of the host; it includes
    /// `resettable`.
    pub deterministic: bool,
    /// Time limit from the start to the end of the handshake (30 s).
    pub start_limit: Duration,
    /// Time limit of a request (60 s).
    pub request_limit: Duration,
    /// Time limit of the end of a session (5 s). A child that lives on is killed then.
    pub close_limit: Duration,
    /// The greatest length of a message in bytes (8 MiB). A longer one is dropped, and its request is not answered.
    pub message_cap: NonZeroUsize,
    /// The greatest length of a result's text in bytes (256 KiB); the rest is cut, which the text says.
    pub text_cap: NonZeroUsize,
    /// Redacts what errors quote (the known forms of secrets).
    pub redactor: Redactor,
}

impl McpConfig {
    /// The defaults for a server.
    pub fn new(name: impl Into<String>, server: McpServer) -> Self {
        Self {
            name: name.into(),
            server,
            trust: Trust::Untrusted,
            resettable: false,
            deterministic: false,
            start_limit: Duration::from_secs(30),
            request_limit: Duration::from_secs(60),
            close_limit: Duration::from_secs(5),
            message_cap: MESSAGE_CAP,
            text_cap: TEXT_CAP,
            redactor: Redactor::default(),
        }
    }
}
