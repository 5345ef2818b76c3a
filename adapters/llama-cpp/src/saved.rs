//! Saving the prefix cache to disk and restoring it, for a warm start.

use std::{fs, path::Path};

use journeyman::{Error, ErrorKind, ModelId, Result};
use serde::{Deserialize, Serialize};

use crate::{
    context::{Context, Limits},
    digest::file_digest,
    lora::Adapters,
    prefix_cache::PrefixCache,
};

pub(crate) const SAVE: &str = "LlamaCpp::save_prefixes";
pub(crate) const RESTORE: &str = "LlamaCpp::restore_prefixes";
/// The file that lists the saved prefixes; written last.
const LIST: &str = "prefixes.json";
const FORM: u32 = 1;

/// The saved prefixes, with the model and memory that they are for.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct List {
    form: u32,
    model: ModelId,
    memory: String,
    prefixes: Vec<Saved>,
}

/// One saved prefix.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Saved {
    file: String,
    tokens: usize,
    adapter: Option<SavedAdapter>,
    sha256: String,
}

/// The adapter that a prefix was computed with.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedAdapter {
    name: String,
    sha256: String,
}

fn unwritable(error: std::io::Error, folder: &Path) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        SAVE,
        format!("the folder cannot be written ({})", error.kind()),
    )
    .with("folder", folder.display())
    .hint("check that the folder may be written and that the disk is not full")
    .source_from(error)
}

pub(crate) fn save(
    folder: &Path,
    model: &ModelId,
    limits: Limits,
    adapters: &Adapters,
    context: &Context<'_>,
    cache: &PrefixCache,
) -> Result<usize> {
    let failed = |error| unwritable(error, folder);
    fs::create_dir_all(folder).map_err(failed)?;
    // The list is removed first, so that a half-written folder is never taken for a complete one.
    match fs::remove_file(folder.join(LIST)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if is_prefix(&path) {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    let mut list = List {
        form: FORM,
        model: model.clone(),
        memory: limits.memory_name(),
        prefixes: Vec::new(),
    };
    for (number, idle) in cache.by_age().into_iter().enumerate() {
        let file = format!("{number}.prefix");
        let path = folder.join(&file);
        context.save(&idle.sequence, &path)?;
        list.prefixes.push(Saved {
            file,
            tokens: idle.sequence.len(),
            adapter: idle.adapter.as_deref().and_then(|name| {
                Some(SavedAdapter {
                    name: name.to_owned(),
                    sha256: adapters.digest(name)?.to_owned(),
                })
            }),
            sha256: file_digest(SAVE, &path)?,
        });
    }
    let bytes = serde_json::to_vec_pretty(&list)
        .map_err(|error| Error::new(ErrorKind::Internal, SAVE, error.to_string()))?;
    let partial = folder.join(format!("{LIST}.partial"));
    fs::write(&partial, bytes).map_err(failed)?;
    fs::rename(&partial, folder.join(LIST)).map_err(failed)?;
    Ok(list.prefixes.iter().map(|saved| saved.tokens).sum())
}

/// Whether a file has the name of a saved prefix: a number.
fn is_prefix(path: &Path) -> bool {
    let number = path.file_stem().and_then(|stem| stem.to_str());
    let is_number = number.is_some_and(|number| number.parse::<usize>().is_ok());
    is_number && path.extension().is_some_and(|kind| kind == "prefix")
}

pub(crate) fn restore(
    folder: &Path,
    model: &ModelId,
    limits: Limits,
    adapters: &Adapters,
    context: &mut Context<'_>,
    cache: &mut PrefixCache,
) -> Result<usize> {
    let list = read_list(folder)?;
    if list.model != *model || list.memory != limits.memory_name() {
        return Err(Error::unsupported(
            RESTORE,
            "the prefixes were saved for another model or other memory parameters",
        )
        .with("saved_for", &list.model)
        .with("model", model)
        .hint("save prefixes again with this model; use a separate folder for each model"));
    }
    if limits.deterministic {
        return Ok(0);
    }
    let mut restored = 0;
    // Chosen most recently used first, for as long as there is room, and inserted in the opposite order.
    let mut fitting = Vec::new();
    let mut room = context.free_cells();
    for saved in list.prefixes.iter().rev() {
        let known = saved
            .adapter
            .as_ref()
            .is_none_or(|one| adapters.digest(&one.name) == Some(one.sha256.as_str()));
        if known && saved.tokens <= room && fitting.len() + 2 < context.free_sequences() {
            room -= saved.tokens;
            fitting.push(saved);
        }
    }
    for saved in fitting.into_iter().rev() {
        let path = folder.join(&saved.file);
        let whole = is_plain(&saved.file) && is_whole(&path, &saved.sha256)?;
        let sequence = whole
            .then(|| context.restore(&path, saved.tokens))
            .flatten();
        let Some(sequence) = sequence else {
            return Err(damaged().with("file", &saved.file));
        };
        let adapter = saved.adapter.as_ref().map(|one| one.name.clone());
        cache.put(context, sequence, adapter);
        restored += saved.tokens;
    }
    Ok(restored)
}

/// Whether the file exists and has the content that was written.
fn is_whole(path: &Path, sha256: &str) -> Result<bool> {
    match file_digest(RESTORE, path) {
        Ok(digest) => Ok(digest == sha256),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a file name stays within its folder.
fn is_plain(file: &str) -> bool {
    let name = Path::new(file).file_name();
    name.is_some_and(|name| name == file)
}

fn damaged() -> Error {
    Error::new(
        ErrorKind::Corrupt,
        RESTORE,
        "the saved prefixes are damaged",
    )
    .hint("delete the folder and save prefixes again; nothing else depends on it")
}

fn read_list(folder: &Path) -> Result<List> {
    let bytes = fs::read(folder.join(LIST)).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::Unavailable,
        };
        Error::new(
            kind,
            RESTORE,
            format!("no list of prefixes can be read ({})", error.kind()),
        )
        .with("folder", folder.display())
        .hint("name a folder that save_prefixes wrote")
        .source_from(error)
    })?;
    let list: List = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    if list.form == FORM {
        Ok(list)
    } else {
        Err(Error::unsupported(
            RESTORE,
            format!("the prefixes have the unknown format version {}", list.form),
        )
        .hint("save prefixes again with this release"))
    }
}
