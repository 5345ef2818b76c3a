//! The command's answers are true and complete.

use std::{
    fs::{self, File, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Command,
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Category, ModelId, TaskId,
    contract::SkillStore,
    domain::{AssignedSkill, Assignment, AttemptId, LibraryChange},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::{Value, json};

use crate::support::{Place, Ran, add, documented, ran, sound};

/// A library with `zest`, which no SKILL.md can hold.
fn with_unholdable() -> Place {
    let place = Place::with_library();
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    let mut zest = sample::skill("zest");
    zest.description = "Zes\u{202e}ts.".to_owned();
    block_on(store.commit(&sample::commit(3, "zest", vec![add(zest)]))).unwrap();
    place
}

fn export(place: &Place, name: &str, format: &str, output: &str) -> Ran {
    let name = if name == "all" { "--all" } else { name };
    place.json(&[
        "skill", "export", name, "--format", format, "--output", output,
    ])
}

/// The names in a folder.
fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_cut_archive_is_said_to_be_also_where_the_command_runs() {
    let place = Place::with_library();
    place
        .run(&["library", "copy", "--archive", "one.journeyman"])
        .done();
    let bytes = fs::read(place.path("one.journeyman")).unwrap();
    fs::write(place.path("one.journeyman"), &bytes[..bytes.len() / 2]).unwrap();
    let here = place.path("here");
    fs::create_dir(&here).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_journeyman"))
        .current_dir(&here)
        .args(["library", "restore", "../one.journeyman"])
        .output()
        .unwrap();
    let ran = ran(&output);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(!ran.err.contains("cannot be written"), "{}", ran.err);
    assert_eq!(names(&here), [""; 0]);
}

#[test]
fn an_import_keeps_going_past_each_path() {
    let place = Place::with_library();
    place.skill_folder("pour", &sound("pour"));
    fs::write(place.path("letter.txt"), "Dear all").unwrap();
    place
        .run(&["library", "copy", "--archive", "cut.journeyman"])
        .done();
    let bytes = fs::read(place.path("cut.journeyman")).unwrap();
    fs::write(place.path("cut.journeyman"), &bytes[..bytes.len() - 100]).unwrap();
    let paths = ["nowhere", "letter.txt", "cut.journeyman", "pour"];
    let arguments = [&["skill", "import", "--keep-going"][..], &paths].concat();
    let ran = place.json(&arguments);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let json = ran.json();
    let refused = json["refused"].as_array().unwrap();
    let places: Vec<_> = refused.iter().map(|refused| &refused["place"]).collect();
    assert_eq!(places, paths[..3].iter().collect::<Vec<_>>());
    assert_eq!(json["taken_in"], 1);
    for (path, code) in [("nowhere", 3), ("letter.txt", 1), ("cut.journeyman", 4)] {
        assert_eq!(place.run(&["skill", "import", path, "pour"]).code, code);
    }
}

#[test]
fn only_what_held_a_secret_is_said_to_have() {
    let place = Place::with_library();
    let secret = format!("sk-proj-{}", "a1B2c3D4e5F6g7H8i9J0");
    let entry = |title: &str, principle: &str| json!({"title": title, "principle": principle, "when_to_apply": "Always."});
    let bank = json!({
        "general_skills": [entry("Pour", "Pour."), entry("Stir", &secret), entry("Wait", "Wait.")],
        "of_the_bank": true,
    });
    fs::write(place.path("bank.json"), bank.to_string()).unwrap();
    let json = place.json(&["skill", "import", "bank.json"]).done().json();
    assert_eq!(json["taken_in"], 4);
    assert_eq!(json["redacted"], json!(["bank.json: stir"]));
}

#[test]
fn wrong_arguments_are_told_as_json_too() {
    let place = Place::with_library();
    let ran = place.json(&["skill", "list", "--bogus"]);
    assert_eq!(ran.code, 2);
    let error = &ran.json()["error"];
    assert_eq!(error["kind"], "Invalid");
    assert!(error["message"].as_str().unwrap().contains("--bogus"));
    assert!(error["hint"].is_string());
    let lacking = place.json(&["skill", "release", "brew"]).json();
    let message = lacking["error"]["message"].as_str().unwrap();
    assert!(message.contains("--reason"), "{message}");
    // Without anything else clap has a help for it.
    for (arguments, said) in [
        (&["--json", "library"][..], "a command is missing"),
        (&["library", "--json"], "requires a subcommand"),
    ] {
        let none = place.run(arguments);
        assert_eq!(none.code, 2);
        let none = none.json();
        let message = none["error"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
    }
    let text = place.run(&["skill", "list", "--bogus"]);
    assert_eq!((text.code, text.out.as_str()), (2, ""));
    let help = place.json(&["skill", "--help"]);
    assert_eq!(help.code, 0);
    assert!(help.out.contains("Usage:"), "{}", help.out);
}

#[test]
fn an_answer_that_cannot_be_written_is_told() {
    let place = Place::with_library();
    let mut command = place.command(&["skill", "list"]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ran = ran(&command.stdout(full).output().unwrap());
    assert_eq!(ran.code, 5);
    assert!(
        ran.err.starts_with("error: the answer cannot be written"),
        "{}",
        ran.err
    );
}

#[test]
fn folders_are_exported_all_or_none() {
    let place = with_unholdable();
    let before = names(place.folder.path());
    assert_eq!(export(&place, "all", "skill-folder", "out").code, 1);
    assert_eq!(names(place.folder.path()), before);
    fs::create_dir(place.path("out")).unwrap();
    assert_eq!(export(&place, "all", "skill-folder", "out").code, 1);
    assert_eq!(names(&place.path("out")), [""; 0]);
    export(&place, "brew", "skill-folder", "out").done();
    export(&place, "grind", "skill-folder", "out").done();
    assert_eq!(names(&place.path("out")), ["brew", "grind"]);
    export(&place, "brew", "skill-folder", "a/new/place").done();
    assert_eq!(names(&place.path("a/new")), ["place"]);
    assert_eq!(
        names(&place.path("a/new/place/brew")),
        ["SKILL.md", "scripts"]
    );
}

#[test]
fn what_a_form_does_not_carry_is_told() {
    let place = Place::with_library();
    let json = export(&place, "brew", "skillrl", "bank.json").done().json();
    assert_eq!(json["warnings"][0]["details"]["left_out"], "files");
    assert_eq!(json["warnings"][0]["details"]["skill"], "brew");
    let all = export(&place, "brew", "archive", "all.journeyman")
        .done()
        .json();
    assert_eq!(all["warnings"], json!([]));

    place.run(&["skill", "quarantine", "grind"]).done();
    let arguments = [
        "skill", "export", "grind", "--format", "archive", "--output", "held",
    ];
    let ran = place.run(&arguments).done();
    assert!(ran.out.contains("NAME   VERSION  STATE\n"), "{}", ran.out);
    assert!(ran.out.contains("quarantined"), "{}", ran.out);
    assert!(ran.err.contains("state: quarantined"), "{}", ran.err);
    let ran = place.run(&["skill", "import", "held"]).done();
    assert!(ran.err.contains("no skill is offered there"), "{}", ran.err);
}

#[test]
fn what_is_written_can_be_read_by_others_as_any_new_file() {
    let place = Place::with_library();
    fs::write(place.path("any"), "").unwrap();
    export(&place, "grind", "skillrl", "bank.json").done();
    place.run(&["library", "copy", "--archive", "whole"]).done();
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("bank.json"), mode("any"));
    assert_eq!(mode("whole"), mode("any"));
}

#[test]
fn another_library_is_only_read() {
    let place = Place::with_library();
    let other = Place::with_library();
    let root = other.root();
    let merge = ["library", "merge", root.to_str().unwrap()];
    let set = |folder: u32, file: u32| {
        fs::set_permissions(root.join("library.db"), Permissions::from_mode(file)).unwrap();
        fs::set_permissions(&root, Permissions::from_mode(folder)).unwrap();
    };
    set(0o555, 0o444);
    let merged = place.json(&merge);
    set(0o755, 0o644);
    assert_eq!(merged.done().json()["taken_in"], 2);

    // One of an older form is not upgraded for that.
    let path = root.join("library.db");
    let first = "DROP TABLE files; DROP TABLE folders; DROP TABLE runs; DROP TABLE head; PRAGMA user_version = 1;";
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(first).unwrap();
    drop(old);
    let bytes = fs::read(&path).unwrap();
    let before = names(&root);
    place
        .run(&merge)
        .failed(1, "the library is of an older form");
    assert_eq!(names(&root), before);
    assert_eq!(fs::read(&path).unwrap(), bytes);

    place
        .run(&["library", "merge", "./library"])
        .failed(1, "this is the library itself");
}

#[test]
fn a_file_beside_skills_names_none_of_them() {
    let place = Place::with_library();
    place.skill_folder("dl/pour", &sound("pour"));
    fs::write(place.path("dl/notes.txt"), "notes").unwrap();
    let arguments = [
        "skill",
        "import",
        "dl/notes.txt",
        "--format",
        "skill-folder",
    ];
    let ran = place.json(&arguments);
    assert_eq!(ran.code, 1);
    let error = &ran.json()["refused"][0]["error"];
    assert_eq!(error["message"], "a skill's file is named SKILL.md");
    assert_eq!(place.run(&["skill", "import", "dl/SKILL.md"]).code, 3);
}

#[test]
fn banks_are_told_what_is_wrong_with_them() {
    let place = Place::with_library();
    // The cut lies within a character.
    let large = format!("[\"{}\"]", "é".repeat(6 * 1024 * 1024));
    for (text, message, line) in [
        (large.as_str(), "the file has more than 10 MiB", None),
        (
            "\u{feff}{\"general_skills\": []}",
            "a byte order mark",
            None,
        ),
        ("{\n\"general_skills\": [}", "not valid JSON", Some("2")),
    ] {
        fs::write(place.path("bank.json"), text).unwrap();
        let error = place.json(&["skill", "import", "bank.json"]).json();
        let error = &error["error"];
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(message), "{said}");
        assert_eq!(error["details"]["line"].as_str(), line);
    }
}

#[test]
fn an_error_names_what_was_asked_for_and_its_path_once() {
    let place = Place::with_library();
    fs::write(place.path("there"), "").unwrap();
    for (arguments, operation) in [
        (&["skill", "import", "nowhere"][..], "import"),
        (
            &["skill", "import", "nowhere", "--format", "skillrl"],
            "import",
        ),
        (&["skill", "validate", "nowhere"], "validate"),
        (
            &["--library", "new", "library", "restore", "nowhere"],
            "restore",
        ),
        (&["library", "copy", "--archive", "there"], "copy"),
    ] {
        // The last `--library` counts.
        let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
        command.current_dir(place.folder.path());
        if arguments[0] != "--library" {
            command.args(["--library", "library"]);
        }
        let output = command.args(arguments).arg("--json").output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["error"]["operation"], operation, "{json}");
    }
    let ran = place.run(&["skill", "import", "nowhere", "--format", "skillrl"]);
    assert_eq!(ran.err.matches("path: ").count(), 1, "{}", ran.err);
}

#[test]
fn an_empty_file_is_no_library() {
    let place = Place::empty();
    fs::create_dir(place.root()).unwrap();
    let path = place.root().join("library.db");
    fs::write(&path, "").unwrap();
    place
        .run(&["skill", "list"])
        .failed(4, "the library's database is empty");
    assert_eq!(fs::read(&path).unwrap(), b"");
    place.skill_folder("pour", &sound("pour"));
    place.run(&["skill", "import", "pour", "--create"]).done();
}

#[test]
fn the_same_import_once_more_is_no_commit_and_the_log_names_the_source() {
    let place = Place::with_library();
    place.skill_folder("pour", &sound("pour"));
    let import = ["skill", "import", "pour", "--source", "a friend"];
    place.run(&import).done();
    let again = place.json(&import).done().json();
    assert_eq!(
        (&again["revision"], &again["already_there"]),
        (&Value::Null, &json!(1))
    );
    assert_eq!(place.library().revision().0, 4);
    let log = place.run(&["skill", "log", "pour"]).done().out;
    assert!(log.contains("; source: a friend"), "{log}");
}

#[test]
fn what_a_skill_brings_is_shown_with_its_range_and_a_verdict() {
    let place = Place::with_library();
    let none = place.run(&["library", "lift"]).done();
    assert!(
        none.out.contains("nothing was withheld yet"),
        "{}",
        none.out
    );
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    // With `grind` nine of ten are done, without it three.
    let assigned = |number: usize| {
        let given = number.is_multiple_of(2);
        let done = number / 2 % 10 < if given { 9 } else { 3 };
        LibraryChange::Assign(Box::new(
            Assignment::new(
                AttemptId::new(format!("run-2/{number}/0")),
                TaskId::new(format!("task-{number}")),
                0.5,
            )
            .edited(|it| {
                it.category = Some(Category::new("kitchen"));
                it.model = Some(ModelId::new("a-model"));
                it.without = !given;
                it.by_skill = true;
                it.skills = vec![AssignedSkill::new(
                    sample::skill("grind").reference(),
                    given,
                )];
                it.success = f64::from(u8::from(done));
                it.score = f64::from(u8::from(done));
                it.steps = if given { 4.0 } else { 6.0 };
                it.tokens = 500.0;
            }),
        ))
    };
    let changes = (0..120).map(assigned).collect();
    block_on(store.commit(&sample::commit(3, "assigned", changes))).unwrap();
    drop(store);
    let told = place.json(&["library", "lift"]).done().json();
    documented("`library lift`", &told);
    assert_eq!(told["tasks"], 120);
    // The library and the skill, over all tasks and in their category.
    assert_eq!(told["lifts"].as_array().unwrap().len(), 4);
    let skill = &told["lifts"][2];
    assert_eq!(
        (&skill["name"], &skill["verdict"]),
        (&"grind".into(), &"helps".into())
    );
    assert_eq!(
        (&skill["category"], &skill["model"]),
        (&Value::Null, &"a-model".into())
    );
    let difference = skill["success"]["difference"].as_f64().unwrap();
    assert!((difference - 0.6).abs() < 1e-9, "{told}");
    let steps = skill["steps"]["difference"].as_f64().unwrap();
    assert!((steps + 2.0).abs() < 1e-9, "{told}");
    let shown = place.run(&["library", "lift"]).done().out;
    for said in [
        "grind, version 1, a-model",
        "90% of 60",
        "30% of 60",
        "+60 (",
        "-2.0",
        "helps",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    place
        .run(&["library", "lift", "--error", "0"])
        .failed(1, "error must be above 0 and below 1");
}
