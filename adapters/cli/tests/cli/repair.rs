//! Repairing a library.

use std::{fs, os::unix::fs::symlink};

use futures::executor::block_on;
use journeyman::{
    contract::SkillStore,
    domain::{SkillName, State},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::json;

use crate::support::{Place, add, sound};

/// A library in which `pour` was imported, released and quarantined, and the last commit damaged.
fn held_back() -> Place {
    let place = Place::with_library();
    place.skill_folder("pour", &sound("pour"));
    place.run(&["skill", "import", "pour"]).done();
    place
        .run(&["skill", "release", "pour", "--reason", "I read it"])
        .done();
    place
        .run(&["skill", "quarantine", "pour", "--reason", "it leaks data"])
        .done();
    place
}

fn damage(place: &Place, text: &[u8]) {
    let path = place.root().join("library.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(text.len())
        .position(|bytes| bytes == text)
        .unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
}

fn state(place: &Place, name: &str) -> State {
    let library = place.library();
    let entry = library.by_name(&SkillName::new(name).unwrap());
    entry.unwrap().skill.state
}

#[test]
fn what_was_held_back_is_held_back_again() {
    let place = held_back();
    damage(&place, b"it leaks data");
    let repair = place.json(&["library", "repair"]);
    assert_eq!(repair.code, 1, "{}{}", repair.out, repair.err);
    let json = repair.json();
    assert_eq!(json["quarantined"], json!(["pour"]));
    assert_eq!(json["not_taken_in"], json!([]));
    assert_eq!(state(&place, "pour"), State::Quarantined);
    assert_eq!(state(&place, "brew"), State::Active);
    assert!(place.root().join("held/pour/SKILL.md").is_file());
    assert!(!place.root().join("skills/pour").exists());
    let log = place.run(&["skill", "log", "--limit", "1"]).done().out;
    assert!(log.contains("was not offered before"), "{log}");
    place.run(&["library", "check"]).done();
}

#[test]
fn what_was_gone_is_held_back_and_a_broken_folder_too() {
    for broken in [true, false] {
        let place = held_back();
        let folder = place.root().join("held/pour");
        if broken {
            fs::write(folder.join("SKILL.md"), "no frontmatter").unwrap();
        } else {
            fs::remove_dir_all(&folder).unwrap();
        }
        damage(&place, b"it leaks data");
        let repair = place.run(&["library", "repair"]);
        assert_eq!(repair.code, 1);
        assert!(
            repair
                .out
                .contains("quarantined: pour, which was not offered before"),
            "{}",
            repair.out
        );
        let told = repair.out.contains("not in the library: held/pour");
        assert_eq!(told, broken, "{}", repair.out);
        assert_eq!(state(&place, "pour"), State::Quarantined);
    }
}

#[test]
fn a_folder_that_moved_between_the_areas_is_told() {
    let place = held_back();
    // The release is lost, and the person's word of it with it.
    place
        .run(&["skill", "release", "pour", "--reason", "it is mended"])
        .done();
    damage(&place, b"it is mended");
    let repair = place.json(&["library", "repair"]).json();
    assert_eq!(repair["not_taken_in"], json!(["skills/pour"]));
    assert_eq!(repair["quarantined"], json!([]));
    assert_eq!(state(&place, "pour"), State::Quarantined);
}

#[test]
fn a_copy_within_the_library_is_refused() {
    let place = Place::with_library();
    symlink("library", place.path("link")).unwrap();
    fs::create_dir(place.root().join("copies")).unwrap();
    for aside in [
        "library/inner",
        "link/inner",
        "library/copies/../copies/inner",
    ] {
        place
            .run(&["library", "repair", "--aside", aside])
            .failed(1, "the copy would lie within the library");
        assert!(!place.path(aside).exists());
    }
    place.run(&["library", "repair", "--aside", "copy"]).done();
}

#[test]
fn an_edit_that_was_taken_in_is_in_the_library() {
    let place = Place::with_library();
    let path = place.root().join("skills/brew/SKILL.md");
    let text = fs::read_to_string(&path).unwrap();
    let edited = text
        .replace("name: brew\n", "name:   \"brew\"\n")
        .replace("twice", "three times");
    assert_ne!(text, edited);
    fs::write(&path, edited).unwrap();
    let repair = place.json(&["library", "repair"]).done().json();
    assert_eq!(repair["not_taken_in"], json!([]));
    let shown = place.run(&["skill", "show", "brew"]).done().out;
    assert!(shown.contains("three times"), "{shown}");
}

#[test]
fn folders_that_cannot_be_written_are_told() {
    let place = Place::with_library();
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    let mut unholdable = sample::skill("stir");
    unholdable.description = "Stir\u{202e}s.".to_owned();
    block_on(store.commit(&sample::commit(3, "stir", vec![add(unholdable)]))).unwrap();
    drop(store);
    let repair = place.run(&["library", "repair"]);
    assert_eq!(repair.code, 1);
    assert!(repair.out.contains("fault: "), "{}", repair.out);
    assert!(repair.out.contains("a hidden character"), "{}", repair.out);
}

#[test]
fn a_folder_at_fault_is_no_reason_for_a_repair() {
    let place = Place::with_library();
    fs::write(place.root().join("skills/brew/SKILL.md"), "---\nname: br").unwrap();
    let check = place.run(&["library", "check"]);
    assert_eq!(check.code, 1);
    assert!(!check.out.contains("library repair"), "{}", check.out);
    assert!(
        check.out.contains("1 fault; correct the folder"),
        "{}",
        check.out
    );
}

#[test]
fn a_dead_database_is_not_copied_each_time() {
    let place = Place::empty();
    fs::create_dir(place.root()).unwrap();
    fs::write(place.root().join("library.db"), "a letter".repeat(200)).unwrap();
    let repair = place.run(&["library", "repair"]);
    let repair = repair.failed(4, "damaged");
    assert!(!repair.err.contains("library repair"), "{}", repair.err);
    assert!(!place.path("library.before-repair-1").exists());
}

#[test]
fn damage_to_the_first_page_is_mended() {
    for at in [0, 18, 44, 56, 60, 68] {
        let place = Place::with_library();
        let path = place.root().join("library.db");
        let before = fs::read(&path).unwrap();
        let mut bytes = before.clone();
        bytes[at..at + 4].copy_from_slice(&[0xff; 4]);
        fs::write(&path, &bytes).unwrap();
        let repaired = place.json(&["library", "repair"]);
        assert_eq!(
            repaired.json()["database_rebuilt"],
            true,
            "{at}: {}",
            repaired.err
        );
        let list = place.json(&["skill", "list"]).done().json();
        assert_eq!(list["skills"].as_array().unwrap().len(), 2, "{at}");
    }
}

#[test]
fn an_emptied_database_is_saved_from_its_log() {
    let place = Place::with_library();
    let root = place.root();
    // As after a kill: the log is not folded in.
    let log = root.join("library.db-wal");
    let raw = rusqlite::Connection::open(root.join("library.db")).unwrap();
    raw.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; VACUUM")
        .unwrap();
    let kept = fs::read(&log).unwrap();
    drop(raw);
    fs::write(root.join("library.db"), "").unwrap();
    fs::write(&log, kept).unwrap();
    place.run(&["skill", "list"]).failed(4, "library repair");
    place.run(&["library", "repair"]);
    let list = place.json(&["skill", "list"]).done().json();
    assert_eq!(list["skills"].as_array().unwrap().len(), 2);
}
