//! The client of streamable HTTP: rustls with ring, no proxy, no redirects, no repeated calls.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

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
        let client = &self.client;
        let answer = client
            .post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await;
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
