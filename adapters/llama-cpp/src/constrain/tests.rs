//! Masks over a vocabulary of all single bytes, some words and two end tokens.

use journeyman::ErrorKind;
use llguidance::{ParserFactory, toktrie::TokTrie};
use serde_json::{Value, json};

use super::{
    Alternative,
    grammars::{Constraint, factory},
};

const WORDS: [&str; 5] = ["{\"", "\":", "tool", "kettle", "pan\"}"];
const END: usize = 256 + WORDS.len();

fn words() -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    words.extend(WORDS.map(|word| word.as_bytes().to_vec()));
    for end in ["<end>", "<also the end>"] {
        words.push([&[TokTrie::SPECIAL_TOKEN_MARKER], end.as_bytes()].concat());
    }
    words
}

fn grammars() -> ParserFactory {
    factory("test", &words(), &[END as u32, END as u32 + 1]).unwrap()
}

fn made(alternatives: &[Alternative]) -> journeyman::Result<Constraint> {
    Constraint::new("test", &grammars(), alternatives)
}

fn constraint(schema: Value) -> Constraint {
    made(&[Alternative::json(schema)]).unwrap()
}

fn tools() -> Value {
    json!({
        "type": "object",
        "properties": {"tool": {"enum": ["kettle", "pan"]}},
        "required": ["tool"],
        "additionalProperties": false,
    })
}

/// The tokens that may come next.
fn allowed(constraint: &mut Constraint) -> Vec<usize> {
    let mut logits = vec![0.0; words().len()];
    constraint.mask(&mut logits).unwrap();
    let left = logits.iter().enumerate();
    left.filter(|(_, logit)| **logit == 0.0)
        .map(|(token, _)| token)
        .collect()
}

fn accept(constraint: &mut Constraint, text: &str) {
    for byte in text.bytes() {
        assert!(allowed(constraint).contains(&usize::from(byte)), "{text}");
        constraint.accept(i32::from(byte)).unwrap();
    }
}

#[test]
fn only_what_leads_to_a_valid_value_may_come() {
    let mut constraint = constraint(tools());
    let first = allowed(&mut constraint);
    assert!(first.contains(&usize::from(b'{')) && first.contains(&256));
    assert!(
        ![usize::from(b'['), usize::from(b'x'), 258, END]
            .iter()
            .any(|no| first.contains(no))
    );
    constraint.accept(256).unwrap();
    assert_eq!(allowed(&mut constraint), [usize::from(b't'), 258]);
    constraint.accept(258).unwrap();
    assert_eq!(allowed(&mut constraint), [usize::from(b'"'), 257]);
    accept(&mut constraint, "\": \"");
    assert_eq!(
        allowed(&mut constraint),
        [usize::from(b'k'), usize::from(b'p'), 259, 260]
    );
    constraint.accept(260).unwrap();
    // Complete: only the end tokens are left.
    assert_eq!(allowed(&mut constraint), [END, END + 1]);
    assert_eq!(allowed(&mut constraint), [END, END + 1]);
}

#[test]
fn a_token_that_may_not_come_is_an_error_and_stays_one() {
    let mut constraint = constraint(tools());
    for token in [i32::from(b'x'), i32::from(b'{'), -1, 1_000_000] {
        let error = constraint.accept(token).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model, "{error}");
        assert!(error.hint_text().is_some());
    }
    let mut logits = vec![0.0; words().len()];
    assert!(constraint.mask(&mut logits).is_err());
}

#[test]
fn white_space_is_bounded() {
    let mut constraint = constraint(json!({"type": "array", "items": {"type": "integer"}}));
    accept(&mut constraint, "[\n");
    for _ in 0..32 {
        accept(&mut constraint, " ");
    }
    assert!(!allowed(&mut constraint).contains(&usize::from(b' ')));
    accept(&mut constraint, "1,  2]");
    assert_eq!(allowed(&mut constraint), [END, END + 1]);
}

#[test]
fn a_row_longer_than_the_vocabulary_is_masked_beyond_it() {
    let mut constraint = constraint(tools());
    let mut logits = vec![0.0; words().len() + 100];
    constraint.mask(&mut logits).unwrap();
    assert!(
        logits[words().len()..]
            .iter()
            .all(|logit| *logit == f32::NEG_INFINITY)
    );
}

#[test]
fn each_alternative_leads_to_its_own_schema() {
    let one = |begin: &str, key: &str| Alternative {
        begin: begin.to_owned(),
        schema: json!({
            "type": "object",
            "properties": {key: {"type": "boolean"}},
            "required": [key],
            "additionalProperties": false,
        }),
    };
    // Quotes, a backslash and a line's end stand in a grammar's text as they are.
    let all = [one("a\"\\\n: ", "x"), one("ab> ", "y"), one("c", "z")];
    let mut first = made(&all).unwrap();
    assert_eq!(allowed(&mut first), [usize::from(b'a'), usize::from(b'c')]);
    accept(&mut first, "a");
    assert_eq!(allowed(&mut first), [usize::from(b'"'), usize::from(b'b')]);
    accept(&mut first, "\"\\\n: {\"x\": true}");
    assert_eq!(allowed(&mut first), [END, END + 1]);
    let mut second = made(&all).unwrap();
    accept(&mut second, "ab> {\"y\": false}");
    assert_eq!(allowed(&mut second), [END, END + 1]);
    let mut third = made(&all).unwrap();
    accept(&mut third, "c{\"");
    assert_eq!(allowed(&mut third), [usize::from(b'z')]);
}

#[test]
fn a_schema_that_cannot_be_held_to_is_told() {
    let check = |schema: Value, expect: ErrorKind| {
        let error = made(&[Alternative::json(schema)]).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), expect, "{error}");
        assert!(error.hint_text().is_some());
        assert!(error.to_string().len() < 800);
    };
    check(json!({"type": "objekt"}), ErrorKind::Invalid);
    check(json!({"properties": 3}), ErrorKind::Invalid);
    check(
        json!({"description": "x".repeat(70_000)}),
        ErrorKind::Invalid,
    );
    check(
        json!({"$ref": "https://example.invalid/x"}),
        ErrorKind::Invalid,
    );
    check(json!({"not": {"type": "object"}}), ErrorKind::Unsupported);
    let either = json!({"oneOf": [{"type": "object", "required": ["a"]}, {"type": "array"}, {"type": "object"}]});
    check(either, ErrorKind::Unsupported);
    assert!(factory("test", &words(), &[]).is_err());
    assert!(factory("test", &[], &[7]).is_err());
}

#[test]
fn schemas_in_circles_end() {
    for circle in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "array", "maxItems": 0}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"type": "array", "minItems": 1, "items": {"$ref": "#"}}),
    ] {
        if let Ok(mut constraint) = made(&[Alternative::json(circle)]) {
            let mut logits = vec![0.0; words().len()];
            let _ = constraint.mask(&mut logits);
        }
    }
}
