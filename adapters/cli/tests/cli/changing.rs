//! Commands that change skills.

use journeyman::{
    Version,
    domain::{SkillName, State},
};

use crate::support::{Place, RUN, fields, sound};

fn state(place: &Place, name: &str) -> State {
    let library = place.library();
    let entry = library.by_name(&SkillName::new(name).unwrap());
    entry.unwrap().skill.state
}

#[test]
fn a_skill_is_held_back_and_released_for_a_reason() {
    let place = Place::with_library();
    let tried = place
        .json(&["skill", "quarantine", "grind", "--dry-run"])
        .done()
        .json();
    assert_eq!(
        fields(&tried),
        ["dry_run", "moves", "passed_over", "revision"]
    );
    assert_eq!(tried["moves"][0]["operation"], "set_aside");
    assert_eq!(state(&place, "grind"), State::Active);

    let held = place.json(&["skill", "quarantine", "grind"]).done().json();
    assert_eq!(held["revision"], 4);
    assert_eq!(state(&place, "grind"), State::Quarantined);
    assert!(place.root().join("held/grind/SKILL.md").is_file());
    let again = place.run(&["skill", "quarantine", "grind"]).done();
    assert_eq!(again.out, "nothing to change\n");

    let unsaid = place.run(&["skill", "release", "grind"]);
    assert_eq!(unsaid.code, 2);
    let text = place
        .run(&["skill", "release", "grind", "--reason", "I read it"])
        .done()
        .out;
    assert!(text.ends_with("revision 5\n"), "{text}");
    assert_eq!(state(&place, "grind"), State::Active);
    let log = place.run(&["skill", "log", "--limit", "1"]).done().out;
    assert!(log.contains("I read it"), "{log}");
}

#[test]
fn an_earlier_version_comes_back() {
    let place = Place::with_library();
    let arguments = [
        "skill",
        "rollback",
        "brew",
        "1",
        "--reason",
        "it was better",
    ];
    let json = place.json(&arguments).done().json();
    assert_eq!(json["moves"][0]["operation"], "rolled_back");
    let library = place.library();
    let skill = &library
        .by_name(&SkillName::new("brew").unwrap())
        .unwrap()
        .skill;
    assert_eq!(
        (skill.version, skill.body.as_str()),
        (Version(3), "To do brew, say brew.")
    );
    let same = place.run(&["skill", "rollback", "brew", "3"]).done();
    assert_eq!(same.out, "nothing to change\n");
    let none = place.run(&["skill", "rollback", "brew", "9"]);
    none.failed(3, "the skill has no such version");
}

#[test]
fn a_large_commit_is_told_in_short_and_one_skill_of_it_alone() {
    let place = Place::with_library();
    for number in 0..30 {
        let name = format!("many/skill-{number}");
        place.skill_folder(&name, &sound(&format!("skill-{number}")));
    }
    let text = place.run(&["skill", "import", "many"]).done().out;
    assert!(text.contains("... and 11 more"), "{text}");
    let log = place.run(&["skill", "log", "--limit", "1"]).done().out;
    assert!(log.contains("... and 10 more"), "{log}");
    let log = place.run(&["skill", "log", "skill-29"]).done().out;
    assert!(log.ends_with("\n  skill-29 1: added\n"), "{log}");
    assert_eq!(log.lines().count(), 2);
}

#[test]
fn a_run_is_taken_back() {
    let place = Place::with_library();
    // What it would do is shown first.
    let shown = place.run(&["skill", "retire", "--run", RUN]).done().out;
    for part in [RUN, "CREDITS", "--yes"] {
        assert!(shown.contains(part), "{part:?} in {shown}");
    }
    assert_eq!(state(&place, "grind"), State::Active);
    let json = place.json(&["skill", "retire", "--run", RUN, "--yes"]);
    let json = json.done().json();
    assert_eq!(
        (&json["revision"], &json["runs"][0]["run"]),
        (&4.into(), &RUN.into())
    );
    assert_eq!(
        (&json["runs"][0]["commits"], &json["runs"][0]["credits"]),
        (&1.into(), &1.into())
    );
    assert_eq!(state(&place, "grind"), State::Disabled);
    for which in [["--run", "run-9"], ["--session", "nobody"], ["--run", RUN]] {
        let none = place.run(&[&["skill", "retire", "--yes"], &which[..]].concat());
        none.failed(
            3,
            "no run that is not taken back yet has made such a commit",
        );
    }
    for wrong in [
        &["skill", "retire"][..],
        &["skill", "retire", "--since", "yesterday"],
    ] {
        let refused = place.run(wrong);
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("--since"), "{}", refused.err);
    }
}
