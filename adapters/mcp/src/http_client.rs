//! The client of streamable HTTP: rustls with ring, no proxy, no redirects, no call that may be done twice.

use std::{borrow::Cow, collections::HashMap, sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue};
use journeyman::{Error, ErrorKind, Result};
use reqwest::{Client, redirect::Policy};
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::{
        common::client_side_sse::BoxedSseResponse,
        streamable_http_client::{
            AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
            StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
            StreamableHttpResponseLimits,
        },
    },
};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::{
    address::Address,
    config::{HttpEndpoint, McpConfig},
    heard::Heard,
    http_answer::{Asked, Redirected, answered},
};

/// The client and the transport's configuration for an endpoint.
pub(crate) fn prepare(
    config: &McpConfig,
    endpoint: &HttpEndpoint,
    heard: Heard,
    operation: &'static str,
) -> Result<(QuietClient, StreamableHttpClientTransportConfig)> {
    let address = config.address(endpoint, operation)?;
    let redirected = Redirected::default();
    let seen = redirected.clone();
    let client = Client::builder()
        .redirect(Policy::custom(move |attempt| {
            seen.see(attempt.previous().last(), attempt.url());
            attempt.stop()
        }))
        .connect_timeout(config.start_limit)
        .https_only(address.is_encrypted)
        .tls_backend_preconfigured(encryption(address.is_encrypted, operation)?)
        .no_proxy()
        .build()
        .map_err(|error| {
            let message = "no HTTP client can be made";
            config
                .at_server(Error::invalid(operation, message))
                .hint("check the system's certificates")
                .source_from(error.without_url())
        })?;
    let cap = config.message_cap.get();
    let mut transport = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
        .max_json_response_size(cap)
        .max_sse_event_size(cap)
        .control_request_timeout(config.close_limit)
        // A new session is another world: the library would repeat a call there.
        .reinit_on_expired_session(false);
    if let Some(token) = &endpoint.token {
        transport = transport.auth_header(token.as_str());
    }
    let client = QuietClient {
        client,
        address,
        heard,
        redirected,
    };
    Ok((client, transport))
}

/// A client whose errors hold neither the address nor the token: MCP's library also writes them to the log.
#[derive(Clone)]
pub(crate) struct QuietClient {
    client: Client,
    address: Address,
    heard: Heard,
    redirected: Redirected,
}

/// How long to wait before each further try of a call that a busy server did not take, where the server does not say. The time
/// limit of the request counts all of them.
const WAITS: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// The longest that a server may ask to wait: for more the host decides what to do.
const LONGEST: Duration = Duration::from_secs(10);

/// How long a server that has not taken a message asks to wait. Only HTTP 429 says that nothing was done: what stands before a
/// server answers 503 also where the server has begun. `usual` is for those that do not say in seconds.
fn wait(error: &Failed, usual: Duration) -> Option<Duration> {
    let Failed::HttpStatus(error) = error else {
        return None;
    };
    let told = error.retry_after.as_deref();
    let told = told.and_then(|told| told.trim().parse().ok().map(Duration::from_secs));
    let wait = told.unwrap_or(usual);
    (error.status == 429 && wait <= LONGEST).then_some(wait)
}

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl QuietClient {
    fn quiet(&self, error: Failed) -> Failed {
        match error {
            Failed::Client(error) => Failed::Client(error.without_url()),
            // The start of the response's body, which often repeats the path.
            Failed::UnexpectedServerResponse(said) => {
                Failed::UnexpectedServerResponse(Cow::Owned(self.address.hide(&said)))
            }
            // Headers of the server may repeat it, too.
            Failed::UnexpectedContentType(said) => {
                Failed::UnexpectedContentType(said.map(|said| self.address.hide(&said)))
            }
            Failed::AuthRequired(error) => {
                let said = self.address.hide(&error.www_authenticate_header);
                Failed::AuthRequired(AuthRequiredError::new(said))
            }
            Failed::InsufficientScope(error) => {
                let said = self.address.hide(&error.www_authenticate_header);
                let scope = error.required_scope.map(|scope| self.address.hide(&scope));
                Failed::InsufficientScope(InsufficientScopeError::new(said, scope))
            }
            Failed::HttpStatus(error) => {
                Failed::HttpStatus(HttpStatusError::new(error.status, None))
            }
            other => other,
        }
    }
}

impl StreamableHttpClient for QuietClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let asked = Asked::of(&message);
        let _ = self.redirected.take();
        let send = || {
            let (uri, message, session) = (uri.clone(), message.clone(), session.clone());
            let (token, headers) = (token.clone(), headers.clone());
            let client = &self.client;
            client.post_message_with_response_limits(uri, message, session, token, headers, limits)
        };
        let mut answer = send().await;
        for usual in WAITS {
            let failed = answer.as_ref().err().filter(|_| asked.is_within);
            let Some(wait) = failed.and_then(|error| wait(error, usual)) else {
                break;
            };
            tokio::time::sleep(wait).await;
            answer = send().await;
        }
        match answer {
            Ok(answer) => Ok(answered(answer, &asked, &self.heard)),
            Err(error) => {
                let to = self.redirected.take();
                if let Some(cause) = asked.cause(&error, to) {
                    self.heard.tell(cause);
                }
                Err(self.quiet(error))
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        let deleted = self.client.delete_session(uri, session, token, headers);
        deleted.await.map_err(|error| self.quiet(error))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, Failed> {
        let limit = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<BoxedSseResponse, Failed> {
        let client = &self.client;
        client
            .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit)
            .await
            .map_err(|error| self.quiet(error))
    }
}

/// The default provider of cryptography for a whole process is the host's to choose, so it is given here. Without encryption
/// no certificates are read: a small container has none.
fn encryption(is_encrypted: bool, operation: &'static str) -> Result<ClientConfig> {
    let failed = |error: rustls::Error| {
        Error::new(
            ErrorKind::Unavailable,
            operation,
            "encrypted connections cannot be set up",
        )
        .hint("install the system's certificates (Debian: ca-certificates)")
        .source_from(error)
    };
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match is_encrypted {
        true => builder.with_platform_verifier().map_err(failed)?,
        false => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}
