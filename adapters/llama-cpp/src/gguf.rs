//! Checking a GGUF's header before llama.cpp reads it. A file that is not a GGUF, is cut off, or would trigger one of
//! llama.cpp's assertions (which end the process) is refused here, with the reason.

use std::{io::Read, path::Path};

use journeyman::{Error, Result};

use crate::sizes::Sizes;

mod asserted;
mod reader;
pub(crate) mod tensors;

use asserted::{check_experts, check_vocabulary};
use reader::{OPERATION, Values, parts};
pub(crate) use reader::{Reader, Value, corrupt, read_header};
pub(crate) use tensors::Tensor;

/// The parts of a header that the loader needs.
#[derive(Debug)]
pub(crate) struct Header {
    /// `general.name`, if it is not empty.
    pub(crate) name: Option<String>,
    /// Context size, in tokens, that the model was trained for.
    pub(crate) trained_context: u32,
    /// `general.architecture`.
    pub(crate) architecture: String,
    /// Memory needs of its parts.
    pub(crate) sizes: Sizes,
    /// Whether some layers have sliding-window attention.
    pub(crate) slides: bool,
    /// Whether positions come from a table, with as many rows as the trained context.
    pub(crate) has_position_table: bool,
    /// Whether the output layer shares the embeddings' weights. Also true where the output's tensor is in another file.
    pub(crate) is_tied: bool,
    /// `{architecture}.pooling_type`, with llama.cpp's numbers.
    pub(crate) pooling: Option<u64>,
}

/// The purpose of loading a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Writing,
    Embedding,
}

/// Reads and checks the header.
///
/// # Errors
/// `NotFound` where the file does not exist, `Invalid` where it is not a GGUF, `Corrupt` where it is damaged,
/// `Unsupported` where it does not suit the purpose, `Unavailable` where it cannot be read.
pub(crate) fn inspect(path: &Path, purpose: Purpose) -> Result<Header> {
    let with_path = |error: Error| error.with("path", path.display());
    let mut reader = Reader::open(path).map_err(with_path)?;
    let length = reader.left;
    read_header(&mut reader)
        .and_then(|header| check(header, purpose, &mut reader, length))
        .map_err(with_path)
}

fn check<R: Read>(
    (values, tensors): (Values, u64),
    purpose: Purpose,
    reader: &mut Reader<R>,
    length: u64,
) -> Result<Header> {
    let values = &values;
    let text = |key: &str| match values.get(key) {
        Some(Value::Text(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    let architecture = text("general.architecture")
        .ok_or_else(|| corrupt("the header has no `general.architecture`"))?;
    let own = |name: &str| values.get(&format!("{architecture}.{name}"));
    let number = |name: &str| match own(name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let encoder = architecture.contains("bert")
        || architecture.starts_with("t5")
        || ["clip", "wavtokenizer-dec"].contains(&architecture.as_str());
    let unable = encoder || number("attention.causal") == Some(0);
    if unable && purpose == Purpose::Writing {
        return Err(Error::unsupported(
            OPERATION,
            format!("a model of the architecture `{architecture}` does not generate text from left to right"),
        )
        .hint("use the GGUF of a causal language model"));
    }
    let trained_context = number("context_length")
        .and_then(|number| u32::try_from(number).ok())
        .filter(|&number| number > 0)
        .ok_or_else(|| corrupt("the header has no context length"))?;
    // The assertions of llama_model_base::load_hparams.
    let layers = number("block_count").unwrap_or(0);
    if !(1..=512).contains(&layers) {
        return Err(corrupt("the header has no number of layers from 1 to 512"));
    }
    if !(0..=layers).contains(&number("nextn_predict_layers").unwrap_or(0)) {
        return Err(corrupt(
            "the header has more next-token prediction layers than layers",
        ));
    }
    check_experts(&architecture, own)?;
    if let Some(Value::Text(scaling)) = own("rope.scaling.type")
        && !["none", "linear", "yarn", "longrope"].contains(&scaling.as_str())
    {
        return Err(corrupt("the header's kind of position scaling is unknown"));
    }
    let vocabulary = check_vocabulary(values, text("tokenizer.ggml.model"))?;
    let tensors = tensors::read(reader, tensors, values, length)?;
    let number = |name: &str| number(name).and_then(|number| u64::try_from(number).ok());
    Ok(Header {
        name: text("general.name"),
        trained_context,
        architecture: architecture.clone(),
        slides: own("attention.sliding_window").is_some(),
        is_tied: tensors.iter().all(|tensor| tensor.name != "output.weight"),
        has_position_table: tensors
            .iter()
            .any(|tensor| tensor.name == "position_embd.weight"),
        pooling: number("pooling_type"),
        sizes: Sizes::new(&tensors, number, vocabulary, parts(values) < 2),
    })
}

#[cfg(test)]
mod tests;
