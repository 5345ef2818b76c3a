//! How an MCP server is reached and bounded.

use std::{fmt, num::NonZeroUsize, time::Duration};

use journeyman::{
    Error, Result,
    domain::Trust,
    text::{Redactor, plain_terminal},
};
use journeyman_process::ProcessConfig;

use crate::address::{Address, Unusable};

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
    /// A child process, over its standard streams. Of its configuration the program, arguments, environment and folder are
    /// used. Trust, limits and redactor are those of [`McpConfig`], and no child is started again: another value in the
    /// child's configuration is refused as `Invalid` before a session begins, so that it is not silently without effect.
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
    /// An endpoint by its URL, such as `http://127.0.0.1:8000/mcp`. Errors and logs show its scheme, host and port alone, since a
    /// path or a query may hold a secret. A URL with a user name or a password is refused as `Invalid` before a session
    /// begins: give a token.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            token: None,
        }
    }

    fn address(&self) -> Result<Address, Unusable> {
        Address::new(&self.url, self.token.as_deref())
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
    /// Redacts what errors quote, the child's command included (the known forms of secrets).
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

    /// Refuses an address that cannot be used, and settings of a child that would have no effect.
    pub(crate) fn check(&self, operation: &'static str) -> Result<()> {
        match &self.server {
            McpServer::Process(process) => match self.overlooked(process) {
                Some(field) => Err(self
                    .at_server(Error::invalid(
                        operation,
                        "a setting of the child process has no effect for an MCP server",
                    ))
                    .with("field", field)
                    .hint(match field {
                        "restarts" | "restart_window" => "leave it out of the `ProcessConfig`: each episode has a child of its own, which is not started again",
                        _ => "leave it out of the `ProcessConfig`, and set its counterpart in `McpConfig`",
                    })),
                None => Ok(()),
            },
            McpServer::Http(endpoint) => self.address(endpoint, operation).map(drop),
        }
    }

    /// The first setting of a child that is neither the default nor this configuration's own.
    fn overlooked(&self, process: &ProcessConfig) -> Option<&'static str> {
        fn differs<T: PartialEq>(is: &T, default: &T, own: &T) -> bool {
            is != default && is != own
        }
        let default = ProcessConfig::new("");
        let limit = |is: &Duration, default, own| differs(is, default, own);
        let fields = [
            (
                "trust",
                differs(&process.trust, &default.trust, &self.trust),
            ),
            (
                "start_limit",
                limit(
                    &process.start_limit,
                    &default.start_limit,
                    &self.start_limit,
                ),
            ),
            (
                "request_limit",
                limit(
                    &process.request_limit,
                    &default.request_limit,
                    &self.request_limit,
                ),
            ),
            (
                "close_limit",
                limit(
                    &process.close_limit,
                    &default.close_limit,
                    &self.close_limit,
                ),
            ),
            (
                "line_cap",
                differs(&process.line_cap, &default.line_cap, &self.message_cap),
            ),
            ("restarts", process.restarts != default.restarts),
            (
                "restart_window",
                process.restart_window != default.restart_window,
            ),
            (
                "redactor",
                differs(&process.redactor, &default.redactor, &self.redactor),
            ),
        ];
        let found = fields.into_iter().find(|(_, is_overlooked)| *is_overlooked);
        found.map(|(field, _)| field)
    }

    /// The address of an endpoint.
    pub(crate) fn address(
        &self,
        endpoint: &HttpEndpoint,
        operation: &'static str,
    ) -> Result<Address> {
        endpoint.address().map_err(|Unusable { message, hint }| {
            let error = Error::invalid(operation, message);
            self.at_server(error).hint(hint)
        })
    }

    /// The configuration of a child, with the redactor of this one for its errors.
    pub(crate) fn child(&self, process: &ProcessConfig) -> ProcessConfig {
        let mut child = process.clone();
        child.redactor = self.redactor.clone();
        child
    }

    /// An error with the server's name and where it is: the `command` of a child, or the `url` of an endpoint, of which
    /// scheme, host and port are shown.
    pub(crate) fn at_server(&self, error: Error) -> Error {
        let error = error.with("server", &self.name);
        match &self.server {
            McpServer::Process(process) => {
                error.with("command", self.child(process).command_line())
            }
            McpServer::Http(endpoint) => match endpoint.address() {
                Ok(address) => error.with("url", address.shown()),
                Err(_) => error,
            },
        }
    }

    /// What an error quotes of the server: without secrets and control characters, and at most 300 characters. It is redacted before it is cut: a
    /// part of a secret has no known form.
    pub(crate) fn quoted(&self, text: &str) -> String {
        let text = match &self.server {
            McpServer::Http(endpoint) => match endpoint.address() {
                Ok(address) => address.hide(text),
                Err(_) => text.to_owned(),
            },
            McpServer::Process(_) => text.to_owned(),
        };
        let text = self.redactor.redact(&text);
        let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        plain_terminal(&line.take(300).collect::<String>()).into_owned()
    }
}
