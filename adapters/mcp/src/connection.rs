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
        PaginatedRequestParams, ServerResult,
    },
    service::{NotificationContext, RunningService, ServiceError},
    transport::{StreamableHttpClientTransport, async_rw::AsyncRwTransport},
};
use serde_json::{Map, Value};

use crate::{
    child::{self, Server},
    config::{McpConfig, McpServer},
    fault::McpFault,
    http_client,
    listed_tool::ListedTool,
};

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
        let (child, served) = match &config.server {
            McpServer::Process(process) => {
                let (child, pipes) = child::start(&config, process, operation)?;
                let transport = AsyncRwTransport::new_client(pipes.output, pipes.input)
                    .with_max_line_length(config.message_cap.get());
                let served = tokio::time::timeout(limit, client.serve(transport)).await;
                (Some(child), served)
            }
            McpServer::Http(endpoint) => {
                let (http, transport) = http_client::prepare(&config, endpoint, operation)?;
                let transport = StreamableHttpClientTransport::with_client(http, transport);
                let served = tokio::time::timeout(limit, client.serve(transport)).await;
                (None, served)
            }
        };
        let fault = match served {
            Ok(Ok(service)) => {
                return Ok(Self {
                    config,
                    service,
                    child,
                    list_changed,
                });
            }
            Ok(Err(error)) => McpFault::NotConnected {
                reason: config.quoted(&error.to_string()),
            },
            Err(_) => McpFault::NoAnswer {
                request: "initialize",
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
    pub(crate) async fn tools(&self) -> Result<Vec<ListedTool>, McpFault> {
        const LIST: &str = "tools/list";
        let mut tools = Vec::new();
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
            match self
                .within(LIST, sent)
                .await?
                .map_err(|error| self.fault(LIST, &error))?
            {
                ServerResult::ListToolsResult(page) => {
                    tools.extend(page.tools.iter().map(ListedTool::new));
                    cursor = page.next_cursor;
                }
                _ => return Err(wrong(LIST, "it is no list of tools")),
            }
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(wrong(LIST, "the list has more than 100 pages"))
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
        match self
            .within(CALL, self.service.peer().call_tool_once(params))
            .await?
        {
            Ok(CallToolResponse::Complete(result)) => Ok(CallAnswer::Result(Box::new(result))),
            Ok(_) => Err(wrong(
                CALL,
                "the server asks for input or a task, which no agent gives here",
            )),
            Err(ServiceError::McpError(error)) => {
                Ok(CallAnswer::Refused(error.message.into_owned()))
            }
            Err(error) => Err(self.fault(CALL, &error)),
        }
    }

    async fn within<T>(
        &self,
        request: &'static str,
        sent: impl Future<Output = T>,
    ) -> Result<T, McpFault> {
        let limit = self.config.request_limit;
        let answer = tokio::time::timeout(limit, sent).await;
        answer.map_err(|_| McpFault::NoAnswer { request, limit })
    }

    fn fault(&self, request: &'static str, error: &ServiceError) -> McpFault {
        match error {
            ServiceError::TransportClosed => McpFault::Ended,
            error => wrong(request, &self.config.quoted(&error.to_string())),
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

fn wrong(request: &'static str, reason: &str) -> McpFault {
    McpFault::WrongAnswer {
        request,
        reason: reason.to_owned(),
    }
}
