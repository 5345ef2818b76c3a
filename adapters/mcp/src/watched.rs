//! The output of a child, looked at line by line on its way to MCP's library: the library passes over a line that is no JSON,
//! so that the request that it answers would wait until its time limit.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

use crate::heard::Heard;

/// Passes everything on as it is.
#[derive(Debug)]
pub(crate) struct Watched<R> {
    output: R,
    heard: Heard,
    /// The line so far, where it may be a message.
    line: Vec<u8>,
    /// The greatest length of a message in bytes.
    most: usize,
    /// A line that is too long, or begins as no object does.
    is_passed_over: bool,
}

impl<R> Watched<R> {
    pub(crate) fn new(output: R, heard: Heard, most: usize) -> Self {
        Self {
            output,
            heard,
            line: Vec::new(),
            most,
            is_passed_over: false,
        }
    }

    fn watch(&mut self, part: &[u8]) {
        let mut lines = part.split(|byte| *byte == b'\n');
        if let Some(rest) = lines.next() {
            self.push(rest);
        }
        for next in lines {
            if !self.is_passed_over {
                self.heard.look_at(&self.line);
            }
            self.line.clear();
            self.is_passed_over = false;
            self.push(next);
        }
    }

    fn push(&mut self, part: &[u8]) {
        if self.is_passed_over {
            return;
        }
        self.line.extend_from_slice(part);
        let begins_otherwise = self
            .line
            .first()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins_otherwise || self.line.len() > self.most {
            self.is_passed_over = true;
            self.line = Vec::new();
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.output).poll_read(context, buffer))?;
        let part = buffer.filled().get(before..).unwrap_or_default();
        self.watch(part);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heard::Cause;

    /// Checks whether an output in these parts is reported as unreadable.
    fn check(parts: &[&[u8]], most: usize, is_told: bool) {
        let heard = Heard::default();
        let mut watched = Watched::new((), heard.clone(), most);
        parts.iter().for_each(|part| watched.watch(part));
        let told = heard.take();
        assert_eq!(
            matches!(told, Some(Cause::Unreadable(_))),
            is_told,
            "{parts:?}: {told:?}"
        );
    }

    #[test]
    fn lines_are_looked_at_when_they_are_whole() {
        let bad: &[u8] = br#"{"jsonrpc":"2.0","id":3,"result":NaN}"#;
        check(&[bad], 100, false);
        check(&[bad, b"\n"], 100, true);
        check(
            &[
                b"noise\n{\"jsonrpc\":",
                b"\"2.0\",\"id\":3,\"result\":NaN}\r\nnoise",
            ],
            100,
            true,
        );
        check(&[bad, b"\n"], 10, false);
        check(&[b"noise {", bad, b"\n"], 100, false);
        check(&[&[b'{'; 200], b"\n", bad, b"\n"], 100, true);
    }
}
