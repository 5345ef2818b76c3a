//! What goes wrong with an MCP server.

use std::time::Duration;

use journeyman::{Error, ErrorKind};

use crate::{config::McpConfig, listed_tool::ToolSha256};

/// A server, or a tool of it, that does not work: the source of the [`Error`] that a call returns.
///
/// ```
/// use std::{error::Error as _, sync::Arc};
/// use journeyman_mcp::{HttpEndpoint, McpConfig, McpFault, McpServer, list_tools};
///
/// # futures::executor::block_on(async {
/// let nobody = McpServer::Http(HttpEndpoint::new("http://127.0.0.1:9/mcp"));
/// let error = list_tools(&McpConfig::new("nobody", nobody)).await.unwrap_err();
/// let fault = error.source().and_then(|source| source.downcast_ref::<McpFault>());
/// assert!(matches!(fault, Some(McpFault::NotConnected { .. })), "{error}");
/// # });
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpFault {
    /// No session with the server could be begun.
    #[error("no session with the server could be begun: {reason}")]
    NotConnected {
        /// The reason, redacted.
        reason: String,
    },
    /// The server did not answer in time.
    #[error("no answer to `{request}` within {} s", .limit.as_secs_f64())]
    NoAnswer {
        /// The request's method.
        request: &'static str,
        /// The time limit.
        limit: Duration,
    },
    /// The connection ended.
    #[error("the connection to the server ended")]
    Ended,
    /// An answer has another form than the protocol says, or a form that this client does not take.
    #[error("the answer to `{request}` cannot be used: {reason}")]
    WrongAnswer {
        /// The request's method.
        request: &'static str,
        /// Why not, redacted.
        reason: String,
    },
    /// An answer is no JSON, or no message of the protocol at all.
    #[error("the answer to `{request}` cannot be read: {reason}")]
    Unreadable {
        /// The request's method.
        request: &'static str,
        /// Where it stops being JSON, without its text.
        reason: String,
    },
    /// The server no longer knows the session, and what the session changed may be gone with it.
    #[error("the server no longer knows this session (at `{request}`)")]
    SessionLost {
        /// The request's method.
        request: &'static str,
    },
    /// The server sends the client to another address. Redirects are not followed.
    #[error("redirects are not followed, and the server redirects {to}")]
    Redirected {
        /// Where to, in words: scheme, host and port alone are shown.
        to: String,
    },
    /// The server lists several definitions under one name: it chooses which of them a call reaches.
    #[error("the server lists the tool `{tool}` with several definitions, so it is blocked")]
    ToolTwice {
        /// The tool.
        tool: String,
    },
    /// A tool has another definition than the one that was approved.
    #[error(
        "the definition of the tool `{tool}` changed since it was approved, so it is blocked (approved {approved}, found {found})"
    )]
    ToolChanged {
        /// The tool.
        tool: String,
        /// The approved hash.
        approved: ToolSha256,
        /// The hash of the definition that the server has now.
        found: ToolSha256,
    },
    /// A tool that the host has not approved.
    #[error("the tool `{tool}` is not approved")]
    ToolNotApproved {
        /// The tool.
        tool: String,
    },
    /// An approved tool that the server does not list, or no longer.
    #[error("the server has no tool `{tool}`")]
    ToolMissing {
        /// The tool.
        tool: String,
    },
    /// No approved tool can be used.
    #[error("the server has no tool that is approved as it stands")]
    NoTools,
}

impl McpFault {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoAnswer { .. } => ErrorKind::Timeout,
            Self::ToolChanged { .. } | Self::ToolTwice { .. } => ErrorKind::Conflict,
            Self::Redirected { .. } => ErrorKind::Invalid,
            Self::ToolMissing { .. } => ErrorKind::NotFound,
            Self::ToolNotApproved { .. } | Self::NoTools => ErrorKind::Unsupported,
            Self::NotConnected { .. }
            | Self::Ended
            | Self::WrongAnswer { .. }
            | Self::Unreadable { .. }
            | Self::SessionLost { .. } => ErrorKind::Unavailable,
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::NotConnected { .. } => {
                "check the command or the URL and its token; a command has none of the host's variables, so name those \
                 that it needs in `environment`"
            }
            Self::NoAnswer { .. } => "raise the limit if the server needs that long",
            Self::Ended => "look at the server's own log, and begin another episode",
            Self::WrongAnswer { .. } => "look whether the server speaks MCP at this command or URL",
            Self::Unreadable { .. } => {
                "tell the server's author: answers are JSON in UTF-8, which has no NaN, no Infinity and no half of a \
                 surrogate pair; nothing else may stand on the server's standard output"
            }
            Self::SessionLost { .. } => {
                "begin the attempt anew; if it happens again, look whether the server was started anew or ends sessions early"
            }
            Self::Redirected { .. } => {
                "give the address that the server really has: ask it with `curl -sI` or its documentation, and mind `https` and \
                 a `/` at the end"
            }
            Self::ToolTwice { .. } => {
                "tell the server's author to give each tool a name of its own; the other tools can be used"
            }
            Self::ToolChanged { .. } => {
                "read the new definition (`list_tools`), and approve it if it is what you want"
            }
            Self::ToolNotApproved { .. } | Self::NoTools => {
                "read the definitions (`list_tools`), and approve those that the agent may use"
            }
            Self::ToolMissing { .. } => "look at the server's list of tools (`list_tools`)",
        }
    }

    fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::NotConnected { .. }
                | Self::NoAnswer { .. }
                | Self::Ended
                | Self::WrongAnswer { .. }
                | Self::Unreadable { .. }
                | Self::SessionLost { .. }
        )
    }

    /// The error of an operation at a server; `said` is the end of its standard error.
    pub(crate) fn error(&self, operation: &'static str, config: &McpConfig, said: &str) -> Error {
        let error = Error::new(self.kind(), operation, self.to_string());
        let mut error = config.at_server(error);
        if !said.is_empty() {
            error = error.with("said", said);
        }
        if self.is_temporary() {
            error = error.temporary();
        }
        error.hint(self.hint()).source_from(self.clone())
    }
}
