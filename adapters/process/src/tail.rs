//! The end of a child's standard error.

use std::{
    collections::VecDeque,
    io::{self, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use journeyman::text::Redactor;

/// Bytes of standard error that are shown, from the end, where the reason is.
const TAIL: usize = 8 * 1024;
/// Bytes of it that are kept. It is redacted before it is cut: a secret without its beginning has no known form.
const KEPT: usize = 2 * TAIL;

/// The end of a child's standard error, for errors. Copies share it.
///
/// ```
/// use journeyman::text::Redactor;
/// use journeyman_process::StderrTail;
///
/// let tail = StderrTail::default();
/// tail.push(b"warming up\nno such table: tickets\n");
/// assert!(tail.text(&Redactor::default()).ends_with("no such table: tickets"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct StderrTail {
    bytes: Arc<Mutex<TailState>>,
}

#[derive(Debug, Default)]
struct TailState {
    bytes: VecDeque<u8>,
    is_whole: bool,
}

impl StderrTail {
    /// Adds what the child wrote next.
    pub fn push(&self, bytes: &[u8]) {
        let mut state = self.lock();
        state.bytes.extend(bytes);
        let more = state.bytes.len().saturating_sub(KEPT);
        state.bytes.drain(..more);
    }

    fn lock(&self) -> MutexGuard<'_, TailState> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until the stream ends.
    pub(crate) fn read(&self, mut pipe: impl Read) {
        let mut part = [0; 4096];
        loop {
            match pipe.read(&mut part) {
                Ok(length) if length > 0 => self.push(&part[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        self.lock().is_whole = true;
    }

    /// Waits for the end of the stream.
    pub(crate) fn finish(&self, limit: Duration) {
        let start = Instant::now();
        while !self.lock().is_whole && start.elapsed() < limit {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// The last 8 KiB as text without the white space around it, redacted.
    pub fn text(&self, redactor: &Redactor) -> String {
        let bytes: Vec<u8> = self.lock().bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = redactor.redact(text.trim());
        let start = text.len().saturating_sub(TAIL);
        text[text.ceil_char_boundary(start)..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_across_the_cut_is_redacted() {
        let secret = "ghp_".to_owned() + &"Zk3uQ9xW".repeat(5);
        let check = |before: usize, after: usize, expect: bool| {
            let all = "a ".repeat(before / 2) + &secret + " " + &"z".repeat(after);
            let tail = StderrTail::default();
            tail.read(all.as_bytes());
            let text = tail.text(&Redactor::default());
            assert!(text.len() <= TAIL && text.ends_with('z'), "{text}");
            assert_eq!(text.contains("redacted"), expect, "{text}");
            assert!(!text.contains("Zk3uQ9xW"), "{text}");
        };
        check(0, 100, true);
        check(40_000, 100, true);
        // The cut is within the secret: what stands for it is cut, and nothing of the secret is left.
        check(40_000, TAIL - 20, false);
        check(40_000, TAIL + 100, false);
    }
}
