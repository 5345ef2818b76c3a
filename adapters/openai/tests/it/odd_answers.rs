//! What real servers send, beside what OpenAI documents: each kind in several variants, made after public fault reports.

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind,
    contract::{FinishReason, GenerateRequest, Generation, LanguageModel, ToolChoice},
    domain::{Message, NativeCall, Speaker, ToolCall, ToolDefinition},
    text::without_thinking,
};
use journeyman_openai::{OpenAi, Route};
use serde_json::{Value, json};

use crate::support::{
    Play, Script, Seen, Server, answer, config, done, event, events_head, json as whole, prompt,
    toy::{Like, Toy, playing},
};

const CHAT: &str = "/v1/chat/completions";

fn set_level() -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {"level": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["level"],
    });
    ToolDefinition::new("dial.set_level", "Sets the dial.", schema)
}

fn request() -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt("set level 8"), 64);
    request.tools = vec![set_level()];
    request.tool_choice = ToolChoice::Auto;
    request
}

/// What is read of an answer that a server like OpenAI's gives so.
fn ask(script: Script) -> Result<Generation, Error> {
    let (_server, model) = playing(Like::OpenAi, script);
    block_on(model.generate(&request()))
}

/// The wire name that the adapter sends for `dial.set_level`.
fn wire() -> String {
    let toy = Toy::new(Like::OpenAi);
    let server = toy.start();
    let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
    let _ = block_on(model.generate(&request()));
    let body = server.last(CHAT).body;
    body["tools"][0]["function"]["name"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn delta(delta: Value, finish: Value) -> Play {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

/// A text, as a stream and as one object, with this `finish_reason`.
fn both(message: Value, finish: Value) -> [Script; 2] {
    let stream = vec![
        events_head(),
        delta(message.clone(), Value::Null),
        delta(json!({}), finish.clone()),
        done(),
    ];
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]});
    [stream, whole(&body)]
}

fn check_text(message: Value, finish: Value, expect: (&str, FinishReason)) {
    for script in both(message.clone(), finish.clone()) {
        let made = ask(script).unwrap();
        assert_eq!(
            (made.text.as_str(), made.finish),
            expect,
            "{message} {finish}"
        );
    }
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}]})
}

/// The call of `set_level` with 8 is read; `repaired` says whether it was slightly off.
fn check_call(message: Value, repaired: bool) {
    for script in both(message.clone(), json!("tool_calls")) {
        let made = ask(script).unwrap();
        let expect = ToolCall::new("dial.set_level", json!({"level": 8}));
        assert_eq!(made.calls.len(), 1, "{message}: {made:?}");
        assert_eq!(made.calls[0].call, expect, "{message}");
        assert_eq!(made.calls[0].repaired, repaired, "{message}");
    }
}

#[test]
fn an_end_in_any_words_ends_the_text() {
    use FinishReason::{EndOfText, Length};
    let text = json!({"content": "yes"});
    for reason in ["stop", "eos", "end_turn", "tool_use", "COMPLETE"] {
        check_text(text.clone(), json!(reason), ("yes", EndOfText));
    }
    for reason in ["length", "max_tokens", "model_length"] {
        check_text(text.clone(), json!(reason), ("yes", Length));
    }
    // None at all, and with each piece an empty one.
    check_text(text.clone(), Value::Null, ("yes", EndOfText));
    check_text(text.clone(), json!(""), ("yes", EndOfText));
    check_text(text, json!(7), ("yes", EndOfText));
    let empty = vec![
        events_head(),
        delta(json!({"content": "y"}), json!("")),
        delta(json!({"content": "es"}), json!("")),
        done(),
    ];
    assert_eq!(ask(empty).unwrap().text, "yes");
}

#[test]
fn a_text_in_parts_is_joined_and_thoughts_stay_apart() {
    let end = FinishReason::EndOfText;
    let part = |text: &str| json!({"type": "text", "text": text});
    let thought = json!({"type": "thinking", "thinking": [part("hm")]});
    for content in [
        json!([part("yes")]),
        json!([part("y"), part("es")]),
        json!([thought, part("yes")]),
        json!([{"type": "reasoning", "reasoning": "hm"}, part("yes")]),
        json!(["yes"]),
    ] {
        check_text(json!({"content": content}), json!("stop"), ("yes", end));
    }
    for name in ["reasoning_content", "reasoning"] {
        check_text(
            json!({"content": "yes", name: "hm"}),
            json!("stop"),
            ("yes", end),
        );
        // Thoughts alone are no answer.
        for script in both(json!({"content": null, name: "hm"}), json!("stop")) {
            let made = ask(script).unwrap();
            assert_eq!(without_thinking(&made.text), "", "{}", made.text);
        }
    }
}

#[test]
fn usage_is_a_hint() {
    for usage in [
        json!({"prompt_tokens": 20, "completion_tokens": 4_000}),
        json!({"prompt_tokens": -1, "completion_tokens": 7}),
        json!({"prompt_tokens": 20.5, "completion_tokens": 7}),
        json!({"prompt_tokens": "20", "completion_tokens": "7"}),
        json!([]),
        json!({}),
        json!("none"),
        Value::Null,
    ] {
        let body = json!({"choices": [{"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}], "usage": usage});
        let made = ask(whole(&body)).unwrap();
        assert_eq!(made.text, "yes", "{usage}");
        assert!(made.output_tokens <= 64, "{usage}");
    }
    let body = json!({"choices": [{"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 20.0, "completion_tokens": 7.0}});
    let made = ask(whole(&body)).unwrap();
    assert_eq!((made.prompt_tokens, made.output_tokens), (20, 7));
}

#[test]
fn calls_slightly_off_are_put_right() {
    let wire = wire();
    assert!(
        wire.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
        "{wire}"
    );
    let eight = json!({"level": 8});
    check_call(call(&wire, json!(eight.to_string())), false);
    check_call(call(&wire, eight.clone()), false);
    for arguments in [
        json!("{\"level\": \"8\"}"),
        json!("{\"level\": 8.0}"),
        json!("{\"level\": 8, \"note\": null}"),
        json!("```json\n{\"level\": 8}\n```"),
        json!("\"{\\\"level\\\": 8}\""),
        json!({"level": "8"}),
    ] {
        check_call(call(&wire, arguments), true);
    }
    let text = json!(eight.to_string());
    check_call(call(&format!(" {wire}"), text.clone()), false);
    for name in [
        "dial.set_level",
        "functions.dial.set_level",
        "Dial_Set_Level",
        "dial-set-level",
    ] {
        check_call(call(name, text.clone()), name != "dial.set_level");
    }
    // The form before `tool_calls`.
    check_call(
        json!({"function_call": {"name": wire, "arguments": eight.to_string()}}),
        false,
    );
    // Fields of other forms.
    check_call(
        json!({"tool_calls": [{"index": "0", "id": 7, "function": {"name": wire, "arguments": eight}}]}),
        false,
    );
    check_call(
        json!({"content": 7, "tool_calls": [{"id": null, "function": {"name": wire, "arguments": eight}}]}),
        false,
    );
}

#[test]
fn calls_with_one_index_are_told_apart() {
    let wire = wire();
    let piece = |id: Value, name: Value, arguments: &str| {
        let piece =
            json!([{"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}]);
        delta(json!({"tool_calls": piece}), Value::Null)
    };
    let levels = |plays: Vec<Play>| -> Vec<i64> {
        let end = delta(json!({}), json!("tool_calls"));
        let script = [vec![events_head()], plays, vec![end, done()]].concat();
        let made = ask(script).unwrap();
        let calls = made.calls.iter();
        calls
            .map(|made| made.call.arguments["level"].as_i64().unwrap())
            .collect()
    };
    let none = || Value::Null;
    let by_id = vec![
        piece(json!("a"), json!(wire), ""),
        piece(none(), none(), "{\"level\": 2}"),
        piece(json!("b"), json!(wire), ""),
        piece(none(), none(), "{\"level\": 8}"),
    ];
    assert_eq!(levels(by_id), [2, 8]);
    let whole = vec![
        piece(json!("a"), json!(wire), "{\"level\": 2}"),
        piece(json!("b"), json!(wire), "{\"level\": 8}"),
    ];
    assert_eq!(levels(whole), [2, 8]);
    let by_name = vec![
        piece(none(), json!(wire), "{\"level\": 2}"),
        piece(json!(""), json!(wire), "{\"level\": 8}"),
    ];
    assert_eq!(levels(by_name), [2, 8]);
    let repeated = vec![
        piece(json!("a"), json!(wire), "{\"level\""),
        piece(json!("a"), json!(wire), ": 2}"),
        piece(json!(""), json!(""), ""),
    ];
    assert_eq!(levels(repeated), [2]);
}

#[test]
fn past_calls_have_the_name_that_the_server_knows() {
    let toy = Toy::new(Like::OpenAi);
    let server = toy.start();
    let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
    let made = NativeCall::new(
        "call00000",
        ToolCall::new("dial.set_level", json!({"level": 1})),
    );
    let mut request = request();
    request.prompt.messages.extend([
        Message::calling("", vec![made.clone()]),
        Message::answering(&made, "done"),
        Message::data(Speaker::User, "again"),
    ]);
    let _ = block_on(model.generate(&request));
    let body = server.last(CHAT).body;
    let sent = &body["messages"][1]["tool_calls"][0]["function"]["name"];
    assert_eq!(*sent, body["tools"][0]["function"]["name"]);
}

/// Connects to a server that refuses a body for a reason, and returns the fields that are left out at last.
fn left_out(
    refuses: impl Fn(&Value) -> Option<&'static str> + Send + Sync + 'static,
) -> Vec<String> {
    left_out_by(Like::OpenAi, refuses)
}

fn left_out_by(
    like: Like,
    refuses: impl Fn(&Value) -> Option<&'static str> + Send + Sync + 'static,
) -> Vec<String> {
    let toy = Toy::new(like);
    let server =
        Server::start(
            move |seen: &Seen| match refuses(&seen.body).filter(|_| seen.path == CHAT) {
                Some(said) => answer(400, "", &json!({"error": {"message": said}}).to_string()),
                None => toy.answer(seen),
            },
        );
    let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
    block_on(model.generate(&GenerateRequest::greedy(prompt("one"), 8))).unwrap();
    let fields = model.support().left_out.iter();
    fields.map(|field| (*field).to_owned()).collect()
}

#[test]
fn fields_that_a_server_refuses_are_found_out_once() {
    let temperature = left_out(|body| {
        (body.get("temperature")? != 1).then_some(
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.",
        )
    });
    assert_eq!(temperature, ["temperature"]);
    let both = left_out(|body| {
        body.get("temperature").and(body.get("top_p")).map(|_| {
            "litellm.BadRequestError: `temperature` and `top_p` cannot both be specified for this model."
        })
    });
    assert_eq!(both, ["top_p"]);
    let several = left_out(|body| {
        let seed = body
            .get("seed")
            .map(|_| "Extra inputs are not permitted: seed");
        seed.or_else(|| {
            body.get("stream_options")
                .map(|_| "Unrecognized request argument supplied: stream_options")
        })
    });
    assert_eq!(several, ["seed", "stream_options"]);
    for said in [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        "Unrecognized request argument supplied: max_tokens",
    ] {
        let most = left_out_by(Like::Vllm, move |body| body.get("max_tokens").map(|_| said));
        assert_eq!(most, ["max_tokens"], "{said}");
    }
    assert_eq!(left_out(|_| None), Vec::<String>::new());
}

#[test]
fn a_models_tag_need_not_be_named() {
    let named = |wanted: &str, id: &'static str| {
        let toy = Toy::new(Like::OpenAi);
        let server = Server::start(move |seen: &Seen| match seen.path.as_str() {
            "/v1/models" => {
                whole(&json!({"object": "list", "data": [{"id": id, "owned_by": "library"}]}))
            }
            _ => toy.answer(seen),
        });
        let mut config = config(&server.url(), wanted, Route::Chat);
        config.context = std::num::NonZeroUsize::new(512);
        block_on(OpenAi::connect(config)).map(drop)
    };
    for (wanted, id) in [("toy", "toy"), ("toy", "toy:latest"), ("toy:7b", "toy:7b")] {
        named(wanted, id).unwrap();
    }
    for (wanted, id) in [("toy", "toy:7b"), ("toy:7b", "toy"), ("toy", "toys:latest")] {
        let error = named(wanted, id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{wanted} of {id}");
    }
}

#[test]
fn a_server_needs_no_list_of_models() {
    let connected = |models: Script, works: bool| {
        let toy = Toy::new(Like::OpenAi);
        let server = Server::start(move |seen: &Seen| match seen.path.as_str() {
            "/v1/models" => models.clone(),
            _ if works => toy.answer(seen),
            _ => answer(404, "", "no such path"),
        });
        let mut config = config(&server.url(), "toy", Route::Chat);
        config.context = std::num::NonZeroUsize::new(512);
        block_on(OpenAi::connect(config)).map(|model| model.support().to_string())
    };
    for models in [
        answer(404, "", "<html>404 Not Found</html>"),
        answer(405, "", ""),
        whole(&json!({"object": "list", "data": null})),
        whole(&json!([])),
    ] {
        let support = connected(models.clone(), true).unwrap();
        assert!(
            support.contains("declined: the list of models"),
            "{support}"
        );
        // Else the address is wrong.
        connected(models, false).unwrap_err();
    }
}

#[test]
fn a_stream_is_read_whatever_it_is_called_and_however_its_lines_end() {
    let body = |end: &str| {
        let events = [
            json!({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}),
            json!({"type": "ping"}),
            json!({"choices": null}),
            json!({"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]}),
        ];
        let lines = events.map(|event| format!("data: {event}{end}{end}"));
        format!(": begun{end}{end}{}data: [DONE]{end}{end}", lines.concat())
    };
    let unended = body("\n").replace("\n\n", "\n");
    let typed = |kind: &str, body: &str| {
        let kind = match kind {
            "" => String::new(),
            kind => format!("Content-Type: {kind}\r\n"),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\n{kind}Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        ask(vec![Play::Send(
            [head.as_bytes(), body.as_bytes()].concat(),
        )])
    };
    for kind in [
        "text/event-stream",
        "Text/Event-Stream; charset=utf-8",
        "application/json",
        "text/plain",
        "",
    ] {
        for end in ["\n", "\r\n", "\r"] {
            let made = typed(kind, &body(end)).unwrap();
            let found = (made.text.as_str(), made.finish);
            assert_eq!(found, ("yes", FinishReason::EndOfText), "{kind:?} {end:?}");
        }
    }
    let begun = |begin: &str| format!("{begin}{}", body("\n"));
    for stream in [
        unended.clone(),
        unended.trim_end().to_owned(),
        begun("id: 1\n"),
        begun("retry: 10\n\n"),
        begun("\u{feff}"),
    ] {
        for kind in ["text/event-stream", "application/json"] {
            let made = typed(kind, &stream).unwrap();
            assert_eq!(made.text, "yes", "{kind} {stream:?}");
        }
    }
    // What a stream had said before it was cut stays, where it had ended.
    let finished = body("\n").replace("data: [DONE]", "data: {\"id\": \"a");
    let cut = finished.trim_end();
    assert_eq!(typed("application/json", cut).unwrap().text, "yes");
    let whole = "{\"choices\":[{\"message\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}";
    let marked = typed("application/json", &format!("\u{feff}{whole}")).unwrap();
    assert_eq!(marked.text, "yes");
    for other in [
        "<html>sign in</html>",
        "{\"ok\": true}",
        "",
        "data: <html>\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\ndata: {\"object\":\"error\",\"message\":\"out of memory\"}\n\ndata: [DONE]\n\n",
        "data: {\"type\":\"error\",\"message\":\"overloaded\"}\n\n",
    ] {
        typed("application/json", other).unwrap_err();
    }
}

#[test]
fn a_refusal_tells_how_long_the_context_is() {
    for (status, said, context) in [
        (
            400,
            "This model's maximum context length is 200 tokens. However, you requested 64 output tokens and your prompt contains at least 190 input tokens",
            200,
        ),
        (
            400,
            "Requested token count exceeds the model's maximum context length of 200 tokens. You requested a total of 254 tokens: 190 tokens from the input messages and 64 tokens for the completion.",
            200,
        ),
        (
            400,
            "request (190 tokens) exceeds the available context size (200 tokens), try increasing it",
            200,
        ),
        (400, "prompt is too long: 290 tokens > 200 maximum", 200),
        (
            413,
            "Request too large for model `m`: Limit 200, Requested 290. Please reduce your message size and try again.",
            200,
        ),
        // Without a number nothing is learned below 1,024 tokens.
        (500, "Context size has been exceeded.", 512),
    ] {
        let refusal = json!({"error": {"message": said}}).to_string();
        let (server, model) = playing(Like::OpenAi, answer(status, "", &refusal));
        assert_eq!(model.context(), 512);
        let before = server.count(CHAT);
        let error = block_on(model.generate(&request())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{said}");
        assert_eq!(error.fact("too_long"), Some("true"), "{said}");
        assert_eq!(
            server.count(CHAT),
            before + 1,
            "it is not sent again: {said}"
        );
        assert_eq!(model.context(), context, "{said}");
    }
}

#[test]
fn a_refusal_without_a_number_makes_the_next_request_shorter() {
    let toy = Toy::new(Like::OpenAi);
    let server = Server::start(move |seen: &Seen| {
        let messages = seen.body["messages"].to_string();
        match seen.path == CHAT && messages.len() > 3_000 {
            true => answer(
                500,
                "",
                r#"{"error": {"message": "Context size has been exceeded."}}"#,
            ),
            false => toy.answer(seen),
        }
    });
    let mut config = toy.config(&server, Route::Chat);
    config.context = std::num::NonZeroUsize::new(8_192);
    let model = block_on(OpenAi::connect(config)).unwrap();
    let long = GenerateRequest::greedy(prompt(&"word ".repeat(1_200)), 64);
    let asked = long.estimated_prompt().tokens + 64;
    let error = block_on(model.generate(&long)).unwrap_err();
    assert_eq!(error.fact("context"), None);
    assert!(
        model.context() >= 1_024 && model.context() < asked,
        "{}",
        model.context()
    );
}

#[test]
fn prompts_are_counted_as_the_server_has_counted_them() {
    let words = |count: usize| GenerateRequest::greedy(prompt(&"word ".repeat(count)), 64);
    let (long, short) = (words(240), words(20));
    let of = |asked: &GenerateRequest, plays: Vec<Play>| {
        let (_server, model) = playing(Like::OpenAi, plays);
        let count = || block_on(model.count_prompt(&long)).unwrap();
        let before = count();
        assert_eq!(
            (before.tokens, before.estimated),
            (long.estimated_prompt().tokens, true)
        );
        let _ = block_on(model.generate(asked));
        count().tokens
    };
    let used = |asked: &GenerateRequest, tokens: usize| {
        let body = json!({
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1},
        });
        of(asked, answer(200, "", &body.to_string()))
    };
    let estimate = long.estimated_prompt().tokens;
    let (more, fewer) = (estimate + estimate / 5, estimate / 2);
    assert!(used(&long, more).abs_diff(more) <= 1);
    // A server that counts fewer may count more for another text.
    assert_eq!(used(&long, fewer), estimate);
    // The context has 512 tokens: this is no count of one prompt.
    assert_eq!(used(&long, 100 * estimate), estimate);
    // Of a short prompt most is what the template adds.
    assert_eq!(used(&short, 400), estimate);
    let refused = json!({"error": {"message": format!(
        "request ({} tokens) exceeds the available context size (200 tokens), try increasing it", 2 * estimate
    )}});
    let told = of(&long, answer(400, "", &refused.to_string()));
    assert!(
        told.abs_diff(2 * estimate - 64) <= 1,
        "{told} of {estimate}"
    );
}

#[test]
fn an_answer_that_a_server_ended_for_another_request_is_asked_for_again() {
    for (like, asked) in [(Like::LlamaCppPython, 2), (Like::OpenAi, 1)] {
        let toy = Toy::new(like);
        let interrupts = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let interrupt = interrupts.clone();
        let server = Server::start(move |seen: &Seen| {
            let is_asked =
                seen.path == CHAT && interrupt.swap(false, std::sync::atomic::Ordering::SeqCst);
            match is_asked {
                true => vec![
                    events_head(),
                    delta(json!({"role": "assistant"}), Value::Null),
                    done(),
                ],
                false => toy.answer(seen),
            }
        });
        let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
        interrupts.store(true, std::sync::atomic::Ordering::SeqCst);
        let before = server.count(CHAT);
        let made = block_on(model.generate(&GenerateRequest::greedy(prompt("one"), 8))).unwrap();
        assert_eq!(server.count(CHAT) - before, asked, "{like:?}");
        assert_eq!(made.text.is_empty(), asked == 1, "{like:?}: {}", made.text);
    }
}
