//! A library looked over, what is left of a damaged one, and its folders written anew.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, RunId, Seed,
    contract::{Journal, JournalEntry, SkillFiles, SkillStore},
    domain::{FilePath, LibraryChange, Revision},
    library::SkillLibrary,
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore, check, salvage};
use rusqlite::Connection;
use tempfile::{TempDir, tempdir};

const COMMITS: u64 = 12;
const ENTRIES: u64 = 8;

/// Twelve commits of a skill each, the third with a file; two runs of eight entries.
fn library(root: &Path) -> DiskStore {
    let store = DiskStore::open(root, &DiskOptions::default()).unwrap();
    for number in 0..COMMITS {
        let mut skill = sample::skill(&format!("skill-{number}"));
        if number == 2 {
            let file = block_on(store.put(b"echo brew")).unwrap();
            skill.files.insert(FilePath::new("brew.sh").unwrap(), file);
        }
        let change = LibraryChange::Add(Box::new(skill));
        let commit = sample::commit(number, &format!("key {number}"), vec![change]);
        block_on(store.commit(&commit)).unwrap();
    }
    for run in ["one", "two"] {
        let entries = (0..ENTRIES).map(|sequence| {
            JournalEntry::new(RunId::new(run), sequence, format!("event {sequence}"))
        });
        block_on(store.append(&entries.collect::<Vec<_>>())).unwrap();
    }
    store
}

fn closed(folder: &TempDir) -> PathBuf {
    let root = folder.path().join("library");
    drop(library(&root));
    root
}

/// Every file below a folder with its bytes.
pub(crate) fn bytes_below(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(bytes_below(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

fn database(root: &Path) -> Connection {
    Connection::open(root.join("library.db")).unwrap()
}

/// A copy of the library's files beside it.
fn copied(root: &Path) -> PathBuf {
    let copy = root.with_extension("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["library.db", "library.db-wal", "library.head"] {
        if root.join(name).exists() {
            fs::copy(root.join(name), copy.join(name)).unwrap();
        }
    }
    copy
}

fn names(root: &Path) -> Vec<String> {
    let mut options = DiskOptions::default();
    options.folders = false;
    let store = DiskStore::open(root, &options).unwrap();
    let all = block_on(store.load()).unwrap();
    let library = SkillLibrary::replay(&all.committed).unwrap();
    let names = library.entries().map(|entry| entry.skill.name.to_string());
    names.collect()
}

#[test]
fn a_sound_library_is_found_sound_and_left_as_it_is() {
    let folder = tempdir().unwrap();
    let root = closed(&folder);
    let before = bytes_below(&root);
    let report = check(&root).unwrap();
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    assert!(report.folder_faults.is_empty() && report.pending.is_empty());
    assert_eq!(report.revision, Revision(COMMITS));
    assert_eq!((report.entries, report.files), (2 * ENTRIES, 1));
    assert_eq!(report.folders, COMMITS);
    assert_eq!(bytes_below(&root), before);

    // Also while somebody has it open, with what is in the log alone.
    let store = DiskStore::open(&root, &DiskOptions::default()).unwrap();
    let commit = sample::commit(COMMITS, "later", vec![LibraryChange::Maintain]);
    block_on(store.commit(&commit)).unwrap();
    let report = check(&root).unwrap();
    assert_eq!(report.revision, Revision(COMMITS + 1));
}

#[test]
fn every_kind_of_damage_is_found_and_nothing_is_changed() {
    let damages = [
        (
            "UPDATE commits SET body = replace(body, 'skill-4', 'skill-X') WHERE revision = 5",
            "a record differs from what was written",
        ),
        (
            "DELETE FROM commits WHERE revision = 5",
            "a revision is missing",
        ),
        (
            "DELETE FROM commits WHERE revision = 12",
            "a revision is missing",
        ),
        (
            "DELETE FROM journal WHERE run = 'two'",
            "a journal entry is missing",
        ),
        (
            "UPDATE head SET writes = 1",
            "acknowledged writes are missing",
        ),
        (
            "UPDATE journal SET body = '{}' WHERE run = 'one' AND sequence = 3",
            "a record differs from what was written",
        ),
        (
            "DELETE FROM journal WHERE run = 'two' AND sequence = 3",
            "a journal entry is missing",
        ),
        (
            "UPDATE files SET bytes = x'00'",
            "a skill file differs from its hash",
        ),
        ("DELETE FROM files", "a file that a skill names is missing"),
    ];
    for (damage, message) in damages {
        let folder = tempdir().unwrap();
        let root = closed(&folder);
        database(&root).execute_batch(damage).unwrap();
        let before = bytes_below(&root);
        let report = check(&root).unwrap();
        let said = report.faults.iter().any(|fault| {
            fault.message() == message
                && fault.kind() == ErrorKind::Corrupt
                && fault.hint_text().is_some()
        });
        assert!(said, "{damage}: {:?}", report.faults);
        assert_eq!(bytes_below(&root), before);
    }
}

#[test]
fn the_folders_of_persons_are_told_from_broken_ones() {
    let folder = tempdir().unwrap();
    let root = closed(&folder);
    let edited = root.join("skills/skill-1/SKILL.md");
    let text = fs::read_to_string(&edited).unwrap();
    fs::write(&edited, text.replace("say", "sing")).unwrap();
    fs::write(root.join("skills/skill-2/SKILL.md"), "no frontmatter").unwrap();
    fs::remove_dir_all(root.join("skills/skill-3")).unwrap();
    std::os::unix::fs::symlink("skill-4", root.join("skills/link")).unwrap();
    let before = bytes_below(&root.join("skills/skill-1"));
    let report = check(&root).unwrap();
    assert!(report.faults.is_empty());
    assert_eq!(report.pending, ["skills/skill-1", "skills/skill-3"]);
    let mut broken: Vec<_> = report
        .folder_faults
        .iter()
        .map(|f| f.folder.as_str())
        .collect();
    broken.sort_unstable();
    assert_eq!(broken, ["skills/link", "skills/skill-2"]);
    assert_eq!(bytes_below(&root.join("skills/skill-1")), before);
}

#[test]
fn what_is_no_library_is_refused() {
    let folder = tempdir().unwrap();
    let error = check(folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    fs::write(folder.path().join("library.db"), "a letter".repeat(200)).unwrap();
    assert_eq!(check(folder.path()).unwrap_err().kind(), ErrorKind::Corrupt);
    fs::remove_file(folder.path().join("library.db")).unwrap();
    database(folder.path())
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .unwrap();
    assert_eq!(check(folder.path()).unwrap_err().kind(), ErrorKind::Invalid);
    let root = closed(&folder);
    database(&root)
        .execute_batch("CREATE TABLE later (text TEXT); PRAGMA user_version = 99")
        .unwrap();
    assert_eq!(check(&root).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn what_is_before_the_damage_is_saved_and_the_rest_is_named() {
    let folder = tempdir().unwrap();
    let root = closed(&folder);
    database(&root)
        .execute_batch(
            "UPDATE commits SET body = '{}' WHERE revision = 5;
             DELETE FROM journal WHERE run = 'one' AND sequence = 3;
             DELETE FROM files",
        )
        .unwrap();
    let copy = copied(&root);
    let saved = salvage(&copy, &root).unwrap();
    assert_eq!(saved.revision, Revision(4));
    assert_eq!((saved.entries, saved.files), (3 + ENTRIES, 0));
    let lost: Vec<_> = saved
        .lost
        .iter()
        .map(|error| {
            (
                error.message(),
                error.fact("revision"),
                error.fact("sequence"),
            )
        })
        .collect();
    assert_eq!(
        lost,
        [
            ("a record differs from what was written", Some("5"), None),
            ("a journal entry is missing", None, Some("3")),
            ("a file that a skill names is missing", None, None),
        ]
    );
    assert_eq!(saved.lost[0].fact("last_revision"), Some("12"));
    assert_eq!(names(&root), ["skill-0", "skill-1", "skill-2", "skill-3"]);
    // It is a library like any other again.
    let report = check(&root).unwrap();
    assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
    assert_eq!(check(&copy).unwrap().revision, Revision(4));
}

#[test]
fn a_library_whose_last_writes_are_missing_can_be_used_again() {
    let folder = tempdir().unwrap();
    let root = closed(&folder);
    let lost =
        "DELETE FROM commits WHERE revision > 10; UPDATE head SET writes = 11, revision = 10";
    database(&root).execute_batch(lost).unwrap();
    let refused = DiskStore::open(&root, &DiskOptions::default()).unwrap_err();
    assert_eq!(refused.message(), "acknowledged writes are missing");
    let copy = copied(&root);
    let saved = salvage(&copy, &root).unwrap();
    assert_eq!(saved.revision, Revision(10));
    let messages: Vec<_> = saved.lost.iter().map(|error| error.message()).collect();
    assert_eq!(messages, ["acknowledged writes are missing"]);
    assert_eq!(names(&root).len(), 10);
    assert!(check(&root).unwrap().faults.is_empty());
}

#[test]
fn pages_that_cannot_be_read_cost_what_was_in_them() {
    let folder = tempdir().unwrap();
    let root = closed(&folder);
    let whole = fs::read(root.join("library.db")).unwrap();
    let all = names(&root);
    let (mut refused, mut kept) = (0, 0);
    for round in 0..60 {
        let seed = Seed(11).derive("damage", round);
        let mut damaged = whole.clone();
        // Pages of 4096 bytes; the first tells what the file is.
        let page = 1 + seed
            .derive("page", 0)
            .index(whole.len() / 4096 - 1)
            .unwrap();
        let garbage = seed.derive("byte", 0).index(256).unwrap() as u8;
        damaged[page * 4096..][..4096].fill(garbage);
        let copy = folder.path().join(format!("copy-{round}"));
        fs::create_dir(&copy).unwrap();
        fs::write(copy.join("library.db"), &damaged).unwrap();
        fs::write(root.join("library.db"), &damaged).unwrap();
        fs::copy(root.join("library.head"), copy.join("library.head")).unwrap();
        match salvage(&copy, &root) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                assert_eq!(fs::read(root.join("library.db")).unwrap(), damaged);
                refused += 1;
            }
            Ok(saved) => {
                let now = names(&root);
                assert_eq!(now.len() as u64, saved.revision.0);
                assert!(now.iter().all(|name| all.contains(name)));
                let whole = saved.revision == Revision(COMMITS)
                    && saved.entries == 2 * ENTRIES
                    && saved.files == 1;
                assert!(whole || !saved.lost.is_empty(), "page {page}");
                kept += 1;
            }
        }
        assert_eq!(fs::read(copy.join("library.db")).unwrap(), damaged);
    }
    assert!(kept > refused, "{kept} saved, {refused} refused");
}

#[test]
fn a_library_that_is_in_use_is_not_replaced() {
    let folder = tempdir().unwrap();
    let root = folder.path().join("library");
    let store = library(&root);
    let copy = copied(&root);
    let error = salvage(&copy, &root).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(block_on(store.load()).unwrap().revision, Revision(COMMITS));
}

#[test]
fn folders_are_written_anew_and_what_lay_there_is_kept() {
    let folder = tempdir().unwrap();
    let root = closed(&folder);
    fs::write(root.join("skills/skill-2/SKILL.md"), "no frontmatter").unwrap();
    fs::create_dir(root.join("skills/Not-A-Name")).unwrap();
    let store = DiskStore::open(&root, &DiskOptions::default()).unwrap();
    assert_eq!(block_on(store.sync_folders()).unwrap().faults.len(), 2);
    let report = block_on(store.rebuild_folders()).unwrap();
    assert_eq!((report.written as u64, report.faults.len()), (COMMITS, 0));
    assert!(report.taken_in.is_empty(), "{:?}", report.taken_in);
    drop(store);
    let report = check(&root).unwrap();
    assert!(report.folder_faults.is_empty() && report.pending.is_empty());
    assert_eq!(report.revision, Revision(COMMITS));
    let replaced = bytes_below(&root.join(".journeyman/replaced"));
    assert!(replaced.values().any(|bytes| bytes == b"no frontmatter"));

    // What is erased is erased there too.
    let store = DiskStore::open(&root, &DiskOptions::default()).unwrap();
    block_on(store.erase("no frontmatter", "asked for")).unwrap();
    drop(store);
    assert!(!root.join(".journeyman/replaced").exists());

    // Also for one that is opened without folders, such as one that was saved from a damaged file.
    let mut options = DiskOptions::default();
    options.folders = false;
    database(&root)
        .execute_batch("DELETE FROM folders")
        .unwrap();
    let store = DiskStore::open(&root, &options).unwrap();
    block_on(store.rebuild_folders()).unwrap();
    drop(store);
    drop(DiskStore::open(&root, &DiskOptions::default()).unwrap());
    let report = check(&root).unwrap();
    assert_eq!(
        (report.revision, report.folders),
        (Revision(COMMITS), COMMITS)
    );
    assert!(report.folder_faults.is_empty() && report.pending.is_empty());
}
