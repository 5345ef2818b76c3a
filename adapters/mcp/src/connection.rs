//! A session with an MCP server. Each request has a deadline: MCP's library has none by itself.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use journeyman::{Error, Result};
use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest, ListToolsRequest,
        PaginatedRequestParams,
    },
    service::{NotificationContext, RunningService, ServiceError},
    transport::{StreamableHttpClientTransport, async_rw::AsyncRwTransport},
};
use serde_json::{Map, Value};

use crate::{
    child::{self, Server},
    config::{McpConfig, McpServer},
    fault::McpFault,
    heard::{Cause, Heard},
    http_client,
    mended::Mended,
    tool_listing::{Listed, Page, ToolListing, shown},
    watched::Watched,
};

/// How long an answer may come later than the word that there is none.
const GRACE: Duration = Duration::from_millis(50);
const INITIALIZE: &str = "initialize";
/// Maximum number of pages of one list: a server that never ends its list is refused.
const PAGES: usize = 100;

/// The client's side: it hears that the list of tools changed, and offers nothing to the server.
#[derive(Clone, Debug, Default)]
struct Client {
    list_changed: Arc<AtomicBool>,
}

impl ClientHandler for Client {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.list_changed.store(true, Ordering::Release);
    }
}

/// A session. It lives on the runtime's thread.
#[derive(Debug)]
pub(crate) struct Connection {
    config: Arc<McpConfig>,
    service: RunningService<RoleClient, Client>,
    child: Option<Server>,
    list_changed: Arc<AtomicBool>,
    heard: Heard,
    /// Whether a call reached the session: its world may have changed.
    is_used: AtomicBool,
}

/// The answer to a call.
pub(crate) enum CallAnswer {
    Result(Box<CallToolResult>),
    /// The server's error: its world stands.
    Refused(String),
}

impl Connection {
    /// Begins a session within the start limit.
    pub(crate) async fn start(config: Arc<McpConfig>, operation: &'static str) -> Result<Self> {
        config.check(operation)?;
        let client = Client::default();
        let list_changed = client.list_changed.clone();
        let limit = config.start_limit;
        let heard = Heard::default();
        let (child, served) = match &config.server {
            McpServer::Process(process) => {
                let (child, pipes) = child::start(&config, process, operation)?;
                let most = config.message_cap.get();
                let output = Watched::new(pipes.output, heard.clone(), most);
                let transport =
                    AsyncRwTransport::new_client(output, pipes.input).with_max_line_length(most);
                let served = client.serve(Mended::new(transport));
                let served = in_time(limit, &heard, served).await;
                (Some(child), served)
            }
            McpServer::Http(endpoint) => {
                let (http, transport) =
                    http_client::prepare(&config, endpoint, heard.clone(), operation)?;
                let transport = StreamableHttpClientTransport::with_client(http, transport);
                let served = client.serve(Mended::new(transport));
                let served = in_time(limit, &heard, served).await;
                (None, served)
            }
        };
        let fault = match served {
            Answered::Came(Ok(service)) => {
                return Ok(Self {
                    config,
                    service,
                    child,
                    list_changed,
                    heard,
                    is_used: AtomicBool::new(false),
                });
            }
            Answered::Came(Err(error)) => match heard.take() {
                Some(cause) => of_cause(INITIALIZE, cause),
                None => McpFault::NotConnected {
                    reason: config.quoted(&error.to_string()),
                },
            },
            Answered::Never(cause) => of_cause(INITIALIZE, cause),
            Answered::Late => McpFault::NoAnswer {
                request: INITIALIZE,
                limit,
            },
        };
        if let Some(child) = &child {
            // What it said last may come after the end of its output.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let said = child.said(&config.redactor);
            return Err(fault.error(operation, &config, &said));
        }
        Err(fault.error(operation, &config, ""))
    }

    /// Begins a session and asks for the tools. A server that forgot the session by then is asked once more, in a new one.
    pub(crate) async fn begin(
        config: Arc<McpConfig>,
        operation: &'static str,
    ) -> Result<(Self, ToolListing)> {
        let mut connection = Self::start(config.clone(), operation).await?;
        let mut listed = connection.tools().await;
        if matches!(listed, Err(McpFault::SessionLost { .. })) {
            connection = Self::start(config, operation).await?;
            listed = connection.tools().await;
        }
        match listed {
            Ok(listed) => Ok((connection, listed)),
            Err(fault) => {
                let error = connection.error(operation, &fault);
                connection.close().await;
                Err(error)
            }
        }
    }

    /// Whether a call reached this session.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// The id of the child process.
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.child.as_ref().and_then(Server::id)
    }

    /// Whether the server said that its tools changed, since this was asked last.
    pub(crate) fn take_list_changed(&self) -> bool {
        self.list_changed.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn error(&self, operation: &'static str, fault: &McpFault) -> Error {
        let said = self
            .child
            .as_ref()
            .map(|child| child.said(&self.config.redactor));
        fault.error(operation, &self.config, &said.unwrap_or_default())
    }

    /// All tools of the server, asked anew.
    pub(crate) async fn tools(&self) -> Result<ToolListing, McpFault> {
        const LIST: &str = "tools/list";
        let mut listed = Listed::default();
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ListToolsRequest {
                method: Default::default(),
                params: Some(params),
                extensions: Default::default(),
            };
            let sent = self
                .service
                .peer()
                .send_request(ClientRequest::ListToolsRequest(request));
            let answer = self.within(LIST, sent).await?;
            let answer = answer.map_err(|error| self.fault(LIST, &error))?;
            let Some(page) = Page::read(answer) else {
                return Err(wrong(LIST, "it is no list of tools"));
            };
            cursor = listed.add(page);
            if cursor.is_none() {
                return Ok(listed.end());
            }
        }
        let last = self.config.quoted(&shown(&cursor.unwrap_or_default()));
        let reason = format!("the list has more than {PAGES} pages; the last cursor is `{last}`");
        Err(wrong(LIST, &reason))
    }

    /// Calls a tool.
    pub(crate) async fn call(
        &self,
        tool: String,
        arguments: Map<String, Value>,
    ) -> Result<CallAnswer, McpFault> {
        const CALL: &str = "tools/call";
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        // Dropped at the deadline, it tells the server that nobody waits.
        let sent = self.service.peer().call_tool_once(params);
        let answer = self.within(CALL, sent).await;
        let answer = answer.and_then(|answer| match answer {
            Ok(CallToolResponse::Complete(result)) => Ok(CallAnswer::Result(Box::new(result))),
            Ok(_) => Err(wrong(
                CALL,
                "the server asks for input or a task, which no agent gives here",
            )),
            Err(error) => match self.heard.take() {
                Some(cause) => Err(of_cause(CALL, cause)),
                None => match error {
                    ServiceError::McpError(error) => {
                        Ok(CallAnswer::Refused(error.message.into_owned()))
                    }
                    error => Err(self.fault(CALL, &error)),
                },
            },
        });
        // A call that the server knew no session for was not made.
        if !matches!(answer, Err(McpFault::SessionLost { .. })) {
            self.is_used.store(true, Ordering::Release);
        }
        answer
    }

    async fn within<T>(
        &self,
        request: &'static str,
        sent: impl Future<Output = T>,
    ) -> Result<T, McpFault> {
        let limit = self.config.request_limit;
        // What came between two requests answers none.
        let _ = self.heard.take();
        match in_time(limit, &self.heard, sent).await {
            Answered::Came(answer) => Ok(answer),
            Answered::Never(cause) => Err(of_cause(request, cause)),
            Answered::Late => Err(McpFault::NoAnswer { request, limit }),
        }
    }

    fn fault(&self, request: &'static str, error: &ServiceError) -> McpFault {
        match (self.heard.take(), error) {
            (Some(cause), _) => of_cause(request, cause),
            (None, ServiceError::TransportClosed) => McpFault::Ended,
            (None, error) => wrong(request, &self.config.quoted(&error.to_string())),
        }
    }

    /// Ends the session within the close limit.
    pub(crate) async fn close(mut self) {
        let limit = self.config.close_limit;
        if !matches!(self.service.close_with_timeout(limit).await, Ok(Some(_))) {
            tracing::warn!(server = %self.config.name, "a session did not end in time");
        }
        if let Some(child) = self.child.take() {
            child.end(limit).await;
        }
    }
}

/// What comes of a request.
enum Answered<T> {
    Came(T),
    /// The transport heard why none comes.
    Never(Cause),
    /// None came within the limit.
    Late,
}

async fn in_time<T>(limit: Duration, heard: &Heard, sent: impl Future<Output = T>) -> Answered<T> {
    let deadline = tokio::time::Instant::now() + limit;
    let mut sent = std::pin::pin!(sent);
    let cause = tokio::select! {
        biased;
        answer = &mut sent => return Answered::Came(answer),
        cause = heard.next() => cause,
        () = tokio::time::sleep_until(deadline) => return Answered::Late,
    };
    // What came before it may still be under way through MCP's library.
    match tokio::time::timeout(GRACE.min(limit), sent).await {
        Ok(answer) => {
            heard.tell(cause);
            Answered::Came(answer)
        }
        Err(_) => Answered::Never(cause),
    }
}

fn of_cause(request: &'static str, cause: Cause) -> McpFault {
    match cause {
        Cause::Unreadable(reason) => McpFault::Unreadable { request, reason },
        Cause::SessionLost => McpFault::SessionLost { request },
        Cause::Redirected(to) => McpFault::Redirected { to },
    }
}

fn wrong(request: &'static str, reason: &str) -> McpFault {
    McpFault::WrongAnswer {
        request,
        reason: reason.to_owned(),
    }
}
