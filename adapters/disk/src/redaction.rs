//! Redaction: removing secrets from records, and refusing files that hold one (S10).

use journeyman::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

use crate::database::Database;

impl Database {
    /// The record without secrets (S10). A secret within an id is an error.
    pub(crate) fn redacted<T>(
        &self,
        operation: &'static str,
        record: &T,
        ids: impl Fn(&T) -> Vec<&str>,
    ) -> Result<T>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        let secret = || {
            Error::invalid(operation, "a secret is part of an id or a name")
                .hint("choose another id or name; nothing was stored")
        };
        let mut value = serde_json::to_value(record).map_err(|_| secret())?;
        let before = value.clone();
        self.redactor.redact_json(&mut value);
        if value == before {
            return Ok(record.clone());
        }
        let redacted = serde_json::from_value(value).map_err(|_| secret())?;
        if ids(&redacted) != ids(record) {
            return Err(secret());
        }
        Ok(redacted)
    }

    /// Refuses a file that holds a secret.
    pub(crate) fn check_secrets(&self, operation: &'static str, bytes: &[u8]) -> Result<()> {
        let text = String::from_utf8_lossy(bytes);
        match self.redactor.find(&text).into_iter().next() {
            None => Ok(()),
            Some((line, kind)) => Err(Error::invalid(operation, "the file holds a secret")
                .with("line", line)
                .with("kind", kind)
                .hint("remove the secret from the file, and revoke it: it has been disclosed")),
        }
    }
}
