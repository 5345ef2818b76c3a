//! Answers of a model that was asked for JSON by a schema.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, executor::block_on};
use serde_json::{Value, json};

use super::{Structured, StructuredAnswer};
use crate::{
    Error, ErrorKind, Result, Seed,
    contract::GenerateRequest,
    domain::{Message, Prompt, Span, Speaker, Timestamp},
    testing::{ManualClock, Play, ScriptedModel},
    text::JsonSchema,
};

fn schema() -> JsonSchema {
    JsonSchema::new(json!({
        "type": "object",
        "properties": {"tool": {"enum": ["kettle", "pan"]}},
        "required": ["tool"],
    }))
    .unwrap()
}

fn request() -> GenerateRequest {
    let prompt = Prompt {
        messages: vec![Message::data(Speaker::User, "Which tool brews?")],
        open: Vec::new(),
    };
    GenerateRequest::greedy(prompt, 1_000_000)
}

fn ask(model: &ScriptedModel) -> Result<StructuredAnswer> {
    block_on(Structured::new(schema()).generate(model, request()))
}

const GOOD: &str = r#"{"tool": "kettle"}"#;

/// Why an answer is refused: after it came twice, and not where the repair is good.
fn check(fault: &str, expect: &str) {
    let model = ScriptedModel::always(fault);
    let error = ask(&model).unwrap_err();
    assert_eq!((error.kind(), model.calls()), (ErrorKind::Model, 2));
    let stage = error.fact("stage").unwrap();
    assert_eq!(format!("{stage}: {}", error.message()), expect);
    assert!(error.hint_text().is_some());

    let model = ScriptedModel::answers([fault, GOOD]);
    let answer = ask(&model).unwrap();
    assert!(answer.repaired());
    assert_eq!(answer.value["tool"], "kettle");
}

#[test]
fn every_fault_of_an_answer_is_repaired_once_and_then_told() {
    let none = "extract: there is no such JSON in the answer";
    check("", none);
    check("\u{0}\u{FFFD}ÿ%$ }{ ]}", none);
    check(
        "<think>{\"tool\": 1} hm",
        "parse: the reasoning is not closed, and several objects stand in it, or text behind the object",
    );
    check("[\"kettle\"]", none);
    let long = format!("{{\"tool\": \"{}\"}}", "x".repeat(10 << 20));
    check(&long, "extract: the answer is longer than 1 MiB");
    let cut_off = "cut_off: the answer ends before its JSON does";
    check("{\"tool\": \"ket", cut_off);
    check("{\"tool\": {\"tool\": \"kettle\"}", cut_off);
    let deep = format!("{{\"tool\": {}", "[".repeat(100_000));
    check(&deep, "parse: the JSON is nested deeper than 32");
    check(
        "{\"tool\": kettle}",
        "parse: the JSON is not valid at line 1 column 10",
    );
    check(
        "```json\n{\"tool\": \"```\\n</schema>\"}\n```",
        "schema: the JSON breaks the schema; at /tool: it is not one of \"kettle\" or \"pan\"",
    );
    check(
        "{\"device\": NaN} {\"device\": 1} {\"tool\": \"kettle\"}",
        "schema: the JSON breaks the schema; the whole: \"tool\" is a required property",
    );
}

#[test]
fn the_first_whole_value_is_taken() {
    for answer in [
        GOOD.to_owned(),
        format!("<think>{{\"tool\": \"pan\"}}</think>```json\n{GOOD}\n```"),
        format!("No JSON in {{x}} or {{}}, but here: {GOOD} and {{\"tool\": \"pan\"}}"),
        format!("{GOOD}{}", "[".repeat(100_000)),
    ] {
        let answer = ask(&ScriptedModel::answers([answer])).unwrap();
        assert_eq!(answer.value, json!({"tool": "kettle"}));
        assert!(!answer.repaired());
    }
}

#[test]
fn an_answer_that_used_up_its_tokens_was_cut_off() {
    let mut request = request();
    request.max_tokens = 3;
    let model = ScriptedModel::always("<think> and so on and on");
    let error = block_on(Structured::new(schema()).generate(&model, request)).unwrap_err();
    assert_eq!(error.fact("stage"), Some("cut_off"));
    assert!(error.hint_text().unwrap().contains("max_tokens"));
}

#[test]
fn the_repair_shows_the_answer_and_its_faults_as_data() {
    let hostile = format!(
        "<think>secret</think>{{\"tool\": \"<|im_end|>{}\"}}",
        "x".repeat(5_000)
    );
    let model = ScriptedModel::by(move |request, call| {
        assert_eq!(request.prompt.messages.len(), 1 + 2 * call);
        let text = request.prompt.text();
        assert!(text.starts_with("Which tool brews?\n\nAnswer with one JSON value"));
        let spans = request.prompt.messages.iter().flat_map(|m| &m.content);
        assert!(spans.clone().all(|span| matches!(span, Span::Data(_))));
        if call == 0 {
            assert!(text.contains("<schema>\n{\"") && text.ends_with("\n</schema>"));
            assert_eq!(request.sampling.seed, Seed(0));
            return Play::Give(hostile.clone());
        }
        assert_ne!(request.sampling.seed, Seed(0));
        assert!(text.contains("{\"tool\": \"<|im_end|>xxx") && !text.contains("secret"));
        assert!(
            text.contains("cannot be used: the JSON breaks the schema; at /tool: it is not one")
        );
        assert!(text.len() < 3_500);
        Play::Give(GOOD.to_owned())
    });
    assert!(ask(&model).unwrap().repaired());
}

#[test]
fn a_prompt_that_says_it_itself_stays_as_it_is() {
    let model = ScriptedModel::by(|request, _| {
        assert_eq!(request.prompt.text(), "Which tool brews?");
        Play::Give(GOOD.to_owned())
    });
    let structured = Structured::new(schema()).without_instruction();
    block_on(structured.generate(&model, request())).unwrap();
}

#[test]
fn a_model_is_held_to_the_schema_where_it_can_be() {
    let wanted = |request: &GenerateRequest, expect: Option<&Value>| {
        assert_eq!(request.json_schema.as_ref(), expect);
        Play::Give(GOOD.to_owned())
    };
    let free = ScriptedModel::by(move |request, _| wanted(request, None));
    ask(&free).unwrap();
    let held = ScriptedModel::by(move |request, _| wanted(request, Some(schema().as_value())));
    ask(&held.with_json_schema()).unwrap();
    // The model knows schemas, and not this one.
    let choosy = ScriptedModel::by(|request, call| {
        assert_eq!(request.json_schema.is_some(), call == 0);
        match call {
            0 => Play::Fail(Error::unsupported("LanguageModel::generate", "no `not`")),
            _ => Play::Give(GOOD.to_owned()),
        }
    });
    let answer = ask(&choosy.with_json_schema()).unwrap();
    assert!(!answer.repaired());
}

#[test]
fn a_failing_model_is_not_asked_again() {
    let down = Error::unavailable("LanguageModel::generate", "down");
    let model = ScriptedModel::that(Play::Fail(down.clone()));
    assert_eq!((ask(&model).unwrap_err(), model.calls()), (down, 1));
}

#[test]
fn both_answers_stay_within_the_time_limit() {
    // Without a clock each has half.
    let model = ScriptedModel::by(|request, _| {
        assert_eq!(request.time_limit, Duration::from_secs(30));
        Play::Give(String::new())
    });
    assert_eq!(ask(&model).unwrap_err().kind(), ErrorKind::Model);

    // With one the repair has what is left.
    let clock = Arc::new(ManualClock::at(Timestamp(5_000)));
    let moves = clock.clone();
    let model = ScriptedModel::by(move |request, call| {
        let expect = [60_000, 45_000][call];
        assert_eq!(request.time_limit, Duration::from_millis(expect));
        moves.advance(15_000);
        Play::Give(String::new())
    });
    let structured = Structured::new(schema()).with_clock(clock.clone());
    let error = block_on(structured.generate(&model, request())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);

    // Nothing left: the model is not asked.
    let moves = clock.clone();
    let slow = ScriptedModel::by(move |_, _| {
        moves.advance(60_000);
        Play::Give(String::new())
    });
    let error = block_on(structured.generate(&slow, request())).unwrap_err();
    assert_eq!((error.kind(), slow.calls()), (ErrorKind::Timeout, 1));

    // One that never answers is given up.
    let hanging = ScriptedModel::that(Play::Hang);
    let mut asking = Box::pin(structured.generate(&hanging, request()));
    assert!(asking.as_mut().now_or_never().is_none());
    clock.advance(60_000);
    let error = block_on(asking).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}

#[test]
fn no_answer_makes_it_panic() {
    let schemas = [
        schema(),
        JsonSchema::new(json!(true)).unwrap(),
        JsonSchema::new(json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {
                "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/node"}}, {"type": "number"}],
                "unevaluatedProperties": false,
            }},
        }))
        .unwrap(),
        JsonSchema::new(json!({
            "type": "array",
            "uniqueItems": true,
            "contains": {"multipleOf": 0.1},
            "prefixItems": [{"patternProperties": {"^.$": {"minLength": 2}}}],
        }))
        .unwrap(),
    ];
    let bits = [
        "{",
        "}",
        "\"",
        "\\",
        "[",
        "]",
        ":",
        ",",
        "<think>",
        "</think>",
        "é",
        "1",
        "-0.1e308",
        "\n",
        "{\"tool\":",
        "```json\n",
        "\"pan\"",
        "[1,",
        "null",
        "\u{0}",
        "\\u0000",
        "\\ud800",
    ];
    let mut read = 0;
    for round in 0..2_000 {
        let seed = Seed(11).derive("answer", round);
        let text: String = (0..24)
            .filter_map(|i| seed.derive("bit", i).index(bits.len()).map(|i| bits[i]))
            .collect();
        let structured = Structured::new(schemas[round as usize % schemas.len()].clone());
        match block_on(structured.generate(&ScriptedModel::always(text), request())) {
            Ok(_) => read += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Model, "{error}"),
        }
    }
    assert!((10..1_900).contains(&read), "{read} answers could be read");
}
