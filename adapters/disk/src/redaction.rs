//! Secrets are taken out of what is kept, and refused where they cannot be (S10).

use journeyman::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

use crate::database::Database;

impl Database {
    /// A record without secrets, as it may be kept (S10); its ids have none to be taken out.
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
                .hint("give it another one; nothing was kept")
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
                .hint("take it out, and give the secret out anew: it is no secret any more")),
        }
    }
}
