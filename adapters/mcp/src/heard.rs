//! What a transport heard that MCP's library passes over, or of which it does not tell the cause.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ServerJsonRpcMessage;
use tokio::sync::Notify;

/// Why the request under way gets no answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// An answer cannot be read; why, without its text.
    Unreadable(String),
    /// The server no longer knows the session.
    SessionLost,
    /// The server sends the client elsewhere; where, in words.
    Redirected(String),
}

/// Tells the one who waits for an answer at once what the transport heard. A session has one request under way at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    cause: Mutex<Option<Cause>>,
    told: Notify,
}

impl Heard {
    pub(crate) fn tell(&self, cause: Cause) {
        *self.cause() = Some(cause);
        self.0.told.notify_one();
    }

    pub(crate) fn take(&self) -> Option<Cause> {
        self.cause().take()
    }

    /// Waits for a cause.
    pub(crate) async fn next(&self) -> Cause {
        loop {
            if let Some(cause) = self.take() {
                return cause;
            }
            self.0.told.notified().await;
        }
    }

    /// Reads a message of the server, and wakes the one who waits if it is an answer that cannot be read.
    pub(crate) fn look_at(&self, message: &[u8]) {
        let message = message.strip_prefix(BOM).unwrap_or(message);
        if !is_meant_as_answer(message) {
            return;
        }
        if let Err(error) = serde_json::from_slice::<ServerJsonRpcMessage>(message) {
            self.tell(Cause::Unreadable(error.to_string()));
        }
    }

    fn cause(&self) -> std::sync::MutexGuard<'_, Option<Cause>> {
        // Nothing panics while it is held, and a cause is whole at any time.
        self.0.cause.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Whether a text is meant as an answer of JSON-RPC, be it JSON or not: an object with `jsonrpc` and `id` and without
/// `method`. A line of a log or a notification that is no JSON is passed over, since no request waits for it.
fn is_meant_as_answer(text: &[u8]) -> bool {
    let mut seen = [false; 3];
    const KEYS: [&[u8]; 3] = [b"jsonrpc", b"id", b"method"];
    for key in keys(text) {
        for (is_seen, known) in seen.iter_mut().zip(KEYS) {
            *is_seen |= key == known;
        }
    }
    seen == [true, true, false]
}

/// The names of an object's fields as they are written, as far as the text can be followed; also those of Python's own
/// notation, with single quotes.
fn keys(text: &[u8]) -> Vec<&[u8]> {
    let text = text.trim_ascii();
    let mut keys = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    if text.first() != Some(&b'{') {
        return keys;
    }
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' | b'\'' => {
                let start = at;
                while let Some(inner) = text.get(at)
                    && inner != byte
                {
                    at += if *inner == b'\\' { 2 } else { 1 };
                }
                let written = text.get(start..at).unwrap_or_default();
                at += 1;
                let after = text.get(at..).unwrap_or_default().trim_ascii_start();
                if depth == 1 && after.first() == Some(&b':') {
                    keys.push(written);
                }
            }
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], is_told: bool) {
        let heard = Heard::default();
        heard.look_at(text);
        let told = heard.take();
        let shown = String::from_utf8_lossy(text);
        assert_eq!(
            matches!(told, Some(Cause::Unreadable(_))),
            is_told,
            "{shown}: {told:?}"
        );
    }

    #[test]
    fn an_answer_that_is_no_message_is_told() {
        check(br#"{"jsonrpc":"2.0","id":3,"result":{"mean":NaN}}"#, true);
        check(
            br#"{"jsonrpc":"2.0","id":3,"result":{"mean":-Infinity}}"#,
            true,
        );
        check(br#"{"jsonrpc":"2.0","id":3,"result":{"a":"\ud83d"}}"#, true);
        check(
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":\"caf\xe9\"}}",
            true,
        );
        check(b"{'jsonrpc': '2.0', 'id': 3, 'result': {'ok': True}}", true);
        check(br#"{"jsonrpc":"2.0","id":3,"result":{"a":[1,2"#, true);
        check(
            br#"{"result":{"a":"\"id\""},"id":3,"jsonrpc":"2.0",}"#,
            true,
        );
        check(br#"{"jsonrpc":"2.0","id":3}"#, true);
        check(
            b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":NaN}",
            true,
        );
    }

    #[test]
    fn other_lines_are_passed_over() {
        check(b"", false);
        check(b"DEBUG {\"jsonrpc\": 1, \"id\": 2", false);
        check(br#"{"level":"info","id":NaN}"#, false);
        check(
            br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"id":NaN}}"#,
            false,
        );
        check(
            br#"{"jsonrpc":"2.0","id":4,"method":"ping","params":NaN}"#,
            false,
        );
        check(br#"{"note":"\"jsonrpc\": \"id\":","x":NaN}"#, false);
        check(br#"{"jsonrpc":"2.0","id":3,"result":{"a":1}}"#, false);
        check(
            br#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#,
            false,
        );
        check(br#"{"a\"#, false);
    }
}
