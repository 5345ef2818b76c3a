//! Reads a GGUF's header before llama.cpp does: a file that is none, is cut off, or would run into one of llama.cpp's
//! assertions (which end the process) is refused here, with the reason.

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

/// What the loader needs of a header.
#[derive(Debug)]
pub(crate) struct Header {
    /// `general.name`, if it is not empty.
    pub(crate) name: Option<String>,
    /// Tokens the model was trained for.
    pub(crate) trained_context: u32,
    /// `general.architecture`.
    pub(crate) architecture: String,
    /// How much memory its parts take.
    pub(crate) sizes: Sizes,
    /// Whether some layers attend to a window that slides along.
    pub(crate) slides: bool,
    /// Whether positions are looked up in a table, of as many rows as the model was trained for.
    pub(crate) has_position_table: bool,
    /// Whether its output is its embeddings; so too where that is in another file.
    pub(crate) is_tied: bool,
    /// `{architecture}.pooling_type`, by llama.cpp's numbers.
    pub(crate) pooling: Option<u64>,
}

/// What a model is loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Writing,
    Embedding,
}

/// Reads and checks the header.
///
/// # Errors
/// `NotFound` for no file, `Invalid` for what is no GGUF, `Corrupt` for a damaged one, `Unsupported` for a GGUF that
/// is not fit for the purpose, `Unavailable` where the file cannot be read.
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
            format!("a model of the kind `{architecture}` does not write text from left to right"),
        )
        .hint("use the GGUF of a causal language model"));
    }
    let trained_context = number("context_length")
        .and_then(|number| u32::try_from(number).ok())
        .filter(|&number| number > 0)
        .ok_or_else(|| corrupt("the header tells no length of context"))?;
    // The assertions of llama_model_base::load_hparams.
    let layers = number("block_count").unwrap_or(0);
    if !(1..=512).contains(&layers) {
        return Err(corrupt(
            "the header tells no number of layers from 1 to 512",
        ));
    }
    if !(0..=layers).contains(&number("nextn_predict_layers").unwrap_or(0)) {
        return Err(corrupt(
            "the header tells more layers that predict ahead than layers",
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
