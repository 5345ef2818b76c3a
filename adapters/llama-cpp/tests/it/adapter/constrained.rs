//! Output that is held to a JSON Schema.

use futures::executor::block_on;
use journeyman::{
    ErrorKind, Seed,
    agent::role::Structured,
    contract::{FinishReason, GenerateRequest, Generation, LanguageModel, ToolChoice},
    domain::{Sampling, ToolDefinition},
    text::JsonSchema,
};
use serde_json::{Value, json};

use super::tools::{FUNCTIONS, NEMO, OBJECTS, QWEN2, SMALL};
use crate::support::{Tiny, prompt};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool": {"enum": ["kettle", "pan"]},
            "steps": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
        },
        "required": ["tool", "steps"],
        "additionalProperties": false,
    })
}

fn request(seed: u64) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt("go on"), 600);
    request.sampling = Sampling::new(1.5, 0.95, Seed(seed));
    request.json_schema = Some(schema());
    request
}

#[test]
fn a_random_model_writes_what_the_schema_allows() {
    let model = Tiny::default().load();
    if !cfg!(feature = "llguidance") {
        assert!(!model.capabilities().json_schema);
        let error = block_on(model.generate(&request(0))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        return;
    }
    assert!(model.capabilities().json_schema);
    let schema = JsonSchema::new(schema()).unwrap();
    let mut texts = Vec::new();
    for seed in 0..20 {
        let answer = block_on(model.generate(&request(seed))).unwrap();
        assert_eq!(answer.finish, FinishReason::EndOfText, "{}", answer.text);
        let value: Value = serde_json::from_str(&answer.text).unwrap();
        assert!(schema.faults(&value).is_empty(), "{value}");
        // The model's own numbers, with no regard to what may come.
        assert_eq!(answer.logprobs.len() as u64, answer.output_tokens);
        assert!(answer.logprobs.iter().sum::<f32>() < -20.0);
        texts.push(answer.text);
    }
    assert_eq!(
        block_on(model.generate(&request(3))).unwrap().text,
        texts[3]
    );
    texts.sort();
    texts.dedup();
    assert!(texts.len() > 5, "{texts:?}");
}

/// The one call of an answer without other text: its tool and its arguments.
fn the_call(answer: Generation) -> (String, Value) {
    assert_eq!(answer.text, "");
    let [made] = answer.calls.as_slice() else {
        panic!("{} calls", answer.calls.len());
    };
    let arguments = Value::Object(made.call.arguments.clone());
    (made.call.tool.clone(), arguments)
}

#[test]
fn a_random_model_calls_the_tool_that_it_must_by_its_schema() {
    let tiny = Tiny {
        template: Some(QWEN2),
        ..Tiny::default()
    };
    let model = tiny.load();
    let tool = |name: &str, schema| ToolDefinition::new(name, "Cooks.", schema);
    let cook = json!({
        "type": "object",
        "properties": {"tool": {"enum": ["kettle", "pan"]}},
        "required": ["tool"],
        "additionalProperties": false,
    });
    let must = JsonSchema::new(cook.clone()).unwrap();
    for seed in 0..10 {
        for choice in [ToolChoice::Named("cook".to_owned()), ToolChoice::Required] {
            let mut asked = request(seed);
            asked.json_schema = None;
            asked.tools = vec![tool("cook", cook.clone())];
            asked.tool_choice = choice;
            let answer = block_on(model.generate(&asked));
            if !cfg!(feature = "llguidance") {
                assert!(answer.map_or(true, |answer| answer.calls.is_empty()));
                continue;
            }
            let (called, arguments) = the_call(answer.unwrap());
            assert_eq!(called, "cook");
            assert!(must.faults(&arguments).is_empty(), "{arguments}");
        }
    }
    // A tool without a schema takes an object, too.
    for bare in [
        json!({}),
        Value::Null,
        json!({"properties": {}, "additionalProperties": false}),
    ] {
        let mut asked = request(3);
        asked.json_schema = None;
        asked.tools = vec![tool("wait", bare)];
        asked.tool_choice = ToolChoice::Required;
        let answer =
            block_on(model.generate(&asked)).map(|answer| (answer.finish, answer.calls.len()));
        let whole = matches!(
            answer,
            Ok((FinishReason::EndOfText, 1)) | Ok((FinishReason::Length, 0))
        );
        assert!(whole || !cfg!(feature = "llguidance"), "{answer:?}");
    }
    let hard = json!({"type": "object", "properties": {"tool": {"not": {"type": "string"}}}});
    // A schema that no grammar expresses leaves the model free, and its call is checked.
    let mut free = request(1);
    free.json_schema = None;
    free.max_tokens = 20;
    free.tools = vec![tool("bake", hard)];
    free.tool_choice = ToolChoice::Required;
    let answer = block_on(model.generate(&free)).unwrap();
    assert_eq!(answer.finish, FinishReason::Length);
    assert!(answer.calls.is_empty() && !answer.text.contains("</tool_call>"));
}

#[test]
fn a_random_model_that_must_call_calls_one_of_several_tools_in_each_form_that_text_spells() {
    let object = |properties: Value, key: &str| json!({"type": "object", "properties": properties, "required": [key], "additionalProperties": false});
    let tool = |name: &str, schema: &Value| ToolDefinition::new(name, "", schema.clone());
    let schemas = [
        (
            "cook",
            object(json!({"with": {"enum": ["kettle", "pan"]}}), "with"),
        ),
        ("wait", object(json!({"long": {"type": "boolean"}}), "long")),
        ("wait_here", object(json!({"at": {"enum": [1, 2]}}), "at")),
    ];
    let mut called = Vec::new();
    for template in [QWEN2, NEMO, SMALL, OBJECTS, FUNCTIONS] {
        let tiny = Tiny {
            template: Some(template),
            context: 4096,
            ..Tiny::default()
        };
        let model = tiny.load();
        for seed in 0..12 {
            let mut asked = request(seed);
            asked.json_schema = None;
            // Nearly uniform: the weights alone prefer one tool.
            (asked.sampling.temperature, asked.sampling.top_p) = (8.0, 1.0);
            asked.tools = schemas.iter().map(|(name, of)| tool(name, of)).collect();
            asked.tool_choice = ToolChoice::Required;
            let answer = block_on(model.generate(&asked));
            if !cfg!(feature = "llguidance") {
                assert!(answer.map_or(true, |answer| answer.calls.is_empty()));
                continue;
            }
            let (name, arguments) = the_call(answer.unwrap());
            let (name, schema) = schemas.iter().find(|(known, _)| *known == name).unwrap();
            let must = JsonSchema::new(schema.clone()).unwrap();
            assert!(must.faults(&arguments).is_empty(), "{name} {arguments}");
            called.push(*name);
        }
    }
    called.sort_unstable();
    called.dedup();
    if cfg!(feature = "llguidance") {
        assert_eq!(called, schemas.map(|(name, _)| name));
    }
}

#[test]
fn of_several_tools_a_model_writes_freely_where_no_grammar_begins_the_call() {
    let any = json!({"type": "object"});
    let hard = json!({"type": "object", "properties": {"tool": {"not": {"type": "string"}}}});
    // A control token of this vocabulary stands behind the name.
    let control = SMALL.replace("[CALL_ID]", "[CALL_ID]<call>");
    let control: &str = control.leak();
    for (template, name, schema) in [
        (control, "bake", &any),
        // A name that JSON writes otherwise.
        (QWEN2, "ba\"ke", &any),
        (QWEN2, "bake", &hard),
    ] {
        let tiny = Tiny {
            template: Some(template),
            context: 4096,
            ..Tiny::default()
        };
        let tool = |name: &str, schema: &Value| ToolDefinition::new(name, "", schema.clone());
        let mut asked = request(1);
        asked.json_schema = None;
        asked.max_tokens = 40;
        asked.tools = vec![tool("cook", &any), tool(name, schema)];
        asked.tool_choice = ToolChoice::Required;
        let answer = block_on(tiny.load().generate(&asked)).unwrap();
        assert_eq!(answer.finish, FinishReason::Length);
        assert!(answer.calls.is_empty(), "{name}");
        let is_begun = ["cook\", \"arguments", "bake\", \"arguments", "[ARGS]"];
        assert!(
            !is_begun.iter().any(|held| answer.text.contains(held)),
            "{}",
            answer.text
        );
    }
}

#[test]
fn a_schema_that_cannot_be_obeyed_fails_alone_and_structured_goes_on_without_it() {
    let model = Tiny::default().load();
    let mut hard = request(1);
    hard.json_schema = Some(json!({"type": "object", "not": {"required": ["x"]}}));
    let error = block_on(model.generate(&hard)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let structured = Structured::new(JsonSchema::new(hard.json_schema.unwrap()).unwrap());
    // Written freely, a random model's text is no JSON.
    let mut free = request(1);
    free.max_tokens = 20;
    let error = block_on(structured.generate(&*model, free)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    hard = request(1);
    hard.json_schema = None;
    assert!(block_on(model.generate(&hard)).is_ok());
}
