//! The crates and lines that a plain host compiles: the SDK with its default features.

use std::{collections::BTreeSet, fs, io, path::Path};

use serde_json::Value;

use super::{is_test_file, production_lines};
use crate::{
    figures::{Bound, Figures, Outcome},
    source::{cargo, metadata},
};

/// The beginnings of the paths of the SDK's modules behind features that a plain host does not take, below `src`. A new one is added
/// here by hand.
const LEFT_OUT: [&str; 22] = [
    "testing/",
    // A feature each.
    "papers/arise/",
    "papers/hisme/",
    "papers/scribe/",
    "papers/skillos/",
    "papers/skillrl/",
    // `language-model`
    "agent/adapted_model.rs",
    "agent/chat_format",
    "agent/model_executor",
    "agent/one_model.rs",
    "agent/role/",
    "library/format/arise",
    "text/answer/",
    // `json-schema`
    "agent/fn_environment",
    "text/loosened",
    "text/schema.rs",
    // `embeddings`
    "agent/hashed_embedder.rs",
    "agent/hybrid_retriever.rs",
    "agent/vector_retriever.rs",
    "stations/retrieve/fusion.rs",
    // `measure`
    "run/host/by_outcomes.rs",
    "run/host/certify.rs",
];

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let crates = crates_of_the_tree()?;
    let total = crates.len() as f64;
    figures.record(
        "crates that a plain host compiles",
        total,
        Bound::AtMost(70.0),
    );

    let metadata: Value = serde_json::from_str(&metadata()?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let (mut own, mut left_out, mut other, mut read) = (0, 0, 0, 0);
    for package in packages {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        if !crates.contains(&(text("name"), text("version"))) {
            continue;
        }
        read += 1;
        let manifest = text("manifest_path");
        let folder = Path::new(&manifest).with_file_name("src");
        let mut files = Vec::new();
        rust_files(&folder, "", &mut files)?;
        for (path, source) in files {
            // A crate of this repository has no source to be fetched from.
            if !package["source"].is_null() {
                other += source.lines().count();
            } else if is_test_file(&path) {
                continue;
            } else if text("name") == "journeyman" && is_left_out(&path) {
                left_out += production_lines(&source);
            } else {
                own += production_lines(&source);
            }
        }
    }
    if read != crates.len() {
        return Err(format!("{read} of {} crates were found", crates.len()).into());
    }
    figures.record(
        "own lines that a plain host compiles",
        own as f64,
        Bound::AtMost(45_000.0),
    );
    figures.record(
        "own lines behind features that it leaves out",
        left_out as f64,
        Bound::None,
    );
    figures.record(
        "lines of the other crates that it compiles",
        other as f64,
        Bound::None,
    );
    Ok(())
}

fn is_left_out(path: &str) -> bool {
    LEFT_OUT.iter().any(|folder| path.starts_with(folder))
}

/// The crates of the SDK's tree without tests and build scripts: name and version.
fn crates_of_the_tree() -> io::Result<BTreeSet<(String, String)>> {
    let mut arguments = vec!["tree", "--package", "journeyman", "--edges", "normal"];
    arguments.extend(["--prefix", "none", "--format", "{p}", "--offline"]);
    let tree = cargo(&arguments)?;
    // `NAME vVERSION (FOLDER) (*)`, at each place that needs the crate.
    let crates = tree.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let version = rest.split(' ').next()?.strip_prefix('v')?;
        Some((name.to_owned(), version.to_owned()))
    });
    Ok(crates.collect())
}

/// The Rust files in a folder: the path below it, and the text.
fn rust_files(folder: &Path, under: &str, found: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{under}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            rust_files(&entry.path(), &format!("{path}/"), found)?;
        } else if path.ends_with(".rs") {
            let text = fs::read(entry.path())?;
            found.push((path, String::from_utf8_lossy(&text).into_owned()));
        }
    }
    Ok(())
}
