//! The crates and lines that a plain host compiles: the SDK with its default features; and the lines of one with a model.

use std::{collections::BTreeSet, fs, io, path::Path};

use serde_json::Value;

use super::{is_test_file, production_lines};
use crate::{
    figures::{Bound, Figures, Outcome},
    source::{cargo, metadata},
};

/// The beginnings of the paths of the SDK's modules behind features that a plain host does not take, below `src`. A new one is added
/// here by hand.
const LEFT_OUT: [&str; 12] = [
    "testing/",
    // A feature each.
    "papers/arise/",
    "papers/hisme/",
    "papers/scribe/",
    "papers/skillos/",
    "papers/skillrl/",
    // `embeddings`
    "agent/hashed_embedder.rs",
    "agent/hybrid_retriever.rs",
    "agent/vector_retriever.rs",
    "stations/retrieve/fusion.rs",
    // `measure`
    "run/host/by_outcomes.rs",
    "run/host/certify.rs",
];

/// Those that a host with a model in the process or behind a server takes, by its adapter. A plain host leaves them out, too.
const OF_A_MODEL: [&str; 10] = [
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
];

/// The features of such a host.
const MODEL_FEATURES: &str = "language-model,json-schema";

/// The bound of the own lines, with a model and without.
const OWN_LINES: Bound = Bound::AtMost(45_000.0);

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let metadata: Value = serde_json::from_str(&metadata()?)?;
    let left_out: Vec<&str> = LEFT_OUT.into_iter().chain(OF_A_MODEL).collect();
    let plain = Host::count(&metadata, None, &left_out)?;
    let mut record = |name: &str, count: usize, bound| figures.record(name, count as f64, bound);
    record(
        "crates that a plain host compiles",
        plain.crates,
        Bound::AtMost(70.0),
    );
    record("own lines that a plain host compiles", plain.own, OWN_LINES);
    record(
        "own lines behind features that it leaves out",
        plain.left_out,
        Bound::None,
    );
    record(
        "lines of the other crates that it compiles",
        plain.other,
        Bound::None,
    );
    let with_a_model = Host::count(&metadata, Some(MODEL_FEATURES), &LEFT_OUT)?;
    record(
        "own lines with a model: features language-model and json-schema on",
        with_a_model.own,
        OWN_LINES,
    );
    Ok(())
}

/// What a host compiles of the SDK's tree.
#[derive(Default)]
struct Host {
    crates: usize,
    /// Lines of this repository's crates.
    own: usize,
    /// Lines of the SDK behind features that are off.
    left_out: usize,
    /// Lines of the other crates.
    other: usize,
}

impl Host {
    /// With the default features and these; the modules behind the others begin with the paths `left_out`.
    fn count(metadata: &Value, features: Option<&str>, left_out: &[&str]) -> io::Result<Self> {
        let crates = crates_of_the_tree(features)?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let mut host = Self::default();
        for package in packages {
            let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
            if !crates.contains(&(text("name"), text("version"))) {
                continue;
            }
            host.crates += 1;
            let manifest = text("manifest_path");
            let folder = Path::new(&manifest).with_file_name("src");
            let mut files = Vec::new();
            rust_files(&folder, "", &mut files)?;
            let is_sdk = text("name") == "journeyman";
            let is_off = |path: &str| is_sdk && left_out.iter().any(|off| path.starts_with(off));
            for (path, source) in files {
                // A crate of this repository has no source to be fetched from.
                if !package["source"].is_null() {
                    host.other += source.lines().count();
                } else if is_test_file(&path) {
                    continue;
                } else if is_off(&path) {
                    host.left_out += production_lines(&source);
                } else {
                    host.own += production_lines(&source);
                }
            }
        }
        match host.crates == crates.len() {
            true => Ok(host),
            false => Err(io::Error::other(format!(
                "{} of {} crates were found",
                host.crates,
                crates.len()
            ))),
        }
    }
}

/// The crates of the SDK's tree with these features, without tests and build scripts: name and version.
fn crates_of_the_tree(features: Option<&str>) -> io::Result<BTreeSet<(String, String)>> {
    let mut arguments = vec!["tree", "--package", "journeyman", "--edges", "normal"];
    arguments.extend(["--prefix", "none", "--format", "{p}", "--offline"]);
    if let Some(features) = features {
        arguments.extend(["--features", features]);
    }
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
