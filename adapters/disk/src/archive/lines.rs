//! Reading and writing the lines of an archive: bounded, hashed and in order.

use std::{
    io::{BufRead, Read, Write},
    str,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use journeyman::{Error, ErrorKind, Result, domain::sha256_hex};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::{ArchiveLimits, Archived, FORM, FORMAT, Header, Kind, corrupt, parsed};

/// Maximum length of the first line in bytes; the file may not be an archive at all.
const HEADER: u64 = 1024;

/// A line after the first.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<String>,
}

/// Writes the lines of an archive.
#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    hash: Sha256,
    operation: &'static str,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(operation: &'static str, out: W, header: &Header) -> Result<Self> {
        let hash = Sha256::new();
        let mut writer = Self {
            out,
            hash,
            operation,
        };
        writer.line(header)?;
        Ok(writer)
    }

    /// Writes a record whose body is JSON.
    pub(super) fn record(&mut self, kind: Kind, body: &str) -> Result<()> {
        let raw: &RawValue = parsed(self.operation, body)?;
        self.line(&Line {
            record: Some(kind),
            sha256: Some(sha256_hex(body)),
            body: Some(raw),
            end: None,
        })
    }

    /// Writes a file's bytes.
    pub(super) fn file(&mut self, bytes: &[u8]) -> Result<()> {
        // Base64 has no characters that JSON escapes.
        self.record(Kind::File, &format!("\"{}\"", STANDARD.encode(bytes)))
    }

    /// Writes the last line and returns the output.
    pub(super) fn end(mut self) -> Result<W> {
        let end = format!("{:x}", self.hash.clone().finalize());
        self.line(&Line {
            end: Some(end),
            ..Line::default()
        })?;
        self.out
            .flush()
            .map_err(|source| failed(self.operation, source))?;
        Ok(self.out)
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = crate::convert::to_json(self.operation, line)?;
        text.push('\n');
        self.hash.update(&text);
        self.out
            .write_all(text.as_bytes())
            .map_err(|source| failed(self.operation, source))
    }
}

/// Decodes the body of a record of the kind `file`: a JSON string with the file's bytes in base64.
pub(super) fn decoded(operation: &'static str, body: &str) -> Result<Vec<u8>> {
    let text: String = parsed(operation, body)?;
    STANDARD
        .decode(text)
        .map_err(|_| corrupt(operation, "a file's record is not base64"))
}

/// Reads an archive to its end, and calls `each` with every record whose hash is correct. Whether the archive is complete is
/// known only at its end, so the caller must not make any record permanent before this function returns.
pub(super) fn read(
    operation: &'static str,
    input: impl BufRead,
    limits: &ArchiveLimits,
    mut each: impl FnMut(Kind, &str) -> Result<()>,
) -> Result<Archived> {
    let mut lines = Lines {
        operation,
        input,
        limits,
        total: 0,
        number: 0,
        line: Vec::new(),
    };
    let header = lines.header()?;
    let mut hash = Sha256::new();
    hash.update(&lines.line);
    let mut archived = Archived {
        revision: header.revision,
        ..Archived::default()
    };
    let (mut commits, mut latest) = (0, Kind::Commit);
    loop {
        if !lines.next()? {
            return Err(lines.fault(corrupt(operation, "the archive is cut off")));
        }
        let at = |error| lines.fault(error);
        let count = commits + archived.entries + archived.files + archived.missing;
        match parse_line(operation, lines.text()?).map_err(at)? {
            LineContent::Record(kind, body) => {
                if kind < latest || count >= header.records {
                    let message = "a record is out of order or beyond the announced number";
                    return Err(at(corrupt(operation, message)));
                }
                latest = kind;
                match kind {
                    Kind::Commit => commits += 1,
                    Kind::Entry => archived.entries += 1,
                    Kind::File => archived.files += 1,
                    Kind::Missing => archived.missing += 1,
                }
                each(kind, body).map_err(at)?;
            }
            LineContent::End(end) => {
                if end != format!("{:x}", hash.finalize())
                    || count != header.records
                    || commits != header.revision.0
                {
                    let message = "the archive differs from its hash or its announced counts";
                    return Err(at(corrupt(operation, message)));
                }
                break;
            }
        }
        hash.update(&lines.line);
    }
    if lines.next()? {
        return Err(lines.fault(corrupt(
            operation,
            "the archive goes on after its last line",
        )));
    }
    Ok(archived)
}

/// The content of a line after the first.
enum LineContent<'a> {
    /// The kind and body of a record, whose hash is right.
    Record(Kind, &'a str),
    /// The hash of all earlier lines.
    End(String),
}

fn parse_line<'a>(operation: &'static str, line: &'a str) -> Result<LineContent<'a>> {
    match parsed(operation, line)? {
        Line {
            record: Some(kind),
            sha256: Some(sha256),
            body: Some(body),
            end: None,
        } => {
            if sha256_hex(body.get()) != sha256 {
                return Err(corrupt(operation, "a record differs from its hash"));
            }
            Ok(LineContent::Record(kind, body.get()))
        }
        Line {
            record: None,
            sha256: None,
            body: None,
            end: Some(end),
        } => Ok(LineContent::End(end)),
        _ => Err(corrupt(operation, "a line is not a record")),
    }
}

struct Lines<'a, R> {
    operation: &'static str,
    input: R,
    limits: &'a ArchiveLimits,
    total: u64,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<'_, R> {
    fn header(&mut self) -> Result<Header> {
        let operation = self.operation;
        let foreign = || {
            Error::invalid(operation, "the file is not an archive of a library")
                .hint("name a file that the export of a whole library wrote")
        };
        self.number = 1;
        match self.fill(HEADER) {
            Err(error) if error.kind() == ErrorKind::Invalid => return Err(foreign()),
            filled => filled?,
        }
        #[derive(Deserialize)]
        struct Form {
            format: String,
            form: u64,
        }
        let form: Form = serde_json::from_slice(&self.line).map_err(|_| foreign())?;
        if form.format != FORMAT {
            return Err(foreign());
        }
        if form.form != FORM {
            return Err(Error::unsupported(
                self.operation,
                "the archive has another format version",
            )
            .with("form", form.form)
            .with("known", FORM)
            .hint("read it with the release that wrote it, or upgrade this one"));
        }
        parsed(self.operation, self.text()?).map_err(|error: Error| self.fault(error))
    }

    /// Reads the next line; returns whether there was one.
    fn next(&mut self) -> Result<bool> {
        self.number += 1;
        self.fill(self.limits.line)?;
        match self.line.last() {
            None => Ok(false),
            Some(b'\n') => Ok(true),
            Some(_) => Err(self.fault(corrupt(self.operation, "the archive is cut off"))),
        }
    }

    fn fill(&mut self, most: u64) -> Result<()> {
        self.line.clear();
        let most = most.min(self.limits.total - self.total);
        let read = (&mut self.input)
            .take(most.saturating_add(1))
            .read_until(b'\n', &mut self.line)
            .map_err(|source| self.fault(failed(self.operation, source)))?;
        if read as u64 > most {
            let error = Error::invalid(
                self.operation,
                "the archive or one of its lines is too large",
            )
            .with("line_limit", self.limits.line)
            .with("total_limit", self.limits.total)
            .hint("if you trust its source, raise `ArchiveLimits`");
            return Err(self.fault(error));
        }
        self.total += read as u64;
        Ok(())
    }

    fn text(&self) -> Result<&str> {
        str::from_utf8(&self.line)
            .map_err(|_| self.fault(corrupt(self.operation, "a line is not UTF-8")))
    }

    fn fault(&self, error: Error) -> Error {
        error.with("line", self.number)
    }
}

fn failed(operation: &'static str, source: std::io::Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        operation,
        "the archive could not be read or written",
    )
    .hint("check that the disk has free space and that this user can read and write the file")
    .source_from(source)
}
