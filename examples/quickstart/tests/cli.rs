//! The quickstart as its user sees it: bad input says what to do, and a seed repeats.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lab/apprentice/apprentice.gguf")
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("quickstart-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn quickstart(model: &Path, out: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quickstart"))
        .args(["--json", "--model"])
        .arg(model)
        .arg("--out")
        .arg(out)
        .args(more)
        .output()
        .expect("it starts")
}

const SMALL: [&str; 7] = [
    "--tasks",
    "6",
    "--held-out",
    "6",
    "--group",
    "2",
    "--deterministic",
];

fn object(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().expect("a line");
    serde_json::from_str(last).expect("one object")
}

#[test]
fn bad_input_says_what_to_do() {
    let out = folder("bad");
    let no_gguf = out.join("text.gguf");
    std::fs::write(&no_gguf, "this is a text").expect("a file");
    let check = |model: &Path, more: &[&str], words: &[&str]| {
        let output = quickstart(model, &out, more);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{more:?}");
        assert!(!said.contains("panicked"), "{said}");
        for word in words {
            assert!(said.contains(word), "{more:?}: {said}");
        }
    };
    check(
        &out.join("missing.gguf"),
        &SMALL,
        &["loading ", "error: ", "missing.gguf", "hint: "],
    );
    check(&no_gguf, &SMALL, &["GGUF", "hint"]);
    check(
        &model(),
        &["--tasks", "0"],
        &["the task stream is empty", "hint"],
    );
    check(
        &model(),
        &["--held-out", "0"],
        &["no held-out tasks", "hint"],
    );
    check(&model(), &["--steps", "0"], &["step budget", "hint"]);
    check(&model(), &["--group", "0"], &["--group", "zero"]);
    check(&model(), &["--select", "luck"], &["luck", "pmi"]);
    std::fs::remove_dir_all(out).expect("cleared");
}

#[test]
fn the_same_seed_gives_the_same_output() {
    let out = folder("same");
    let run = || quickstart(&model(), &out, &SMALL);
    let (one, other) = (run(), run());
    assert!(
        one.status.success(),
        "{}",
        String::from_utf8_lossy(&one.stderr)
    );
    assert_eq!(one.stdout, other.stdout);
    // How long it was silent depends on the machine.
    let lasting = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = text.lines().filter(|line| !line.starts_with("  ... "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lasting(&one), lasting(&other));
    let object = object(&one);
    let written = std::fs::read_dir(out.join("skills"))
        .expect("the folder")
        .count();
    assert_eq!(object["skills"].as_array().map(Vec::len), Some(written));
    std::fs::remove_dir_all(out).expect("cleared");
}

/// The way that users' models take: `ChatFormat`, tool calls and the general roles.
#[test]
fn it_learns_what_does_held_out_tasks_and_injects_nothing_where_nothing_is_called_for() {
    let out = folder("learns");
    let small = ["--seed", "100", "--tasks", "12", "--held-out", "24"];
    let output = quickstart(&model(), &out, &small);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let object = object(&output);
    let (before, after) = (&object["before"], &object["after"]);
    let first = |phase: &Value| phase["hidden"]["first_attempt_success"].as_f64().unwrap();
    assert_eq!(first(before), 0.0, "{said}");
    assert!(first(after) > 0.0, "{said}");
    // The story at the end, in plain lines: this is no terminal.
    for words in [
        "first attempts      0% before, ",
        "== one task, before and after",
        "  not told   ",
        "nats more likely with this task than without",
        "  look at one with          cat ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains('\u{1b}'), "{said}");
    let better = &object["story"]["better"];
    assert_eq!(better["after"]["refused"], 0, "{said}");
    assert!(better["before"]["refused"].as_u64().unwrap() > 0, "{said}");
    assert!(better["skill"].is_string(), "{said}");
    // No skill where none is called for.
    assert_eq!(after["plain"]["skill_use"], 0.0, "{said}");
    assert!(
        object["skills"]
            .as_array()
            .is_some_and(|skills| !skills.is_empty())
    );
    std::fs::remove_dir_all(out).expect("cleared");
}

#[test]
fn a_folder_that_no_quickstart_wrote_is_left_alone() {
    for (name, file) in [
        ("skills", "skills/mine/SKILL.md"),
        ("journal", "journal.jsonl"),
        ("both", "skills/mine/SKILL.md"),
    ] {
        let out = folder(&format!("foreign-{name}"));
        std::fs::create_dir_all(out.join("skills/mine")).expect("a folder");
        if name == "journal" {
            std::fs::remove_dir_all(out.join("skills")).expect("removed");
        }
        if name == "both" {
            std::fs::write(out.join("journal.jsonl"), "{\"mine\": 1}\n").expect("a file");
        }
        std::fs::write(out.join(file), "mine").expect("a file");
        let output = quickstart(&model(), &out, &SMALL);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {said}");
        for word in ["no quickstart wrote", "name another folder with --out"] {
            assert!(said.contains(word), "{name}: {said}");
        }
        let kept = std::fs::read_to_string(out.join(file)).expect("it is there");
        assert_eq!(kept, "mine");
        std::fs::remove_dir_all(out).expect("cleared");
    }
}

#[test]
fn without_selection_no_skill_is_used_and_every_skill_is_a_folder_that_reads_back() {
    let out = folder("none");
    let output = quickstart(
        &model(),
        &out,
        &[&SMALL[..], &["--select", "none"]].concat(),
    );
    assert!(output.status.success());
    assert_eq!(object(&output)["after"]["skill_use"], 0.0);
    for entry in std::fs::read_dir(out.join("skills")).expect("the folder") {
        let entry = entry.expect("an entry");
        let text = std::fs::read_to_string(entry.path().join("SKILL.md")).expect("a file");
        let name = entry.file_name().into_string().expect("a name");
        journeyman::library::format::SkillMd::read_strict(&text, Some(&name))
            .expect("a strict SKILL.md");
    }
    std::fs::remove_dir_all(out).expect("cleared");
}
