//! Opening a library, forking it, and the syncs and memory that it costs. Ratios are measured side by side in one run; the
//! last lines are figures: name, value, bound, `ok` or `short`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

#[path = "../../../tests/src/figures/median.rs"]
mod median;

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    contract::SkillStore,
    domain::{Cause, Commit, LibraryChange, Skill, SkillName},
    library::SkillLibrary,
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore, Durability};

const LARGE: usize = 10_000;
const SMALL: usize = 1_000;
const ROUNDS: usize = 11;

/// The text of a skill as people write them: about 2 KiB.
fn skill(number: usize) -> Skill {
    let mut skill = sample::skill(&format!("skill-{number:05}"));
    skill.name = SkillName::new(format!("skill-{number:05}")).unwrap();
    let step = |n: usize| {
        let what = (number * 7919 + n * 104_729) % 9973;
        format!(
            "{n}. Call `tool_{what}` with what step {} gave, and look at its answer.\n",
            n - 1
        )
    };
    skill.body = (1..=26).map(step).collect();
    skill
}

fn cause() -> Cause {
    Cause::new("a bench")
}

/// A library whose skills came one at a time, as they do.
fn filled(root: &Path, count: usize) {
    let mut options = DiskOptions::default();
    options.durability = Durability::Relaxed;
    let store = DiskStore::open(root, &options).unwrap();
    for number in 0..count {
        let commit = Commit::new(
            journeyman::domain::Revision(number as u64),
            format!("add {number}").as_str(),
            cause(),
            vec![LibraryChange::Add(Box::new(skill(number)))],
        );
        block_on(store.commit(&commit)).unwrap();
    }
    let report = block_on(store.sync_folders()).unwrap();
    assert!(report.faults.is_empty());
}

fn time<T>(what: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let what = black_box(what());
    (began.elapsed(), what)
}

fn median(all: Vec<Duration>) -> Duration {
    let seconds: Vec<f64> = all.iter().map(Duration::as_secs_f64).collect();
    Duration::from_secs_f64(median::median(seconds))
}

/// Every SKILL.md, plainly.
fn read_plainly(root: &Path) -> usize {
    let folders = fs::read_dir(root.join("skills")).unwrap();
    let read = |folder: std::io::Result<fs::DirEntry>| {
        fs::read(folder.unwrap().path().join("SKILL.md"))
            .unwrap()
            .len()
    };
    folders.map(read).sum()
}

fn opened(root: &Path) -> (DiskStore, SkillLibrary) {
    let store = DiskStore::open(root, &DiskOptions::default()).unwrap();
    let library = SkillLibrary::replay(&block_on(store.load()).unwrap().committed).unwrap();
    (store, library)
}

/// The medians of reading the files, of opening the library and of closing it at once, in turns.
fn opening(root: &Path) -> [Duration; 3] {
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    drop(opened(root));
    for _ in 0..ROUNDS {
        all[0].push(time(|| read_plainly(root)).0);
        let (opening, (store, _library)) = time(|| opened(root));
        all[1].push(opening);
        all[2].push(time(|| drop(store)).0);
    }
    all.map(median)
}

/// The median of making a fork and a change on it.
fn forking(library: &SkillLibrary) -> Duration {
    let fork = || {
        let mut fork = library.fork();
        let change = LibraryChange::Add(Box::new(skill(99_999)));
        fork.apply(&cause(), vec![change]).unwrap();
        fork
    };
    median((0..1001).map(|_| time(fork).0).collect())
}

/// The process's memory in bytes.
fn memory() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

fn say(name: &str, value: f64, bound: Option<f64>) -> bool {
    let ok = bound.is_none_or(|bound| value <= bound);
    let bound = bound.map_or("none".to_owned(), |bound| format!("<= {bound}"));
    println!(
        "{name}, {value:.3}, {bound}, {}",
        if ok { "ok" } else { "short" }
    );
    ok
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    filled(&small, SMALL);
    filled(&large, LARGE);
    let [plain_small, ours_small, _] = opening(&small);
    let before = memory();
    let (_, library) = opened(&large);
    let used = memory().saturating_sub(before);
    let [plain_large, ours_large, closing] = opening(&large);
    let (_, few) = opened(&small);
    let growth = |small: Duration, large: Duration| {
        (large.as_secs_f64() / small.as_secs_f64()).log10() / (LARGE as f64 / SMALL as f64).log10()
    };
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let ratio = ours_large.as_secs_f64() / plain_large.as_secs_f64();
    let fork = forking(&library);
    let all = [
        say("reading 1000 files (ms)", milliseconds(plain_small), None),
        say("opening 1000 skills (ms)", milliseconds(ours_small), None),
        say("reading 10000 files (ms)", milliseconds(plain_large), None),
        say("opening 10000 skills (ms)", milliseconds(ours_large), None),
        say(
            "closing 10000 skills as soon as they are open (ms)",
            milliseconds(closing),
            None,
        ),
        say(
            "opening 10000 skills over reading their files",
            ratio,
            Some(3.0),
        ),
        say(
            "growth of reading from 1000 to 10000 (exponent)",
            growth(plain_small, plain_large),
            None,
        ),
        say(
            "growth of opening from 1000 to 10000 (exponent)",
            growth(ours_small, ours_large),
            Some(1.1),
        ),
        say(
            "a fork of 10000 skills and a change (ms)",
            milliseconds(fork),
            Some(1.0),
        ),
        say(
            "a fork of 10000 over one of 1000",
            fork.as_secs_f64() / forking(&few).as_secs_f64(),
            None,
        ),
        say(
            "memory of 10000 skills (MiB)",
            used as f64 / 1048576.0,
            None,
        ),
    ];
    if all.contains(&false) {
        std::process::exit(1);
    }
}
