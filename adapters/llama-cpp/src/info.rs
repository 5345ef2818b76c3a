//! Facts about a model from its GGUF's header, without loading the weights.

use std::{
    collections::{BTreeMap, HashMap},
    io::Read,
    path::Path,
};

use journeyman::{Error, ModelId, Result};
use serde::Serialize;

use crate::{
    digest::file_digest,
    gguf::{self, Reader, Value, corrupt, read_header},
};

/// Maximum number of dimensions of a tensor.
const DIMENSIONS: u32 = 4;

/// A model as its file describes it. For a model in several files, only the tensors of this file are counted.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelInfo {
    /// The id that the loaded model has.
    pub model: ModelId,
    /// Its architecture, such as `qwen3`.
    pub architecture: String,
    /// Number of parameters: the elements of all tensors.
    pub parameters: u64,
    /// The type of most parameters, such as `Q4_K`.
    pub quantisation: String,
    /// The number of parameters by type.
    pub tensor_types: BTreeMap<String, u64>,
    /// Trained context in tokens, where the header has it.
    pub trained_context: Option<u64>,
    /// Whether it has a chat template.
    pub chat_template: bool,
    /// Number of tokens in its vocabulary.
    pub vocabulary: u64,
    /// The pooling of an embedding model, where the header has it: `none`, `mean`, `cls`, `last`, `rank` or a number.
    pub pooling: Option<String>,
    /// Length of the file in bytes.
    pub file_bytes: u64,
    /// The file's SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// The error of loading it as a language model, where the header alone shows it.
    pub refused: Option<Error>,
}

impl ModelInfo {
    /// Reads the header, and the whole file once for its SHA-256.
    ///
    /// # Errors
    /// `NotFound` where the file does not exist, `Invalid` where it is not a GGUF, `Corrupt` where its header is
    /// damaged, `Unavailable` where it cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let with_path = |error: Error| error.with("path", path.display());
        let mut reader = Reader::open(path).map_err(with_path)?;
        let file_bytes = reader.left;
        let (values, tensors) = read_header(&mut reader).map_err(with_path)?;
        let types = tensor_types(&mut reader, tensors).map_err(with_path)?;
        let sha256 = file_digest("ModelInfo::read", path).map_err(with_path)?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        let name = text(&values, "general.name").or(stem.map(Into::into));
        let architecture = text(&values, "general.architecture").unwrap_or_default();
        let own = |name: &str| number(&values, &format!("{architecture}.{name}"));
        let largest = types.iter().max_by_key(|(_, count)| **count);
        Ok(Self {
            model: ModelId::new(format!("{}@{}", name.unwrap_or_default(), &sha256[..12])),
            parameters: types.values().sum(),
            quantisation: largest.map(|(name, _)| name.clone()).unwrap_or_default(),
            tensor_types: types,
            trained_context: own("context_length"),
            chat_template: text(&values, "tokenizer.chat_template").is_some(),
            vocabulary: match values.get("tokenizer.ggml.tokens") {
                Some(Value::Texts { len, .. }) => *len,
                _ => 0,
            },
            pooling: own("pooling_type").map(pooling),
            file_bytes,
            sha256,
            refused: gguf::inspect(path, gguf::Purpose::Writing).err(),
            architecture,
        })
    }
}

fn text(values: &HashMap<String, Value>, key: &str) -> Option<String> {
    match values.get(key) {
        Some(Value::Text(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

fn number(values: &HashMap<String, Value>, key: &str) -> Option<u64> {
    match values.get(key) {
        Some(Value::Number(number)) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// Counts the parameters of each type.
fn tensor_types<R: Read>(reader: &mut Reader<R>, tensors: u64) -> Result<BTreeMap<String, u64>> {
    let mut types = BTreeMap::new();
    for _ in 0..tensors {
        reader.text()?;
        let dimensions = reader.u32()?;
        if dimensions > DIMENSIONS {
            return Err(corrupt(format!("a tensor has {dimensions} dimensions")));
        }
        let mut count = 1_u64;
        for _ in 0..dimensions {
            count = count.saturating_mul(reader.u64()?);
        }
        let kind = type_name(reader.u32()?);
        let of_kind = types.entry(kind).or_insert(0_u64);
        *of_kind = of_kind.saturating_add(count);
        // The offset of its data.
        reader.u64()?;
    }
    Ok(types)
}

/// The name of a tensor type in ggml.h.
fn type_name(kind: u32) -> String {
    let name = match kind {
        0 => "F32",
        1 => "F16",
        2 => "Q4_0",
        3 => "Q4_1",
        6 => "Q5_0",
        7 => "Q5_1",
        8 => "Q8_0",
        9 => "Q8_1",
        10 => "Q2_K",
        11 => "Q3_K",
        12 => "Q4_K",
        13 => "Q5_K",
        14 => "Q6_K",
        15 => "Q8_K",
        16 => "IQ2_XXS",
        17 => "IQ2_XS",
        18 => "IQ3_XXS",
        19 => "IQ1_S",
        20 => "IQ4_NL",
        21 => "IQ3_S",
        22 => "IQ2_S",
        23 => "IQ4_XS",
        28 => "F64",
        29 => "IQ1_M",
        30 => "BF16",
        34 => "TQ1_0",
        35 => "TQ2_0",
        39 => "MXFP4",
        40 => "NVFP4",
        other => return format!("type {other}"),
    };
    name.to_owned()
}

/// The name of a pooling type in llama.h.
fn pooling(number: u64) -> String {
    let name = match number {
        0 => "none",
        1 => "mean",
        2 => "cls",
        3 => "last",
        4 => "rank",
        other => return other.to_string(),
    };
    name.to_owned()
}
