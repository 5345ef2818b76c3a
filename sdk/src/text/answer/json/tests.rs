//! JSON in answers, and what only looks like it.

use super::*;
use crate::{
    Seed,
    text::answer::thinking::{outside_thinking, without_thinking},
};

fn check(text: &str, expect: Result<&str, NoObject>) {
    let found = first_object(text).map(|object| Value::from(object).to_string());
    assert_eq!(found.as_deref(), expect.as_ref().map(|text| *text));
}

#[test]
fn objects_are_found_in_prose() {
    check(r#"{"a":1}"#, Ok(r#"{"a":1}"#));
    check(
        "Sure!\n```json\n{\"a\": {\"b\": [1, 2]}}\n```\nDone {\"c\":2}",
        Ok(r#"{"a":{"b":[1,2]}}"#),
    );
    check(
        r#"with \frac{1}{2} and {} and {x}: {"a":"}{\"" } tail"#,
        Ok(r#"{"a":"}{\""}"#),
    );
    check("{}", Ok("{}"));
    check(r#"{"a":1,} then {"b":2}"#, Ok(r#"{"a":1}"#));
    check(r#"{"broken": {"a":1}"#, Err(NoObject::Unfinished));
}

#[test]
fn reasoning_is_passed_over() {
    check(r#"<think>{"a":1}</think>{"b":2}"#, Ok(r#"{"b":2}"#));
    check(r#"{"a":1} was wrong</think>{"b":2}"#, Ok(r#"{"a":1}"#));
    check(r#"so {"a":1} was wrong</think>{"b":2}"#, Ok(r#"{"b":2}"#));
    check(
        r#"<thinking>x</thinking>ok<think>{"a":1}</think> {"b":2}"#,
        Ok(r#"{"b":2}"#),
    );
    check(
        r#"{"message":"write </think> at the end"}"#,
        Ok(r#"{"message":"write </think> at the end"}"#),
    );
}

#[test]
fn what_is_wrong_is_told() {
    check("", Err(NoObject::Absent));
    check("no braces, {x}, [1]", Err(NoObject::Absent));
    check(r#"{"a": "b"#, Err(NoObject::Unfinished));
    check(
        "{\"a\": 1,\n,}",
        Err(NoObject::Malformed { line: 2, column: 1 }),
    );
    check(
        &format!("{{\"a\":{}1{}}}", "[".repeat(40), "]".repeat(40)),
        Err(NoObject::TooDeep),
    );
    check(&"x".repeat(MAX_BYTES + 1), Err(NoObject::TooLong));
}

#[test]
fn marks_within_the_value_that_an_answer_begins_with_are_content() {
    check(r#"{"a":"<think>"}"#, Ok(r#"{"a":"<think>"}"#));
    check(
        "```json\n{\"a\":\"</think><think>\"}\n```",
        Ok(r#"{"a":"</think><think>"}"#),
    );
    check(r#"{}<think>{"a":1}</think>{"b":2}"#, Ok(r#"{"b":2}"#));
    assert_eq!(
        without_thinking(r#"{"a":"<think>"}<think>x</think>!"#),
        r#"{"a":"<think>"}!"#
    );
}

#[test]
fn a_part_of_a_value_is_none() {
    let check = |text: &str, brackets: &[char], expect: Result<&str, NoObject>| {
        let found = first_whole(text, brackets).map(|value| value.to_string());
        assert_eq!(found.as_deref(), expect.as_ref().map(|text| *text));
    };
    let both = &['{', '['][..];
    check("two: [[1], {}] and {}", both, Ok("[[1],{}]"));
    check("see [a] and {\"a\":[]}", both, Ok(r#"{"a":[]}"#));
    check(r#"[1] {"a":1}"#, &['{'], Ok(r#"{"a":1}"#));
    let array = &['['][..];
    let steps = r#"{"reasons":["a"],"steps":["x"]}"#;
    check(steps, array, Err(NoObject::Absent));
    check(&format!("{steps} [\"y\"]"), array, Ok(r#"["y"]"#));
    check(&steps[..28], array, Err(NoObject::Unfinished));
    check(r#"[{"a":1}]"#, &['{'], Err(NoObject::Absent));
    check(r#"[{"a":1}, {"b"#, &['{'], Err(NoObject::Unfinished));
    check(r#"in [0, 1) {"a":1}"#, &['{'], Ok(r#"{"a":1}"#));
    check("[] then", both, Ok("[]"));
    check(r#"{"a":{"b":1}"#, both, Err(NoObject::Unfinished));
    check(
        r#"{"a": {"b":1}, c}"#,
        both,
        Err(NoObject::Malformed {
            line: 1,
            column: 16,
        }),
    );
    check(r#"{"a":{"b":1},} {"c":2}"#, both, Ok(r#"{"a":{"b":1}}"#));
    let deep = |open: &str, close: &str, n: usize| open.repeat(n) + "1" + &close.repeat(n);
    check(&deep("[", "]", 100_000), both, Err(NoObject::TooDeep));
    check(&deep("{\"a\":", "}", 33), both, Err(NoObject::TooDeep));
    assert!(first_whole(&deep("[", "]", 32), both).is_ok());
}

#[test]
fn reasoning_blocks_are_passed_over_in_one_pass() {
    // By the square of the number of blocks, this would take a day.
    let text = "<think></think>".repeat(1 << 21) + "x";
    assert_eq!(outside_thinking(&text).outside.concat(), "x");
    let text = "<think>".repeat(1 << 22);
    assert!(outside_thinking(&text).outside.concat().is_empty());
    assert_eq!(without_thinking(&"é".repeat(MAX_BYTES)).len(), MAX_BYTES);
}

#[test]
fn garbage_is_bounded_and_never_panics() {
    for text in [
        "{".repeat(10 << 20),
        "{\"".repeat(1 << 19),
        "{\"a\":[".repeat(1 << 17),
        "{\"a\":\"{\",".repeat(1 << 16),
        "<think>".repeat(1 << 17),
        format!("{{\"a\":\"{}", "é{\"".repeat(1 << 17)),
    ] {
        assert!(first_object(&text).is_err());
        assert!(first_whole(&text, &['{', '[']).is_err());
    }
    let bits = [
        "{", "}", "\"", "\\", "[", "]", ":", ",", "<think>", "</think>", "é", "1", "\n", "{\"a\":",
        "```",
    ];
    for round in 0..5000 {
        let seed = Seed(3).derive("garbage", round);
        let text: String = (0..30)
            .filter_map(|i| seed.derive("bit", i).index(bits.len()).map(|i| bits[i]))
            .collect();
        let _ = (first_object(&text), first_whole(&text, &['{', '[']));
    }
}

#[test]
fn what_models_write_beside_json_is_found() {
    check("{'tool': 'x',}", Ok(r#"{"tool":"x"}"#));
    check(
        "set {x} or {x: x > 0} then {name: 'x'}",
        Ok(r#"{"name":"x"}"#),
    );
    check("\u{FEFF}{\u{200B}“a”: “}”}", Ok(r#"{"a":"}"}"#));
    check("{/* {\"b\": 1} */ \"a\": 1}", Ok(r#"{"a":1}"#));
    check("[{'a': 1}]", Err(NoObject::Absent));
    check(
        r#"{"a":1,"a":2}"#,
        Err(NoObject::Repeated { line: 1, column: 8 }),
    );
    check(
        "{tool: x, arguments: {\"a\": 1}}",
        Err(NoObject::Malformed { line: 1, column: 8 }),
    );
}

#[test]
fn reasoning_that_is_not_closed_hides_all_but_a_last_object() {
    check("<think>so {x}: {\"a\":1}\n", Ok(r#"{"a":1}"#));
    check("<think>so\n```json\n{\"a\":1}\n```\n", Ok(r#"{"a":1}"#));
    check("<think>{\"b\":1} <think>{\"a\":1}", Ok(r#"{"a":1}"#));
    check("<think>{\"a\":1} hm", Err(NoObject::InReasoning));
    check("<think>{\"a\":1} {\"b\":1}", Err(NoObject::InReasoning));
    check("<think>{\"a\":1", Err(NoObject::Unfinished));
    check("<think>hm", Err(NoObject::Absent));
    check("{\"a\":1}<think>{\"b\":1}", Ok(r#"{"a":1}"#));
}
