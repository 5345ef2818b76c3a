//! The model's files.

use std::{fs, io, path::Path};

use fastembed::{TokenizerFiles, UserDefinedEmbeddingModel};
use journeyman::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use crate::{config::Pooling, convert::LOAD};

/// A model's files in memory.
pub(crate) struct Files {
    pub(crate) model: UserDefinedEmbeddingModel,
    /// The first 12 hexadecimal digits of the SHA-256 of all files.
    pub(crate) digest: String,
}

impl Files {
    pub(crate) fn read(folder: &Path, pooling: Pooling) -> Result<Self> {
        let mut hash = Sha256::new();
        let mut file = |name: &str| {
            let bytes = fs::read(folder.join(name)).map_err(|error| unread(folder, name, error))?;
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(&bytes);
            Ok::<_, Error>(bytes)
        };
        let onnx = file("model.onnx")?;
        let tokenizer = TokenizerFiles {
            tokenizer_file: file("tokenizer.json")?,
            config_file: file("config.json")?,
            special_tokens_map_file: file("special_tokens_map.json")?,
            tokenizer_config_file: file("tokenizer_config.json")?,
        };
        let pooling = match pooling {
            Pooling::Mean => fastembed::Pooling::Mean,
            Pooling::Cls => fastembed::Pooling::Cls,
        };
        let digest: String = hash
            .finalize()
            .iter()
            .take(6)
            .map(|b| format!("{b:02x}"))
            .collect();
        Ok(Self {
            model: UserDefinedEmbeddingModel::new(onnx, tokenizer).with_pooling(pooling),
            digest,
        })
    }
}

fn unread(folder: &Path, name: &str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, LOAD, format!("{name} of the embedding model cannot be read"))
        .with("path", folder.join(name).display())
        .hint(
            "the folder needs model.onnx, tokenizer.json, config.json, special_tokens_map.json and tokenizer_config.json, as \
             they stand in the model's repository",
        )
        .source_from(error)
}
