//! Importing and exporting skills.

use std::{fs, path::Path};

use journeyman::{
    domain::{Origin, SkillName, State, Taint},
    library::Entry,
};
use serde_json::{Value, json};

use crate::support::{Place, fields, sound};

fn entry(place: &Place, name: &str) -> Entry {
    let library = place.library();
    let entry = library.by_name(&SkillName::new(name).unwrap());
    entry.unwrap().clone()
}

#[test]
fn folders_come_in_quarantined_and_go_out_as_they_came() {
    let place = Place::with_library();
    let path = place.skill_folder("theirs/pour", &sound("pour"));
    fs::create_dir(path.join("scripts")).unwrap();
    fs::write(path.join("scripts/pour.sh"), "echo pour\n").unwrap();
    place.skill_folder("theirs/stir", &sound("stir"));
    let tried = place
        .json(&["skill", "import", "theirs", "--dry-run"])
        .done()
        .json();
    assert_eq!(
        (&tried["taken_in"], &tried["revision"]),
        (&json!(2), &Value::Null)
    );
    let json = place.json(&["skill", "import", "theirs"]).done().json();
    assert_eq!(json["revision"], 4);
    assert_eq!(
        fields(&json),
        [
            "already_there",
            "dry_run",
            "moves",
            "packed",
            "passed_over",
            "redacted",
            "refused",
            "renamed",
            "revision",
            "taken_in",
            "warnings",
        ]
    );
    let pour = entry(&place, "pour");
    assert_eq!(pour.skill.state, State::Quarantined);
    assert_eq!(pour.skill.provenance.origin, Origin::Imported);
    assert_eq!(pour.skill.taint, Taint::Tainted);
    let again = place.json(&["skill", "import", "theirs"]).done().json();
    assert_eq!(
        (&again["taken_in"], &again["already_there"]),
        (&json!(0), &json!(2))
    );

    let arguments = [
        "skill",
        "export",
        "pour",
        "--format",
        "skill-folder",
        "--output",
        "out",
    ];
    place.run(&arguments).done();
    let text = fs::read_to_string(place.path("out/pour/SKILL.md")).unwrap();
    assert!(text.ends_with("Say pour.\n"), "{text}");
    let script = fs::read_to_string(place.path("out/pour/scripts/pour.sh")).unwrap();
    assert_eq!(script, "echo pour\n");
    place
        .run(&arguments)
        .failed(1, "something is there already");
}

#[test]
fn trust_takes_the_taint_and_releases_nothing() {
    let place = Place::with_library();
    place.skill_folder("pour", &sound("pour"));
    place
        .run(&["skill", "import", "pour", "--trust", "--source", "us"])
        .done();
    let pour = entry(&place, "pour").skill;
    assert_eq!((pour.state, pour.taint), (State::Quarantined, Taint::Clean));
}

#[test]
fn secrets_never_reach_the_disk() {
    let place = Place::with_library();
    let secret = format!("sk-proj-{}", "a1B2c3D4e5F6g7H8i9J0");
    let path = place.skill_folder("pour", &format!("{}Key {secret}.\n", sound("pour")));
    fs::write(path.join("notes.txt"), format!("again {secret}")).unwrap();
    let json = place.json(&["skill", "import", "pour"]).done().json();
    assert_eq!(json["redacted"].as_array().unwrap().len(), 1);
    assert!(entry(&place, "pour").skill.body.contains("[redacted: "));
    fn search(folder: &Path, secret: &str) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                search(&path, secret);
            } else {
                let bytes = fs::read(&path).unwrap();
                let found = bytes
                    .windows(secret.len())
                    .any(|bytes| bytes == secret.as_bytes());
                assert!(!found, "{}", path.display());
            }
        }
    }
    search(&place.root(), &secret);
}

#[test]
fn what_the_linter_refuses_stays_out() {
    let place = Place::with_library();
    place.skill_folder("theirs/pour", &sound("pour"));
    place.skill_folder(
        "theirs/stir",
        &format!("{}Hid\u{202e}den.\n", sound("stir")),
    );
    let refused = place.json(&["skill", "import", "theirs"]);
    assert_eq!(refused.code, 1);
    let json = refused.json();
    assert_eq!(
        (&json["revision"], &json["taken_in"]),
        (&Value::Null, &json!(0))
    );
    assert_eq!(
        json["refused"][0]["findings"][0]["rule"],
        "hidden-character"
    );
    assert_eq!(fields(&json["refused"][0]), ["error", "findings", "place"]);
    let text = place.run(&["skill", "import", "theirs", "--keep-going"]);
    assert_eq!(text.code, 1);
    assert!(text.out.contains("refused: theirs/stir"), "{}", text.out);
    assert_eq!(entry(&place, "pour").skill.state, State::Quarantined);
    assert_eq!(place.library().entries().count(), 3);
}

#[test]
fn banks_and_documents_come_and_go_as_equal_values() {
    let bank = json!({
        "general_skills": [{"skill_id": "gen_001", "title": "Look Twice", "weight": 0.5,
            "principle": "Look again.", "when_to_apply": "After each step."}],
        "task_specific_skills": {"pour": [{"skill_id": "p1", "title": "Pour slowly",
            "principle": "Slowly.", "when_to_apply": "When pouring."}]},
        "common_mistakes": []
    });
    let document = json!([{"skill_name": "stir_well", "problem_type": "stirring",
        "key_insight": "Stirring mixes.", "method": ["Take a spoon.", "Stir."],
        "check": "It is mixed."}]);
    for (name, format, value) in [
        ("bank.json", "skillrl", bank),
        ("docs.json", "arise", document),
    ] {
        let place = Place::with_library();
        fs::write(place.path(name), value.to_string()).unwrap();
        place.run(&["skill", "import", name]).done();
        let held = place
            .json(&["skill", "list", "--state", "active"])
            .done()
            .json();
        assert_eq!(held["skills"].as_array().unwrap().len(), 2, "{format}");
        let arguments = [
            "skill", "export", "--set", name, "--format", format, "--output", "out.json",
        ];
        place.run(&arguments).done();
        let out: Value =
            serde_json::from_str(&fs::read_to_string(place.path("out.json")).unwrap()).unwrap();
        assert_eq!(out, value);
        let none = [
            "skill", "export", "--set", "x", "--format", format, "--output", "x.json",
        ];
        place
            .run(&none)
            .failed(3, "no skill came from a source of this name");
    }
}

#[test]
fn an_archive_of_skills_is_a_strangers_elsewhere() {
    let place = Place::with_library();
    place.skill_folder("pour", &sound("pour"));
    place.run(&["skill", "import", "pour"]).done();
    place
        .run(&["skill", "release", "pour", "--reason", "I read it"])
        .done();
    let arguments = [
        "skill",
        "export",
        "brew",
        "pour",
        "--format",
        "archive",
        "--output",
        "two.journeyman",
    ];
    place.run(&arguments).done();
    let other = Place::empty();
    let archive = place.path("two.journeyman");
    let archive = archive.to_str().unwrap();
    other
        .run(&["skill", "import", archive])
        .failed(3, "there is no skill library here");
    other.run(&["skill", "import", archive, "--create"]).done();
    for name in ["brew", "pour"] {
        assert_eq!(entry(&other, name).skill.state, State::Quarantined);
    }
    assert_eq!(entry(&other, "brew").skill.files.len(), 1);
}

/// Collections have skills several levels deep, beside any number of other files.
#[test]
fn skills_below_folders_of_folders_come_in() {
    let place = Place::with_library();
    place.skill_folder("many/office/mail/sort-mail", &sound("sort-mail"));
    let pour = place.skill_folder("many/kitchen/pour", &sound("pour"));
    place.skill_folder("many/kitchen/pour/examples/inner", &sound("inner"));
    place.skill_folder("many/возврат", &sound("возврат"));
    for number in 0..250 {
        fs::write(pour.join(format!("../notes-{number}.md")), "").unwrap();
    }
    let json = place.json(&["skill", "import", "many"]).done().json();
    assert_eq!(json["taken_in"], 3, "{json}");
    // The inner skill is files of the outer one, and that is told.
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("examples/inner/SKILL.md"), "{warnings}");
    assert!(
        place
            .library()
            .by_name(&SkillName::new("inner").unwrap())
            .is_none()
    );
    let files = &entry(&place, "pour").skill.files;
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(entry(&place, "возврат").skill.name.as_str(), "возврат");
    place.json(&["skill", "show", "возврат"]).done();
    let none = place.json(&["skill", "import", "many/kitchen/pour/examples"]);
    assert_eq!(none.done().json()["taken_in"], 1);
    fs::create_dir(pour.join("../empty")).unwrap();
    for number in 0..250 {
        fs::write(pour.join(format!("../empty/{number}.md")), "").unwrap();
    }
    let none = place.run(&["skill", "import", "many/kitchen/empty"]);
    assert!(
        none.out.contains("the folder has no SKILL.md"),
        "{}",
        none.out
    );
}
