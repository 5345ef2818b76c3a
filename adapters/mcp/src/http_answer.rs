//! What an endpoint's answers mean where HTTP and JSON-RPC do not say it plainly.

use std::{
    str,
    sync::{Arc, Mutex, PoisonError},
};

use futures::StreamExt;
use reqwest::{Error, Url};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage},
    transport::{
        common::client_side_sse::BoxedSseResponse,
        streamable_http_client::{
            SseError, StreamableHttpError as Failed, StreamableHttpPostResponse,
        },
    },
};

use crate::heard::{Cause, Heard};

/// Where the endpoint sent the client last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redirected(Arc<Mutex<Option<String>>>);

impl Redirected {
    pub(crate) fn see(&self, from: Option<&Url>, to: &Url) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(elsewhere(from, to));
    }

    pub(crate) fn take(&self) -> Option<String> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.take()
    }
}

/// Another address in words. A path or a query may hold a secret, so neither is shown.
fn elsewhere(from: Option<&Url>, to: &Url) -> String {
    let origin = |url: &Url| url.origin().ascii_serialization();
    let shown: String = origin(to).chars().take(200).collect();
    let Some(from) = from.filter(|from| origin(from) == origin(to)) else {
        return format!("to `{shown}`");
    };
    let (old, new) = (from.path(), to.path());
    if from.query() == to.query() {
        if new.strip_suffix('/') == Some(old) {
            return "to the same address with a `/` at its end: give it so".to_owned();
        }
        if old.strip_suffix('/') == Some(new) {
            return "to the same address without the `/` at its end: give it so".to_owned();
        }
    }
    format!("to another path or query at `{shown}`")
}

/// What a message to the endpoint asks.
pub(crate) struct Asked {
    /// The request's id; none for what awaits no answer.
    id: Option<RequestId>,
    /// Whether it is asked within a session.
    pub(crate) is_within: bool,
}

impl Asked {
    pub(crate) fn of(message: &ClientJsonRpcMessage) -> Self {
        match message {
            ClientJsonRpcMessage::Request(request) => Self {
                id: Some(request.id.clone()),
                is_within: !matches!(
                    request.request,
                    ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_)
                ),
            },
            _ => Self {
                id: None,
                is_within: false,
            },
        }
    }

    /// What is behind a failure, where the failure does not say so itself.
    pub(crate) fn cause(&self, error: &Failed<Error>, to: Option<String>) -> Option<Cause> {
        if let Some(to) = to {
            return Some(Cause::Redirected(to));
        }
        match error {
            Failed::SessionExpired => Some(Cause::SessionLost),
            // A server without ids of sessions, or one that answers otherwise than by JSON-RPC.
            Failed::UnexpectedServerResponse(said) if self.is_within => {
                let is_gone = ["HTTP 404", "HTTP 410"]
                    .iter()
                    .any(|gone| said.starts_with(gone));
                let is_refused = said.starts_with("HTTP 400") && is_of_a_session(said);
                (is_gone || is_refused).then_some(Cause::SessionLost)
            }
            _ => None,
        }
    }
}

/// An answer to a request, after a look at it.
pub(crate) fn answered(
    answer: StreamableHttpPostResponse,
    asked: &Asked,
    heard: &Heard,
) -> StreamableHttpPostResponse {
    match answer {
        StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(mut error), session) => {
            if asked.is_within && is_a_lost_session(&error.error) {
                heard.tell(Cause::SessionLost);
            }
            // A refusal of HTTP names no request, or none that was made: without this one the request would wait.
            if asked.id.is_some() {
                error.id = asked.id.clone();
            }
            StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), session)
        }
        StreamableHttpPostResponse::Sse(events, session) if asked.id.is_some() => {
            StreamableHttpPostResponse::Sse(watched(events, heard.clone()), session)
        }
        other => other,
    }
}

/// Events on their way to MCP's library, which passes over one that is no JSON.
fn watched(events: BoxedSseResponse, heard: Heard) -> BoxedSseResponse {
    events
        .inspect(move |event| match event {
            Ok(event) => {
                let data = event.data.as_deref().unwrap_or_default();
                heard.look_at(data.as_bytes());
            }
            Err(SseError::Utf8Parse(error)) => heard.tell(Cause::Unreadable(error.to_string())),
            Err(_) => {}
        })
        .boxed()
}

/// Whether an error of JSON-RPC says that the session is not known. The protocol has no code for it; the official libraries
/// use these.
fn is_a_lost_session(error: &ErrorData) -> bool {
    matches!(error.code.0, -32001 | -32000 | -32600) && is_of_a_session(&error.message)
}

fn is_of_a_session(said: &str) -> bool {
    const LOST: [&str; 7] = [
        "not found",
        "no valid",
        "invalid",
        "unknown",
        "expired",
        "terminated",
        "does not exist",
    ];
    let said = said.to_lowercase();
    said.contains("session") && LOST.iter().any(|lost| said.contains(lost))
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;

    #[test]
    fn another_address_is_told_without_its_path() {
        let check = |from: &str, to: &str, expect: &str| {
            let [from, to] = [from, to].map(|url| Url::parse(url).unwrap());
            let told = elsewhere(Some(&from), &to);
            assert!(told.contains(expect), "{told}");
            assert!(
                !told.contains("hunter2") && !told.contains("/mcp"),
                "{told}"
            );
        };
        check(
            "http://a.example/mcp",
            "http://a.example/mcp/",
            "with a `/`",
        );
        check(
            "http://a.example/mcp/?k=1",
            "http://a.example/mcp?k=1",
            "without the `/`",
        );
        check(
            "http://a.example/mcp",
            "https://a.example/mcp",
            "`https://a.example`",
        );
        check(
            "http://a.example/mcp",
            "http://b.example:8/s/hunter2",
            "`http://b.example:8`",
        );
        check(
            "http://a.example/mcp",
            "http://a.example/s/hunter2",
            "another path",
        );
    }

    #[test]
    fn a_lost_session_is_known_by_what_is_said() {
        let check = |code: i32, said: &'static str, is_lost: bool| {
            let error = ErrorData::new(ErrorCode(code), said, None);
            assert_eq!(is_a_lost_session(&error), is_lost, "{said}");
        };
        check(-32001, "Session not found", true);
        check(-32000, "Bad Request: No valid session ID provided", true);
        check(-32600, "Not Found: Session has been terminated", true);
        check(-32603, "Session not found", false);
        check(-32602, "Unknown tool: session", false);
        check(-32001, "Request timed out", false);
    }
}
