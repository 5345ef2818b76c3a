//! The error for an answer that cannot be used.

use journeyman::{Error, ErrorKind};

/// The error for an answer that cannot be used.
pub(super) fn unusable(message: impl Into<String>, text: &str) -> Error {
    Error::new(ErrorKind::Model, "Roles::read", message.into())
        .with("text", format!("{:?}", clip(text)))
}

/// The first 200 characters of a text.
pub(super) fn clip(text: &str) -> String {
    text.chars().take(200).collect()
}
