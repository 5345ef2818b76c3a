//! Evals of skills: what is read, what is refused, and those that a test bundle makes.

use journeyman::testing::Edited as _;
use journeyman::{
    Seed, SkillId,
    domain::{
        Action, AttemptId, BundleCase, CaseKind, LibraryChange, Step, StepResult, Task, TierPolicy,
        Trace, Trust,
    },
    library::SkillLibrary,
    testing::sample,
};
use journeyman_interchange::evals::{self, SkillEval, SkillEvals};
use serde_json::{Value, json};

fn read(file: &Value) -> SkillEvals {
    evals::read(&file.to_string()).unwrap()
}

#[track_caller]
fn refused(text: &str, message: &str, place: Option<&str>) {
    let error = evals::read(text).unwrap_err();
    assert!(error.message().contains(message), "{error}");
    assert_eq!(error.fact("place"), place, "{error}");
    assert!(error.hint_text().is_some(), "{error}");
}

#[test]
fn both_spellings_are_read_and_further_fields_are_kept() {
    let file = json!({
        "skill_name": "pour",
        "version": 2,
        "evals": [
            {"id": 1, "prompt": "Pour a cup.", "expected_output": "The cup is full.",
                "files": ["./evals/files/cup.csv"], "assertions": ["It is full."],
                "expectations": ["It is full.", {"text": "Nothing is spilled.", "weight": 1}]},
            {"id": "by-night", "prompt": "Pour in the dark.", "tags": ["dark"], "payload": {"light": 0}},
            {"id": "7", "prompt": "Pour seven.", "expected_output": null, "assertions": null},
        ],
    });
    let all = read(&file);
    assert_eq!(all.skill_name.as_deref(), Some("pour"));
    assert_eq!(all.other["version"], 2);
    let [first, second, third] = all.evals.as_slice() else {
        unreachable!("three evals were written");
    };
    assert_eq!(first.id, "1");
    assert_eq!(first.assertions, ["It is full.", "Nothing is spilled."]);
    assert_eq!(first.files[0].as_str(), "evals/files/cup.csv");
    assert_eq!(second.expected_output, None);
    assert_eq!(second.payload["light"], 0);
    assert_eq!(second.other["tags"], json!(["dark"]));
    assert!(third.assertions.is_empty() && third.payload.is_null());

    let written = evals::write(&all).unwrap();
    assert_eq!(evals::read(&written).unwrap(), all);
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["evals"][0]["id"], 1);
    assert_eq!(written["evals"][1]["id"], "by-night");
    assert_eq!(written["evals"][1].get("assertions"), None);
    // Another spelling of a number stays a text.
    let text = read(&json!({"evals": [{"id": "007", "prompt": "Pour."}]}));
    assert!(evals::write(&text).unwrap().contains("\"007\""));
}

#[test]
fn what_is_no_file_of_evals_is_refused_with_its_place() {
    refused("evals: []", "not JSON", None);
    refused("[]", "no list `evals`", None);
    refused(r#"{"skill_name": "pour"}"#, "no list `evals`", None);
    refused(r#"{"evals": {}}"#, "not a list", Some("evals"));
    refused(r#"{"evals": []}"#, "no eval", Some("evals"));
    refused(r#"{"evals": ["x"]}"#, "not an object", Some("evals/0"));
    let one = |fields: Value| json!({"evals": [{"id": 1, "prompt": "Pour."}, fields]}).to_string();
    for (fields, message, place) in [
        (json!({"id": 2}), "no prompt", "evals/1/prompt"),
        (
            json!({"id": 2, "prompt": " "}),
            "no prompt",
            "evals/1/prompt",
        ),
        (
            json!({"id": 2, "prompt": ["x"]}),
            "not a text",
            "evals/1/prompt",
        ),
        (json!({"prompt": "Stir."}), "has no id", "evals/1/id"),
        (
            json!({"id": 1.5, "prompt": "Stir."}),
            "has no id",
            "evals/1/id",
        ),
        (
            json!({"id": "1", "prompt": "Stir."}),
            "another eval has this id",
            "evals/1/id",
        ),
        (
            json!({"id": 2, "prompt": "Stir.", "expected_output": 3}),
            "not a text",
            "evals/1/expected_output",
        ),
        (
            json!({"id": 2, "prompt": "Stir.", "assertions": "x"}),
            "not a list",
            "evals/1/assertions",
        ),
        (
            json!({"id": 2, "prompt": "Stir.", "expectations": ["x", 3]}),
            "not a text",
            "evals/1/expectations/1",
        ),
        (
            json!({"id": 2, "prompt": "Stir.", "files": ["../cup"]}),
            "leads out of its folder",
            "evals/1/files/0",
        ),
    ] {
        refused(&one(fields), message, Some(place));
    }
    refused(
        &one(json!({"id": 2, "prompt": "Sti\u{202e}r."})),
        "hidden",
        None,
    );
}

#[test]
fn evals_that_could_not_be_read_again_are_not_written() {
    let twice = SkillEval::new("1", "Pour.");
    let all = SkillEvals::new(vec![twice.clone(), twice]);
    assert!(evals::write(&all).is_err());
    assert!(evals::write(&SkillEvals::default()).is_err());
}

fn case(attempt: &str, task: Task, kind: CaseKind) -> BundleCase {
    BundleCase::new(
        format!("{attempt}/case"),
        kind,
        task,
        AttemptId::new(attempt),
        Seed(1),
    )
}

/// A library with `pour`, written from the task `own`, and this bundle, which keeps these attempts.
fn library(cases: Vec<BundleCase>, kept: Vec<Trace>) -> SkillLibrary {
    let mut skill = sample::skill("pour");
    skill.provenance.tasks = vec!["own".into()];
    let mut tiers = TierPolicy::default();
    tiers.traces = 8;
    let mut changes = vec![
        LibraryChange::Configure(tiers),
        LibraryChange::Add(Box::new(skill)),
        LibraryChange::PatchBundle {
            skill: SkillId::new("pour"),
            cases,
            dropped: Vec::new(),
        },
    ];
    changes.extend(
        kept.into_iter()
            .map(|one| LibraryChange::Observe(Box::new(one))),
    );
    SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap()
}

#[test]
fn a_bundle_makes_an_eval_of_each_task_that_is_attempted_as_a_whole() {
    let cup = Task::new("cup", "Pour a cup.").with_payload(json!({"cups": 1}));
    let jug = Task::new("jug", "Fill the jug.");
    let own = Task::new("own", "Pour as you were shown.");
    let hidden = Task::new("hidden", "Po\u{202e}ur.");
    let fragment = case("a-3", Task::new("pot", "Heat the pot."), CaseKind::Unit)
        .edited(|it| it.prefix = vec![Action::Message("I begin.".to_owned())]);
    let strict = case("a-2", jug, CaseKind::Negative).edited(|it| {
        it.refusals = 2;
        it.least_score = 0.5;
    });
    let mut kept = sample::trace("a-1", &cup, &[], true);
    let step = |tool: &str, is_error| {
        let mut result = StepResult::new("ok", sample::source(Trust::Trusted));
        result.is_error = is_error;
        Step::new(Action::call(tool, json!({})), result)
    };
    for (tool, is_error) in [
        ("tip", true),
        ("lift", false),
        ("tip", false),
        ("lift", false),
    ] {
        kept.trajectory.push(step(tool, is_error));
    }
    let cases = vec![
        case("a-1", cup.clone(), CaseKind::Integration),
        case("a-4", cup, CaseKind::Integration),
        fragment,
        strict,
        case("a-5", hidden, CaseKind::Integration),
        case("a-6", own, CaseKind::Integration),
    ];
    let library = library(cases, vec![kept]);
    let made = evals::of_library(&library, &SkillId::new("pour")).unwrap();
    assert_eq!(made.skill_name.as_deref(), Some("pour"));
    let prompts: Vec<_> = made.evals.iter().map(|eval| eval.prompt.as_str()).collect();
    assert_eq!(prompts, ["Pour a cup.", "Fill the jug."]);
    assert_eq!(made.evals[0].payload, json!({"cups": 1}));
    assert_eq!(
        made.evals[0].expected_output.as_deref(),
        Some(
            "The task is done. No action is refused. An attempt that did it called `lift`, `tip`."
        )
    );
    let expected = made.evals[1].expected_output.as_deref().unwrap();
    for part in ["must do no harm", "At most 2 actions", "at least 0.5"] {
        assert!(expected.contains(part), "{expected}");
    }
    let written = evals::write(&made).unwrap();
    assert_eq!(evals::read(&written).unwrap(), made);
}

#[test]
fn a_skill_without_a_bundle_or_with_its_own_tasks_alone_has_no_evals() {
    let own = case("a-1", Task::new("own", "Pour."), CaseKind::Integration);
    let own = library(vec![own], Vec::new());
    assert_eq!(evals::of_library(&own, &SkillId::new("pour")), None);
    let library = library(Vec::new(), Vec::new());
    assert_eq!(evals::of_library(&library, &SkillId::new("pour")), None);
    assert_eq!(evals::of_library(&library, &SkillId::new("stir")), None);
}
