//! Inputs that people give by mistake.

use std::{fs, os::unix::fs::PermissionsExt, thread};

use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::json;

use crate::support::{Place, fields, ran, sound};

#[test]
fn a_folder_that_is_no_library() {
    let place = Place::empty();
    place
        .run(&["skill", "list"])
        .failed(3, "there is no skill library here");
    let json = place.json(&["skill", "list"]);
    assert_eq!(json.code, 3);
    let error = &json.json()["error"];
    assert_eq!(
        fields(error),
        ["details", "hint", "kind", "message", "operation"]
    );
    assert_eq!(error["kind"], "NotFound");
    assert!(!place.root().exists());
    fs::create_dir(place.root()).unwrap();
    fs::write(place.root().join("library.db"), "a letter".repeat(200)).unwrap();
    place.run(&["skill", "list"]).failed(4, "damaged");
    place.run(&["library", "check"]).failed(4, "damaged");
    place.run(&["library", "repair"]).failed(4, "damaged");
}

#[test]
fn an_empty_library_is_made_once() {
    let place = Place::empty();
    place
        .run(&["skill", "list"])
        .failed(3, "`journeyman library create` makes an empty library");
    place.run(&["library", "create"]).done();
    place.run(&["skill", "list"]).done();
    place
        .run(&["library", "create"])
        .failed(1, "there is a library here already");
    let other = Place::empty();
    fs::create_dir_all(other.root().join("skills/brew")).unwrap();
    fs::write(other.root().join("skills/brew/SKILL.md"), "unread").unwrap();
    other
        .run(&["library", "create"])
        .failed(1, "would become skills that nobody has read");
}

#[test]
fn a_database_of_a_newer_version() {
    let place = Place::with_library();
    let path = place.root().join("library.db");
    let later = "CREATE TABLE later (text TEXT); PRAGMA user_version = 99";
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.execute_batch(later).unwrap();
    drop(newer);
    let bytes = fs::read(&path).unwrap();
    for arguments in [
        &["skill", "list"],
        &["library", "check"],
        &["library", "repair"],
    ] {
        place.run(arguments).failed(1, "written by a newer release");
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn folders_that_are_no_skills() {
    let place = Place::with_library();
    fs::create_dir(place.path("empty")).unwrap();
    place.skill_folder("broken", "---\nname: broken\n: [\n---\n");
    for (path, code) in [("empty", 1), ("broken", 1), ("nowhere", 3)] {
        assert_eq!(place.run(&["skill", "validate", path]).code, code, "{path}");
        assert_eq!(place.run(&["skill", "import", path]).code, code, "{path}");
    }
    let said = place.run(&["skill", "import", "empty"]).out;
    assert!(said.contains("the folder has no SKILL.md"), "{said}");
    fs::write(place.path("letter.txt"), "Dear all").unwrap();
    let said = place.run(&["skill", "import", "letter.txt"]);
    said.failed(1, "the format of this file is not recognized");
    assert_eq!(place.library().revision().0, 3);
}

#[test]
fn a_name_of_another_case_or_none() {
    let place = Place::with_library();
    let ran = place
        .run(&["skill", "show", "Brew"])
        .failed(3, "there is no such skill");
    assert!(ran.err.contains("did you mean `brew`?"), "{}", ran.err);
    place
        .run(&["skill", "show", "pour"])
        .failed(3, "there is no such skill");
    place
        .run(&[
            "skill", "export", "pour", "--format", "arise", "--output", "x",
        ])
        .failed(3, "no such skill");
}

#[test]
fn names_that_are_taken() {
    let place = Place::with_library();
    place.skill_folder("one/brew", &sound("brew"));
    place.skill_folder("two/brew", &sound("brew").replace("Say", "Sing"));
    let json = place.json(&["skill", "import", "one", "two"]).done().json();
    let moves = json["moves"].as_array().unwrap();
    let names: Vec<_> = moves
        .iter()
        .map(|moved| moved["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["brew-2", "brew-3"]);
    assert_eq!(
        json["renamed"],
        json!([{"from": "brew", "to": "brew-2"}, {"from": "brew", "to": "brew-3"}])
    );
    place.skill_folder("three/brew", &sound("brew").replace("Say", "Hum"));
    let said = place.run(&["skill", "import", "three"]).done().out;
    assert!(said.contains("brew-4 came as brew, "), "{said}");
}

#[test]
fn packed_archives_and_names_in_other_scripts() {
    let place = Place::with_library();
    for (name, begin) in [
        ("pour.zip", &b"PK\x03\x04\x14\0"[..]),
        ("pour.tar.gz", b"\x1f\x8b\x08\0"),
        ("pour.7z", b"7z\xbc\xaf\x27\x1c\0\x04"),
    ] {
        fs::write(place.path(name), begin).unwrap();
        let refused = place.run(&["skill", "import", name]);
        let refused = refused.failed(1, "this is a packed archive");
        assert!(refused.err.contains("unpack it"), "{}", refused.err);
    }
    let folder = place.skill_folder("stir", &sound("stir"));
    fs::write(folder.join("more.zip"), b"PK\x03\x04\x14\0").unwrap();
    let ran = place.json(&["skill", "import", "stir"]).done().json();
    assert_eq!(ran["packed"][0]["file"], "more.zip", "{ran}");
    for name in [
        "\u{65e5}\u{672c}\u{8a9e}",
        "\u{437}\u{430}\u{432}\u{430}\u{440}\u{43a}\u{430}",
        "\u{634}\u{627}\u{64a}",
    ] {
        place.skill_folder(name, &sound(name));
        let ran = place.json(&["skill", "import", name]).done().json();
        assert_eq!(ran["moves"][0]["name"], name, "{ran}");
    }
}

#[test]
fn a_name_that_is_put_right_is_told() {
    let place = Place::with_library();
    place.skill_folder(
        "pour",
        &sound("pour").replace("name: pour", "name: Pour_Water"),
    );
    let said = place.run(&["skill", "import", "pour"]).done().out;
    assert!(
        said.contains("[name] warning: the name broke the rules"),
        "{said}"
    );
}

#[test]
fn a_library_that_others_use_too() {
    let place = Place::with_library();
    let open = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    place.run(&["library", "check"]).done();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let run = |state: &str| match state {
                    "quarantine" => place.run(&["skill", "quarantine", "grind"]).done(),
                    _ => place
                        .run(&["skill", "release", "grind", "--reason", "again"])
                        .done(),
                };
                run("quarantine");
                run("release");
            });
        }
    });
    drop(open);
    let revision = place.library().revision().0;
    assert!((5..=11).contains(&revision), "{revision}");
    place.run(&["library", "check"]).done();
}

#[test]
fn a_folder_that_cannot_be_written() {
    let place = Place::with_library();
    let writable = fs::metadata(place.root()).unwrap().permissions();
    let database = place.root().join("library.db");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(place.root(), fs::Permissions::from_mode(0o555)).unwrap();
    // A superuser writes all the same.
    let refused = fs::write(place.root().join("probe"), "").is_err();
    let check = place.run(&["library", "check"]);
    let list = place.run(&["skill", "quarantine", "grind"]);
    fs::set_permissions(place.root(), writable).unwrap();
    assert_eq!(check.code, 0, "{}{}", check.out, check.err);
    if refused {
        list.failed(5, "cannot be");
    }
}

#[test]
fn somebody_who_stops_reading() {
    let place = Place::with_library();
    let mut command = place.command(&["skill", "show", "brew"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).output().unwrap();
    let ran = ran(&output);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}
