//! `skill evals`, with the bundled model in Python worlds, and the evals that an export makes.

use std::fs;

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Seed,
    contract::{SkillFiles, SkillStore},
    domain::{AttemptId, BundleCase, CaseKind, FilePath, LibraryChange, Task},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_interchange::evals;
use serde_json::{Value, json};

use crate::{
    running::{mcp, services},
    support::{Place, add, documented},
};

/// A library with `repair`, which carries this file of evals.
fn with_evals(place: &Place, file: &Value) {
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    let file = block_on(store.put(file.to_string().as_bytes())).unwrap();
    let mut skill = sample::skill("repair");
    let path = FilePath::new(evals::PATH).unwrap();
    skill.files.insert(path, file);
    block_on(store.commit(&sample::commit(0, "start", vec![add(skill)]))).unwrap();
}

#[test]
fn a_skill_is_compared_with_none_on_its_evals() {
    let place = Place::empty();
    services(&place, |text| text);
    let tasks = fs::read_to_string(place.path("held-out.jsonl")).unwrap();
    let list = tasks.lines().enumerate().map(|(id, line)| {
        let task: Value = serde_json::from_str(line).unwrap();
        json!({"id": id, "prompt": task["instruction"], "payload": task["payload"]})
    });
    let list: Vec<Value> = list.collect();
    with_evals(&place, &json!({"skill_name": "repair", "evals": list}));
    let file = place.path("run.toml").display().to_string();
    let arguments = ["skill", "evals", "repair", "--run", &file];
    let told = place.json(&arguments).done().json();
    documented("`skill evals`", &told);
    assert_eq!(told["judged_by"], "the world's outcomes");
    assert_eq!(told["evals"], 3);
    assert_eq!((&told["tasks"], &told["left_out"]), (&3.into(), &0.into()));
    assert_eq!(told["without"]["with_skill"], 0, "{told}");
    assert_eq!(told["with"]["with_skill"], 3, "{told}");
    // Three evals are too few to tell, and that is said.
    assert!(told["conclusion"]["not_yet"].is_object(), "{told}");
    let one = place
        .run(&[&arguments[..], &["--most", "1"]].concat())
        .done();
    for said in ["After 1 of 1 tasks not clear yet", "The skill has 3 evals"] {
        assert!(one.out.contains(said), "{said}: {}", one.out);
    }
    // Nothing was learned.
    assert_eq!(place.library().revision().0, 1);
}

#[test]
fn an_mcp_servers_evals_are_judged_by_what_they_expect() {
    let place = Place::empty();
    let file = mcp(&place, "");
    let prompt = |phase: u64| format!("go and repair the needle with phase {phase}");
    let eval = |phase: u64| {
        json!({"id": phase, "prompt": prompt(phase),
            "expect": {"calls": [{"tool": "repair_needle", "arguments": {"phase": phase}}]}})
    };
    with_evals(&place, &json!({"evals": [eval(30), eval(34)]}));
    place.run(&["run", &file, "--approve-tools"]).done();
    let arguments = ["skill", "evals", "repair", "--run", &file];
    let told = place.json(&arguments).done().json();
    assert_eq!(told["judged_by"], "what the evals expect");
    assert_eq!((&told["tasks"], &told["left_out"]), (&2.into(), &0.into()));

    let other = Place::empty();
    let file = mcp(&other, "");
    let in_words = json!({"id": 1, "prompt": prompt(30), "expected_output": "The needle works."});
    with_evals(&other, &json!({"evals": [in_words]}));
    other
        .run(&["skill", "evals", "repair", "--run", &file])
        .failed(1, "an MCP server has no outcome to go by");
}

#[test]
fn a_skill_without_evals_that_can_be_read_is_refused() {
    let place = Place::with_library();
    services(&place, |text| text);
    let file = place.path("run.toml").display().to_string();
    for (name, said) in [
        ("stir", "there is no such skill"),
        ("grind", "the skill has no evals"),
    ] {
        place
            .run(&["skill", "evals", name, "--run", &file])
            .failed(3, said);
    }
    let other = Place::empty();
    with_evals(&other, &json!({"evals": [{"id": 1}]}));
    let refused = other
        .run(&["skill", "evals", "repair", "--run", &file])
        .failed(1, "the eval has no prompt");
    for said in ["evals/0/prompt", "evals/evals.json", "skill: repair"] {
        assert!(refused.err.contains(said), "{said}: {}", refused.err);
    }
}

#[test]
fn a_learned_skill_takes_its_test_bundle_along_as_evals() {
    let place = Place::with_library();
    let task = Task::new("t-1", "Grind the beans.").with_payload(json!({"beans": 9}));
    let case = BundleCase::new(
        "a-1/case",
        CaseKind::Integration,
        task,
        AttemptId::new("a-1"),
        Seed(1),
    )
    .edited(|it| it.refusals = 1);
    let patch = LibraryChange::PatchBundle {
        skill: "grind".into(),
        cases: vec![case],
        dropped: Vec::new(),
    };
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    block_on(store.commit(&sample::commit(3, "bundle", vec![patch]))).unwrap();
    drop(store);
    let export = |format: &str, output: &str| {
        place.json(&[
            "skill", "export", "--all", "--evals", "--format", format, "--output", output,
        ])
    };
    let told = export("skill-folder", "out").done().json();
    documented("`skill export`", &told);
    assert_eq!(told["evals"], json!(["grind"]));
    let written = fs::read_to_string(place.path("out/grind/evals/evals.json")).unwrap();
    let read = evals::read(&written).unwrap();
    assert_eq!(read.skill_name.as_deref(), Some("grind"));
    assert_eq!(read.evals.len(), 1);
    assert_eq!(read.evals[0].prompt, "Grind the beans.");
    assert_eq!(read.evals[0].payload, json!({"beans": 9}));
    assert!(!place.path("out/brew/evals").exists());
    let refused = export("arise", "out.json");
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(!place.path("out.json").exists());
}
