//! Demonstrations for supervised fine-tuning: written from attempts, validated, and read again.

use journeyman::{
    ErrorKind,
    domain::{Action, Exposure, SkillUse, Taint, Trace, Trust},
    testing::sample,
    text::JsonSchema,
};
use journeyman_interchange::demonstrations::{self, Demonstration, JSON_SCHEMA, ShownRole};
use serde_json::{Value, json};

/// A success with a skill: a refused word, a call, and a message.
fn attempt() -> Trace {
    let task = sample::task("greet", &["good", "day"]).with_category("greetings");
    let mut trace = sample::trace("a-1", &task, &["hm", "good", "day"], true);
    let skill = sample::skill("greeting");
    let trajectory = &mut trace.trajectory;
    trajectory.injection = sample::injection(std::slice::from_ref(&skill));
    let mut exposure = Exposure::new(skill.reference(), SkillUse::Followed);
    exposure.since = 1;
    trajectory.exposures = vec![exposure];
    trajectory.steps[0].result.is_error = true;
    trajectory.steps[1].transcript.clear();
    trajectory.steps[1].action = Action::call("say", json!({"word": "good"}));
    trajectory.steps[2].observation.text = "somebody came in".to_owned();
    trace
}

fn schema_faults(line: &str) -> usize {
    let schema: Value = serde_json::from_str(JSON_SCHEMA).expect("the schema is JSON");
    let schema = JsonSchema::new(schema).expect("a schema");
    let value: Value = serde_json::from_str(line).expect("the line is JSON");
    schema.faults(&value).len()
}

#[test]
fn a_success_with_skills_is_shown_turn_by_turn() {
    let shown = Demonstration::of(&attempt()).expect("it can be shown");
    let turns: Vec<(ShownRole, &str, bool)> = (shown.messages.iter())
        .map(|one| (one.role, one.content.as_str(), one.error))
        .collect();
    use ShownRole::{Assistant, Tool, User};
    let call = Action::call("say", json!({"word": "good"})).to_json();
    let expect = [
        (User, "say good and then day", false),
        (Assistant, "hm", false),
        (User, "go on", true),
        (User, "say good and then day", false),
        (Assistant, call.as_str(), false),
        (Tool, "go on", false),
        (Tool, "somebody came in", false),
        (Assistant, "day", false),
        (User, "go on", false),
    ];
    assert_eq!(turns, expect);
    let skill = &shown.skills[0];
    assert_eq!(
        (skill.id.as_str(), skill.since, skill.used),
        ("greeting", 1, SkillUse::Followed)
    );
    assert_eq!(skill.text, sample::skill("greeting").body);
    assert_eq!(
        shown.task.category.as_ref().map(|one| one.as_str()),
        Some("greetings")
    );
    assert_eq!(shown.taint, Taint::Clean);
}

#[test]
fn what_cannot_be_shown_is_refused_with_its_reason() {
    let check = |change: fn(&mut Trace), reason: &str| {
        let mut trace = attempt();
        change(&mut trace);
        let error = Demonstration::of(&trace).expect_err(reason);
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Invalid, reason)
        );
        assert!(error.to_string().contains("hint: "), "{error}");
        let shown = demonstrations::of_attempts([&trace, &attempt()]);
        assert_eq!((shown.demonstrations.len(), shown.refused.len()), (1, 1));
        assert_eq!(shown.refused[0].reason, reason);
    };
    check(|trace| trace.verdict = None, "the attempt did not succeed");
    check(
        |trace| trace.trajectory.injection = journeyman::domain::Injection::NONE,
        "the attempt had no skill in its prompt",
    );
    check(
        |trace| trace.trajectory.steps.clear(),
        "the attempt has no step",
    );
    let mut untrusted = attempt();
    untrusted.trajectory.steps[0].result.source = sample::source(Trust::Untrusted);
    let shown = Demonstration::of(&untrusted).expect("it can be shown");
    assert_eq!(shown.taint, Taint::Tainted, "the trainer decides");
}

#[test]
fn lines_come_back_equal_and_keep_to_the_schema() {
    let shown = demonstrations::of_attempts([&attempt(), &attempt()]).demonstrations;
    let lines = demonstrations::write(&shown).expect("they are written");
    assert_eq!(lines.lines().count(), 2);
    assert!(
        lines.lines().all(|line| schema_faults(line) == 0),
        "{lines}"
    );
    assert_eq!(demonstrations::read(&lines).expect("they are read"), shown);
    assert_eq!(demonstrations::read("\n \n").expect("none"), []);
}

#[test]
fn a_faulty_line_is_named() {
    let good = demonstrations::write(&[Demonstration::of(&attempt()).expect("shown")]);
    let good: Value = serde_json::from_str(&good.expect("written")).expect("JSON");
    let check = |change: fn(&mut Value), kind: ErrorKind, says: &str, in_schema: bool| {
        let mut value = good.clone();
        change(&mut value);
        let lines = format!("{good}\n\n{value}\n");
        let error = demonstrations::read(&lines).expect_err(says);
        assert_eq!(
            (error.kind(), error.fact("line")),
            (kind, Some("3")),
            "{error}"
        );
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(schema_faults(&value.to_string()) > 0, in_schema, "{says}");
    };
    let invalid = ErrorKind::Invalid;
    // The form before this one, in which use was true or false, and a later one.
    check(
        |line| line["schema"] = json!(1),
        ErrorKind::Unsupported,
        "schema 1",
        true,
    );
    check(
        |line| line["schema"] = json!(3),
        ErrorKind::Unsupported,
        "schema 3",
        true,
    );
    check(
        |line| line["skills"][0]["used"] = json!(true),
        invalid,
        "the line is no demonstration",
        true,
    );
    check(
        |line| line["skills"] = json!([]),
        invalid,
        "there is no skill",
        true,
    );
    check(
        |line| line["more"] = json!(1),
        invalid,
        "no demonstration",
        true,
    );
    check(
        |line| line["task"]["instruction"] = json!(""),
        invalid,
        "the task is empty",
        true,
    );
    check(
        |line| line["messages"][0]["role"] = json!("system"),
        invalid,
        "no demonstration",
        true,
    );
    check(
        |line| line["messages"][0]["role"] = json!("tool"),
        invalid,
        "does not come first",
        false,
    );
    check(
        |line| line["messages"][1]["content"] = json!(" "),
        invalid,
        "says nothing",
        false,
    );
    check(
        |line| line["messages"][2]["role"] = json!("assistant"),
        invalid,
        "twice in a row",
        false,
    );
    check(
        |line| {
            line["messages"] =
                json!([{"role": "user", "content": "say"}, {"role": "user", "content": "so"}])
        },
        invalid,
        "never speaks",
        false,
    );
    let error = demonstrations::read("not JSON: hunter2").expect_err("no JSON");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn the_published_schema_is_the_one_of_the_code() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/demonstrations.md"
    );
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, rest) = page.split_once("```json\n").expect("the page has a schema");
    let (published, _) = rest.split_once("\n```").expect("it ends");
    assert_eq!(published, JSON_SCHEMA);
}
