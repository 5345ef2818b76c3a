//! Reads lines of bounded length.

use std::io::{BufRead, ErrorKind, Read};

/// What stands next on a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its line break.
    Whole(Vec<u8>),
    /// The stream ended within a line.
    Partial,
    /// A line that is longer than the cap; the stream cannot be read further.
    TooLong,
    /// The stream ended.
    End,
}

/// The next line, of at most `cap` bytes.
pub(crate) fn next_line(stream: &mut impl BufRead, cap: usize) -> Line {
    let mut line = Vec::new();
    // One byte more than the cap for the line break.
    let most = u64::try_from(cap).unwrap_or(u64::MAX).saturating_add(1);
    loop {
        match stream
            .by_ref()
            .take(most - line.len() as u64)
            .read_until(b'\n', &mut line)
        {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => {
                return if line.is_empty() {
                    Line::End
                } else {
                    Line::Partial
                };
            }
            Ok(_) => break,
        }
    }
    match line.pop() {
        None => Line::End,
        Some(b'\n') => Line::Whole(line),
        Some(_) if line.len() >= cap => Line::TooLong,
        Some(_) => Line::Partial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut stream: &[u8], expect: &[Line]) {
        for line in expect {
            assert_eq!(next_line(&mut stream, 4), *line);
        }
    }

    #[test]
    fn lines_are_bounded() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        check(b"", &[Line::End, Line::End]);
        check(b"ab\n\n", &[whole("ab"), whole(""), Line::End]);
        check(b"abcd\nx\n", &[whole("abcd"), whole("x"), Line::End]);
        check(b"abcde\n", &[Line::TooLong]);
        check(b"ab\nab", &[whole("ab"), Line::Partial, Line::End]);
    }
}
