//! Experiments with the bundled model.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::{
    running::{ABOUT_THEM, HELD_OUT, LEARNED, example, tasks, world},
    support::{Ran, fields, ran},
};

const MODEL: &str = "../../tests/lab/apprentice/apprentice.gguf";

/// Four cells.
const TINY: &str = r#"
name = "tiny"
model = "MODEL"
seeds = 2
tasks = "tasks.jsonl"
stream = 2
held_out = 1
checkpoints = 2
steps = 8

WORLD
[[arm]]
name = "no skills"
recipe = "none"

[[arm]]
name = "learning"
recipe = "standard"
set = { "attempts.group" = 2, "select.selector.options.epsilon" = 0 }
"#;

struct Lab(TempDir);

impl Lab {
    fn new() -> Self {
        let lab = Self(tempdir().unwrap());
        fs::write(lab.path("tasks.jsonl"), tasks(&ABOUT_THEM)).unwrap();
        lab.write(TINY);
        lab
    }

    fn write(&self, text: &str) {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(MODEL);
        let text = text.replace("MODEL", model.to_str().unwrap());
        let text = text.replace("WORLD", &world());
        fs::write(self.path("tiny.toml"), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
        command
            .current_dir(self.0.path())
            .args(["experiment", "tiny.toml"])
            .args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ran(&self.command(arguments).output().unwrap())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).done().json()
    }

    /// Whether another program would run the cells of `whole` again.
    fn another_build_is_told_apart(&self) {
        // Bytes after a program's own do not change its behavior.
        let mut program = fs::read(env!("CARGO_BIN_EXE_journeyman")).unwrap();
        program.push(0);
        let other = self.path("other");
        fs::write(&other, program).unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
        let run = |more: &[&str]| {
            let mut command = Command::new(&other);
            command.current_dir(self.0.path());
            command.args(["experiment", "tiny.toml", "--out", "whole", "--report"]);
            ran(&command.args(more).output().unwrap()).done()
        };
        let why = "learning, seed 1: another build of the command made it, so it is missing";
        assert!(run(&[]).err.contains(why));
        assert!(run(&["--any-build"]).out.contains("0 cells run, 4 kept"));
    }

    /// The cells of an experiment's folder, without their seconds.
    fn cells(&self, out: &str) -> BTreeMap<String, Value> {
        let Ok(folder) = self.path(out).join("cells").read_dir() else {
            return BTreeMap::new();
        };
        let files = folder.map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        let cell = |path: PathBuf| {
            let mut cell: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            cell.as_object_mut().unwrap().remove("seconds").unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), cell)
        };
        files.map(cell).collect()
    }

    /// With how many of its attempts each task of an arm's stream had a skill.
    fn injected(&self, out: &str, arm: &str) -> Vec<u64> {
        let stream = self.stream(out, arm).into_iter();
        stream
            .map(|task| task["injected"].as_u64().unwrap())
            .collect()
    }

    /// The tasks of an arm's stream, as the cell of the first seed has them.
    fn stream(&self, out: &str, arm: &str) -> Vec<Value> {
        let cells = self.cells(out);
        let name = format!("{arm}-seed-1.json");
        assert!(cells.contains_key(&name), "{arm}: {:?}", cells.keys());
        cells[&name]["result"]["stream"].as_array().unwrap().clone()
    }

    /// The report, without its table of times.
    fn report(&self, out: &str) -> String {
        let text = fs::read_to_string(self.path(out).join("report.md")).unwrap();
        let (timeless, _) = text.split_once("## Time").unwrap();
        timeless.to_owned()
    }
}

#[track_caller]
fn counts(answer: &Value, run: usize, kept: usize) {
    assert_eq!(answer["cells"]["run"], run, "{:#}", answer["cells"]);
    assert_eq!(answer["cells"]["kept"], kept, "{:#}", answer["cells"]);
}

#[test]
fn what_was_killed_goes_on_and_comes_to_the_same() {
    let lab = Lab::new();
    let whole = lab.json(&["--out", "whole"]);
    counts(&whole, 4, 0);
    assert_eq!(
        fields(&whole),
        [
            "arms",
            "baseline",
            "cells",
            "figures",
            "held_out",
            "model",
            "name",
            "report",
            "seeds",
            "without_skills"
        ]
    );
    let learning = &whole["arms"][1];
    assert!(
        learning["skills"]["mean"].as_f64().unwrap() > 0.0,
        "{learning:#}"
    );
    assert_eq!(learning["difference"]["first_attempt"]["seeds"], 2);

    let mut child = lab
        .command(&["--out", "killed", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while lab.cells("killed").is_empty() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it was killed"
        );
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let done = lab.cells("killed").len();
    assert!(done < 4, "nothing was left to do");
    let resumed = lab.json(&["--out", "killed"]);
    counts(&resumed, 4 - done, done);
    assert_eq!(lab.cells("killed"), lab.cells("whole"));
    assert_eq!(resumed["arms"], whole["arms"]);
    assert_eq!(lab.report("killed"), lab.report("whole"));
    let figures = |out: &str| fs::read(lab.path(out).join("report.svg")).unwrap();
    assert_eq!(figures("killed"), figures("whole"));

    counts(&lab.json(&["--out", "whole"]), 0, 4);
    lab.another_build_is_told_apart();
    // Another configuration is another cell, and of no other arm.
    let recipe = "recipe = \"standard\"";
    lab.write(&TINY.replace(recipe, &format!("{recipe}\nlearn = false")));
    let said = lab.run(&["--out", "whole"]).done();
    assert!(
        said.out.contains("2 cells run, 2 kept, 0 missing"),
        "{}",
        said.out
    );
    let why = "learning, seed 1: it was configured in another way, so it is run again";
    assert!(said.err.contains(why), "{}", said.err);
}

#[test]
fn the_shipped_experiment_with_whole_recipes_runs() {
    let lab = Lab::new();
    let smaller = [
        ("stream = 30", "stream = 3"),
        ("held_out = 30", "held_out = 1"),
        ("checkpoints = 5", "checkpoints = 1"),
        (
            "set = { batch = 1, \"attempts.warm_up\" = 10 }",
            "set = { batch = 1, \"attempts.warm_up\" = 2, \"attempts.group\" = 3 }",
        ),
        (
            "set = { \"write.when\" = \"never\" }",
            "set.write.when = \"never\"",
        ),
        HISME_OF_TWO,
    ];
    lab.write(&shipped("recipes", &smaller));
    let answer = lab.json(&[]);
    counts(&answer, 8, 0);
    let skills = |arm: usize| answer["arms"][arm]["skills"]["mean"].as_f64().unwrap();
    assert_eq!(skills(0), 0.0);
    assert!(skills(1) > 0.0 && skills(2) > 0.0, "{:#}", answer["arms"]);
    // Past its warm-up ARISE chooses skills while it learns, and not before, though a skill is there.
    let injected = |arm: &str| lab.injected("out/recipes", arm);
    let arise = injected("arise");
    assert!(arise[..2] == [0, 0] && arise[2] > 0, "{arise:?}");
    // What the first step wrote is in the prompts of the next one, so that there is credit that a filter could read.
    let unfiltered = injected("no-credit-filter");
    assert!(unfiltered[2] > 0, "{unfiltered:?}");
    let report = fs::read_to_string(lab.path("out/recipes/report.md")).unwrap();
    for arm in ["ARISE", "HiSME-static", "no credit filter"] {
        assert!(report.contains(arm), "{arm}");
    }
}

/// A step of HiSME's is two tasks, and not five, so that the third task of a short stream comes after maintenance. For arms that set
/// nothing in one table.
const HISME_OF_TWO: (&str, &str) = (
    "recipe = \"hisme\"\n",
    "recipe = \"hisme\"\nset.batch = 2\nset.maintenance.programs.micro.every = 2\nset.maintenance.programs.macro.every = 2\n",
);

/// A shipped experiment for one seed, with these changes, and with its paths as they are seen from a lab.
fn shipped(name: &str, changes: &[(&str, &str)]) -> String {
    let text = fs::read_to_string(example(&format!("experiments/{name}.toml"))).unwrap();
    let script = example("services/services.py");
    let python = example("../adapters/process/python");
    let paths = [
        ("../../tests/lab/apprentice/apprentice.gguf", "MODEL"),
        ("../services/tasks.jsonl", "tasks.jsonl"),
        ("../services/services.py", script.as_str()),
        ("../../adapters/process/python", python.as_str()),
        ("seeds = 3", "seeds = 1"),
    ];
    paths.iter().chain(changes).fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// A lab in which a shipped experiment of mixed recipes ran at a tiny size: four arms, of which each but the first, without skills, has
/// learned.
fn mixed(name: &str, smaller: &[(&str, &str)]) -> Lab {
    let lab = Lab::new();
    let sizes = [
        ("stream = 30", "stream = 3"),
        ("held_out = 30", "held_out = 1"),
        ("checkpoints = 3", "checkpoints = 1"),
    ];
    lab.write(&shipped(name, &[&sizes[..], smaller].concat()));
    let answer = lab.json(&[]);
    let arms = answer["arms"].as_array().unwrap();
    counts(&answer, arms.len(), 0);
    let report = fs::read_to_string(lab.path(&format!("out/{name}/report.md"))).unwrap();
    for arm in arms {
        let name = arm["name"].as_str().unwrap();
        assert!(report.contains(name), "{name}");
    }
    let skills = arms.iter().map(|arm| arm["skills"]["mean"].as_f64());
    let skills: Vec<f64> = skills.map(Option::unwrap).collect();
    assert_eq!((skills.len(), skills[0]), (4, 0.0));
    assert!(skills[1..].iter().all(|skills| *skills > 0.0), "{skills:?}");
    lab
}

#[test]
fn the_shipped_experiment_of_hisme_under_scribe_runs() {
    let smaller = [
        (
            "set = { \"attempts.group\" = 4, \"assess.options.first\" = 10, \"assess.options.refresh\" = 2 }",
            "set.attempts.group = 2\nset.assess.options = { first = 2, refresh = 2 }",
        ),
        ("group\" = 4", "group\" = 2"),
        ("first\" = 10", "first\" = 2"),
        HISME_OF_TWO,
    ];
    let lab = mixed("hisme-under-scribe", &smaller);
    // From the first refresh on attempts are scored by rubrics, and the reward is no longer the outcome alone.
    let stream = lab.stream("out/hisme-under-scribe", "hisme-under-scribe");
    let by_outcome = |task: &Value| {
        let count = |name: &str| task[name].as_f64().unwrap();
        (task["reward"].as_f64().unwrap() - count("success") / count("attempts")).abs() < 1e-9
    };
    assert!(stream[..2].iter().all(by_outcome), "{stream:#?}");
    assert!(!by_outcome(&stream[2]), "{stream:#?}");
}

#[test]
fn the_shipped_experiment_of_skillos_released_as_hisme_runs() {
    let of_two = "set.batch = 2\nset.maintenance.programs.micro.every = 2\nunset = [";
    let smaller = [("unset = [", of_two), HISME_OF_TWO];
    let lab = mixed("skillos-released-as-hisme", &smaller);
    // What the curator inserts in the first step is on trial, and is tried in the next one.
    let (out, arm) = (
        "out/skillos-released-as-hisme",
        "skillos,-released-as-hisme",
    );
    let injected = lab.injected(out, arm);
    assert!(injected[2] > 0, "{injected:?}");
}

#[test]
fn the_shipped_experiment_of_skillrl_behind_arise_runs() {
    let smaller = [
        ("group\" = 4", "group\" = 2"),
        ("set.attempts.group = 4", "set.attempts.group = 2"),
        ("round = 10", "round = 2"),
    ];
    mixed("skillrl-behind-arise", &smaller);
}

/// The shipped experiment in a world of its own, which learns from one of three tasks about the same services, and holds out `held_out`.
fn services(lab: &Lab, held_out: &str) -> String {
    let chosen = [&LEARNED[..1], &HELD_OUT[..2]].concat();
    fs::write(lab.path("tasks.jsonl"), tasks(&chosen)).unwrap();
    let changes = [
        ("stream = 24", "stream = 1"),
        ("held_out = 24", held_out),
        ("checkpoints = 2", "checkpoints = 1"),
    ];
    shipped("services", &changes)
}

#[test]
fn the_shipped_experiment_in_a_world_of_its_own_runs() {
    let lab = Lab::new();
    let text = services(&lab, "held_out = 2");
    // Told before a model is loaded.
    lab.write(&text.replace("\"python3\"", "\"no-such-python\""));
    lab.run(&[]).failed(3, "the program cannot be started");
    lab.write(&text);
    let told = lab.run(&["--json"]).done();
    assert!(told.err.contains("note: the bundled model"), "{}", told.err);
    let answer = told.json();
    let arms = answer["arms"].as_array().unwrap();
    counts(&answer, arms.len(), 0);
    assert_eq!(arms[1]["difference"]["success"]["seeds"], 1, "{answer:#}");
    let cells = lab.cells("out/services");
    let tasks = |cell: &Value| -> Vec<String> {
        let tasks = cell["result"]["checkpoints"][0]["tasks"]
            .as_array()
            .unwrap();
        tasks.iter().map(|task| task["task"].to_string()).collect()
    };
    let held_out: Vec<_> = cells.values().map(tasks).collect();
    assert!(held_out.iter().all(|tasks| *tasks == held_out[0]));
    // One task and two others, which are all that there are.
    let learning = &cells["learning-seed-1.json"];
    let stream = learning["result"]["stream"].as_array().unwrap();
    assert_eq!((stream.len(), held_out[0].len()), (1, 2), "{learning:#}");
    let task = &stream[0];
    assert_eq!((&task["failed"], &task["attempts"]), (&0.into(), &4.into()));
    let id = task["task"].to_string();
    assert!(!held_out[0].contains(&id), "{id} is in both parts");
    let report = fs::read_to_string(lab.path("out/services/report.md")).unwrap();
    let world = "World: 3 tasks of tasks.jsonl in the process";
    assert!(report.contains(world), "{report}");
    // Other tasks are another world.
    counts(&lab.json(&["--report"]), 0, arms.len());
    let tasks = fs::read_to_string(lab.path("tasks.jsonl")).unwrap();
    fs::write(lab.path("tasks.jsonl"), tasks + "\n").unwrap();
    let other = lab.run(&["--report"]).done();
    let why = "learning, seed 1: it was configured in another way, so it is missing";
    assert!(other.err.contains(why), "{}", other.err);
}

/// Starts the program that its first argument names, but not the third time: then it ends at once.
const NOT_THE_THIRD: &str = r#"
import pathlib, runpy, sys

starts = pathlib.Path("starts")
with starts.open("a") as file:
    file.write("x")
if starts.stat().st_size == 3:
    sys.exit(1)
runpy.run_path(sys.argv[1], run_name="__main__")
"#;

#[test]
fn a_cell_that_fails_is_no_result_and_keeps_no_other_from_being_one() {
    let lab = Lab::new();
    let text = services(&lab, "held_out = 1");
    fs::write(lab.path("starts.py"), NOT_THE_THIRD).unwrap();
    lab.write(&text.replace("arguments = [", "arguments = [\"starts.py\", "));
    // The world is started once before any cell, and then once for each: the second has none.
    let ended = lab.run(&["--json", "--jobs", "1"]);
    assert_eq!(ended.code, 1, "{}{}", ended.out, ended.err);
    let answer = ended.json();
    counts(&answer, 3, 0);
    let failed = &answer["cells"]["failed"];
    assert_eq!(failed.as_array().unwrap().len(), 1, "{failed:#}");
    assert_eq!(failed[0]["details"]["arm"], "learning");
    let said = failed[0]["message"].as_str().unwrap();
    assert!(said.starts_with("the process "), "{said}");
    let report = fs::read_to_string(lab.path("out/services/report.md")).unwrap();
    let missing = "Missing: learning, seed 1: the process ";
    assert!(report.contains(missing), "{report}");
}

#[test]
fn what_is_not_run_is_reported_as_missing() {
    let lab = Lab::new();
    let said = lab.run(&["--report"]).done();
    assert!(
        said.out.contains("0 cells run, 0 kept, 4 missing"),
        "{}",
        said.out
    );
    let report = fs::read_to_string(lab.path("out/tiny/report.md")).unwrap();
    assert!(
        report.contains("Missing: learning, seed 2: not run yet"),
        "{report}"
    );
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is() {
    let lab = Lab::new();
    let check = |from: &str, to: &str, code: i32, said: &str| {
        assert!(TINY.contains(from));
        lab.write(&TINY.replace(from, to));
        lab.run(&[]).failed(code, said);
        assert!(!lab.path("out/tiny/cells").exists());
    };
    check("MODEL", "no/such.gguf", 3, "there is no such file");
    check("MODEL", "tiny.toml", 1, "does not begin with `GGUF`");
    // The bundled model, whose template has a key that nobody reads.
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join(MODEL);
    let mut bytes = fs::read(bundled).unwrap();
    let key = b"tokenizer.chat_template";
    let at = bytes.windows(key.len()).position(|some| some == key);
    bytes[at.unwrap()..][..key.len()].copy_from_slice(b"tokenizer.char_template");
    fs::write(lab.path("bare.gguf"), bytes).unwrap();
    let bare = "needs a chat template, and the file has none";
    check("MODEL", "bare.gguf", 1, bare);
    let job = "recipe = \"standard\"\nmodel_for.writers = { gguf = \"bare.gguf\" }";
    check("recipe = \"standard\"", job, 1, bare);
    let unknown = "unknown field `epsilom`, expected one of `score`";
    check("epsilon", "epsilom", 1, unknown);
    // The command has no policies but ours.
    let nobody = "group\" = 2, \"credit.by\" = { name = \"nobody\" }";
    let unregistered = "a credit rule that is not registered";
    check("group\" = 2", nobody, 1, unregistered);
    check(
        "seeds = 2",
        "seeds = 2\nbaseline = 'x'",
        1,
        "no arm of this name",
    );
    let library = "recipe = \"standard\"\nlibrary = \"nowhere\"";
    check(
        "recipe = \"standard\"",
        library,
        3,
        "there is nothing at this path",
    );
    let failed = lab.command(&[]).args(["--json"]).output().unwrap();
    let error = ran(&failed).json();
    assert_eq!(error["error"]["details"]["arm"], "learning");
    lab.write(TINY);
    lab.run(&["--out", "tiny.toml"])
        .failed(5, "the path cannot be written");
    fs::remove_file(lab.path("tiny.toml")).unwrap();
    lab.run(&[]).failed(3, "there is nothing at this path");
}

/// An experiment in toolworld, with a cell that the command wrote when it still had this world.
const FORMER: &str = "../../tests/fixtures/toolworld-experiment";

#[test]
fn an_experiment_of_before_is_reported_and_not_run() {
    let lab = Lab::new();
    let former = Path::new(env!("CARGO_MANIFEST_DIR")).join(FORMER);
    let text = fs::read_to_string(former.join("tiny.toml")).unwrap();
    let model = "../../lab/apprentice/apprentice.gguf";
    assert!(text.contains(model));
    lab.write(&text.replace(model, "MODEL"));
    let refused = lab.run(&[]).failed(1, "the experiment has no tasks");
    assert!(refused.err.contains("--report"), "{}", refused.err);
    assert!(!lab.path("out").exists());

    let cell = "cells/no-skills-seed-1.json";
    let kept = lab.path("out/tiny").join(cell);
    fs::create_dir_all(lab.path("out/tiny/cells")).unwrap();
    fs::copy(former.join(cell), &kept).unwrap();
    let said = lab.run(&["--report", "--any-build"]).done();
    assert!(
        said.out.contains("0 cells run, 1 kept, 3 missing"),
        "{}{}",
        said.out,
        said.err
    );
    assert_eq!(
        fs::read(former.join(cell)).unwrap(),
        fs::read(kept).unwrap()
    );
    let report = fs::read_to_string(lab.path("out/tiny/report.md")).unwrap();
    assert!(report.contains("World: toolworld with 16"), "{report}");
    // One of four held-out tasks was done at the first attempt, the only one without a hidden contract.
    let row = "| no skills | none | 25.0 | 0.0 | 100.0 | 100.0 |";
    assert!(report.contains(row), "{report}");
}
