//! Redaction: removing secrets from records, and refusing files that hold one (S10).

use std::borrow::Cow;

use journeyman::{Error, Result, contract::JournalEntry};
use serde::{Serialize, de::DeserializeOwned};

use crate::database::Database;

impl Database {
    /// The record without secrets (S10). A secret within an id is an error.
    pub(crate) fn redacted<'a, T>(
        &self,
        operation: &'static str,
        record: &'a T,
        ids: impl Fn(&T) -> Vec<&str>,
    ) -> Result<Cow<'a, T>>
    where
        T: Clone + Serialize + DeserializeOwned,
    {
        let secret = || {
            Error::invalid(operation, "a secret is part of an id or a name")
                .hint("choose another id or name; nothing was stored")
        };
        let mut value = serde_json::to_value(record).map_err(|_| secret())?;
        if self.redactor.is_clean(&value) {
            return Ok(Cow::Borrowed(record));
        }
        let before = value.clone();
        self.redactor.redact_json(&mut value);
        if value == before {
            return Ok(Cow::Borrowed(record));
        }
        let redacted = serde_json::from_value(value).map_err(|_| {
            Error::invalid(
                operation,
                "the record is not valid once its secrets are replaced",
            )
            .hint("remove the secret from the record; nothing was stored")
        })?;
        if ids(&redacted) != ids(record) {
            return Err(secret());
        }
        Ok(Cow::Owned(redacted))
    }

    /// A journal's entry without secrets. Most entries have none, and are not copied.
    pub(crate) fn redacted_entry<'a>(
        &self,
        operation: &'static str,
        entry: &'a JournalEntry,
    ) -> Result<Cow<'a, JournalEntry>> {
        let run = entry.run.as_str();
        if self.redactor.is_clean(&entry.event) && self.redactor.redact(run) == run {
            return Ok(Cow::Borrowed(entry));
        }
        self.redacted(operation, entry, |entry| vec![entry.run.as_str()])
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
