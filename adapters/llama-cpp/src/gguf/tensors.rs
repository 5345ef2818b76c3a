//! Reading the list of tensors: the offset of each, and so its size, whatever its type.

use std::io::Read;

use journeyman::Result;

use super::reader::{Reader, Value, Values, corrupt};

/// A tensor of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    /// Its dimensions, the innermost first.
    pub(crate) shape: Vec<u64>,
    /// The type of its elements, with ggml's numbers.
    pub(crate) kind: u32,
    /// Bytes from its start to the start of the next tensor.
    pub(crate) bytes: u64,
}

/// Reads the list of tensors, which follows the metadata.
pub(crate) fn read<R: Read>(
    reader: &mut Reader<R>,
    count: u64,
    values: &Values,
    length: u64,
) -> Result<Vec<Tensor>> {
    let alignment = match values.get("general.alignment") {
        Some(Value::Number(number)) => *number,
        _ => 32,
    };
    let alignment = u64::try_from(alignment)
        .ok()
        .filter(|alignment| alignment.is_power_of_two() && *alignment <= 1 << 20)
        .ok_or_else(|| corrupt("the alignment of the tensors is not a power of two up to 2^20"))?;
    let mut starts = Vec::new();
    for _ in 0..count {
        let name = String::from_utf8_lossy(&reader.text()?).into_owned();
        let dimensions = reader.u32()?;
        if dimensions > 4 {
            return Err(corrupt(format!("a tensor has {dimensions} dimensions")));
        }
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            shape.push(reader.u64()?);
        }
        let kind = reader.u32()?;
        starts.push((reader.u64()?, name, shape, kind));
    }
    let first = (length - reader.left).next_multiple_of(alignment);
    let mut end = length.saturating_sub(first);
    starts.sort();
    let mut tensors = Vec::new();
    for (start, name, shape, kind) in starts.into_iter().rev() {
        let bytes = end
            .checked_sub(start)
            .ok_or_else(|| corrupt("a tensor lies behind the end of the file"))?;
        tensors.push(Tensor {
            name,
            shape,
            kind,
            bytes,
        });
        end = start;
    }
    Ok(tensors)
}
