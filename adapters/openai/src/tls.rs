//! The configuration of encrypted connections: rustls with ring and the system's certificates.

use std::sync::Arc;

use journeyman::{Error, ErrorKind, Result};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::config::CONNECT;

/// Given in code, since a default for the whole process is the host's to choose. Where nothing is encrypted, no
/// certificates are read: a small container has none.
pub(crate) fn config(is_encrypted: bool) -> Result<ClientConfig> {
    let failed = |error: rustls::Error| {
        Error::new(
            ErrorKind::Unavailable,
            CONNECT,
            "encrypted connections cannot be set up",
        )
        .hint("install the system's certificates (Debian: ca-certificates)")
        .source_from(error)
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    if !is_encrypted {
        let none = builder.with_root_certificates(RootCertStore::empty());
        return Ok(none.with_no_client_auth());
    }
    let builder = builder.with_platform_verifier().map_err(failed)?;
    Ok(builder.with_no_client_auth())
}
