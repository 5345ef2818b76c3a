//! The client of streamable HTTP: rustls with ring, no proxy, no redirects.

use std::sync::Arc;

use journeyman::{Error, ErrorKind, Result};
use reqwest::{Client, Url, redirect::Policy};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::config::{HttpEndpoint, McpConfig};

/// The client and the transport's configuration for an endpoint.
pub(crate) fn prepare(
    config: &McpConfig,
    endpoint: &HttpEndpoint,
    operation: &'static str,
) -> Result<(Client, StreamableHttpClientTransportConfig)> {
    // The address is not repeated: it may hold a password.
    let wrong = |message: &'static str| {
        Error::invalid(operation, message)
            .with("server", &config.name)
            .hint("give an address such as http://127.0.0.1:8000/mcp")
    };
    let url = Url::parse(&endpoint.url).map_err(|_| wrong("the server's URL is no address"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("the server's URL is no address of HTTP"));
    }
    let is_encrypted = url.scheme() == "https";
    let client = Client::builder()
        .redirect(Policy::none())
        .connect_timeout(config.start_limit)
        .https_only(is_encrypted)
        .tls_backend_preconfigured(encryption(is_encrypted, operation)?)
        .no_proxy()
        .build()
        .map_err(|error| {
            Error::invalid(operation, "no HTTP client can be made")
                .hint("check the system's certificates")
                .source_from(error.without_url())
        })?;
    let cap = config.message_cap.get();
    let mut transport = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
        .max_json_response_size(cap)
        .max_sse_event_size(cap)
        .control_request_timeout(config.close_limit);
    if let Some(token) = &endpoint.token {
        transport = transport.auth_header(token.as_str());
    }
    Ok((client, transport))
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
