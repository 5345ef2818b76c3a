//! Reading the bytes of a GGUF's header: numbers, texts and lists, each checked against the length of the file.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufReader, ErrorKind as IoErrorKind, Read},
    path::Path,
};

use journeyman::{Error, ErrorKind, Result};

pub(super) type Values = HashMap<String, Value>;

/// The operation that errors name.
pub(super) const OPERATION: &str = "LlamaCpp::load";
/// A longer text or list is damage, not content.
const LONGEST: u64 = 1 << 28;
/// Minimum size of a model's file in bytes.
const SMALLEST: u64 = 24;
/// The key of the list of tokens.
pub(super) const TOKENS: &str = "tokenizer.ggml.tokens";

/// A value of the metadata, as far as the checks need it.
#[derive(Debug)]
pub(crate) enum Value {
    Number(i128),
    Text(String),
    /// The number of texts and, for the list of tokens, whether two are equal.
    Texts {
        len: u64,
        repeats: bool,
    },
    Numbers {
        kind: u32,
        len: u64,
        /// The largest of whole numbers; negative ones count as largest of all, as llama.cpp reads them.
        largest: i128,
    },
    /// A number in single precision.
    Single,
    Other,
}

fn open(path: &Path) -> Result<File> {
    if path.is_dir() {
        return Err(Error::invalid(OPERATION, "the path is a folder")
            .hint("name the .gguf file inside the folder"));
    }
    File::open(path).map_err(|error| match error.kind() {
        IoErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, OPERATION, "there is no such file")
                .hint("check the path; a model is one .gguf file")
        }
        _ => unreadable(error),
    })
}

fn unreadable(error: std::io::Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        OPERATION,
        format!("the file cannot be read ({})", error.kind()),
    )
    .hint("check that the file and its folders may be read")
    .source_from(error)
}

fn no_gguf() -> Error {
    Error::invalid(
        OPERATION,
        "the file is not a GGUF: it does not begin with `GGUF`",
    )
    .hint("convert the model with llama.cpp's convert_hf_to_gguf.py, or download its GGUF form")
}

pub(crate) fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, OPERATION, message).hint(
        "the file is damaged or was cut off: copy or download it again and compare its sha256",
    )
}

/// A reader that knows how many bytes are left.
pub(crate) struct Reader<R> {
    pub(super) bytes: R,
    pub(crate) left: u64,
}

impl Reader<BufReader<File>> {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = open(path)?;
        let left = file.metadata().map_err(unreadable)?.len();
        Ok(Self {
            bytes: BufReader::new(file),
            left,
        })
    }
}

impl<R: Read> Reader<R> {
    /// Number of bytes that are not read yet.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut buffer = [0; N];
        self.fill(&mut buffer)?;
        Ok(buffer)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<()> {
        self.left = self
            .left
            .checked_sub(buffer.len() as u64)
            .ok_or_else(|| corrupt("the header ends too early"))?;
        self.bytes.read_exact(buffer).map_err(unreadable)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of items of at least `size` bytes each, all of which must still fit into the file.
    fn count(&mut self, size: u64) -> Result<u64> {
        let count = self.u64()?;
        if count > LONGEST || count * size > self.left {
            return Err(corrupt(format!(
                "the header announces {count} items, more than fit into the file"
            )));
        }
        Ok(count)
    }

    pub(crate) fn text(&mut self) -> Result<Vec<u8>> {
        let mut buffer = vec![0; self.count(1)? as usize];
        self.fill(&mut buffer)?;
        Ok(buffer)
    }

    pub(super) fn skip(&mut self, length: u64) -> Result<()> {
        let mut buffer = [0; 4096];
        let mut left = length;
        while left > 0 {
            let part = left.min(4096) as usize;
            self.fill(&mut buffer[..part])?;
            left -= part as u64;
        }
        Ok(())
    }

    pub(super) fn value(&mut self, key: &str, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 | 7 => Value::Number(self.array().map(u8::from_le_bytes)?.into()),
            1 => Value::Number(self.array().map(i8::from_le_bytes)?.into()),
            2 => Value::Number(self.array().map(u16::from_le_bytes)?.into()),
            3 => Value::Number(self.array().map(i16::from_le_bytes)?.into()),
            4 => Value::Number(self.u32()?.into()),
            5 => Value::Number(self.array().map(i32::from_le_bytes)?.into()),
            8 => Value::Text(String::from_utf8_lossy(&self.text()?).into_owned()),
            9 => self.list(key)?,
            10 => Value::Number(self.u64()?.into()),
            11 => Value::Number(self.array().map(i64::from_le_bytes)?.into()),
            6 => {
                self.skip(4)?;
                Value::Single
            }
            12 => {
                self.skip(8)?;
                Value::Other
            }
            _ => return Err(corrupt(format!("a value has the unknown type {kind}"))),
        })
    }

    fn list(&mut self, key: &str) -> Result<Value> {
        let kind = self.u32()?;
        if kind != 8 {
            let size = size_of_kind(kind)?;
            let len = self.count(size)?;
            let mut largest = 0;
            if matches!(kind, 6 | 12) {
                self.skip(len * size)?;
            } else {
                for _ in 0..len {
                    if let Value::Number(number) = self.value(key, kind)? {
                        let unsigned = if number < 0 { i128::MAX } else { number };
                        largest = unsigned.max(largest);
                    }
                }
            }
            return Ok(Value::Numbers { kind, len, largest });
        }
        let len = self.count(8)?;
        let mut seen = HashSet::new();
        let mut repeats = false;
        for _ in 0..len {
            let text = self.text()?;
            // llama.cpp gives each empty token a unique name.
            repeats |= key == TOKENS && !text.is_empty() && !seen.insert(text);
        }
        Ok(Value::Texts { len, repeats })
    }
}

/// The size of a value of a fixed-size type, in bytes.
fn size_of_kind(kind: u32) -> Result<u64> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(corrupt(format!("a list has elements of the type {kind}"))),
    }
}

/// Reads the metadata; returns it with the number of tensors that the header announces.
pub(crate) fn read_header<R: Read>(
    reader: &mut Reader<R>,
) -> Result<(HashMap<String, Value>, u64)> {
    let length = reader.left;
    if length < 4 || reader.array()? != *b"GGUF" {
        return Err(no_gguf());
    }
    if length < SMALLEST {
        return Err(corrupt("the header ends too early"));
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(Error::unsupported(
            OPERATION,
            format!("the file is GGUF version {version}; versions 2 and 3 can be read"),
        )
        .hint("convert the model again, for a little-endian machine"));
    }
    let tensors = reader.u64()?;
    let pairs = reader.count(12)?;
    let mut values = HashMap::new();
    for _ in 0..pairs {
        let key = String::from_utf8_lossy(&reader.text()?).into_owned();
        let kind = reader.u32()?;
        let value = reader.value(&key, kind)?;
        values.insert(key, value);
    }
    // The first of several files may have no tensors.
    if (tensors == 0 && parts(&values) < 2) || tensors.saturating_mul(24) > reader.left {
        return Err(corrupt(format!(
            "the header announces {tensors} tensors, which the file does not contain"
        )));
    }
    Ok((values, tensors))
}

/// Number of files of the model.
pub(super) fn parts(values: &Values) -> i128 {
    match values.get("split.count") {
        Some(Value::Number(parts)) => *parts,
        _ => 1,
    }
}
