//! GGUF files of real shapes with random weights: what an engine costs at 0.5 or 4 billion parameters, measured
//! without any download.
//!
//! Time and memory follow from sizes and types, not from what was learned. The weights are seeded noise, scaled so
//! that the next token is neither certain nor uniform and the end of text improbable. A text has about as many tokens
//! as bytes.
//!
//! ```no_run
//! use journeyman::Seed;
//! use shapes::{Quantization, Shape};
//!
//! # fn main() -> journeyman::Result<()> {
//! let path = shapes::cached("models".as_ref(), Shape::B0_5, Quantization::Q8_0, Seed(1))?;
//! println!("{}", path.display());
//! # Ok(())
//! # }
//! ```

mod block;
mod gguf;
mod shape;
mod vocabulary;

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

pub use block::Quantization;
use journeyman::{Error, ErrorKind, Result, Seed};
pub use shape::{Architecture, Shape};

use crate::{
    gguf::ALIGNMENT,
    shape::{Content, Tensor},
    vocabulary::CONTROL,
};

/// Part of a cached file's name; goes up when the same parameters give other bytes.
const FORM: u32 = 1;
/// Bytes that are drawn at once.
const AT_ONCE: usize = 1 << 20;
/// Logits deviate by this: in a vocabulary of 150,000 the next token then has an entropy of 7 to 8 nats.
const LOGITS: f32 = 3.0;
/// Layers' outputs are larger than their inputs by this, so that they outweigh the token that was read last.
const GAIN: f32 = 1.5;
/// How loud control tokens are, the end of text among them, beside others.
const QUIET: f32 = 0.1;

/// Writes a model. The file is there whole or not at all; an older one of this name is replaced.
///
/// # Errors
/// `Unavailable` where it cannot be written.
pub fn write(path: &Path, shape: Shape, quantization: Quantization, seed: Seed) -> Result<()> {
    let failed = |error: io::Error| {
        Error::new(
            ErrorKind::Unavailable,
            "shapes::write",
            format!("the model cannot be written ({})", error.kind()),
        )
        .with("path", path.display())
        .hint(format!(
            "check that the folder exists, may be written and has {} MiB to spare",
            length(shape, quantization) >> 20
        ))
        .source_from(error)
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".shape-")
        .tempfile_in(folder)
        .map_err(failed)?;
    write_all(file.as_file_mut(), shape, quantization, seed)
        .and_then(|()| file.as_file().sync_all())
        .map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The model of these parameters in a folder, which is made if need be; written only where it is not there whole.
///
/// # Errors
/// As [`write()`].
pub fn cached(
    folder: &Path,
    shape: Shape,
    quantization: Quantization,
    seed: Seed,
) -> Result<PathBuf> {
    let name = format!("{}-{}-{seed}-{FORM}.gguf", shape.name, quantization.name());
    let path = folder.join(name);
    let whole = length(shape, quantization);
    if fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() == whole) {
        return Ok(path);
    }
    // Where this fails, writing says so.
    let _ = fs::create_dir_all(folder);
    write(&path, shape, quantization, seed)?;
    Ok(path)
}

/// Bytes of the file of such a model.
pub fn length(shape: Shape, quantization: Quantization) -> u64 {
    let tensors = shape.tensors(quantization);
    let bytes = tensors
        .iter()
        .map(|tensor| tensor.bytes().next_multiple_of(ALIGNMENT));
    gguf::header(&shape, quantization, &tensors).len() as u64 + bytes.sum::<u64>()
}

fn write_all(
    out: &mut impl Write,
    shape: Shape,
    quantization: Quantization,
    seed: Seed,
) -> io::Result<()> {
    let tensors = shape.tensors(quantization);
    out.write_all(&gguf::header(&shape, quantization, &tensors))?;
    for (index, tensor) in tensors.iter().enumerate() {
        write_tensor(out, tensor, seed.derive("tensor", index as u64))?;
        let padding = tensor.bytes().next_multiple_of(ALIGNMENT) - tensor.bytes();
        out.write_all(&[0; ALIGNMENT as usize][..padding as usize])?;
    }
    Ok(())
}

fn write_tensor(out: &mut impl Write, tensor: &Tensor, seed: Seed) -> io::Result<()> {
    let Content::Random(block) = tensor.content else {
        let number = f32::from(u8::from(tensor.content == Content::Ones));
        return out.write_all(&number.to_le_bytes().repeat(tensor.row as usize));
    };
    let root = (tensor.row as f32).sqrt();
    let embedding = tensor.name == "token_embd.weight";
    let loud = if embedding { LOGITS } else { GAIN } / root;
    let quiet_rows = if embedding { CONTROL.len() as u32 } else { 0 };
    let mut rng = seed.rng();
    let row_bytes = tensor.row_bytes();
    let rows_at_once = (AT_ONCE / row_bytes).max(1);
    let mut bytes = vec![0; rows_at_once * row_bytes];
    for (rows, deviation) in [(tensor.rows - quiet_rows, loud), (quiet_rows, loud * QUIET)] {
        let mut left = rows as usize;
        while left > 0 {
            let part = left.min(rows_at_once);
            let bytes = &mut bytes[..part * row_bytes];
            block.fill(bytes, deviation, &mut rng);
            out.write_all(bytes)?;
            left -= part;
        }
    }
    Ok(())
}
