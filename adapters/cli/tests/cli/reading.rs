//! Commands that change nothing.

use std::{fs, path::Path, process::Command};

use serde_json::json;

use crate::support::{Place, RUN, documented, fields, ran, sound};

/// The command, without the right to write what its files' modes forbid: root has it otherwise.
#[cfg(target_os = "linux")]
fn without_root_s_rights(command: &Command) -> Command {
    let mut plain = Command::new("setpriv");
    plain
        .args([
            "--bounding-set=-dac_override,-dac_read_search",
            "--inh-caps=-all",
        ])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap());
    match rustix::process::geteuid().is_root() {
        true => plain,
        false => {
            let mut same = Command::new(command.get_program());
            same.args(command.get_args())
                .current_dir(command.get_current_dir().unwrap());
            same
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_cannot_be_written_is_read() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::with_library();
    let writable = |path: &Path, writable: bool| {
        let bits = if writable { 0o200 } else { 0 };
        let mode = if path.is_dir() { 0o555 } else { 0o444 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode | bits)).unwrap();
    };
    let files = || {
        fs::read_dir(place.root())
            .unwrap()
            .map(|one| one.unwrap().path())
    };
    let before: Vec<_> = files().collect();
    before
        .iter()
        .filter(|path| path.is_file())
        .for_each(|path| writable(path, false));
    writable(&place.root(), false);
    for (arguments, expect) in [
        (&["skill", "list"][..], "grind"),
        (&["skill", "show", "brew"], "Say brew twice."),
        (&["skill", "diff", "brew", "1", "2"], "twice"),
        (&["skill", "log"], "brew 2: revised"),
        (&["skill", "search", "brew"], "brew"),
    ] {
        let command = place.command(arguments);
        let read = ran(&without_root_s_rights(&command).output().unwrap()).done();
        assert!(read.out.contains(expect), "{arguments:?}: {}", read.out);
        assert!(read.err.contains("cannot be written"), "{}", read.err);
    }
    let refused = place.command(&["skill", "quarantine", "brew"]);
    let refused = ran(&without_root_s_rights(&refused).output().unwrap());
    assert_ne!(refused.code, 0);
    assert!(files().eq(before), "nothing is left there");
    writable(&place.root(), true);
}

#[test]
fn the_list_has_every_skill_and_can_be_narrowed() {
    let place = Place::with_library();
    let text = place.run(&["skill", "list"]).done().out;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "NAME   VERSION  STATE   TIER   UTILITY  USES  ID",
            "brew   2        active  cache  0.000    0     brew",
            "grind  1        active  cache  0.100    1     grind",
        ]
    );
    let json = place.json(&["skill", "list"]).done().json();
    assert_eq!(json["revision"], 3);
    assert_eq!(
        fields(&json["skills"][0]),
        [
            "credits",
            "description",
            "id",
            "name",
            "origin",
            "state",
            "taint",
            "tier",
            "uses",
            "utility",
            "version",
        ]
    );
    let none = place.json(&["skill", "list", "--state", "archived"]);
    assert_eq!(none.done().json()["skills"], json!([]));
}

#[test]
fn a_skill_is_shown_with_what_is_known_of_it() {
    let place = Place::with_library();
    let text = place.run(&["skill", "show", "brew"]).done().out;
    assert!(text.contains("Say brew twice."), "{text}");
    assert!(text.contains("scripts/brew.sh"), "{text}");
    let first = place
        .run(&["skill", "show", "brew", "--version", "1"])
        .done()
        .out;
    assert!(first.contains("To do brew, say brew."), "{first}");
    let json = place.json(&["skill", "show", "grind"]).done().json();
    assert_eq!(json["skill"]["runs"], json!([RUN]));
    assert_eq!(json["skill"]["evidence"][0]["reward"], 1.0);
    // The session's recipe records no exposures of it.
    let none = json!({"retrieved": 0, "injected": 0, "used": 0, "use_unknown": 0});
    assert_eq!(json["skill"]["lifetime"], none);
    assert!(
        json["skill_md"]
            .as_str()
            .unwrap()
            .starts_with("---\nname: grind\n")
    );
    for field in [
        "name",
        "id",
        "version",
        "versions",
        "state",
        "tier",
        "origin",
        "taint",
        "parents",
        "utility",
        "uses",
        "credits",
        "lifetime",
        "files",
        "content_sha256",
    ] {
        assert!(!json["skill"][field].is_null(), "{field}");
    }
}

#[test]
fn two_versions_are_compared() {
    let place = Place::with_library();
    let text = place.run(&["skill", "diff", "brew", "1", "2"]).done().out;
    assert!(text.contains("\n-To do brew, say brew."), "{text}");
    assert!(text.contains("\n+Say brew twice."), "{text}");
    let json = place
        .json(&["skill", "diff", "brew", "1", "2"])
        .done()
        .json();
    assert_eq!(fields(&json), ["body", "fields", "from", "to"]);
    let missing = place.run(&["skill", "diff", "brew", "1", "7"]);
    missing.failed(3, "the skill has no such version");
}

#[test]
fn the_log_tells_each_commit_the_latest_first() {
    let place = Place::with_library();
    let text = place.run(&["skill", "log"]).done().out;
    assert!(text.starts_with("revision 3  "), "{text}");
    assert!(text.contains("run run-1"), "{text}");
    assert!(text.contains("grind 1: credited 1"), "{text}");
    let json = place.json(&["skill", "log", "brew"]).done().json();
    let commits = json["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 2);
    assert_eq!(commits[0]["moves"][0]["operation"], "revised");
    assert_eq!(
        fields(&commits[0]),
        [
            "at",
            "changes",
            "key",
            "moves",
            "passed_over",
            "reason",
            "revision",
            "run",
            "task"
        ]
    );
    let one = place.json(&["skill", "log", "--limit", "1"]).done().json();
    assert_eq!(one["commits"].as_array().unwrap().len(), 1);
    assert_eq!(one["commits"][0]["changes"][0]["change"], "credit");
}

#[test]
fn what_a_person_edited_is_seen_at_once() {
    let place = Place::with_library();
    let path = place.root().join("skills/brew/SKILL.md");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("twice", "three times")).unwrap();
    let shown = place.run(&["skill", "show", "brew"]).done().out;
    assert!(shown.contains("three times"), "{shown}");
    fs::write(&path, "no frontmatter").unwrap();
    let warned = place.run(&["skill", "list"]).done();
    assert!(
        warned.err.contains("left as it is: skills/brew"),
        "{}",
        warned.err
    );
}

#[test]
fn nothing_of_a_skill_steers_the_terminal() {
    use futures::executor::block_on;
    use journeyman::{contract::SkillStore, testing::sample};
    let place = Place::empty();
    let mut skill = sample::skill("evil");
    skill.description = "red \u{1b}[31m \u{9b}2J \u{202e}over".to_owned();
    skill.body = "one\u{1b}]0;title\u{7}\ntwo".to_owned();
    let store = journeyman_disk::DiskStore::open(place.root(), &Default::default()).unwrap();
    let change = crate::support::add(skill.clone());
    block_on(store.commit(&sample::commit(0, "evil", vec![change]))).unwrap();
    drop(store);
    for arguments in [
        &["skill", "show", "evil"][..],
        &["skill", "list"],
        &["skill", "log"],
    ] {
        for ran in [place.run(arguments).done(), place.json(arguments).done()] {
            let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!ran.out.contains(steers), "{:?}", ran.out);
        }
    }
    let json = place.json(&["skill", "list"]).done().json();
    assert_eq!(json["skills"][0]["description"], skill.description);
}

#[test]
fn skills_are_validated_strictly_with_every_fault_and_its_line() {
    let place = Place::empty();
    let good = place.skill_folder("brew", &sound("brew"));
    place
        .run(&["skill", "validate", good.to_str().unwrap()])
        .done();
    place.run(&["skill", "validate", "brew/SKILL.md"]).done();
    place.skill_folder("all/brew", &sound("brew"));
    // Another case, an unknown key and a secret.
    let bad = "---\nname: Grind\ndescription: Grinds. Use for beans.\ncolour: red\n---\n\nThe password: hunter22x.\n";
    place.skill_folder("all/grind", bad);
    let ran = place.json(&["skill", "validate", "all"]);
    assert_eq!(ran.code, 1);
    let json = ran.json();
    assert_eq!(json["valid"], false);
    assert_eq!(json["skills"][0]["valid"], true);
    let findings = json["skills"][1]["findings"].as_array().unwrap();
    let found: Vec<_> = findings
        .iter()
        .map(|found| (found["rule"].as_str().unwrap(), found["line"].as_u64()))
        .collect();
    assert_eq!(
        found,
        [
            ("name", Some(2)),
            ("unknown-key", Some(4)),
            ("secret", Some(7))
        ]
    );
    assert_eq!(
        fields(&findings[0]),
        [
            "field", "hint", "line", "message", "path", "rule", "severity"
        ]
    );
    let text = place.run(&["skill", "validate", "all"]);
    assert_eq!(text.code, 1);
    assert!(text.out.contains("SKILL.md:2 [name]"), "{}", text.out);
    assert!(text.out.contains("      hint: "), "{}", text.out);
    assert!(!text.out.contains("hunter22x"), "{}", text.out);
}

#[test]
fn completions_are_made_for_each_shell() {
    let place = Place::empty();
    for (shell, mark) in [
        ("bash", "_journeyman()"),
        ("zsh", "#compdef journeyman"),
        ("fish", "complete -c journeyman"),
    ] {
        let script = place.run(&["completions", shell]).done().out;
        assert!(script.contains(mark), "{shell}");
        assert!(script.contains("quarantine"), "{shell}");
    }
}

#[test]
fn the_help_tells_the_exit_codes() {
    let place = Place::empty();
    let help = place.run(&["--help"]).done().out;
    for code in ["0  done", "1  refused", "2  ", "3  ", "4  ", "5  "] {
        assert!(help.contains(code), "{help}");
    }
    let unknown = place.run(&["skill", "brew"]);
    assert_eq!(unknown.code, 2);
}

#[test]
fn a_search_says_which_words_found_a_skill() {
    let place = Place::with_library();
    let told = place
        .json(&["skill", "search", "brew coffee twice"])
        .done()
        .json();
    documented("`skill search`", &told);
    let [first, ..] = told["skills"].as_array().unwrap().as_slice() else {
        panic!("{told}");
    };
    assert_eq!(
        (&first["name"], &first["by"]),
        (&"brew".into(), &"bm25".into())
    );
    let words = first["words"].as_array().unwrap();
    let sum: f64 = words.iter().map(|one| one["score"].as_f64().unwrap()).sum();
    assert!(
        (sum - first["score"].as_f64().unwrap()).abs() < 1e-9,
        "{told}"
    );
    let named: Vec<_> = words
        .iter()
        .map(|one| one["word"].as_str().unwrap())
        .collect();
    assert!(
        named.contains(&"brew") && named.contains(&"twice"),
        "{named:?}"
    );
    assert!(!named.contains(&"coffee"), "no skill has it");

    let text = place
        .run(&["skill", "search", "brew", "--limit", "1"])
        .done()
        .out;
    assert!(text.contains("brew") && !text.contains("grind"), "{text}");
    let none = place.run(&["skill", "search", "zzz"]).done();
    assert!(none.out.contains("No skill has a word"), "{}", none.out);

    place.run(&["skill", "quarantine", "brew"]).done();
    let held = place.json(&["skill", "search", "brew"]).done().json();
    let is_brew = |one: &serde_json::Value| one["name"] == "brew";
    assert!(!held["skills"].as_array().unwrap().iter().any(is_brew));
    let all = place
        .json(&["skill", "search", "brew", "--all"])
        .done()
        .json();
    assert!(all["skills"].as_array().unwrap().iter().any(is_brew));
}
