//! A library in one file: the same after a restore, taken in from a stranger as imported, and never in part.

use std::io::Cursor;

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, RunId, Seed, Version,
    contract::{Journal, JournalEntry, SkillFiles, SkillStore},
    domain::{
        FilePath, LibraryChange, Origin, Revision, Skill, Source, State, Taint, Trust, sha256_hex,
    },
    library::SkillLibrary,
    testing::sample,
};
use journeyman_disk::{ArchiveLimits, Archived, DiskOptions, DiskStore, Offer, read_offer};
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

fn open(folder: &TempDir) -> DiskStore {
    DiskStore::open(folder.path(), &DiskOptions::default()).unwrap()
}

fn source() -> Source {
    Source::new("a stranger", Trust::Untrusted)
}

fn add(skill: Skill) -> LibraryChange {
    LibraryChange::Add(Box::new(skill))
}

fn with_file(store: &DiskStore, mut skill: Skill, path: &str, bytes: &[u8]) -> Skill {
    let file = block_on(store.put(bytes)).unwrap();
    skill.files.insert(FilePath::new(path).unwrap(), file);
    skill
}

/// Four commits, three files, two runs. Offered are `brew`, by a person, and `grind`, on trial.
fn library(folder: &TempDir) -> DiskStore {
    let store = open(folder);
    let brew = with_file(
        &store,
        sample::skill("brew"),
        "scripts/brew.sh",
        b"echo \0\xff",
    );
    let mut grind = with_file(&store, sample::skill("grind"), "a/b.txt", b"beans");
    grind.state = State::Trial;
    let mut gone = with_file(&store, sample::skill("gone"), "c.txt", b"never wanted");
    gone.body = "\"quoted\"\n\ttext é 技".into();
    let disable = LibraryChange::SetState {
        skill: gone.id.clone(),
        state: State::Disabled,
        reason: "worn out".into(),
    };
    let changes = [
        vec![add(gone)],
        vec![add(brew), add(grind)],
        vec![disable],
        vec![LibraryChange::Maintain],
    ];
    for (base, changes) in (0..).zip(changes) {
        block_on(store.commit(&sample::commit(base, &format!("key {base}"), changes))).unwrap();
    }
    for (run, sequence) in [("one", 0), ("two", 0), ("one", 1)] {
        block_on(store.append(&[entry(run, sequence)])).unwrap();
    }
    store
}

fn entry(run: &str, sequence: u64) -> JournalEntry {
    JournalEntry::new(
        RunId::new(run),
        sequence,
        json!({"at": 0.1, "text": "a\nb"}),
    )
}

fn archive(store: &DiskStore, with_journal: bool) -> (Vec<u8>, Archived) {
    block_on(store.write_archive(Vec::new(), with_journal)).unwrap()
}

fn restore(store: &DiskStore, archive: &[u8]) -> Result<Archived, Error> {
    let input = Cursor::new(archive.to_vec());
    block_on(store.restore(input, ArchiveLimits::default()))
}

fn offer(archive: &[u8]) -> Result<Offer, Error> {
    read_offer(archive, &source(), &ArchiveLimits::default())
}

#[test]
fn a_restored_library_is_the_same_byte_for_byte() {
    let folders = [tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap()];
    let store = library(&folders[0]);
    let (whole, archived) = archive(&store, true);
    assert_eq!(archived.revision, Revision(4));
    assert_eq!((archived.entries, archived.files), (3, 3));
    assert_eq!(whole.iter().filter(|byte| **byte == b'\n').count(), 12);

    let copy = open(&folders[1]);
    assert_eq!(restore(&copy, &whole).unwrap(), archived);
    let all = |store: &DiskStore| block_on(store.load()).unwrap();
    assert_eq!(all(&copy), all(&store));
    for run in ["one", "two", "three"].map(RunId::new) {
        let read = |store: &DiskStore| block_on(store.read(&run)).unwrap();
        assert_eq!(read(&copy), read(&store));
    }
    for bytes in [&b"echo \0\xff"[..], b"beans", b"never wanted"] {
        let kept = block_on(copy.get(&sha256_hex(bytes))).unwrap();
        assert_eq!(kept.as_deref(), Some(bytes));
    }
    assert_eq!(archive(&copy, true).0, whole);
    // What was committed under a key there is known here.
    let again = block_on(copy.commit(&sample::commit(9, "key 1", vec![]))).unwrap();
    assert_eq!(again.revision, Revision(2));

    let (short, archived) = archive(&store, false);
    assert_eq!(archived.entries, 0);
    let copy = open(&folders[2]);
    restore(&copy, &short).unwrap();
    assert_eq!(all(&copy), all(&store));
    assert!(block_on(copy.read(&RunId::new("one"))).unwrap().is_empty());
    let error = restore(&copy, &short).unwrap_err();
    assert_eq!(error.message(), "the library is not empty");
}

#[test]
fn an_empty_library_is_one_too() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let (whole, _) = archive(&open(&folders[0]), true);
    restore(&open(&folders[1]), &whole).unwrap();
    assert!(offer(&whole).unwrap().changes.is_empty());
}

#[test]
fn a_stranger_brings_what_is_offered_and_no_word_of_trust() {
    let folder = tempdir().unwrap();
    let (whole, _) = archive(&library(&folder), true);
    let offer = offer(&whole).unwrap();
    let brought: Vec<&Skill> = offer
        .changes
        .iter()
        .filter_map(LibraryChange::skill)
        .collect();
    assert_eq!(brought.len(), 2);
    for skill in &brought {
        assert_eq!(skill.provenance.origin, Origin::Imported);
        assert_eq!(skill.taint, Taint::Tainted);
        assert_eq!(skill.state, State::Active);
        assert!(!["brew", "grind"].contains(&skill.id.as_str()));
    }
    assert_eq!(offer.files.len(), 2);
    assert!(!offer.files.contains(&b"never wanted".to_vec()));

    let other = tempdir().unwrap();
    let store = open(&other);
    let commit = sample::commit(0, "taken in", offer.changes.clone());
    let early = block_on(store.commit(&commit)).unwrap_err();
    assert_eq!(early.kind(), ErrorKind::Invalid);
    for bytes in &offer.files {
        block_on(store.put(bytes)).unwrap();
    }
    block_on(store.commit(&commit)).unwrap();
    let library = SkillLibrary::replay(&block_on(store.load()).unwrap().committed).unwrap();
    assert_eq!(library.entries().count(), 2);
    let mut states = library.entries().map(|entry| entry.skill.state);
    assert!(states.all(|state| state == State::Quarantined));
}

/// Neither way in takes anything of it, and the error says where and never what.
fn refused(archive: &[u8], kind: ErrorKind, message: &str) {
    let folder = tempdir().unwrap();
    let store = open(&folder);
    let errors = [
        restore(&store, archive).unwrap_err(),
        offer(archive).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(
            error.to_string().contains(message),
            "{error}, not: {message}"
        );
        assert!(!format!("{error:?}").contains("brew"), "{error:?}");
    }
    empty(&store);
}

fn empty(store: &DiskStore) {
    let (_, archived) = archive(store, true);
    assert_eq!(archived, Archived::default());
}

#[test]
fn a_cut_archive_is_not_taken_in() {
    let folder = tempdir().unwrap();
    let (whole, _) = archive(&library(&folder), true);
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
    for (line, end) in (2..).zip(&ends[..11]) {
        refused(
            &whole[..=*end],
            ErrorKind::Corrupt,
            &format!("{{ line: {line} }}: the archive is cut off"),
        );
        refused(
            &whole[..*end + 9],
            ErrorKind::Corrupt,
            &format!("{{ line: {line} }}: the archive is cut off"),
        );
    }
    refused(
        &whole[..whole.len() - 1],
        ErrorKind::Corrupt,
        "{ line: 12 }: the archive is cut off",
    );
    for round in 0..200 {
        let cut = Seed(5).derive("cut", round).index(whole.len()).unwrap();
        assert!(offer(&whole[..cut]).is_err());
    }
    // A line that is gone, and two that changed places.
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    for gone in 1..11 {
        let mut left = lines.clone();
        left.remove(gone);
        assert!(offer(&left.concat()).is_err());
        let mut swapped = lines.clone();
        swapped.swap(gone, gone + 1);
        assert!(offer(&swapped.concat()).is_err());
    }
}

#[test]
fn a_flipped_bit_is_noticed() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let (whole, _) = archive(&library(&folders[0]), true);
    let store = open(&folders[1]);
    for round in 0..1000 {
        let seed = Seed(6).derive("flip", round);
        let at = seed.derive("at", 0).index(whole.len()).unwrap();
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << seed.derive("bit", 0).index(8).unwrap();
        assert!(offer(&flipped).is_err(), "byte {at}");
        if round % 10 == 0 {
            assert!(restore(&store, &flipped).is_err(), "byte {at}");
        }
    }
    empty(&store);
}

/// An archive of these records, with all its hashes right.
fn forged(revision: u64, records: &[(&str, Value)]) -> Vec<u8> {
    let header = json!({"format": "journeyman-library", "form": 1, "revision": revision, "records": records.len()});
    let mut text = format!("{header}\n");
    for (kind, body) in records {
        let hash = sha256_hex(body.to_string());
        text.push_str(&format!(
            "{{\"record\":\"{kind}\",\"sha256\":\"{hash}\",\"body\":{body}}}\n"
        ));
    }
    let end = sha256_hex(&text);
    format!("{text}{{\"end\":\"{end}\"}}\n").into_bytes()
}

#[test]
fn forged_archives_are_refused() {
    let commit = |revision: u64| {
        let change = LibraryChange::Maintain;
        (
            "commit",
            serde_json::to_value(sample::committed(revision, vec![change])).unwrap(),
        )
    };
    let file = |text: &str| ("file", Value::from(text));
    let journal = |sequence| {
        (
            "entry",
            serde_json::to_value(entry("brew", sequence)).unwrap(),
        )
    };
    let folder = tempdir().unwrap();
    restore(
        &open(&folder),
        &forged(1, &[commit(1), journal(0), file("YnJldw==")]),
    )
    .unwrap();

    let mut naming = sample::skill("brew");
    naming.files.insert(
        FilePath::new("brew").unwrap(),
        journeyman::domain::FileRef::of(b"brew").unwrap(),
    );
    let naming = serde_json::to_value(sample::committed(1, vec![add(naming)])).unwrap();
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let corrupt: [(&[u8], &str); 9] = [
        (
            &forged(1, &[commit(2)]),
            "{ line: 2 }: the next revision is 1",
        ),
        (
            &forged(2, &[commit(1), commit(1)]),
            "{ line: 3 }: the next revision is 2",
        ),
        (
            &forged(2, &[commit(1)]),
            "the archive differs from its hash or its announced counts",
        ),
        (
            &forged(1, &[("commit", json!({"brew": deep}))]),
            "{ line: 2 }: a record cannot be parsed",
        ),
        (
            &forged(1, &[("commit", json!({"brew": 1}))]),
            "{ line: 2 }: a record cannot be parsed",
        ),
        (
            &forged(1, &[file("YnJldw=="), commit(1)]),
            "{ line: 3 }: a record is out of order",
        ),
        (
            &forged(1, &[commit(1), file("!brew")]),
            "{ line: 3 }: a file's record is not base64",
        ),
        (
            &forged(1, &[("commit", naming)]),
            "a file that a skill names is not in the archive",
        ),
        (
            &[&forged(0, &[])[..], b"\n"].concat(),
            "the archive goes on after its last line",
        ),
    ];
    for (archive, message) in corrupt {
        refused(archive, ErrorKind::Corrupt, message);
    }
    let mut two = [commit(1), commit(2)];
    two[1].1["key"] = two[0].1["key"].clone();
    for (records, message) in [
        (&two[..], "{ line: 3 }: two commits have the same key"),
        (
            &[commit(1), journal(1)],
            "{ line: 3 }: a journal entry is missing",
        ),
        (
            &[commit(1), journal(0), journal(0)],
            "{ line: 4 }: a journal entry is missing",
        ),
    ] {
        let folder = tempdir().unwrap();
        let store = open(&folder);
        let error = restore(
            &store,
            &forged(records[0].1["revision"].as_u64().unwrap(), records),
        )
        .unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        empty(&store);
    }
    // A skill that no file could hold, as a stranger may forge it.
    let mut hidden = sample::skill("brew");
    hidden.body.push('\u{202E}');
    let hidden = serde_json::to_value(sample::committed(1, vec![add(hidden)])).unwrap();
    let error = offer(&forged(1, &[("commit", hidden)])).unwrap_err();
    assert!(error.message().contains("U+202E"), "{error}");
}

#[test]
fn what_is_foreign_or_too_large_is_refused() {
    let foreign = "the file is not an archive of a library";
    for text in [
        "",
        "\n",
        "brew\n",
        "{}\n",
        "{\"format\":\"brew\",\"form\":1}\n",
        "\0\0\0",
        "[[[[",
        "SQLite format 3\0",
    ] {
        refused(text.as_bytes(), ErrorKind::Invalid, foreign);
    }
    refused(&vec![b'['; 10 << 20], ErrorKind::Invalid, foreign);
    let later = b"{\"format\":\"journeyman-library\",\"form\":2,\"brew\":[]}\n";
    refused(
        later,
        ErrorKind::Unsupported,
        "the archive has another format version",
    );
    let header = b"{\"format\":\"journeyman-library\",\"form\":1,\"revision\":1,\"records\":1}\n";
    let line = |line: &[u8]| [header, line].concat();
    for text in [
        &b"\0\n"[..],
        b"\xff\xfe\n",
        b"{}\n",
        b"null\n",
        b"{\"end\":\"brew\",\"end\":\"brew\"}\n",
    ] {
        refused(&line(text), ErrorKind::Corrupt, "line: 2");
    }
    let mut deep = vec![b'['; 10 << 20];
    deep.push(b'\n');
    refused(&line(&deep), ErrorKind::Corrupt, "line: 2");
    let large = line(&vec![b' '; 17 << 20]);
    refused(&large, ErrorKind::Invalid, "line_limit: 16777216");

    let folder = tempdir().unwrap();
    let (whole, _) = archive(&library(&folder), true);
    let mut limits = ArchiveLimits::default();
    limits.total = whole.len() as u64;
    assert!(read_offer(&whole[..], &source(), &limits).is_ok());
    limits.total -= 1;
    let error = read_offer(&whole[..], &source(), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn a_short_archive_cannot_ask_for_much() {
    let commit = |revision: u64, changes: Vec<LibraryChange>| {
        let committed = sample::committed(revision, changes);
        ("commit", serde_json::to_value(committed).unwrap())
    };
    // A megabyte, brought back a thousand times.
    let mut first = sample::skill("brew");
    first.body = "x".repeat(1 << 20);
    let mut second = sample::skill("brew");
    second.version = Version(2);
    let versions = vec![add(first), LibraryChange::Revise(Box::new(second))];
    let back = LibraryChange::RollBack {
        skill: "brew".into(),
        to: Version(1),
        reason: String::new(),
    };
    let many = forged(2, &[commit(1, versions), commit(2, vec![back; 1_000])]);
    let error = offer(&many).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.to_string().contains("exceeds the limits on work"),
        "{error}"
    );
    // As many skills as one likes may ask for one name.
    let same = (0..2_000).map(|n| {
        let mut skill = sample::skill("same");
        skill.id = format!("s-{n}").as_str().into();
        add(skill)
    });
    let offered = offer(&forged(1, &[commit(1, same.collect())])).unwrap();
    assert_eq!(offered.changes.len(), 2_000);
}

/// Changes the database of a library behind its back.
fn damage(folder: &TempDir, statement: &str, values: impl rusqlite::Params) {
    let database = rusqlite::Connection::open(folder.path().join("library.db")).unwrap();
    assert_eq!(database.execute(statement, values).unwrap(), 1);
}

#[test]
fn a_library_that_lost_a_file_is_archived_and_restored_without_it() {
    let folder = tempdir().unwrap();
    let store = library(&folder);
    let lost = sha256_hex(b"beans");
    damage(&folder, "DELETE FROM files WHERE sha256 = ?1", [&lost]);
    let (archive, what) = block_on(store.write_archive(Vec::new(), true)).unwrap();
    assert_eq!((what.files, what.missing), (2, 1));

    let other = tempdir().unwrap();
    let copy = open(&other);
    let limits = ArchiveLimits::default();
    let restored = block_on(copy.restore(Cursor::new(archive.clone()), limits)).unwrap();
    assert_eq!(restored, what);
    let of = |store: &DiskStore| block_on(store.load()).unwrap();
    assert_eq!(of(&copy), of(&store));
    assert_eq!(block_on(copy.get(&lost)).unwrap(), None);
    let again = block_on(copy.write_archive(Vec::new(), true)).unwrap().0;
    assert!(again == archive);
    // A stranger's skill without its file is not taken in.
    let error = read_offer(&archive[..], &source(), &ArchiveLimits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn an_archive_that_nobody_could_restore_is_not_written() {
    let body = |statement: &str, folder: &TempDir| -> String {
        let database = rusqlite::Connection::open(folder.path().join("library.db")).unwrap();
        database.query_row(statement, [], |row| row.get(0)).unwrap()
    };
    let first = "SELECT body FROM commits WHERE revision = 1";
    let refused = |store: &DiskStore| {
        let error = block_on(store.write_archive(Vec::new(), true)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.hint_text().unwrap().contains("backup"), "{error}");
    };
    // A commit that does not fold: the first one's skill is added again.
    let folder = tempdir().unwrap();
    let store = library(&folder);
    let mut commit: Value = serde_json::from_str(&body(first, &folder)).unwrap();
    commit["revision"] = json!(2);
    let commit = commit.to_string();
    let change = "UPDATE commits SET body = ?1, hash = ?2 WHERE revision = 2";
    damage(&folder, change, [&commit, &sha256_hex(&commit)]);
    refused(&store);
    // The last entry of a run is gone, and one in the middle.
    for sequence in ["max(sequence)", "min(sequence)"] {
        let folder = tempdir().unwrap();
        let store = library(&folder);
        let run: String = body("SELECT max(run) FROM journal", &folder);
        let delete = format!(
            "DELETE FROM journal WHERE run = ?1 AND sequence = (SELECT {sequence} FROM journal WHERE run = ?1)"
        );
        damage(&folder, &delete, [&run]);
        refused(&store);
    }
}
