//! Reading another library without changing it.

use std::{collections::BTreeMap, fs, path::Path};

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::{KeptScores, SkillFiles, SkillStore},
    domain::{Cause, Commit, CommitKey, FilePath, LibraryChange, Revision},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore, LibraryReader};
use tempfile::tempdir;

/// A library with `brew`, which has a file; gives the store and the file's hash.
fn library(root: &Path) -> (DiskStore, String) {
    let store = DiskStore::open(root, &DiskOptions::default()).unwrap();
    let mut brew = sample::skill("brew");
    let file = block_on(store.put(b"echo brew\n")).unwrap();
    let sha256 = file.sha256.clone();
    brew.files
        .insert(FilePath::new("scripts/brew.sh").unwrap(), file);
    let commit = Commit::new(
        Revision(0),
        CommitKey::new("brew"),
        Cause::new("a test"),
        vec![LibraryChange::Add(Box::new(brew))],
    );
    block_on(store.commit(&commit)).unwrap();
    (store, sha256)
}

/// Every file of the library's folder itself, with its bytes.
fn all(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(root).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn nothing_is_changed_and_everything_is_read() {
    let folder = tempdir().unwrap();
    let (store, sha256) = library(folder.path());
    let read = || {
        let reader = LibraryReader::open(folder.path()).unwrap();
        assert_eq!(reader.library().revision(), Revision(1));
        let file = reader.file(&sha256).unwrap();
        assert_eq!(file.as_deref(), Some(&b"echo brew\n"[..]));
        assert_eq!(reader.file("none").unwrap(), None);
    };
    // While somebody has it open, and after that.
    read();
    drop(store);
    let before = all(folder.path());
    read();
    assert_eq!(all(folder.path()), before);
}

#[test]
fn a_frozen_library_knows_the_kept_scores_and_writes_none() {
    let folder = tempdir().unwrap();
    let (store, _) = library(folder.path());
    let kept = |key: &str| KeptScores::new(key.to_owned(), 1, vec![-1.0]);
    block_on(store.keep_scores(&[kept("one")])).unwrap();
    drop(store);
    let before = all(folder.path());
    let frozen = LibraryReader::open(folder.path())
        .unwrap()
        .frozen()
        .unwrap();
    assert_eq!(block_on(frozen.kept_scores()).unwrap(), [kept("one")]);
    // For this session alone.
    block_on(frozen.keep_scores(&[kept("two")])).unwrap();
    assert_eq!(block_on(frozen.kept_scores()).unwrap().len(), 2);
    assert_eq!(all(folder.path()), before);
}

#[test]
fn what_somebody_writes_meanwhile_is_not_half_read() {
    let folder = tempdir().unwrap();
    let (store, sha256) = library(folder.path());
    drop(store);
    let reader = LibraryReader::open(folder.path()).unwrap();
    let _writer = DiskStore::open(folder.path(), &DiskOptions::default()).unwrap();
    let error = reader.file(&sha256).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let folder = tempdir().unwrap();
    let kind = || LibraryReader::open(folder.path()).unwrap_err().kind();
    assert_eq!(kind(), ErrorKind::NotFound);
    drop(library(folder.path()));
    let path = folder.path().join("library.db");
    let sound = fs::read(&path).unwrap();
    let first = "DROP TABLE files; DROP TABLE folders; DROP TABLE runs; DROP TABLE head; PRAGMA user_version = 1;";
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(first).unwrap();
    drop(old);
    let old = fs::read(&path).unwrap();
    assert_eq!(kind(), ErrorKind::Unsupported);
    assert_eq!(fs::read(&path).unwrap(), old);
    fs::write(&path, sound).unwrap();
    // An earlier state than was acknowledged.
    let other = tempdir().unwrap();
    drop(DiskStore::open(other.path(), &DiskOptions::default()).unwrap());
    fs::copy(other.path().join("library.db"), &path).unwrap();
    assert_eq!(kind(), ErrorKind::Corrupt);
}
