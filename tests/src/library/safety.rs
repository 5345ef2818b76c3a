//! What hostile skills achieve, what ordinary ones suffer, and where secrets are found.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Component, Path, PathBuf},
    process::Command,
};

use futures::executor::block_on;
use journeyman::{
    RunId, Seed,
    contract::{Journal, JournalEntry, SkillStore, SkillStoreExt},
    domain::{Cause, Commit, LibraryChange, sha256_hex},
    library::SkillLibrary,
    testing::{Hostile, RefusedBy, hostile, known_attacks, ordinary, sample},
};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_lint::lint;
use serde_json::Value;

use crate::figures::{Bound, Figures, Outcome};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Hostile packages a seed.
const HOSTILE: u64 = 1000;
/// Ordinary skills a seed.
const ORDINARY: u64 = 200;
/// Planted secrets a seed.
const SECRETS: u64 = 500;

pub(super) fn run(figures: &mut Figures<'_>, root: &Path) -> Outcome {
    let seed = figures.options().seed.derive("library safety", 0);
    let built = Command::new("cargo")
        .args(["build", "-q", "-p", "journeyman-cli"])
        .current_dir(root)
        .status()?;
    if !built.success() {
        return Err("the command could not be built".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let command = target
        .unwrap_or_else(|| root.join("target"))
        .join("debug/journeyman");
    hostile_ones(figures, seed, &command)?;
    ordinary_ones(figures, seed, &command)?;
    secrets(figures, seed)
}

/// Imports at least a thousand hostile packages, those of the written corpus among them.
fn hostile_ones(figures: &mut Figures<'_>, seed: Seed, command: &Path) -> Outcome {
    let all: Vec<Hostile> = (0..HOSTILE)
        .map(|number| hostile(seed.derive("hostile", number)))
        .chain(known_attacks())
        .collect();
    let passed = all.iter().filter(|package| {
        let name = Some(package.folder_name.as_str());
        package.refused_by == RefusedBy::Lint
            && lint(&package.text, name, &package.files).is_acceptable()
    });
    figures.record("hostile packages", all.len() as f64, Bound::AtLeast(1000.0));
    let passed = passed.count();
    figures.record(
        "hostile packages that the linter passes",
        passed as f64,
        Bound::AtMost(0.0),
    );

    let sandbox = tempfile::tempdir()?;
    // Deep enough for `..` to lead to places that are looked at.
    let library = sandbox.path().join("a/b/c/d/e/library");
    fs::create_dir_all(&library)?;
    let source = sandbox.path().join("source");
    fs::write(sandbox.path().join("canary"), "untouched")?;
    let mut paths = Vec::new();
    for (number, package) in all.iter().enumerate() {
        let folder = source.join(number.to_string());
        paths.push(write_package(&folder, package, sandbox.path())?);
    }
    let before = outside(sandbox.path(), &library)?;
    let answers = import(command, &library, &paths)?;
    let after = outside(sandbox.path(), &library)?;
    let changed = before
        .iter()
        .filter(|(path, hash)| after.get(*path) != Some(hash))
        .count()
        + after
            .keys()
            .filter(|path| !before.contains_key(*path))
            .count();
    figures.record(
        "files changed outside the library",
        changed as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "hostile packages taken in quarantined",
        taken_in(&answers),
        Bound::None,
    );
    let store = DiskStore::open(&library, &DiskOptions::default())?;
    let report = block_on(store.sync_folders())?;
    let folded = SkillLibrary::replay(&block_on(store.load())?.committed)?;
    let active = folded
        .entries()
        .filter(|entry| entry.skill.state.is_offered());
    figures.record(
        "hostile skills accepted as active",
        active.count() as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "folders that could not be written",
        report.faults.len() as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

/// Imports ordinary skills in many scripts: each must come in.
fn ordinary_ones(figures: &mut Figures<'_>, seed: Seed, command: &Path) -> Outcome {
    let sandbox = tempfile::tempdir()?;
    let mut paths = Vec::new();
    for number in 0..ORDINARY {
        let skill = ordinary(seed.derive("ordinary", number));
        let folder = sandbox
            .path()
            .join(number.to_string())
            .join(&skill.folder_name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("SKILL.md"), &skill.text)?;
        for (path, bytes) in &skill.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            fs::write(path, bytes)?;
        }
        paths.push(folder);
    }
    let library = sandbox.path().join("library");
    let answers = import(command, &library, &paths)?;
    let refused = answers
        .iter()
        .filter_map(|answer| answer["refused"].as_array());
    let refused: usize = refused.map(Vec::len).sum();
    figures.record("ordinary skills", ORDINARY as f64, Bound::AtLeast(100.0));
    figures.record(
        "ordinary skills refused",
        refused as f64,
        Bound::AtMost(0.0),
    );
    let missing = ORDINARY as f64 - taken_in(&answers);
    figures.record("ordinary skills not taken in", missing, Bound::AtMost(0.0));
    Ok(())
}

/// Plants secrets in whatever can be committed or appended, and looks for them in every byte of the library.
fn secrets(figures: &mut Figures<'_>, seed: Seed) -> Outcome {
    let folder = tempfile::tempdir()?;
    let store = DiskStore::open(folder.path(), &DiskOptions::default())?;
    let planted: Vec<String> = (0..SECRETS)
        .map(|n| secret(seed.derive("secret", n)))
        .collect();
    for (number, secret) in planted.iter().enumerate() {
        let mut skill = sample::skill(&format!("skill-{number}"));
        let mut reason = "a figure".to_owned();
        match number % 5 {
            0 => skill.body = format!("1. Log in with {secret}.\n2. Go on."),
            1 => skill.description = format!("Logs in with {secret}"),
            2 => reason = format!("the agent said: \"{secret}\""),
            3 => drop(skill.metadata.insert("note".to_owned(), secret.clone())),
            _ => skill.trigger = Some(format!("log in, {secret}")),
        }
        let commit = Commit::new(
            block_on(store.load())?.revision,
            format!("commit {number}").as_str(),
            Cause::new(reason),
            vec![LibraryChange::Add(Box::new(skill))],
        );
        block_on(store.commit_rebased(&commit, 8))?;
        let entry = JournalEntry::new(
            RunId::new("run"),
            number as u64,
            serde_json::json!({ "observation": format!("token: {secret}\n"), secret: 1 }),
        );
        block_on(store.append(&[entry]))?;
    }
    block_on(store.sync_folders())?;
    let mut bytes = Vec::new();
    for path in files(folder.path())? {
        bytes.extend(fs::read(path)?);
        bytes.push(b'\n');
    }
    let text = String::from_utf8_lossy(&bytes);
    let found = planted
        .iter()
        .filter(|secret| text.contains(secret.as_str()));
    figures.record(
        "planted secrets",
        planted.len() as f64,
        Bound::AtLeast(500.0),
    );
    figures.record(
        "planted secrets found on the disk",
        found.count() as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

/// A secret of one of the known forms.
fn secret(seed: Seed) -> String {
    let of = |letters: &str, length: u64| -> String {
        let letters: Vec<char> = letters.chars().collect();
        let at = |n: u64| {
            seed.derive("letter", n)
                .index(letters.len())
                .unwrap_or_default()
        };
        (0..length).map(|n| letters[at(n)]).collect()
    };
    const ANY: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    match seed.derive("form", 0).index(6).unwrap_or_default() {
        0 => format!("AKIA{}", of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        1 => format!("ghp_{}", of(ANY, 36)),
        2 => format!("sk-proj-{}", of(ANY, 40)),
        3 => format!("AIza{}", of(ANY, 35)),
        4 => format!("hf_{}", of(ANY, 34)),
        _ => format!("glpat-{}", of(ANY, 20)),
    }
}

/// Writes what of a package a file system takes; every twentieth has a link out of it as well.
fn write_package(folder: &Path, package: &Hostile, sandbox: &Path) -> io::Result<PathBuf> {
    let name = Path::new(&package.folder_name);
    let plain = |path: &Path| {
        let mut parts = path.components();
        parts.clone().count() > 0
            && parts.all(|part| matches!(part, Component::Normal(_)))
            && !path.as_os_str().as_encoded_bytes().contains(&0)
    };
    let own = if plain(name) && name.components().count() == 1 && package.folder_name.len() < 256 {
        folder.join(name)
    } else {
        folder.join("package")
    };
    fs::create_dir_all(&own)?;
    fs::write(own.join("SKILL.md"), &package.text)?;
    for (path, bytes) in &package.files {
        let path = Path::new(path);
        if plain(path) {
            // Longer or stranger than this file system takes: then it cannot come this way.
            let path = own.join(path);
            let made = fs::create_dir_all(path.parent().unwrap_or(&own));
            let _ = made.and_then(|()| fs::write(path, bytes));
        }
    }
    if sha256_hex(&package.text).starts_with(['0', '1']) {
        std::os::unix::fs::symlink(sandbox.join("canary"), own.join("a-link-that-leads-out"))?;
    }
    Ok(own)
}

/// What the command says of its imports, a batch at a time.
fn import(command: &Path, library: &Path, paths: &[PathBuf]) -> Result<Vec<Value>, Failure> {
    let mut answers = Vec::new();
    for batch in paths.chunks(100) {
        let output = Command::new(command)
            .arg("--library")
            .arg(library)
            .args([
                "--json",
                "skill",
                "import",
                "--create",
                "--keep-going",
                "--format",
                "skill-folder",
            ])
            .args(batch)
            .output()?;
        let answer: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        if answer.get("taken_in").is_none() {
            return Err(format!("an import failed: {answer}").into());
        }
        answers.push(answer);
    }
    Ok(answers)
}

fn taken_in(answers: &[Value]) -> f64 {
    let counts = answers
        .iter()
        .filter_map(|answer| answer["taken_in"].as_f64());
    counts.sum()
}

/// Every file outside the library, with the hash of its content.
fn outside(sandbox: &Path, library: &Path) -> io::Result<BTreeMap<PathBuf, String>> {
    let mut all = BTreeMap::new();
    for path in files(sandbox)? {
        if !path.starts_with(library) {
            all.insert(path.clone(), sha256_hex(fs::read(&path)?));
        }
    }
    Ok(all)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_symlink() || !path.is_dir() {
            all.push(path);
        } else {
            all.extend(files(&path)?);
        }
    }
    Ok(all)
}
