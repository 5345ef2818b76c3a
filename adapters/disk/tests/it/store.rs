//! What the conformance suites do not ask of every store: reopening, several openers, and what is refused.

use std::{fs, path::Path};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Result, RunId,
    contract::{Journal, JournalEntry, SkillStore, SkillStoreExt},
    domain::{Cause, Commit, CommitKey, Committed, LibraryChange, Revision},
};
use journeyman_disk::{ArchiveLimits, DiskOptions, DiskStore, Durability};
use rusqlite::Connection;
use tempfile::tempdir;

fn open(folder: &Path) -> Result<DiskStore> {
    DiskStore::open(folder, &DiskOptions::default())
}

fn commit(base: u64, key: &str) -> Commit {
    Commit::new(
        Revision(base),
        CommitKey::new(key),
        Cause::new("a test"),
        vec![LibraryChange::Maintain],
    )
}

fn entry(sequence: u64) -> JournalEntry {
    JournalEntry::new(RunId::new("run"), sequence, format!("event {sequence}"))
}

/// An error's kind, and that it names the folder and says what to do.
fn refused(opened: Result<DiskStore>, kind: ErrorKind, message: &str) {
    let error = opened.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(error.message(), message);
    assert!(error.to_string().contains("path: "), "{error}");
    assert!(error.hint_text().is_some(), "{error}");
}

#[test]
fn what_was_acknowledged_is_there_after_reopening() {
    for durability in [Durability::Sync, Durability::Relaxed] {
        let folder = tempdir().unwrap();
        let mut options = DiskOptions::default();
        options.durability = durability;
        let before = {
            let store = DiskStore::open(folder.path(), &options).unwrap();
            for base in 0..20 {
                block_on(store.commit(&commit(base, &format!("key {base}")))).unwrap();
                block_on(store.append(&[entry(base)])).unwrap();
            }
            block_on(store.load()).unwrap()
        };
        let store = open(folder.path()).unwrap();
        assert_eq!(block_on(store.load()).unwrap(), before);
        assert_eq!(block_on(store.read(&RunId::new("run"))).unwrap().len(), 20);
        let again = block_on(store.commit(&commit(0, "key 3"))).unwrap();
        assert_eq!(again.revision, Revision(4));
    }
}

#[test]
fn openers_of_one_library_see_each_others_commits() {
    let folder = tempdir().unwrap();
    let (one, other) = (open(folder.path()).unwrap(), open(folder.path()).unwrap());
    block_on(one.commit(&commit(0, "first"))).unwrap();
    let late = block_on(other.commit(&commit(0, "second"))).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
    let done = block_on(other.commit_rebased(&commit(0, "second"), 1)).unwrap();
    assert_eq!((done.committed.len(), done.rebased), (2, 1));
    assert_eq!(
        block_on(one.load()).unwrap(),
        block_on(other.load()).unwrap()
    );
}

#[test]
fn many_writers_lose_and_double_nothing() {
    const WRITERS: u64 = 6;
    const EACH: u64 = 40;
    let folder = tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let folder = folder.path();
            scope.spawn(move || {
                let store = open(folder).unwrap();
                let mut base = 0;
                for number in 0..EACH {
                    let commit = commit(base, &format!("{writer}/{number}"));
                    let done = block_on(store.commit_rebased(&commit, 10_000)).unwrap();
                    base = done.committed.last().unwrap().revision.0;
                }
            });
        }
    });
    let all = block_on(open(folder.path()).unwrap().load()).unwrap();
    assert_eq!(all.revision, Revision(WRITERS * EACH));
    let mut keys: Vec<_> = all.committed.iter().map(|c| c.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len() as u64, WRITERS * EACH);
}

#[test]
fn what_is_no_library_of_ours_is_refused_and_left_as_it_was() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("library.db");
    let mut options = DiskOptions::default();
    options.create = false;
    refused(
        DiskStore::open(folder.path(), &options),
        ErrorKind::NotFound,
        "there is no skill library here",
    );
    let check = |kind, message| {
        let before = fs::read(&path).unwrap();
        refused(open(folder.path()), kind, message);
        assert_eq!(fs::read(&path).unwrap(), before);
    };
    fs::write(
        &path,
        "a person's notes, and not a database at all".repeat(50),
    )
    .unwrap();
    check(ErrorKind::Corrupt, "the library's database is damaged");
    fs::remove_file(&path).unwrap();
    let foreign = Connection::open(&path).unwrap();
    foreign
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .unwrap();
    check(ErrorKind::Invalid, "the database is not a skill library");
    fs::remove_file(&path).unwrap();
    drop(open(folder.path()).unwrap());
    let newer = Connection::open(&path).unwrap();
    let later = "CREATE TABLE later (text TEXT); PRAGMA user_version = 99";
    newer.execute_batch(later).unwrap();
    drop(newer);
    check(
        ErrorKind::Unsupported,
        "the library was written by a newer release",
    );
}

#[test]
fn an_empty_file_is_a_library_only_where_one_may_be_made() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("library.db");
    fs::write(&path, "").unwrap();
    let mut options = DiskOptions::default();
    options.create = false;
    let opened = DiskStore::open(folder.path(), &options);
    refused(
        opened,
        ErrorKind::Corrupt,
        "the library's database is empty",
    );
    assert_eq!(fs::read(&path).unwrap(), b"");
    open(folder.path()).unwrap();
}

#[test]
fn a_record_that_was_changed_is_never_used() {
    let folder = tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for base in 0..3 {
        block_on(store.commit(&commit(base, &format!("key {base}")))).unwrap();
    }
    block_on(store.append(&[entry(0), entry(1)])).unwrap();
    let raw = Connection::open(folder.path().join("library.db")).unwrap();
    let change = |sql: &str| assert!(raw.execute(sql, []).unwrap() > 0, "{sql}");
    let corrupt = |kind: ErrorKind| assert_eq!(kind, ErrorKind::Corrupt);
    change("UPDATE commits SET body = replace(body, 'a test', 'a lie') WHERE revision = 2");
    corrupt(block_on(store.load()).unwrap_err().kind());
    // What lies after it can be read.
    assert_eq!(block_on(store.since(Revision(2))).unwrap().len(), 1);
    change("UPDATE commits SET body = CAST(x'ff' || body AS TEXT) WHERE revision = 2");
    corrupt(block_on(store.load()).unwrap_err().kind());
    change("UPDATE commits SET key = 'another' WHERE revision = 3");
    corrupt(block_on(store.since(Revision(2))).unwrap_err().kind());
    change("DELETE FROM commits WHERE revision = 2");
    corrupt(block_on(store.load()).unwrap_err().kind());
    change("UPDATE journal SET hash = '' WHERE sequence = 0");
    corrupt(block_on(store.read(&RunId::new("run"))).unwrap_err().kind());
    corrupt(block_on(store.append(&[entry(0)])).unwrap_err().kind());
    change("DELETE FROM journal WHERE sequence = 0");
    corrupt(block_on(store.read(&RunId::new("run"))).unwrap_err().kind());
}

/// A library whose log is not folded in, as after a kill, damaged by `harm`: a new look at it is refused, and finds the
/// files as they were. Without the witness, what is left is opened.
fn refused_when(harm: impl Fn(&Path)) {
    let (live, copy) = (tempdir().unwrap(), tempdir().unwrap());
    // The folders, which follow the database, would write to it too.
    let mut options = DiskOptions::default();
    options.folders = false;
    let open = |path: &Path| DiskStore::open(path, &options);
    let store = open(live.path()).unwrap();
    for base in 0..5 {
        block_on(store.commit(&commit(base, &format!("key {base}")))).unwrap();
    }
    for file in fs::read_dir(live.path()).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
    }
    let whole = open(copy.path());
    assert_eq!(
        block_on(whole.unwrap().load()).unwrap().revision,
        Revision(5)
    );
    for file in ["library.db", "library.db-wal"] {
        fs::copy(live.path().join(file), copy.path().join(file)).unwrap();
    }
    harm(copy.path());
    // An empty log may come to be.
    let files = || {
        ["library.db", "library.db-wal", "library.head"]
            .map(|file| fs::read(copy.path().join(file)).unwrap_or_default())
    };
    let before = files();
    refused(
        open(copy.path()),
        ErrorKind::Corrupt,
        "acknowledged writes are missing",
    );
    assert!(files() == before, "a file was changed");
    fs::remove_file(copy.path().join("library.head")).unwrap();
    let (database, log) = ("library.db", "library.db-wal");
    let len = |file: &str| fs::metadata(copy.path().join(file)).map_or(0, |data| data.len());
    if len(database) == 0 && len(log) > 0 {
        // SQLite would remove the log, from which something can be saved.
        let message = "the library's database is empty but its write-ahead log is not";
        return refused(open(copy.path()), ErrorKind::Corrupt, message);
    }
    let left = block_on(open(copy.path()).unwrap().load()).unwrap();
    assert!(left.revision < Revision(5));
}

#[test]
fn what_was_acknowledged_and_is_missing_is_told() {
    let cut = |path: &Path, len: u64| {
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(len).unwrap();
    };
    refused_when(|folder| {
        let log = folder.join("library.db-wal");
        cut(&log, fs::metadata(&log).unwrap().len() - 1);
    });
    refused_when(|folder| cut(&folder.join("library.db-wal"), 0));
    refused_when(|folder| fs::remove_file(folder.join("library.db-wal")).unwrap());
    refused_when(|folder| cut(&folder.join("library.db"), 0));
    refused_when(|folder| fs::remove_file(folder.join("library.db")).unwrap());
}

#[test]
fn an_end_that_is_missing_in_the_database_is_told() {
    let folder = tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for base in 0..3 {
        block_on(store.commit(&commit(base, &format!("key {base}")))).unwrap();
    }
    block_on(store.append(&[entry(0), entry(1)])).unwrap();
    let raw = Connection::open(folder.path().join("library.db")).unwrap();
    let remove = |sql: &str| assert_eq!(raw.execute(sql, []).unwrap(), 1, "{sql}");
    let corrupt = |kind: ErrorKind| assert_eq!(kind, ErrorKind::Corrupt);
    remove("DELETE FROM commits WHERE revision = 3");
    corrupt(block_on(store.load()).unwrap_err().kind());
    corrupt(
        block_on(store.commit(&commit(2, "next")))
            .unwrap_err()
            .kind(),
    );
    remove("DELETE FROM journal WHERE sequence = 1");
    corrupt(block_on(store.read(&RunId::new("run"))).unwrap_err().kind());
    corrupt(block_on(store.append(&[entry(1)])).unwrap_err().kind());
}

/// Makes a library of the first form, of a commit and an entry.
fn first_form(root: &Path) -> Committed {
    let store = open(root).unwrap();
    block_on(store.append(&[entry(0)])).unwrap();
    let kept = block_on(store.commit(&commit(0, "one"))).unwrap();
    drop(store);
    let raw = Connection::open(root.join("library.db")).unwrap();
    let first = "DROP TABLE files; DROP TABLE folders; DROP TABLE runs; DROP TABLE head; PRAGMA user_version = 1;";
    raw.execute_batch(first).unwrap();
    fs::remove_file(root.join("library.head")).unwrap();
    kept
}

#[test]
fn a_library_of_the_first_form_is_upgraded_and_a_copy_kept() {
    let folder = tempdir().unwrap();
    let kept = first_form(folder.path());
    let path = folder.path().join("library.db");
    let store = open(folder.path()).unwrap();
    assert_eq!(block_on(store.since(Revision(0))).unwrap(), [kept]);
    assert_eq!(
        block_on(store.read(&RunId::new("run"))).unwrap(),
        [entry(0)]
    );
    let form = |path: &Path| -> i64 {
        let connection = Connection::open(path).unwrap();
        let number = connection.pragma_query_value(None, "user_version", |row| row.get(0));
        number.unwrap()
    };
    assert_eq!(form(&path), 2);
    let copy = folder.path().join("library.form-1.db");
    assert_eq!(form(&copy), 1);
    let commits = Connection::open(&copy).unwrap();
    let count = commits.query_row("SELECT count(*) FROM commits", [], |row| {
        row.get::<_, i64>(0)
    });
    assert_eq!(count.unwrap(), 1);
}

#[test]
fn a_copy_of_another_library_is_not_taken_for_this_ones() {
    let folder = tempdir().unwrap();
    first_form(folder.path());
    let copy = |name: &str| folder.path().join(name);
    fs::write(copy("library.form-1.db"), "another library's").unwrap();
    // As after a crash between the copy and the upgrade.
    let before = fs::read(copy("library.db")).unwrap();
    for _ in 0..2 {
        fs::write(copy("library.db"), &before).unwrap();
        let _ = fs::remove_file(copy("library.head"));
        drop(open(folder.path()).unwrap());
        let kept = fs::read(copy("library.form-1.db")).unwrap();
        assert_eq!(kept, b"another library's");
        let own = Connection::open(copy("library.form-1-2.db")).unwrap();
        let commits = own.query_row("SELECT count(*) FROM commits", [], |row| {
            row.get::<_, i64>(0)
        });
        assert_eq!(commits.unwrap(), 1);
        assert!(!copy("library.form-1-3.db").exists());
    }
}

#[test]
fn an_entry_that_could_not_be_read_again_is_refused() {
    let folder = tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let nested = |deep: usize| {
        let text = format!("{}1{}", "[".repeat(deep), "]".repeat(deep));
        entry(1).edited(|it| it.event = serde_json::from_str::<serde_json::Value>(&text).unwrap())
    };
    block_on(store.append(&[entry(0)])).unwrap();
    for deep in [101, 127] {
        let error = block_on(store.append(&[nested(deep)])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{deep}: {error}");
    }
    let run = RunId::new("run");
    assert_eq!(block_on(store.read(&run)).unwrap(), [entry(0)]);
    block_on(store.append(&[nested(100)])).unwrap();
    assert_eq!(block_on(store.read(&run)).unwrap(), [entry(0), nested(100)]);
    let (archive, _) = block_on(store.write_archive(Vec::new(), true)).unwrap();
    let other = open(&folder.path().join("other")).unwrap();
    let limits = ArchiveLimits::default();
    block_on(other.restore(std::io::Cursor::new(archive), limits)).unwrap();
}
