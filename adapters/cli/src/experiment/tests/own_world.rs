use std::{collections::BTreeSet, fs};

use journeyman::{Error, ErrorKind, Result, domain::Task};
use tempfile::{TempDir, tempdir};

use super::tasks;
use crate::{
    experiment::{plan::PlanFile, world::World},
    stemming::Language,
    world::WorldConfig,
};

const SHOP: &str = r#"
name = "shop"
model = "model.gguf"
seeds = [7, 2]
tasks = "tasks.jsonl"
stream = 5
held_out = 3
checkpoints = 2
steps = 6

[world]
program = "python3"
arguments = ["shop.py"]
environment = { SHOP_TOKEN = "the-blue-door", SHOP = "north" }
trusted = true

[[arm]]
name = "no skills"
recipe = "none"
"#;

/// A folder with a program and nine tasks.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempdir().unwrap());
        place.write("shop.py", "serve()");
        place.write("tasks.jsonl", &tasks(9, ""));
        place
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    /// An experiment's file of this text, read.
    fn planned(&self, text: &str) -> Result<PlanFile> {
        self.write("shop.toml", text);
        PlanFile::read(&self.0.path().join("shop.toml"), false)
    }

    /// What the world adds to each cell's key.
    fn key(&self, text: &str) -> String {
        serde_json::to_string(&self.planned(text).unwrap().settings).unwrap()
    }

    fn refused(&self, text: &str) -> Error {
        self.planned(text).unwrap_err()
    }
}

fn changed(from: &str, to: &str) -> String {
    assert!(SHOP.contains(from), "{from}");
    SHOP.replacen(from, to, 1)
}

#[test]
fn a_world_is_read_as_a_runs_is() {
    let place = Place::new();
    let stems = changed("steps = 6", "stems = \"english\"");
    let file = place.planned(&stems).unwrap();
    assert_eq!(file.plan.positions(), [0, 2, 5]);
    assert_eq!((file.plan.stream, file.plan.held_out), (5, 3));
    assert_eq!(file.settings.stems, Some(Language::English));
    let World::Own(own) = &file.settings.world else {
        unreachable!("{:?}", file.settings)
    };
    assert_eq!(own.steps, 16);
    let WorldConfig::Process(process) = &own.config else {
        unreachable!("{:?}", own.config)
    };
    assert_eq!(process.program.to_str(), Some("python3"));
    assert!(process.folder.as_deref().unwrap().is_absolute());
    let said = file.plan.redactor.redact("the-blue-door in the north");
    assert_eq!(said, "[redacted: named secret] in the north");
    assert_eq!(
        file.plan.conditions.world,
        "9 tasks of tasks.jsonl in the process `python3 shop.py`, at most 16 steps an attempt"
    );
}

#[test]
fn each_seed_has_an_order_of_its_own_and_no_task_is_in_both_parts() {
    let place = Place::new();
    let file = place.planned(SHOP).unwrap();
    let ids =
        |tasks: &[Task]| -> Vec<String> { tasks.iter().map(|task| task.id.to_string()).collect() };
    let of = |seed| {
        let tasks = file.settings.world.tasks(&file.plan, seed).unwrap();
        (ids(&tasks.stream), ids(&tasks.held_out))
    };
    let mut orders = BTreeSet::new();
    for seed in 1..=20 {
        let (stream, held_out) = of(seed);
        assert_eq!((stream.len(), held_out.len()), (5, 3));
        let all: BTreeSet<&String> = stream.iter().chain(&held_out).collect();
        assert_eq!(all.len(), 8, "{stream:?} {held_out:?}");
        assert_eq!(of(seed), (stream.clone(), held_out.clone()));
        orders.insert((stream, held_out));
    }
    assert!(orders.len() > 15, "{orders:?}");
}

#[test]
fn the_cells_key_follows_from_the_world_and_its_files() {
    let place = Place::new();
    let key = place.key(SHOP);
    assert!(!key.contains("blue-door"), "{key}");
    for same in [
        changed("[7, 2]", "[7]"),
        changed("the-blue-door", "the-green-door"),
        changed("\"no skills\"", "\"none\""),
    ] {
        assert_eq!(place.key(&same), key, "{same}");
    }
    for other in [
        changed("trusted = true", "trusted = false"),
        changed("north", "south"),
        changed("steps = 6", "steps = 7"),
        changed("steps = 6", "steps = 6\nstems = \"english\""),
    ] {
        assert_ne!(place.key(&other), key, "{other}");
    }
    place.write("shop.py", "serve(1)");
    let code = place.key(SHOP);
    place.write("tasks.jsonl", &tasks(10, ""));
    let tasks = place.key(SHOP);
    assert_eq!(BTreeSet::from([key, code, tasks]).len(), 3);
}

#[test]
fn what_does_not_fit_is_refused_with_its_line_and_what_to_do() {
    let place = Place::new();
    let check = |text: &str, line: &str, message: &str, hint: &str| {
        let error = place.refused(text);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.message().contains(message), "{error}");
        assert!(error.hint_text().unwrap().contains(hint), "{error}");
        assert_eq!(error.fact("line"), Some(line), "{error}");
    };
    let few = "the file has 9 tasks, and a cell takes 11: 8 to learn from and 3 held out";
    check(&changed("stream = 5", "stream = 8"), "5", few, "to fewer");
    let few = "a cell takes 53: 5 to learn from and 48 held out";
    check(&changed("held_out = 3\n", ""), "5", few, "add tasks");
    let no_tasks = changed("tasks = \"tasks.jsonl\"\n", "");
    check(
        &no_tasks,
        "10",
        "the experiment has no tasks",
        "set `tasks`",
    );
    let (keys, _) = SHOP.split_once("[world]").unwrap();
    let (_, arms) = SHOP.split_once("[[arm]]").unwrap();
    let no_world = format!("{keys}[[arm]]{arms}");
    check(&no_world, "5", "no world to do them in", "add the [world]");
    let twice = changed("trusted = true", "trusted = true\nsteps = 4");
    check(
        &twice,
        "16",
        "`steps` stands beside `tasks`",
        "out of [world]",
    );
    let nothing = no_world.replace("tasks = \"tasks.jsonl\"\n", "");
    check(
        &nothing,
        "2",
        "the experiment has no tasks",
        "services.toml",
    );
    for (from, to, line, message) in [
        ("steps = 6", "steps = 0", "9", "out of range"),
        ("checkpoints = 2", "checkpoints = 6", "8", "out of range"),
        ("steps = 6", "stems = \"latin\"", "9", "no such choice"),
        ("steps = 6", "library = \"mine\"", "9", "`library`"),
        ("trusted = true", "universe = {}", "15", "`universe`"),
        (
            "trusted = true",
            "url = \"http://x\"",
            "11",
            "has a program",
        ),
        (
            "trusted = true",
            "pass = [\"NO_SUCH_1\"]",
            "11",
            "is not set",
        ),
    ] {
        check(&changed(from, to), line, message, "");
    }
    place.write("tasks.jsonl", &tasks(9, ", \"tag\": \"x\""));
    let line = place.refused(SHOP);
    assert!(
        line.fact("path").unwrap().ends_with("tasks.jsonl"),
        "{line}"
    );
    assert_eq!(line.fact("line"), Some("1"));
    fs::remove_file(place.0.path().join("tasks.jsonl")).unwrap();
    assert_eq!(place.refused(SHOP).kind(), ErrorKind::NotFound);
}

#[test]
fn tools_of_an_mcp_server_are_approved_before_cells_call_them() {
    let place = Place::new();
    let mcp = changed("trusted = true", "protocol = \"mcp\"\nresettable = true");
    let silent = place.refused(&mcp);
    assert!(silent.message().contains("what it expects"), "{silent}");
    let due = ", \"expect\": {\"calls\": [{\"tool\": \"close\"}]}";
    place.write("tasks.jsonl", &tasks(9, due));
    let unread = place.planned(&mcp).unwrap().settings;
    let missing = unread.world.open().unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let hint = missing.hint_text().unwrap();
    assert!(hint.contains("`experiment FILE --approve-tools`"), "{hint}");
    let of = |tool: &str| {
        let approved = format!("{{\"{tool}\": \"{}\"}}", "0".repeat(64));
        place.write("approved-tools.json", &approved);
        place.planned(&mcp).unwrap().settings
    };
    let unknown = of("look").world.open().unwrap_err();
    assert_eq!(unknown.fact("tool"), Some("close"), "{unknown}");
    let keys = [unread, of("look"), of("close")];
    let keys = keys.map(|settings| serde_json::to_string(&settings).unwrap());
    assert_eq!(BTreeSet::from(keys).len(), 3);

    place.write("tasks.jsonl", &tasks(9, ""));
    let process = place.planned(SHOP).unwrap();
    let refused = process.settings.world.approve().unwrap_err();
    assert!(refused.message().contains("MCP servers"), "{refused}");
}
