//! Embeddings that are kept on the disk: ten thousand skills take minutes, and other data and parts ask for the same.

use std::{
    collections::HashMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use journeyman::{
    Error, Result,
    contract::{Embedder, Embedding, EmbeddingSpace},
    domain::sha256_hex,
};

/// Characters of a text's digest.
const DIGEST: usize = 32;

/// An embedder that asks another one for each text once.
#[derive(Debug)]
pub(super) struct Kept {
    embedder: Arc<dyn Embedder>,
    file: PathBuf,
    known: Mutex<HashMap<String, Embedding>>,
}

impl Kept {
    /// With what the folder has of this embedder's space. A file's record is a digest and the components.
    pub(super) fn open(embedder: Arc<dyn Embedder>, folder: &Path) -> std::io::Result<Self> {
        fs::create_dir_all(folder)?;
        let space = embedder.space();
        let name = &sha256_hex(format!("{space:?}"))[..DIGEST];
        let file = folder.join(format!("{name}.f32"));
        let mut bytes = fs::read(&file).unwrap_or_default();
        let record = DIGEST + 4 * space.dimensions;
        if !bytes.len().is_multiple_of(record) {
            // The end of a run that was stopped while it wrote.
            bytes.truncate(bytes.len() / record * record);
            fs::write(&file, &bytes)?;
        }
        let mut known = HashMap::new();
        for record in bytes.chunks_exact(record) {
            let (digest, components) = record.split_at(DIGEST);
            let components =
                (components.as_chunks::<4>().0.iter()).map(|one| f32::from_le_bytes(*one));
            if let Ok(embedding) = Embedding::new(components.collect()) {
                known.insert(String::from_utf8_lossy(digest).into_owned(), embedding);
            }
        }
        Ok(Self {
            embedder,
            file,
            known: Mutex::new(known),
        })
    }

    fn known(&self, digest: &str) -> Option<Embedding> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(digest).cloned()
    }

    fn keep(&self, digests: &[String], made: Vec<Embedding>) -> Result<()> {
        let mut bytes = Vec::new();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (digest, embedding) in digests.iter().zip(made) {
            bytes.extend(digest.bytes());
            bytes.extend(
                embedding
                    .components()
                    .iter()
                    .flat_map(|one| one.to_le_bytes()),
            );
            known.insert(digest.clone(), embedding);
        }
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file);
        let written = file
            .as_mut()
            .map_err(|error| error.to_string())
            .and_then(|file| file.write_all(&bytes).map_err(|error| error.to_string()));
        written.map_err(|error| Error::invalid("Kept::keep", error))
    }
}

#[async_trait]
impl Embedder for Kept {
    fn space(&self) -> &EmbeddingSpace {
        self.embedder.space()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        let digest = |text: &&str| sha256_hex(text)[..DIGEST].to_owned();
        let digests: Vec<String> = texts.iter().map(digest).collect();
        let is_new = |(text, digest): (&&str, &String)| {
            self.known(digest)
                .is_none()
                .then(|| ((*text).to_owned(), digest.clone()))
        };
        let (texts, new): (Vec<String>, Vec<String>) =
            texts.iter().zip(&digests).filter_map(is_new).unzip();
        for (texts, digests) in texts.chunks(64).zip(new.chunks(64)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            self.keep(digests, self.embedder.embed(&texts).await?)?;
        }
        let all = digests.iter().map(|digest| self.known(digest));
        all.collect::<Option<Vec<_>>>().ok_or_else(|| {
            Error::invalid(
                "Kept::embed",
                "the embedder gave fewer embeddings than texts",
            )
        })
    }
}
