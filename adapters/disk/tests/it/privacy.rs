//! What must not stay on the disk: secrets, and what was erased.

use std::{fs, path::Path};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, RunId, Version,
    contract::{Journal, JournalEntry, SkillFiles, SkillStore},
    domain::{Cause, Commit, FilePath, LibraryChange, Revision, Skill},
    library::SkillLibrary,
    testing::sample,
    text::Redactor,
};
use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::json;
use tempfile::tempdir;

/// Every file below a folder that holds the text.
fn holding(root: &Path, text: &str) -> Vec<String> {
    let mut holding = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holding.extend(self::holding(&path, text));
        } else {
            let bytes = fs::read(&path).unwrap();
            let found = bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes());
            holding.extend(found.then(|| path.display().to_string()));
        }
    }
    holding
}

fn commit(store: &DiskStore, key: &str, reason: &str, change: LibraryChange) {
    let commit = Commit::new(
        block_on(store.load()).unwrap().revision,
        key,
        Cause::new(reason),
        vec![change],
    );
    block_on(store.commit(&commit)).unwrap();
}

fn entry(sequence: u64, text: &str) -> JournalEntry {
    JournalEntry::new(
        RunId::new("run"),
        sequence,
        json!({ "said": text, text: [1] }),
    )
}

fn revised(before: &Skill, body: &str) -> LibraryChange {
    LibraryChange::Revise(Box::new(
        before
            .clone()
            .with_version(before.version.next())
            .with_body(body),
    ))
}

fn library(store: &DiskStore) -> SkillLibrary {
    SkillLibrary::replay(&block_on(store.load()).unwrap().committed).unwrap()
}

#[test]
fn an_erased_text_is_nowhere_and_the_rest_is_as_it_was() {
    const NAME: &str = "Jane Doe of \"Elm\" Street";
    let folder = tempdir().unwrap();
    let store = DiskStore::open(folder.path(), &DiskOptions::default()).unwrap();
    let mut brew = sample::skill("brew");
    brew.body = format!("Brew for {NAME}.");
    let notes = FilePath::new("references/notes.md").unwrap();
    let file = block_on(store.put(format!("Ask {NAME} twice: {NAME}.").as_bytes())).unwrap();
    brew.files.insert(notes.clone(), file);
    commit(
        &store,
        "brew",
        "a test",
        LibraryChange::Add(Box::new(brew.clone())),
    );
    commit(
        &store,
        "later",
        NAME,
        revised(&brew, "Brew for whoever asks."),
    );
    commit(
        &store,
        "pour",
        "a test",
        LibraryChange::Add(Box::new(sample::skill("pour"))),
    );
    let pour = library(&store).get(&"pour".into()).unwrap().clone();
    block_on(store.append(&[entry(0, NAME), entry(1, "nothing")])).unwrap();
    block_on(store.sync_folders()).unwrap();
    assert!(!holding(folder.path(), "Elm").is_empty());

    let erased = block_on(store.erase(NAME, "asked for by letter")).unwrap();
    assert_eq!((erased.commits, erased.entries, erased.files), (2, 1, 1));
    assert_eq!(holding(folder.path(), "Elm"), Vec::<String>::new());
    let after = library(&store);
    let entry_of = after.get(&"brew".into()).unwrap();
    assert_eq!(entry_of.history[0].body, "Brew for [erased].");
    assert_eq!(entry_of.skill.body, "Brew for whoever asks.");
    assert_eq!(entry_of.changed_at, erased.revision.unwrap());
    let file = &entry_of.skill.files[&notes];
    let bytes = block_on(store.get(&file.sha256)).unwrap().unwrap();
    assert_eq!(bytes, b"Ask [erased] twice: [erased].");
    assert_eq!(after.get(&"pour".into()).unwrap(), &pour);
    let kept = fs::read_to_string(folder.path().join("skills/brew/references/notes.md")).unwrap();
    assert_eq!(kept, "Ask [erased] twice: [erased].");
    let entries = block_on(store.read(&RunId::new("run"))).unwrap();
    assert_eq!(
        entries[0].event,
        json!({ "said": "[erased]", "[erased]": [1] })
    );
    assert_eq!(entries[1], entry(1, "nothing"));
    let last = block_on(store.load()).unwrap().committed.pop().unwrap();
    assert!(
        last.erases() && last.cause.reason.ends_with("asked for by letter"),
        "{last:?}"
    );
    // Again it is nowhere, and nothing is committed.
    assert_eq!(block_on(store.erase(NAME, "again")).unwrap().revision, None);
    drop(store);
    let store = DiskStore::open(folder.path(), &DiskOptions::default()).unwrap();
    assert_eq!(library(&store), after);
    assert!(block_on(store.sync_folders()).unwrap().taken_in.is_empty());
}

#[test]
fn what_cannot_be_erased_alone_is_refused_and_nothing_changes() {
    let folder = tempdir().unwrap();
    let store = DiskStore::open(folder.path(), &DiskOptions::default()).unwrap();
    commit(
        &store,
        "brew",
        "a test",
        LibraryChange::Add(Box::new(sample::skill("brew"))),
    );
    let before = block_on(store.load()).unwrap();
    for text in [
        "",
        "abc",
        " padded ",
        "erased",
        "active",
        "description",
        "workflow",
    ] {
        let error = block_on(store.erase(text, "a test")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert_eq!(block_on(store.load()).unwrap(), before, "{text}");
    }
    // A part of names and ids leaves names and ids.
    block_on(store.erase("brew", "a test")).unwrap();
    let after = library(&store);
    let skill = &after.get(&"erased".into()).unwrap().skill;
    assert_eq!((skill.name.as_str(), skill.version), ("erased", Version(1)));
    assert_eq!(holding(folder.path(), "brew"), Vec::<String>::new());
}

#[test]
fn others_follow_an_erasure() {
    let folder = tempdir().unwrap();
    let (one, two) = (
        DiskStore::open(folder.path(), &DiskOptions::default()).unwrap(),
        DiskStore::open(folder.path(), &DiskOptions::default()).unwrap(),
    );
    let mut brew = sample::skill("brew");
    brew.body = "Brew for Jane Doe.".into();
    commit(&one, "brew", "a test", LibraryChange::Add(Box::new(brew)));
    block_on(two.sync_folders()).unwrap();
    block_on(one.erase("Jane Doe", "a test")).unwrap();
    let report = block_on(two.sync_folders()).unwrap();
    assert!(
        report.taken_in.is_empty() && report.faults.is_empty(),
        "{report:?}"
    );
    let text = fs::read_to_string(folder.path().join("skills/brew/SKILL.md")).unwrap();
    assert!(text.contains("Brew for [erased]."), "{text}");
}

#[test]
fn secrets_are_nowhere_on_the_disk() {
    const KEY: &str = "AKIAZ7Q2MN4X5RTYWBVC";
    let folder = tempdir().unwrap();
    let store = DiskStore::open(folder.path(), &DiskOptions::default()).unwrap();
    let mut brew = sample::skill("brew");
    brew.body = format!("Log in with {KEY}.");
    commit(
        &store,
        "brew",
        &format!("with {KEY}"),
        LibraryChange::Add(Box::new(brew)),
    );
    block_on(store.append(&[entry(0, KEY)])).unwrap();
    // The same entry again is the same.
    block_on(store.append(&[entry(0, KEY)])).unwrap();
    let refused = block_on(store.put(format!("key={KEY}").as_bytes())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(!refused.to_string().contains(KEY));
    block_on(store.sync_folders()).unwrap();
    // A person's edit too is kept without; their folder is written anew.
    let path = folder.path().join("skills/brew/SKILL.md");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("Log in", &format!("{KEY} Log in"))).unwrap();
    assert_eq!(block_on(store.sync_folders()).unwrap().taken_in.len(), 1);
    let body = library(&store)
        .get(&"brew".into())
        .unwrap()
        .skill
        .body
        .clone();
    assert!(body.starts_with("[redacted"), "{body}");
    assert!(!fs::read_to_string(&path).unwrap().contains(KEY));
    let database = holding(folder.path(), KEY);
    assert!(
        database
            .iter()
            .all(|path| path.contains(".journeyman/previous")),
        "{database:?}"
    );
}

#[test]
fn a_secret_in_an_id_is_refused() {
    let folder = tempdir().unwrap();
    let mut options = DiskOptions::default();
    let secrets = ["hunter-one", "hunter-two"].map(str::to_owned);
    options.redactor = Redactor::new(secrets).unwrap();
    let store = DiskStore::open(folder.path(), &options).unwrap();
    let change = || LibraryChange::Add(Box::new(sample::skill("brew")));
    let refused = |commit: Commit| {
        let error = block_on(store.commit(&commit)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!error.to_string().contains("hunter"), "{error}");
    };
    refused(sample::commit(0, "rotate/hunter-one", vec![change()]));
    let mut skill = sample::skill("brew");
    skill.id = "s-hunter-two".into();
    refused(sample::commit(
        0,
        "key",
        vec![LibraryChange::Add(Box::new(skill))],
    ));
    let mut of_a_run = sample::commit(0, "key", vec![change()]);
    of_a_run.cause.run = Some(RunId::new("run-hunter-one"));
    refused(of_a_run);
    let mut entry = entry(0, "said");
    entry.run = RunId::new("run-hunter-one");
    let error = block_on(store.append(&[entry])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(block_on(store.load()).unwrap().revision, Revision(0));
}

#[test]
fn a_secret_that_a_person_wrote_into_a_folder_is_not_kept_beside_it() {
    const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8a1B2";
    let folder = tempdir().unwrap();
    let root = folder.path();
    let store = DiskStore::open(root, &DiskOptions::default()).unwrap();
    for name in ["brew", "grind", "pour"] {
        let change = LibraryChange::Add(Box::new(sample::skill(name)));
        commit(&store, name, "", change);
    }
    block_on(store.sync_folders()).unwrap();
    let add = |place: &str, text: &str| {
        let file = root.join(place).join("SKILL.md");
        let before = fs::read_to_string(&file).unwrap();
        fs::write(file, format!("{before}\n{text}\n")).unwrap();
    };
    add("skills/brew", &format!("Use {SECRET} then."));
    // Also one that is moved by a person, and by the library.
    add("skills/pour", &format!("Never use {SECRET}."));
    fs::rename(root.join("skills/pour"), root.join("held/pour")).unwrap();
    add("skills/grind", "Slowly.");
    let report = block_on(store.sync_folders()).unwrap();
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    assert_eq!(report.taken_in.len(), 3);
    drop(store);
    assert_eq!(holding(root, "ghp_a1B2"), [""; 0]);
    // The rest of what was written is there, and a folder without a secret is kept as before.
    assert!(!holding(&root.join("skills/brew"), "then.").is_empty());
    assert!(!holding(&root.join("held/pour"), "Never use").is_empty());
    let store = DiskStore::open(root, &DiskOptions::default()).unwrap();
    let report = block_on(store.sync_folders()).unwrap();
    assert!(report.taken_in.is_empty(), "{:?}", report.taken_in);
    let library = library(&store);
    let versions = library.entries().map(|entry| entry.skill.version);
    assert_eq!(versions.collect::<Vec<_>>(), [Version(2); 3]);
}
