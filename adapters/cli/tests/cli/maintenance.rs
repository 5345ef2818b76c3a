//! The library as a whole.

use std::fs;

use journeyman::domain::State;
use serde_json::json;

use crate::support::{Place, fields, library};

#[test]
fn a_sound_library_is_said_to_be() {
    let place = Place::with_library();
    let text = place.run(&["library", "check"]).done().out;
    assert_eq!(
        text,
        "sound: revision 3, 1 journal entry, 1 file, 2 folders\n"
    );
    let json = place.json(&["library", "check"]).done().json();
    assert_eq!(
        fields(&json),
        [
            "faults",
            "files",
            "folder_faults",
            "folders",
            "journal_entries",
            "pending",
            "revision",
            "sound",
        ]
    );
}

#[test]
fn a_folder_at_fault_is_told_and_repaired_with_the_old_one_kept() {
    let place = Place::with_library();
    fs::write(place.root().join("skills/brew/SKILL.md"), "no frontmatter").unwrap();
    let check = place.json(&["library", "check"]);
    assert_eq!(check.code, 1);
    let json = check.json();
    assert_eq!(json["folder_faults"][0]["folder"], "skills/brew");
    let repair = place.json(&["library", "repair"]);
    assert_eq!(repair.code, 1);
    let json = repair.json();
    assert_eq!(
        fields(&json),
        [
            "copy",
            "database_rebuilt",
            "folder_faults",
            "folders_written",
            "lost",
            "not_taken_in",
            "quarantined",
            "saved",
        ]
    );
    assert_eq!(json["database_rebuilt"], false);
    assert_eq!(json["not_taken_in"], json!(["skills/brew"]));
    let copy = json["copy"].as_str().unwrap();
    let kept = fs::read_to_string(format!("{copy}/skills/brew/SKILL.md")).unwrap();
    assert_eq!(kept, "no frontmatter");
    place.run(&["library", "check"]).done();
    let again = place.run(&["library", "repair", "--aside", copy]);
    again.failed(1, "could not be copied aside");
}

#[test]
fn a_damaged_database_gives_what_can_be_read() {
    let place = Place::with_library();
    let path = place.root().join("library.db");
    let mut bytes = fs::read(&path).unwrap();
    // The text of the second version stands in the second commit alone.
    let text = b"Say brew twice.";
    let at = bytes
        .windows(text.len())
        .position(|bytes| bytes == text)
        .unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    place
        .run(&["skill", "list"])
        .failed(4, "a record differs from what was written");
    let check = place.json(&["library", "check"]);
    assert_eq!(check.code, 4);
    assert_eq!(check.json()["faults"][0]["details"]["revision"], "2");
    let repair = place.run(&["library", "repair"]);
    assert_eq!(repair.code, 1, "{}{}", repair.out, repair.err);
    assert!(
        repair
            .out
            .contains("up to revision 1, 1 journal entry, 1 file\n"),
        "{}",
        repair.out
    );
    assert!(
        repair.out.contains("not saved: a record differs"),
        "{}",
        repair.out
    );
    assert!(
        repair.out.contains("skills/brew in the copy"),
        "{}",
        repair.out
    );
    let kept = place.path("library.before-repair-1/library.db");
    assert_eq!(fs::read(kept).unwrap(), bytes);
    place.run(&["library", "check"]).done();
    assert_eq!(place.library().revision().0, 1);
}

#[test]
fn skills_and_bytes_are_counted() {
    let place = Place::with_library();
    let json = place.json(&["library", "stats"]).done().json();
    assert_eq!(
        fields(&json),
        [
            "database_bytes",
            "deleted",
            "files",
            "journal_entries",
            "origins",
            "revision",
            "skills",
            "states",
            "tasks_learned",
            "text_bytes",
            "tiers",
            "versions",
        ]
    );
    assert_eq!((&json["skills"], &json["versions"]), (&json!(2), &json!(3)));
    assert_eq!(json["origins"], json!({"human": 1, "summary": 1}));
    let text = place.run(&["library", "stats"]).done().out;
    assert!(text.contains("state active"), "{text}");
}

#[test]
fn a_copy_is_the_same_library_byte_for_byte() {
    let place = Place::with_library();
    place.run(&["library", "copy", "copy"]).done();
    place
        .run(&["library", "copy", "--archive", "library.journeyman"])
        .done();
    let before = place.library().to_json().unwrap();
    assert_eq!(library(&place.path("copy")).to_json().unwrap(), before);
    fs::rename(place.root(), place.path("old")).unwrap();
    let json = place
        .json(&["library", "restore", "library.journeyman"])
        .done()
        .json();
    assert_eq!(
        fields(&json),
        [
            "files",
            "journal_entries",
            "missing_files",
            "output",
            "revision"
        ]
    );
    assert_eq!(place.library().to_json().unwrap(), before);
    place
        .run(&["library", "copy", "copy"])
        .failed(1, "the folder is not empty");
    place
        .run(&["library", "copy", "--archive", "library.journeyman"])
        .failed(1, "is there already");
}

#[test]
fn a_damaged_archive_leaves_nothing_behind() {
    let place = Place::with_library();
    place
        .run(&["library", "copy", "--archive", "one.journeyman"])
        .done();
    let mut bytes = fs::read(place.path("one.journeyman")).unwrap();
    let text = b"Say brew twice.";
    let mut windows = bytes.windows(text.len());
    let at = windows.position(|bytes| bytes == text).unwrap();
    bytes[at] ^= 1;
    fs::write(place.path("one.journeyman"), bytes).unwrap();
    fs::rename(place.root(), place.path("old")).unwrap();
    place
        .run(&["library", "restore", "one.journeyman"])
        .failed(4, "a record differs");
    assert!(!place.root().exists());
}

#[test]
fn another_library_is_a_stranger() {
    let place = Place::with_library();
    let other = Place::with_library();
    let root = other.root();
    let merged = place
        .json(&["library", "merge", root.to_str().unwrap()])
        .done()
        .json();
    assert_eq!(merged["taken_in"], 2);
    let library = place.library();
    let names: Vec<_> = library
        .entries()
        .filter(|entry| entry.skill.state == State::Quarantined)
        .map(|entry| entry.skill.name.as_str())
        .collect();
    assert_eq!(names.len(), 2);
    assert!(
        names.contains(&"brew-2") && names.contains(&"grind-2"),
        "{names:?}"
    );
    // The other one is as it was.
    assert_eq!(other.library().revision().0, 3);
}
