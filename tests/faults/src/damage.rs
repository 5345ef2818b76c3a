//! F3: a file is cut, flipped, zeroed, grown, or a block of it stands in another's place.

use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{
    Error, Result, Seed,
    contract::{Journal, JournalEntry, SkillFiles, SkillStore},
    domain::{Committed, FileRef, Revision},
};
use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::{Value, json};

use crate::{
    Size, child,
    history::{Session, Write, Writer},
    report::{Outcome, Report},
    spoiled,
};

/// What is damaged. A new kind of file of a library has a line here.
const FILES: [&str; 4] = [
    "library.db",
    "library.db-wal",
    "library.db-shm",
    "library.head",
];
/// Writes of the library that is damaged: those that are in the database, and those that are in its log only.
const WRITES: (u64, u64) = (120, 60);
/// A look at a damaged library that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// SQLite's pages.
const BLOCK: usize = 4096;

/// Runs it.
///
/// # Errors
/// When a process or folder cannot be made.
pub(crate) fn run(report: &mut Report, size: &Size) -> Outcome {
    let writer = Writer::new("w", size.seed);
    let library = tempfile::tempdir()?;
    // Copied while it is open: closing it would fold the log in.
    let template = tempfile::tempdir()?;
    let made = make(&library.path().join("library"), &writer, template.path())?;
    drop(made);
    for file in FILES {
        let (mut counts, mut told) = (BTreeMap::new(), BTreeMap::new());
        for number in 0..size.of(1000, 8) {
            let seed = size.seed.derive(file, number);
            let seen = one(template.path(), file, &writer, seed)?;
            for fault in &seen.faults {
                *counts.entry(fault.kind).or_insert(0) += 1;
                report.progress(format_args!("{file}, seed {seed}: {}", fault.detail));
            }
            for answer in seen.answers {
                *told.entry(answer).or_insert(0) += 1;
            }
        }
        report.progress(format_args!("{file}: {told:?}"));
        report.told(format_args!("F3.{file}.damages"), size.of(1000, 8) as f64);
        for kind in FAULTS {
            let count = counts.get(kind).copied().unwrap_or(0);
            report.none(format_args!("F3.{file}.{kind}"), count);
        }
    }
    spoiled::run(report, size)
}

/// What may not happen.
const FAULTS: [&str; 5] = [
    "ended or hung",
    "untyped",
    "lost in silence",
    "wrong",
    "deleted",
];

struct Fault {
    kind: &'static str,
    detail: String,
}

#[derive(Default)]
struct Seen {
    answers: Vec<String>,
    faults: Vec<Fault>,
}

impl Seen {
    fn fault(&mut self, kind: &'static str, detail: impl ToString) {
        let detail = format!("{kind}: {}", detail.to_string());
        self.faults.push(Fault { kind, detail });
    }
}

fn make(
    root: &Path,
    writer: &Writer,
    template: &Path,
) -> std::result::Result<Session, Box<dyn std::error::Error + Send + Sync>> {
    let write = |from: u64, to: u64| -> Result<Session> {
        let mut session = Session::new(DiskStore::open(root, &DiskOptions::default())?)?;
        for number in from..to {
            session.perform(&writer.nth(number))?;
        }
        Ok(session)
    };
    drop(write(0, WRITES.0)?);
    let session = write(WRITES.0, WRITES.0 + WRITES.1)?;
    copy(root, template)?;
    Ok(session)
}

/// The files of a library, copied as they are.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Damages a copy, and has another process look at it.
fn one(
    template: &Path,
    file: &str,
    writer: &Writer,
    seed: Seed,
) -> std::result::Result<Seen, Box<dyn std::error::Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    copy(template, folder.path())?;
    let path = folder.path().join(file);
    let mut bytes = fs::read(&path)?;
    let how = damage(&mut bytes, seed);
    fs::write(&path, &bytes)?;
    let mut process = Command::new(std::env::current_exe()?)
        .arg("look")
        .arg(folder.path())
        .args([&writer.name, &writer.seed.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let ended = child::wait(&mut process, PATIENCE);
    let mut seen = Seen::default();
    let told = process.wait_with_output()?.stdout;
    match (ended, serde_json::from_slice::<Value>(&told)) {
        (Ok(status), Ok(told)) if status.success() => read(&told, how, &mut seen),
        (ended, _) => seen.fault("ended or hung", format_args!("{how}: {ended:?}")),
    }
    // SQLite ends its log and its shared memory by itself, when all of the log is in the database.
    if !folder.path().join("library.db").exists() {
        seen.fault("deleted", how);
    }
    Ok(seen)
}

fn read(told: &Value, how: &str, seen: &mut Seen) {
    let number = |name: &str| told[name].as_u64().unwrap_or(u64::MAX);
    for error in told["errors"].as_array().into_iter().flatten() {
        let error = error.as_str().unwrap_or_default();
        seen.answers.push(error.to_owned());
        if ["Internal", "Panicked"]
            .iter()
            .any(|kind| error.contains(kind))
        {
            seen.fault("untyped", format_args!("{how}: {error}"));
        }
    }
    if number("lost") > 0 {
        seen.fault("lost in silence", format_args!("{how}: {}", number("lost")));
    }
    if number("wrong") > 0 {
        seen.fault("wrong", format_args!("{how}: {}", number("wrong")));
    }
    if seen.answers.is_empty() && seen.faults.is_empty() {
        seen.answers.push("no harm".to_owned());
    }
}

/// Damages in one of several ways, and says how.
pub(crate) fn damage(bytes: &mut Vec<u8>, seed: Seed) -> &'static str {
    let len = bytes.len();
    let draw = |label: &str, below: usize| seed.derive(label, 0).index(below).unwrap_or(0);
    let blocks = len / BLOCK;
    match draw("how", 7) {
        0 => {
            bytes.truncate(if draw("whole", 10) == 0 {
                0
            } else {
                draw("cut", len)
            });
            "cut"
        }
        1 => {
            for flip in 0..1 + draw("flips", 8) as u64 {
                let at = seed.derive("flip", flip).index(len).unwrap_or(0);
                bytes[at] ^= 1 << seed.derive("bit", flip).index(8).unwrap_or(0);
            }
            "flipped"
        }
        2 => {
            let at = draw("zero", len);
            let end = len.min(at + 1 + draw("many", 2 * BLOCK));
            bytes[at..end].fill(0);
            "zeroed"
        }
        3 if blocks > 1 => {
            let (from, to) = (draw("from", blocks) * BLOCK, draw("to", blocks) * BLOCK);
            bytes.copy_within(from..from + BLOCK, to);
            "a block in another's place"
        }
        4 if blocks > 1 => {
            let (from, to) = (draw("from", blocks) * BLOCK, draw("to", blocks) * BLOCK);
            let block = bytes[from..from + BLOCK].to_vec();
            bytes.splice(to..to, block);
            "a block twice"
        }
        5 => {
            let at = draw("noise", len);
            for (number, byte) in (0..).zip(bytes[at..].iter_mut().take(BLOCK)) {
                *byte = (seed.derive("byte", number).0 & 0xff) as u8;
            }
            "noise"
        }
        _ => {
            bytes.resize(len + 1 + draw("grow", 3 * BLOCK), draw("with", 2) as u8);
            "grown"
        }
    }
}

/// Looks at a damaged library, in a process of its own: `look ROOT NAME SEED`. What it says is a line of JSON.
///
/// # Errors
/// A wrong call.
#[allow(clippy::print_stdout)]
pub(crate) fn look(arguments: &[String]) -> Outcome {
    let [root, name, seed] = arguments else {
        return Err("look ROOT NAME SEED".into());
    };
    let writer = Writer {
        name: name.clone(),
        seed: Seed(seed.parse()?),
    };
    let mut options = DiskOptions::default();
    options.patience = Duration::from_secs(2);
    let (mut errors, mut lost, mut wrong) = (Vec::new(), 0, 0);
    let mut failed = |at: &str, error: &Error| errors.push(format!("{at}: {:?}", error.kind()));
    match DiskStore::open(root, &options) {
        Err(error) => failed("open", &error),
        Ok(store) => {
            let (commits, entries, files) = truth(&writer);
            let mut weigh = |at: &str, found: Result<(u64, bool)>| match found {
                Ok((less, same)) => {
                    lost += less;
                    wrong += u64::from(!same);
                }
                Err(error) => failed(at, &error),
            };
            weigh(
                "load",
                block_on(store.load()).map(|all| against(&all.committed, &commits)),
            );
            let half = commits.len() / 2;
            let since = block_on(store.since(Revision(half as u64)));
            // A library that ends before that revision says so.
            weigh("since", since.map(|late| against(&late, &commits[half..])));
            weigh(
                "read",
                block_on(store.read(&writer.run())).map(|read| against(&read, &entries)),
            );
            for bytes in &files {
                let got = FileRef::of(bytes).and_then(|file| block_on(store.get(&file.sha256)));
                let got = got.map(|got| {
                    (
                        u64::from(got.is_none()),
                        got.is_none_or(|got| got == *bytes),
                    )
                });
                weigh("get", got);
            }
            let next = writer.nth(WRITES.0 + WRITES.1);
            let written = Session::new(store).and_then(|mut session| session.perform(&next));
            weigh("commit", written.map(|()| (0, true)));
        }
    }
    println!(
        "{}",
        json!({ "errors": errors, "lost": lost, "wrong": wrong })
    );
    Ok(())
}

/// All that was written.
fn truth(writer: &Writer) -> (Vec<Committed>, Vec<JournalEntry>, Vec<Vec<u8>>) {
    let (mut commits, mut entries, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..WRITES.0 + WRITES.1 {
        match writer.nth(number) {
            Write::Entries(more) => entries.extend(more),
            Write::File(bytes) => files.push(bytes),
            Write::Commit(mut commit) => {
                commit.base = Revision(commits.len() as u64);
                commits.extend(commit.made_on(commit.base));
            }
        }
    }
    (commits, entries, files)
}

/// How many are missing at the end, and whether the others are as they were written.
fn against<T: PartialEq>(found: &[T], due: &[T]) -> (u64, bool) {
    let missing = due.len().saturating_sub(found.len()) as u64;
    (missing, due.starts_with(found))
}
