//! The lines of exported rollouts: each fault is named with its line and field.

use std::num::NonZeroU32;

use journeyman::ErrorKind;
use journeyman_interchange::rollouts::{self, Validator};
use serde_json::{Value, json};

const EXAMPLE: &str = include_str!("../../src/rollouts/example.jsonl");

/// The two lines of the example, with one value changed in one of them.
fn changed(line: usize, at: &str, to: Value) -> String {
    let lines = EXAMPLE.lines().enumerate().map(|(number, text)| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        if number + 1 == line {
            *value.pointer_mut(at).unwrap() = to.clone();
        }
        value.to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_faulty_line_is_named_with_its_field() {
    assert_eq!(rollouts::read(EXAMPLE).unwrap().len(), 2);
    let check = |line: usize, at: &str, to: Value, found_at: usize, field: &str| {
        let error = rollouts::read(&changed(line, at, to.clone())).unwrap_err();
        let found = (error.fact("line"), error.fact("field"));
        let expect = found_at.to_string();
        assert_eq!(
            found,
            (Some(expect.as_str()), Some(field)),
            "{at} {to}: {error}"
        );
        assert_eq!(error.kind(), ErrorKind::Invalid);
    };
    check(
        1,
        "/segments/0/logprobs",
        json!([-0.25, -1.5]),
        1,
        "logprobs",
    );
    check(1, "/segments/0/logprobs/1", json!(0.5), 1, "logprobs");
    check(1, "/segments/0/mask", json!([true]), 1, "mask");
    check(1, "/segments/0/ids", json!([]), 1, "ids");
    check(1, "/segments/0/ids/0", json!(-1), 1, "ids");
    check(1, "/segments/0/prompt_ids", json!([]), 1, "prompt_ids");
    check(1, "/segments/1/shared", json!(6), 1, "shared");
    check(1, "/segments/1/prompt_ids/0", json!(2), 1, "shared");
    check(1, "/segments/1/step", json!(3), 1, "step");
    check(1, "/segments", json!([]), 1, "segments");
    check(
        2,
        "/segments/0/mask",
        json!([false, false, false]),
        2,
        "segments",
    );
    check(2, "/sampling/top_p", json!(0.0), 2, "sampling");
    check(2, "/tasks", json!([]), 2, "tasks");
    check(2, "/group", json!(""), 2, "group");
    // What lines have in common.
    check(2, "/model", json!("another"), 2, "model");
    check(2, "/adapter", json!("tuned"), 2, "adapter");
    check(2, "/sampling/temperature", json!(1.0), 2, "sampling");
    check(2, "/library", json!(4), 2, "library");
    check(2, "/tasks/0", json!("ticket-18"), 2, "tasks");
    check(2, "/kind", json!("curator"), 2, "kind");
    check(2, "/number", json!(0), 2, "number");
    check(1, "/number", json!(1), 1, "number");
    check(2, "/size", json!(1), 2, "number");
    // Another group on the second line: the first has one line too few.
    check(2, "/group", json!("desk/learn-0/5"), 1, "size");
    // Rewards and advantages.
    check(1, "/reward", json!(-1.0), 1, "advantage");
    check(2, "/advantage", json!(0.9999999800000003), 2, "advantage");
    check(2, "/advantage", json!(null), 2, "advantage");
    check(
        1,
        "/parts/outcome",
        json!({"value": 1.0, "weight": 0.7}),
        1,
        "parts",
    );

    // What is no rollout, and another form.
    for (at, to) in [
        ("/kind", json!("other")),
        ("/reward", json!(null)),
        ("/segments/0/logprobs/0", json!("x")),
    ] {
        let error = rollouts::read(&changed(2, at, to)).unwrap_err();
        assert_eq!(
            (error.fact("line"), error.message()),
            (Some("2"), "the line is no rollout")
        );
    }
    for (at, to) in [("/version", json!(2)), ("/schema", json!("other"))] {
        let error = rollouts::read(&changed(2, at, to)).unwrap_err();
        assert_eq!(
            (error.fact("line"), error.kind()),
            (Some("2"), ErrorKind::Unsupported)
        );
    }
    let more =
        changed(1, "/end", json!("finished")).replacen("\"steps\"", "\"secret\":1,\"steps\"", 1);
    assert!(rollouts::read(&more).is_err());
    let huge = EXAMPLE.replacen("-0.25", "-1e39", 1);
    let error = rollouts::read(&huge).unwrap_err();
    assert_eq!(error.fact("line"), Some("1"), "{error}");
}

#[test]
fn groups_stand_together_and_have_the_size_that_is_asked_for() {
    let other = EXAMPLE.replace("desk/learn-0/4", "desk/learn-0/5");
    assert_eq!(
        rollouts::read(&format!("{EXAMPLE}\n{other}"))
            .unwrap()
            .len(),
        4
    );
    let error = rollouts::read(&format!("{EXAMPLE}{other}{EXAMPLE}")).unwrap_err();
    assert_eq!(
        (error.fact("line"), error.fact("field")),
        (Some("5"), Some("group"))
    );
    let check = |size: u32| {
        let mut validator = Validator::of_size(NonZeroU32::new(size).unwrap());
        validator.line(EXAMPLE.lines().next().unwrap()).map(drop)
    };
    check(2).unwrap();
    let error = check(8).unwrap_err();
    assert_eq!(
        (error.fact("line"), error.fact("field")),
        (Some("1"), Some("size"))
    );
    // Equal rewards and no advantages agree.
    let equal = changed(1, "/reward", json!(0.0));
    let lines: Vec<String> = equal
        .lines()
        .map(|line| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            value["advantage"] = Value::Null;
            value.to_string()
        })
        .collect();
    assert!(
        rollouts::read(&lines.join("\n"))
            .unwrap()
            .iter()
            .all(|one| one.advantage.is_none())
    );
}
