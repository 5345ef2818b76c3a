//! What is saved of a damaged library is never less than it says, and a crash at any step is told.

use std::{
    fs,
    path::{Path, PathBuf},
};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, RunId,
    contract::{Journal, SkillFiles, SkillStore},
    domain::{FilePath, LibraryChange, Revision, State},
    library::SkillLibrary,
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore, check, salvage};
use rusqlite::Connection;
use tempfile::{TempDir, tempdir};

fn add(store: &DiskStore, number: u64) -> Revision {
    let mut skill = sample::skill(&format!("skill-{number}"));
    if number == 1 {
        let file = block_on(store.put(b"echo brew")).unwrap();
        skill.files.insert(FilePath::new("brew.sh").unwrap(), file);
    }
    let change = LibraryChange::Add(Box::new(skill));
    let commit = sample::commit(number, &format!("key {number}"), vec![change]);
    block_on(store.commit(&commit)).unwrap().revision
}

/// A library of so many skills, closed.
fn library(folder: &TempDir, skills: u64) -> PathBuf {
    let root = folder.path().join("library");
    let store = DiskStore::open(&root, &DiskOptions::default()).unwrap();
    for number in 0..skills {
        add(&store, number);
    }
    block_on(store.sync_folders()).unwrap();
    root
}

fn sql(root: &Path, text: &str) {
    let database = Connection::open(root.join("library.db")).unwrap();
    database.execute_batch(text).unwrap();
}

fn without_folders() -> DiskOptions {
    let mut options = DiskOptions::default();
    options.folders = false;
    options
}

/// The files of the library in another folder.
fn copy_to(root: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["library.db", "library.db-wal", "library.head"] {
        if root.join(name).exists() {
            fs::copy(root.join(name), to.join(name)).unwrap();
        }
    }
}

fn copied(root: &Path) -> PathBuf {
    let copy = root.with_extension("copy");
    copy_to(root, &copy);
    copy
}

/// The library's own files and folders with their bytes.
fn all_below(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(all_below(&path)),
            false => all.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn what_was_committed_after_the_copy_is_not_lost() {
    let folder = tempdir().unwrap();
    let root = library(&folder, 3);
    for durability in [
        journeyman_disk::Durability::Sync,
        journeyman_disk::Durability::Relaxed,
    ] {
        let copy = copied(&root);
        let mut options = without_folders();
        options.durability = durability;
        let store = DiskStore::open(&root, &options).unwrap();
        let next = block_on(store.load()).unwrap().revision;
        let late = add(&store, next.0);
        drop(store);
        let error = salvage(&copy, &root).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let store = DiskStore::open(&root, &options).unwrap();
        assert_eq!(block_on(store.load()).unwrap().revision, late);
        drop(store);
        let copy = copied(&root);
        assert_eq!(salvage(&copy, &root).unwrap().revision, late);
    }
}

#[test]
fn the_only_original_is_not_replaced() {
    let folder = tempdir().unwrap();
    let root = library(&folder, 4);
    sql(&root, "UPDATE commits SET body = '{}' WHERE revision = 3");
    let before = all_below(&root);
    std::os::unix::fs::symlink(&root, folder.path().join("link")).unwrap();
    for copy in [root.clone(), root.join("."), folder.path().join("link")] {
        let error = salvage(&copy, &root).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert!(all_below(&root) == before);
}

#[test]
fn a_backup_put_in_place_as_the_hint_says_is_whole() {
    let folder = tempdir().unwrap();
    let root = library(&folder, 30);
    let backup = folder.path().join("backup.db");
    fs::copy(root.join("library.db"), &backup).unwrap();
    let store = DiskStore::open(&root, &without_folders()).unwrap();
    for number in 30..60 {
        add(&store, number);
    }
    // Folded in, so that the log holds the last ones alone.
    let folded = "PRAGMA wal_checkpoint(RESTART)";
    let other = Connection::open(root.join("library.db")).unwrap();
    other.query_row(folded, [], |_| Ok(())).unwrap();
    for number in 60..64 {
        add(&store, number);
    }
    let damaged = folder.path().join("damaged");
    copy_to(&root, &damaged);
    fs::write(damaged.join("library.db"), "noise".repeat(2000)).unwrap();
    let opened = DiskStore::open(&damaged, &without_folders());
    let error = opened.and_then(|store| block_on(store.load())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);

    fs::copy(&backup, damaged.join("library.db")).unwrap();
    let hint = error.hint_text().unwrap();
    for name in ["library.head", "library.db-wal", "library.db-shm"] {
        if hint.contains(&format!("`{name}`")) {
            let _ = fs::remove_file(damaged.join(name));
        }
    }
    assert!(check(&damaged).unwrap().faults.is_empty());
    let store = DiskStore::open(&damaged, &without_folders()).unwrap();
    assert_eq!(block_on(store.load()).unwrap().revision, Revision(30));
}

#[test]
fn folders_are_not_taken_for_a_persons_after_a_salvage() {
    let folder = tempdir().unwrap();
    let root = library(&folder, 4);
    let store = DiskStore::open(&root, &DiskOptions::default()).unwrap();
    let held = LibraryChange::SetState {
        skill: "skill-3".into(),
        state: State::Quarantined,
        reason: "it does harm".to_owned(),
    };
    block_on(store.commit(&sample::commit(4, "held", vec![held]))).unwrap();
    block_on(store.sync_folders()).unwrap();
    drop(store);
    sql(&root, "UPDATE commits SET body = '{}' WHERE revision = 3");
    let copy = copied(&root);
    assert_eq!(salvage(&copy, &root).unwrap().revision, Revision(2));

    // An ordinary opening, before anybody wrote the folders anew.
    let store = DiskStore::open(&root, &DiskOptions::default()).unwrap();
    let report = block_on(store.sync_folders()).unwrap();
    assert!(report.taken_in.is_empty(), "{:?}", report.taken_in);
    let all = block_on(store.load()).unwrap();
    assert_eq!(all.revision, Revision(2));
    let library = SkillLibrary::replay(&all.committed).unwrap();
    let ids: Vec<_> = library
        .entries()
        .map(|entry| entry.skill.id.as_str())
        .collect();
    assert_eq!(ids, ["skill-0", "skill-1"]);
    // What lay there is kept.
    let replaced = all_below(&root.join(".journeyman/replaced"));
    assert_eq!(replaced.len(), 5);
    assert_eq!(fs::read_dir(root.join("skills")).unwrap().count(), 2);
}

#[test]
fn a_damaged_number_of_a_row_does_not_hold_a_salvage_up() {
    let folder = tempdir().unwrap();
    let root = library(&folder, 3);
    sql(&root, "UPDATE files SET rowid = 1 << 50");
    let copy = copied(&root);
    let saved = salvage(&copy, &root).unwrap();
    assert_eq!((saved.revision, saved.files), (Revision(3), 1));
    assert!(saved.lost.is_empty(), "{:?}", saved.lost);
}

#[test]
fn a_flipped_bit_of_the_first_page_is_damage_and_costs_nothing() {
    let folder = tempdir().unwrap();
    let root = library(&folder, 3);
    let whole = fs::read(root.join("library.db")).unwrap();
    let flipped = |at: usize, bit: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << bit;
        let damaged = folder.path().join(format!("damaged-{at}-{bit}"));
        copy_to(&root, &damaged);
        fs::write(damaged.join("library.db"), bytes).unwrap();
        damaged
    };
    for at in 0..100 {
        let damaged = flipped(at, at * 5 % 8);
        match check(&damaged) {
            Ok(report) => {
                let kinds = report.faults.iter().map(|fault| fault.kind());
                assert!(kinds.into_iter().all(|kind| kind == ErrorKind::Corrupt));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{at}: {error}"),
        }
        // One that SQLite will not write is refused as one in use.
        if at == 18 {
            continue;
        }
        let saved = salvage(&copied(&damaged), &damaged).unwrap();
        assert_eq!((saved.revision, saved.files), (Revision(3), 1), "{at}");
        assert!(saved.lost.is_empty(), "{at}: {:?}", saved.lost);
        assert!(check(&damaged).unwrap().faults.is_empty(), "{at}");
        assert!(!damaged.join("library.mended.db").exists());
    }
    // The form, where the flip may give a later one or none, and the application's number.
    for at in (60..64).chain(68..72) {
        for bit in [1, 6] {
            let damaged = flipped(at, bit);
            let refused = DiskStore::open(&damaged, &DiskOptions::default()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "{at}: {refused}");
            let saved = salvage(&copied(&damaged), &damaged).unwrap();
            assert_eq!((saved.revision, saved.files), (Revision(3), 1));
            assert!(saved.lost.is_empty(), "{:?}", saved.lost);
            let store = DiskStore::open(&damaged, &without_folders()).unwrap();
            assert_eq!(block_on(store.load()).unwrap().revision, Revision(3));
        }
    }
}

#[test]
fn a_newer_library_is_not_salvaged_into_an_older_one() {
    let folder = tempdir().unwrap();
    let root = library(&folder, 3);
    sql(
        &root,
        "CREATE TABLE later (text TEXT); PRAGMA user_version = 3",
    );
    let error = salvage(&copied(&root), &root).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[test]
fn a_missing_row_or_table_is_damage() {
    let damages = [
        "DELETE FROM head",
        "DROP TABLE head",
        "DROP TABLE files",
        "DROP TABLE runs",
        "DROP TABLE journal",
        "DROP TABLE commits",
        "DROP TABLE folders",
    ];
    for damage in damages {
        let folder = tempdir().unwrap();
        let root = library(&folder, 3);
        sql(&root, damage);
        let looked = check(&root).map(|report| report.faults);
        let faults = looked.unwrap_or_else(|error| vec![error]);
        assert!(!faults.is_empty(), "{damage}");
        for fault in faults {
            assert_eq!(fault.kind(), ErrorKind::Corrupt, "{damage}: {fault}");
        }
        let opened = DiskStore::open(&root, &DiskOptions::default());
        let used = opened.and_then(|store| {
            block_on(store.sync_folders())?;
            block_on(store.load())?;
            block_on(store.read(&RunId::new("run")))?;
            block_on(store.get(&"0".repeat(64)))?;
            Ok(())
        });
        let error = used.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{damage}: {error}");
    }
}

#[test]
fn the_log_of_an_emptied_database_is_left_as_it_is() {
    let folder = tempdir().unwrap();
    let root = folder.path().join("library");
    let store = DiskStore::open(&root, &without_folders()).unwrap();
    for number in 0..5 {
        add(&store, number);
    }
    for witness in [true, false] {
        let damaged = folder.path().join(format!("damaged-{witness}"));
        copy_to(&root, &damaged);
        fs::write(damaged.join("library.db"), "").unwrap();
        if !witness {
            fs::remove_file(damaged.join("library.head")).unwrap();
        }
        let copy = copied(&damaged);
        let before = (all_below(&damaged), all_below(&copy));
        assert_eq!(check(&damaged).unwrap_err().kind(), ErrorKind::Corrupt);
        assert!((all_below(&damaged), all_below(&copy)) == before);
        // It has all of the library.
        let saved = salvage(&copy, &damaged).unwrap();
        assert_eq!((saved.revision, saved.files), (Revision(5), 1));
        assert!(saved.lost.is_empty(), "{:?}", saved.lost);
        assert!(check(&damaged).unwrap().faults.is_empty());
        assert!(all_below(&copy) == before.1);
    }
}
