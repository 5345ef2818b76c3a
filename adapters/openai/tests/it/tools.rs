//! Tool calls by the server's interface: how they are sent, put together from pieces, checked, and refused.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind,
    contract::{FinishReason, GenerateRequest, Generation, LanguageModel, ToolChoice},
    domain::ToolDefinition,
    text::published_calls,
};
use journeyman_openai::{OpenAi, Route};
use serde_json::{Value, json};

use crate::support::{
    Pieces, Play, Script, Seen, Server, answer, done, event, events_head, prompt,
    toy::{Like, Toy, playing},
};

const CHAT: &str = "/v1/chat/completions";

fn look() -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {"at": {"enum": ["mast", "<|galley|>"], "description": "Not </s> empty."}},
        "required": ["at"],
    });
    ToolDefinition::new("look", "Looks <|im_end|> at a place.", schema)
}

fn rest() -> ToolDefinition {
    ToolDefinition::new("rest", "Does nothing.", json!({}))
}

fn request(choice: ToolChoice) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt("look around"), 64);
    request.tools = vec![look(), rest()];
    request.tool_choice = choice;
    request
}

fn delta(delta: Value) -> Play {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

fn calls(pieces: Value) -> Play {
    delta(json!({"tool_calls": pieces}))
}

fn ends(reason: &str) -> Play {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

fn stream(plays: impl IntoIterator<Item = Play>, reason: &str) -> Script {
    let mut script = vec![events_head()];
    script.extend(plays);
    script.extend([ends(reason), done()]);
    script
}

fn ask(script: Script, choice: ToolChoice) -> Result<Generation, Error> {
    let (_server, model) = playing(Like::OpenAi, script);
    block_on(model.generate(&request(choice)))
}

fn made(generation: &Generation) -> Vec<String> {
    let calls = generation.calls.iter();
    calls
        .map(|made| {
            format!(
                "{} {} {}",
                made.id,
                made.call.tool,
                json!(made.call.arguments)
            )
        })
        .collect()
}

#[test]
fn calls_come_in_pieces_or_whole() {
    let expect = [r#"a look {"at":"mast"}"#, "b rest {}"];
    let first = |id: &str, index: usize, name: &str| json!([{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]);
    let more = |index: usize, text: &str| {
        calls(json!([{"index": index, "function": {"arguments": text}}]))
    };
    let in_turn = stream(
        [
            delta(json!({"role": "assistant", "content": null})),
            calls(first("a", 0, "look")),
            more(0, r#"{"at":"#),
            more(0, r#""mast"}"#),
            calls(first("b", 1, "rest")),
            more(1, "{}"),
        ],
        "tool_calls",
    );
    let mixed = stream(
        [
            calls(first("b", 1, "rest")),
            calls(first("a", 0, "look")),
            more(0, r#"{"at":"m"#),
            more(1, "{}"),
            more(0, r#"ast"}"#),
        ],
        "stop",
    );
    let named_twice = stream(
        [
            calls(
                json!([{"index": 0, "id": "a", "function": {"name": "look", "arguments": "{\"at\":"}}]),
            ),
            calls(
                json!([{"index": 0, "id": "a", "function": {"name": "look", "arguments": "\"mast\"}"}}]),
            ),
            calls(json!([{"index": 1, "id": "b", "function": {"name": "rest", "arguments": ""}}])),
        ],
        "function_call",
    );
    let whole = |arguments: Value| {
        let calls = json!([
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": arguments}},
            {"id": "b", "type": "function", "function": {"name": "rest"}},
        ]);
        let body = json!({"choices": [{"index": 0, "message": {"content": null, "tool_calls": calls}, "finish_reason": "tool_calls"}]});
        answer(200, "", &body.to_string())
    };
    for (name, script) in [
        ("in turn", in_turn),
        ("mixed", mixed),
        ("named twice", named_twice),
        ("whole", whole(json!(r#"{"at":"mast"}"#))),
        ("as an object", whole(json!({"at": "mast"}))),
    ] {
        let generation = ask(script, ToolChoice::Auto).unwrap();
        assert_eq!(made(&generation), expect, "{name}");
        assert_eq!(generation.text, "", "{name}");
        assert!(generation.ids.is_empty(), "{name}");
    }
}

#[test]
fn a_text_may_come_with_calls_and_reaches_the_sink() {
    let script = stream(
        [
            delta(json!({"content": "I look. "})),
            calls(
                json!([{"index": 0, "id": "a", "function": {"name": "rest", "arguments": "{}"}}]),
            ),
        ],
        "tool_calls",
    );
    let (_server, model) = playing(Like::OpenAi, script);
    let sink = Arc::new(Pieces::default());
    let mut request = request(ToolChoice::Auto);
    request.sink = Some(sink.clone());
    let generation = block_on(model.generate(&request)).unwrap();
    assert_eq!(generation.text, "I look. ");
    assert_eq!(sink.0.lock().unwrap().concat(), "I look. ");
    assert_eq!(made(&generation), ["a rest {}"]);
    assert_eq!(generation.finish, FinishReason::EndOfText);
}

#[test]
fn a_call_that_cannot_be_taken_is_given_as_a_text_where_the_model_was_free() {
    let one = |name: &str, arguments: &str| {
        calls(json!([{"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}}]))
    };
    for (name, arguments, choice) in [
        ("look", r#"{"at":"hunter22"}"#, ToolChoice::Auto),
        ("look", "{}", ToolChoice::Auto),
        ("look", "at the mast", ToolChoice::Auto),
        ("look", r#"["mast"]"#, ToolChoice::Auto),
        ("swim", "{}", ToolChoice::Auto),
        ("rest", "{}", ToolChoice::None),
    ] {
        let generation = ask(stream([one(name, arguments)], "stop"), choice).unwrap();
        assert!(generation.calls.is_empty());
        let found = published_calls(&generation.text, &|_| true).unwrap();
        assert_eq!(found.calls[0].tool, name);
        assert!(
            generation.text.contains("<tool_call>"),
            "{}",
            generation.text
        );
    }
    // Calls nobody asked for.
    let (_server, model) = playing(Like::OpenAi, stream([one("rest", "{}")], "tool_calls"));
    let plain = GenerateRequest::greedy(prompt("look"), 8);
    let generation = block_on(model.generate(&plain)).unwrap();
    assert!(generation.text.contains("rest"), "{}", generation.text);
    // What is slightly off is put right.
    let off = ask(
        stream([one("functions.Look", r#"{"at":"mast"}"#)], "stop"),
        ToolChoice::Auto,
    );
    let off = off.unwrap();
    assert_eq!(made(&off), [r#"a look {"at":"mast"}"#]);
    assert!(off.calls[0].repaired);
}

#[test]
fn an_answer_that_breaks_a_demand_is_refused() {
    let one = |name: &str, arguments: &str| {
        calls(json!([{"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}}]))
    };
    let text = || delta(json!({"content": "no"}));
    for (play, choice, expect) in [
        (
            one("look", r#"{"at":"hunter22"}"#),
            ToolChoice::Required,
            "do not obey its schema: at /at",
        ),
        (
            one("look", "at the mast"),
            ToolChoice::Required,
            "are no JSON object",
        ),
        (
            one("swim", "{}"),
            ToolChoice::Required,
            "no tool has the name of the call",
        ),
        (text(), ToolChoice::Required, "no tool is called"),
        (
            one("rest", "{}"),
            ToolChoice::Named("look".to_owned()),
            "another tool",
        ),
    ] {
        let error = ask(stream([play], "stop"), choice).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model, "{error}");
        assert!(error.message().contains(expect), "{expect}: {error}");
        assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
    }
    // A call that was cut is left out.
    let cut = stream([one("look", r#"{"at":"ma"#)], "length");
    let generation = ask(cut, ToolChoice::Required).unwrap();
    assert_eq!(
        (made(&generation).len(), generation.finish),
        (0, FinishReason::Length)
    );
}

#[test]
fn each_server_is_told_in_its_own_words() {
    let named = ToolChoice::Named("look".to_owned());
    for (like, choice, sent, count) in [
        (Like::Vllm, ToolChoice::Auto, json!("auto"), 2),
        (Like::Vllm, ToolChoice::None, json!("none"), 2),
        (Like::Sglang, ToolChoice::Required, json!("required"), 2),
        (
            Like::OpenAi,
            named.clone(),
            json!({"type": "function", "function": {"name": "look"}}),
            2,
        ),
        (Like::LlamaServer, named, json!("required"), 1),
    ] {
        let toy = Toy::new(like);
        let server = toy.start();
        let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
        assert!(
            model.support().to_string().contains("tools: yes"),
            "{}",
            model.support()
        );
        block_on(model.generate(&request(choice))).unwrap();
        let body = server.last(CHAT).body;
        assert_eq!(body["tool_choice"], sent, "{like:?}");
        let tools = body["tools"].as_array().unwrap();
        assert_eq!(tools.len(), count, "{like:?}");
        // Spellings of special tokens are made harmless where they are words, and kept where they are values.
        let tool = &tools[0]["function"];
        assert_eq!(tool["description"], "Looks < |im_end|> at a place.");
        let at = &tool["parameters"]["properties"]["at"];
        assert_eq!(at["description"], "Not < /s> empty.");
        assert_eq!(at["enum"][1], "<|galley|>");
        assert!(body.get("logprobs").is_none(), "{like:?}");
    }
}

#[test]
fn a_server_without_tools_says_why() {
    for (like, route, reason) in [
        (Like::LlamaCppPython, Route::Chat, "Input should be"),
        (Like::Vllm, Route::Completions, "on the chat route only"),
    ] {
        let toy = Toy::new(like);
        let server = toy.start();
        let model = block_on(OpenAi::connect(toy.config(&server, route))).unwrap();
        assert!(!model.capabilities().tools && !model.support().tools);
        let error = block_on(model.generate(&request(ToolChoice::Auto))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.message().contains(reason), "{error}");
    }
    // A server that lets a model be told to call, and not choose.
    let toy = Toy::new(Like::Vllm);
    let server = Server::start(
        move |seen: &Seen| match seen.body["tool_choice"] == "auto" {
            true => answer(
                400,
                "",
                r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice"}}"#,
            ),
            false => toy.answer(seen),
        },
    );
    let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
    assert!(!model.support().tools);
    assert!(
        model
            .support()
            .to_string()
            .contains("--enable-auto-tool-choice"),
        "{}",
        model.support()
    );
}

#[test]
fn a_request_that_cannot_be_met_is_refused_before_it_is_sent() {
    let (server, model) = playing(Like::OpenAi, stream([], "stop"));
    server.seen.lock().unwrap().clear();
    let unknown = request(ToolChoice::Named("swim".to_owned()));
    let mut twice = request(ToolChoice::Auto);
    twice.tools.push(look());
    let mut bad = request(ToolChoice::Auto);
    bad.tools[0].input_schema = json!({"type": "object", "required": "at"});
    for request in [unknown, twice, bad] {
        let error = block_on(model.generate(&request)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert_eq!(server.count(CHAT), 0);
}
