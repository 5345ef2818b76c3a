//! The quickstart as its user sees it: bad input says what to do, a seed repeats, and the README's picture is of a run.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::Environment,
    domain::{Action, Task},
};
use journeyman_toolworld::{
    environment::{Setup, Toolworld},
    trade::Trade,
};
use quickstart::{Choice, Split, Tasks, spoken::says, standard};
use serde_json::Value;

/// What to do where the README's picture is not of a run any more.
const DRAW: &str =
    "draw docs/pictures/run.svg again, from `bash examples/quickstart.sh --tasks 12 --held-out 16`";

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

/// Whether calls of the picture (mark, call, answer) come out as it shows them. It leaves out what the task gives, and shortens answers.
fn come_out(task: &Task, rows: &[&[&str]], seed: u64) -> bool {
    let goal = Setup::of(task).unwrap().world.goal;
    let target = goal.target.to_string().replace(' ', "_");
    let mut episode = block_on(Toolworld::default().reset(task, Seed(seed))).unwrap();
    rows.iter().all(|row| {
        let mut parts = row[1].split(", ");
        let tool = parts.next().unwrap();
        let written = parts.map(|part| part.split_once(' ').expect(DRAW));
        let given = goal.given.iter().filter(|_| tool == target);
        let given = given.map(|one| (one.parameter.as_str(), one.value.as_str()));
        let arguments = written.chain(given);
        let arguments = arguments.map(|(name, value)| (name.to_owned(), value.into()));
        let call = Action::call(tool, Value::Object(arguments.collect()));
        let answer = block_on(episode.step(&call)).expect(DRAW);
        let is_shown_refused = (row[0] == "✗", row[2].starts_with("refused: "));
        let mut words = row[2].trim_start_matches("refused: ").split([' ', '’']);
        is_shown_refused == (answer.is_error, answer.is_error)
            && words.all(|word| answer.observation.text.contains(word))
    })
}

/// The task, the calls with their answers, the skill and the threshold, but not the scores, which are the model's.
#[test]
fn the_picture_of_the_readme_is_of_a_task_of_the_quickstart() {
    let picture = include_str!("../../../docs/pictures/run.svg");
    let texts = picture.split("</text>");
    let texts: Vec<&str> = texts.filter_map(|text| text.rsplit('>').next()).collect();
    let shows = |texts: &[&str], text: &str| assert!(texts.contains(&text), "{DRAW}: {text}");
    let split = Split {
        stream: 12,
        held_out: 16,
    };
    let tasks = Tasks::of_trade(Trade::travel().unwrap(), Seed(7), split).unwrap();
    let mut held_out = tasks.held_out.iter();
    let task = held_out.find(|task| texts.contains(&format!("“{}”", task.instruction).as_str()));
    let task = task.expect(DRAW);
    let after = texts.iter().position(|text| *text == "after");
    let (before, after) = texts.split_at(after.expect(DRAW));
    let [before, after] = [before, after].map(|side| {
        let rows = side.windows(3).filter(|row| ["✗", "✓"].contains(&row[0]));
        let rows: Vec<&[&str]> = rows.collect();
        let refused = match rows.iter().filter(|row| row[0] == "✗").count() {
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        shows(side, &format!("{} calls, {refused} refused", rows.len()));
        rows
    });
    // What a call returns depends on the attempt's seed.
    let is_so = |seed| come_out(task, &before, seed) && come_out(task, &after, seed);
    assert!((0..1_000).any(is_so), "{DRAW}");

    let tool = &tasks.tools[&task.id];
    shows(&texts, &format!("name: {}", tool.replace(' ', "-")));
    let mut members = tasks.members.iter();
    let member = members.find(|one| one.service.tool.name.to_string() == *tool);
    let lines = texts.join("\n").replace("\n   ", " ");
    assert!(says(&lines, member.unwrap()), "{DRAW}: the skill");
    let gate = standard(Choice::Pmi, true).gate().unwrap();
    shows(&texts, &format!("threshold: {}", gate.absolute.unwrap()));
}
