//! F3 and F9 for the skills' folders: what lies in them is damaged, or gone.

use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Seed, SkillId, Version,
    contract::{SkillFiles, SkillStore},
    domain::{FilePath, LibraryChange, Origin, Revision, State},
    library::{Entry, SkillLibrary, format::SkillMd},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore, FolderReport};

use crate::{
    Size,
    curator::commit,
    damage::{copy, damage},
    folders::{differing, library, place},
    report::{Outcome, Report},
};

type Answer<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What is damaged.
const KINDS: [&str; 3] = ["SKILL.md", "scripts/run.sh", ".journeyman"];
/// What may become of a damage.
const ANSWERS: [&str; 3] = ["left as a fault", "taken in", "no harm"];
/// Where the library keeps what it replaced.
const PREVIOUS: &str = ".journeyman/previous";

/// F3 for the folders.
///
/// # Errors
/// When a folder cannot be made.
pub(crate) fn run(report: &mut Report, size: &Size) -> Outcome {
    let template = template()?;
    for kind in KINDS {
        let mut answers = BTreeMap::new();
        let (mut faults, mut panics) = (0, 0);
        for number in 0..size.of(1000, 15) {
            let seed = size.seed.derive(kind, number);
            let one = || spoil(template.path(), kind, seed);
            match catch_unwind(AssertUnwindSafe(one)) {
                Ok(Ok(answer)) => *answers.entry(answer).or_insert(0_u64) += 1,
                Ok(Err(fault)) => {
                    report.progress(format_args!("{kind}, seed {seed}: {fault}"));
                    faults += 1;
                }
                Err(_) => panics += 1,
            }
        }
        report.told(format_args!("F3.{kind}.damages"), size.of(1000, 15) as f64);
        for answer in ANSWERS {
            let count = answers.get(answer).copied().unwrap_or(0);
            report.told(format_args!("F3.{kind}.{answer}"), count as f64);
        }
        report.none(format_args!("F3.{kind}.lost or wrong"), faults);
        report.none(format_args!("F3.{kind}.panics"), panics);
    }
    Ok(())
}

/// F9 for the folders: they are taken away while the library is closed, while it is open, and while it is open and then
/// written to; whole, or what is in them.
///
/// # Errors
/// When a folder cannot be made.
pub(crate) fn gone(report: &mut Report, size: &Size) -> Outcome {
    let template = template()?;
    let (times, mut faults) = (size.of(300, 18), 0);
    for time in 0..times {
        let seed = size.seed.derive("gone", time);
        if let Err(fault) = take(template.path(), time, seed) {
            report.progress(format_args!("F9, seed {seed}: {fault}"));
            faults += 1;
        }
    }
    report.told("F9.folders taken away", times as f64);
    report.none("F9.lost or not there again", faults);
    Ok(())
}

fn take(template: &Path, time: u64, seed: Seed) -> Answer<()> {
    let (folder, aside) = (tempfile::tempdir()?, tempfile::tempdir()?);
    copy(template, folder.path())?;
    let library_of = |store: &DiskStore| library(store);
    let open = || DiskStore::open(folder.path(), &DiskOptions::default());
    let store = open()?;
    let mut due = library_of(&store)?.revision();
    let mut store = Some(store).filter(|_| !time.is_multiple_of(3));
    for area in ["skills", "held", ".journeyman"] {
        if seed.derive(area, 0).unit() < 0.6 {
            // In one step: who watches folders go one by one sees a person who puts these skills away.
            fs::rename(folder.path().join(area), aside.path().join(area))?;
            let area = folder.path().join(area);
            if seed.derive("inner", 0).unit() < 0.3 && !area.exists() {
                fs::create_dir(&area)?;
            }
        }
    }
    if let Some(store) = &store
        && time % 3 == 2
    {
        let entry = library_of(store)?;
        let entry = entry.get(&SkillId::new("s2")).ok_or("no skill")?;
        let revised = entry
            .skill
            .clone()
            .with_version(entry.skill.version.next())
            .with_body("Revised.");
        change(store, LibraryChange::Revise(Box::new(revised)))?;
        // A job more, so that the one before is over and the folders were brought up to date.
        block_on(store.load())?;
        due = due.next();
    }
    let store = match store.take() {
        Some(store) => store,
        None => open()?,
    };
    let told = block_on(store.sync_folders())?;
    let found = library_of(&store)?.revision();
    let differing = differing(&store)?;
    if found != due || !told.faults.is_empty() || !differing.is_empty() {
        let told = faults_of(&told);
        return Err(format!("{found} for {due}, differing {differing:?}, {told}").into());
    }
    Ok(())
}

fn faults_of(report: &FolderReport) -> String {
    let faults = report.faults.iter();
    let faults: Vec<String> = faults
        .map(|fault| format!("{}: {}", fault.folder, fault.error))
        .collect();
    faults.join("; ")
}

/// Six skills with a file each, two of them held, of which two were replaced just now.
fn template() -> Answer<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let store = DiskStore::open(folder.path(), &DiskOptions::default())?;
    for number in 0..6 {
        let mut skill = sample::skill(&format!("s{number}"));
        skill.provenance.origin = Origin::Summary;
        skill.body = format!("Step {number}: go on. ").repeat(1 + 40 * number);
        let file = block_on(store.put("echo on\n".repeat(1 + 60 * number).as_bytes()))?;
        skill.files.insert(FilePath::new("scripts/run.sh")?, file);
        change(&store, LibraryChange::Add(Box::new(skill.clone())))?;
        if number > 3 {
            let state = LibraryChange::SetState {
                skill: skill.id.clone(),
                state: State::Disabled,
                reason: "a template".to_owned(),
            };
            change(&store, state)?;
        }
        block_on(store.sync_folders())?;
        if number < 2 {
            skill.version = Version(2);
            skill.body.push_str("And on.");
            change(&store, LibraryChange::Revise(Box::new(skill)))?;
            block_on(store.sync_folders())?;
        }
    }
    Ok(folder)
}

fn change(store: &DiskStore, change: LibraryChange) -> journeyman::Result<()> {
    let last = block_on(store.load())?.revision;
    commit(store, &format!("after {last}"), change)
}

/// Damages one file of a copy; gives what became of it, or what is wrong.
fn spoil(template: &Path, kind: &str, seed: Seed) -> Answer<&'static str> {
    let folder = tempfile::tempdir()?;
    copy(template, folder.path())?;
    let root = folder.path();
    let before = library_before(template)?;
    let (path, original) = spoilt(root, kind, seed)?;
    let spoilt = path.as_ref().map(fs::read).transpose()?;
    let store = DiskStore::open(root, &DiskOptions::default())?;
    let told = block_on(store.sync_folders())?;
    for fault in &told.faults {
        if is_untyped(&fault.error) {
            return Err(format!("{}", fault.error).into());
        }
    }
    let after = library(&store)?;
    all_there(&before, &after)?;
    let answer = if after.revision() > before.revision() {
        bring_back(&store, &before, &after)?;
        "taken in"
    } else if told.faults.is_empty() {
        says_the_same(root, &after)?;
        "no harm"
    } else {
        let path = path.as_ref().ok_or("a fault of what is gone")?;
        if spoilt != Some(fs::read(path)?) {
            return Err(format!("a fault, and not left as it is: {}", faults_of(&told)).into());
        }
        match &original {
            Some(original) => fs::write(path, original)?,
            None => fs::remove_file(path)?,
        }
        "left as a fault"
    };
    let told = block_on(store.sync_folders())?;
    let last = library(&store)?;
    let mended = told.faults.is_empty() && told.taken_in.is_empty();
    let as_before = answer == "taken in" || last.revision() == before.revision();
    let differing = if answer == "no harm" {
        Default::default()
    } else {
        differing(&store)?
    };
    if !mended || !as_before || !differing.is_empty() {
        let told = faults_of(&told);
        return Err(format!("{answer}, and then: {told}, differing {differing:?}").into());
    }
    Ok(answer)
}

fn is_untyped(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Panicked | ErrorKind::Internal)
}

fn library_before(template: &Path) -> Answer<SkillLibrary> {
    let mut options = DiskOptions::default();
    options.folders = false;
    Ok(library(&DiskStore::open(template, &options)?)?)
}

/// What was damaged, where it is still there, and what it held before, where it was there.
fn spoilt(root: &Path, kind: &str, seed: Seed) -> Answer<(Option<PathBuf>, Option<Vec<u8>>)> {
    let draw = |label: &str, below: usize| seed.derive(label, 0).index(below).unwrap_or(0);
    let mut folders = Vec::new();
    let areas: &[&str] = match kind {
        ".journeyman" => &[PREVIOUS],
        _ => &["skills", "held"],
    };
    for area in areas {
        for entry in fs::read_dir(root.join(area))? {
            folders.push(entry?.path());
        }
    }
    folders.sort_unstable();
    let folder = folders.get(draw("which", folders.len()));
    let folder = folder.ok_or("nothing to damage")?;
    let mut path = folder.join(kind);
    if kind == ".journeyman" {
        let noise = |path: PathBuf| {
            fs::write(&path, [0xff; 40])?;
            Ok((Some(path), None))
        };
        match draw("place", 9) {
            0 => {
                fs::remove_dir_all(folder)?;
                return Ok((None, None));
            }
            1 => {
                fs::remove_dir_all(root.join(".journeyman"))?;
                return Ok((None, None));
            }
            2 => {
                fs::write(root.join(".journeyman/next/noise"), [0xff; 40])?;
                return Ok((None, None));
            }
            3 => return noise(root.join(".journeyman/previous/noise")),
            4 => {
                fs::write(root.join(".journeyman/lock"), [0xff; 40])?;
                return Ok((None, None));
            }
            5 => path = folder.join("scripts/run.sh"),
            _ => path = folder.join("SKILL.md"),
        }
    }
    let original = fs::read(&path)?;
    let mut bytes = original.clone();
    damage(&mut bytes, seed);
    fs::write(&path, bytes)?;
    Ok((Some(path), Some(original)))
}

/// Every version that was there is there.
fn all_there(before: &SkillLibrary, after: &SkillLibrary) -> Answer<()> {
    for skill in before.entries().flat_map(Entry::versions) {
        if after.version(&skill.reference()) != Some(skill) {
            return Err(format!("{} is not there any more", skill.id).into());
        }
    }
    Ok(())
}

/// What was taken in is one version by a person, and one change brings the version before back.
fn bring_back(store: &DiskStore, before: &SkillLibrary, after: &SkillLibrary) -> Answer<()> {
    if after.revision() != Revision(before.revision().0 + 1) {
        return Err(format!("{} commits more", after.revision().0 - before.revision().0).into());
    }
    for entry in after.entries() {
        let id = &entry.skill.id;
        if before.get(id).is_some_and(|was| was.skill == entry.skill) {
            continue;
        }
        if entry.skill.provenance.origin != Origin::Human {
            return Err("taken in, but not as a person's".into());
        }
        // What does not say whose it is became a skill of its own.
        let Some(was) = before.get(id) else { continue };
        let rolling = LibraryChange::RollBack {
            skill: id.clone(),
            to: was.skill.version,
            reason: "a damage".to_owned(),
        };
        change(store, rolling)?;
        let now = library(store)?;
        let now = &now.get(id).ok_or("gone")?.skill;
        if SkillMd::from(now) != SkillMd::from(&was.skill) || now.files != was.skill.files {
            return Err("not what it was after one roll back".into());
        }
    }
    Ok(())
}

/// The folders are there, and read as what the library says; the bytes may differ where that changes nothing.
fn says_the_same(root: &Path, library: &SkillLibrary) -> Answer<()> {
    for entry in library.entries() {
        let skill = &entry.skill;
        let folder = journeyman_disk::SkillFolder::read(&root.join(place(skill)))?;
        let text = String::from_utf8(folder.text.clone())?;
        let (file, _) = SkillMd::read(&text, Some(skill.name.as_str()))?;
        if file != SkillMd::from(skill) || folder.refs()? != skill.files {
            return Err("neither a fault nor taken in".into());
        }
    }
    Ok(())
}
