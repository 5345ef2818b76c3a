//! F8: a person edits skills' folders while a curator writes; and F1 while what a person did is taken in.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed, SkillId, Version,
    contract::SkillStore,
    domain::{Committed, LibraryChange, Origin, Skill, SkillRef, State},
    library::{Entry, SkillLibrary},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore, Durability};

use crate::{
    Size,
    child::{Running, Task},
    curator::{SKILLS, commit, id_of},
    folders::{differing, library, place},
    history::{Session, Writer},
    report::{Outcome, Report},
};

/// The point after a person's changes were committed.
pub(crate) const TAKEN_IN: &str = "folders: taken in";
/// An edit that was not taken in by then is lost.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a deletion is waited for: where the library wrote the folder at that very time, there is none.
const DELETION: Duration = Duration::from_secs(2);

type Answer<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// F1: a writer ends right after it took a person's edit in.
///
/// # Errors
/// When a process or folder cannot be made.
pub(crate) fn killed(report: &mut Report, size: &Size) -> Outcome {
    let (kills, mut wrong) = (size.of(10, 2), 0);
    for kill in 0..kills {
        let folder = tempfile::tempdir()?;
        let writer = Writer::new("w", size.seed.derive(TAKEN_IN, kill));
        let mut session = Session::new(DiskStore::open(folder.path(), &DiskOptions::default())?)?;
        for number in 0..10 {
            session.perform(&writer.nth(number))?;
        }
        session.bring_folders()?;
        let before = library(&session.store)?;
        drop(session);
        let edited = before.entries().next().ok_or("no skill")?;
        let text = folder.path().join(place(&edited.skill)).join("SKILL.md");
        let mut file = fs::OpenOptions::new().append(true).open(text)?;
        file.write_all(b"\nEdited.\n")?;
        drop(file);
        let task = Task {
            writer,
            writes: 0,
            durability: Durability::Sync,
            point: Some((TAKEN_IN, 0)),
        };
        let mut running = Running::start(folder.path(), &task)?;
        running.go();
        let (status, _) = running.end(PATIENCE)?;
        let reached = std::os::unix::process::ExitStatusExt::signal(&status) == Some(libc::SIGABRT);
        let store = DiskStore::open(folder.path(), &DiskOptions::default())?;
        let taken = block_on(store.sync_folders())?;
        let after = library(&store)?;
        let versions = after.entries().flat_map(Entry::versions);
        let edits = versions.filter(|version| version.body.contains("Edited."));
        let once = (edits.count(), after.revision()) == (1, before.revision().next());
        let differs = differing(&store)?;
        if !reached || !once || !differs.is_empty() || !taken.faults.is_empty() {
            report.progress(format_args!(
                "{TAKEN_IN}: {reached} {once} {differs:?} {taken:?}"
            ));
            wrong += 1;
        }
    }
    report.told("F1.a person's edit.kills", kills as f64);
    report.none("F1.a person's edit.lost, doubled or wrong", wrong);
    Ok(())
}

/// F8.
///
/// # Errors
/// When a process or folder cannot be made.
pub(crate) fn run(report: &mut Report, size: &Size) -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut editor = Editor::new(folder.path(), size.seed)?;
    let mut curator = Command::new(std::env::current_exe()?)
        .arg("curator")
        .arg(folder.path())
        .arg(size.seed.derive("curator", 0).to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = curator.stdout.take().ok_or("no output")?;
    let kept = std::thread::spawn(move || {
        let lines = BufReader::new(lines).lines().map_while(io::Result::ok);
        lines.collect::<Vec<String>>()
    });
    let edits = size.of(1000, 30);
    for number in 0..edits {
        if let Err(error) = editor.edit(number) {
            report.progress(format_args!("edit {number}: {error}"));
            editor.errors += 1;
        }
    }
    drop(curator.stdin.take());
    let ended = curator.wait()?;
    let kept = kept.join().map_err(|_| "the curator's words were lost")?;
    report.told("F8.edits", edits as f64);
    editor.tell(report, &kept)?;
    report.none("F8.curator failed", u64::from(!ended.success()));
    Ok(())
}

/// A person with an editor, and what the person expects.
struct Editor {
    store: DiskStore,
    library: SkillLibrary,
    seed: Seed,
    markers: BTreeSet<String>,
    /// Revisions by the curator, and which of them were passed over.
    passed: BTreeMap<String, bool>,
    deleted: u64,
    undone: u64,
    errors: u64,
    slowest: Duration,
}

impl Editor {
    fn new(root: &Path, seed: Seed) -> Answer<Self> {
        let store = DiskStore::open(root, &DiskOptions::default())?;
        for number in 0..SKILLS {
            let mut skill = sample::skill(&format!("s{number}"));
            skill.provenance.origin = Origin::Summary;
            let change = LibraryChange::Add(Box::new(skill));
            commit(&store, &format!("add {number}"), change)?;
        }
        block_on(store.sync_folders())?;
        Ok(Self {
            library: SkillLibrary::new(),
            store,
            seed,
            markers: BTreeSet::new(),
            passed: BTreeMap::new(),
            deleted: 0,
            undone: 0,
            errors: 0,
            slowest: Duration::ZERO,
        })
    }

    /// Reads on; gives what came.
    fn follow(&mut self) -> Result<Vec<Committed>> {
        let news = block_on(self.store.since(self.library.revision()))?;
        for committed in &news {
            let applied = self.library.apply(committed)?;
            if let [LibraryChange::Revise(skill)] = committed.changes.as_slice()
                && skill.provenance.origin == Origin::Summary
            {
                let passed = !applied.passed_over.is_empty();
                self.passed.insert(committed.key.to_string(), passed);
            }
        }
        Ok(news)
    }

    /// Makes an edit, and waits until it was taken in.
    fn edit(&mut self, number: u64) -> Answer<()> {
        let seed = self.seed.derive("edit", number);
        let marker = format!("edit-{number}-{seed}.");
        let filler = "A line of a person's.\n";
        let lines = seed.derive("lines", 0).index(200).unwrap_or(0);
        let body = format!("{}{marker}\n", filler.repeat(lines));
        let way = seed.derive("way", 0).index(10).unwrap_or(0);
        if way == 0 {
            return self.delete(seed);
        }
        if way == 1 {
            let name = format!("new-{number}");
            let folder = self.store.root().join("skills").join(&name);
            fs::create_dir(&folder)?;
            let text = format!("---\nname: {name}\ndescription: Of a person.\n---\n\n{body}");
            fs::write(folder.join("SKILL.md"), text)?;
        } else {
            let deadline = Instant::now() + PATIENCE;
            // Where the folder moved before anything was saved, an editor says so, and one saves again.
            while let Err(error) = self.save(seed, way, &body) {
                if error.kind() != io::ErrorKind::NotFound || Instant::now() > deadline {
                    return Err(error.into());
                }
            }
        }
        self.markers.insert(marker.clone());
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            block_on(self.store.sync_folders())?;
            let news = self.follow()?;
            if humans(&news).any(|skill| skill.body.contains(&marker)) {
                self.slowest = self.slowest.max(start.elapsed());
                return Ok(());
            }
        }
        Err(format!("way {way}: not taken in").into())
    }

    fn save(&mut self, seed: Seed, way: usize, body: &str) -> io::Result<()> {
        self.follow().map_err(io::Error::other)?;
        let path = self.folder(seed)?.join("SKILL.md");
        let old = fs::read_to_string(&path)?;
        let head = old.rfind("\n---\n").map_or("", |at| &old[..at + 5]);
        let text = format!("{head}\n{body}");
        match way {
            2..=4 => {
                let mut file = fs::OpenOptions::new()
                    .write(true)
                    .truncate(true)
                    .open(&path)?;
                file.write_all(text.as_bytes())
            }
            5 | 6 => {
                let beside = path.with_file_name(if way == 5 {
                    ".SKILL.md.new"
                } else {
                    "SKILL.md~"
                });
                fs::write(&beside, text)?;
                fs::rename(&beside, &path)
            }
            _ => {
                let mut file = fs::OpenOptions::new()
                    .write(true)
                    .truncate(true)
                    .open(&path)?;
                let (first, second) = text.as_bytes().split_at(text.len() / 2);
                file.write_all(first)?;
                let pause = (seed.derive("pause", 0).unit() * 150.0) as u64;
                std::thread::sleep(Duration::from_millis(pause));
                file.write_all(second)
            }
        }
    }

    /// Takes a folder away, as a whole skill that is not wanted any more.
    fn delete(&mut self, seed: Seed) -> Answer<()> {
        self.follow()?;
        let Ok(folder) = self.folder(seed) else {
            return Ok(());
        };
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => self.deleted += 1,
        }
        let start = Instant::now();
        while start.elapsed() < DELETION {
            block_on(self.store.sync_folders())?;
            let news = self.follow()?;
            let changes = news.iter().flat_map(|committed| &committed.changes);
            let archived = |change: &LibraryChange| {
                matches!(change, LibraryChange::SetState { skill, state: State::Archived, .. }
                    if *skill == id_of(seed))
            };
            if changes.into_iter().any(archived) {
                return Ok(());
            }
        }
        self.undone += 1;
        Ok(())
    }

    /// Where the skill that an edit is about lies now.
    fn folder(&self, seed: Seed) -> io::Result<PathBuf> {
        let entry = self.library.get(&id_of(seed));
        let entry = entry.ok_or(io::ErrorKind::NotFound)?;
        Ok(self.store.root().join(place(&entry.skill)))
    }

    /// Looks at all that was to be kept.
    fn tell(mut self, report: &mut Report, kept: &[String]) -> Answer<()> {
        let faults = block_on(self.store.sync_folders())?.faults;
        for fault in &faults {
            report.progress(format_args!("{}: {}", fault.folder, fault.error));
        }
        self.follow()?;
        let all = SkillLibrary::replay(&block_on(self.store.load())?.committed)?;
        let entries = || all.entries().chain(all.deleted()).flat_map(Entry::versions);
        let people: Vec<&Skill> = entries()
            .filter(|skill| skill.provenance.origin == Origin::Human)
            .collect();
        let is_there = |marker: &&String| !people.iter().any(|skill| skill.body.contains(*marker));
        let lost: Vec<&String> = self.markers.iter().filter(is_there).collect();
        for marker in &lost {
            report.progress(format_args!("{marker} is lost"));
        }
        let machine: BTreeSet<SkillRef> = entries()
            .filter(|skill| skill.provenance.origin == Origin::Summary)
            .map(Skill::reference)
            .collect();
        let (mut there, mut passed, mut missing) = (0, 0, 0);
        for line in kept {
            let mut words = line.split(' ');
            let (Some("kept"), Some(key), Some(id), Some(version)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                report.progress(format_args!("curator: {line}"));
                self.errors += 1;
                continue;
            };
            let revised = SkillRef {
                id: SkillId::new(id),
                version: Version(version.parse()?),
            };
            match self.passed.get(key) {
                Some(true) => passed += 1,
                Some(false) if machine.contains(&revised) => there += 1,
                _ => missing += 1,
            }
        }
        report.told("F8.edits with text", self.markers.len() as f64);
        report.none("F8.edits lost", lost.len() as u64);
        report.told("F8.slowest to be taken in (s)", self.slowest.as_secs_f64());
        report.told("F8.deletions", self.deleted as f64);
        report.told("F8.deletions that a write undid", self.undone as f64);
        report.at_least("F8.revisions by the curator", f64::from(there), 1.0);
        report.told("F8.revisions that came too late", f64::from(passed));
        report.none("F8.revisions lost", missing);
        report.none("F8.errors", self.errors + faults.len() as u64);
        Ok(())
    }
}

fn humans(news: &[Committed]) -> impl Iterator<Item = &Skill> {
    let changes = news.iter().flat_map(|committed| &committed.changes);
    let skills = changes.filter_map(LibraryChange::skill);
    skills.filter(|skill| skill.provenance.origin == Origin::Human)
}
