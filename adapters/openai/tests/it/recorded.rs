//! Answers in the full form that vLLM and SGLang document, with all the fields that the adapter does not read. They are
//! recorded forms around a toy model's numbers: neither server was run.

use std::time::Duration;

use futures::executor::block_on;
use journeyman::{
    contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer, ToolChoice},
    domain::ToolDefinition,
};
use journeyman_openai::{OpenAi, Route, ScoringForm};
use serde_json::{Value, json};

use crate::support::{
    Play, Script, Seen, Server, done, event, events_head, json, prompt,
    toy::{Like, Toy},
};

/// The body of a whole answer.
fn body(script: &Script) -> Value {
    let [Play::Send(bytes)] = &script[..] else {
        panic!("the answer is no whole one")
    };
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// vLLM's answer to a completion that is not streamed.
fn vllm_completion(toy: Toy, seen: &Seen) -> Script {
    let answer = body(&toy.answer(seen));
    let choice = &answer["choices"][0];
    let found = choice["logprobs"]["token_logprobs"].as_array().cloned();
    let found = found.unwrap_or_default();
    let tokens: Vec<String> = (0..found.len()).map(|at| format!("t{at}")).collect();
    let top = found.iter().enumerate().map(|(at, logprob)| match logprob {
        Value::Null => Value::Null,
        logprob => json!({format!("t{at}"): logprob, "other": -9.5}),
    });
    let (read, written) = (
        &answer["usage"]["prompt_tokens"],
        &answer["usage"]["completion_tokens"],
    );
    json(&json!({
        "id": "cmpl-6c2f1a", "object": "text_completion", "created": 1_763_900_000, "model": "toy",
        "choices": [{
            "index": 0, "text": choice["text"],
            "logprobs": {
                "text_offset": (0..found.len()).collect::<Vec<_>>(), "token_logprobs": found, "tokens": tokens,
                "top_logprobs": top.collect::<Vec<_>>(),
            },
            "finish_reason": "length", "stop_reason": null, "token_ids": null, "prompt_logprobs": null,
            "prompt_token_ids": null,
        }],
        "service_tier": null, "system_fingerprint": null,
        "usage": {"prompt_tokens": read, "total_tokens": 0, "completion_tokens": written, "prompt_tokens_details": null},
        "kv_transfer_params": null,
    }))
}

/// SGLang's answer to `/generate` with `return_logprob`.
fn sglang_generate(toy: Toy, seen: &Seen) -> Script {
    let answer = body(&toy.answer(seen));
    let scored = &answer["meta_info"]["input_token_logprobs"];
    json(&json!({
        "text": " x", "output_ids": [120],
        "meta_info": {
            "id": "a3f1", "finish_reason": {"type": "length", "length": 1}, "prompt_tokens": 9, "weight_version": "default",
            "input_token_logprobs": scored, "output_token_logprobs": [[-0.25, 120, null]],
            "input_top_logprobs": null, "completion_tokens": 1, "cached_tokens": 3, "e2e_latency": 0.012,
        },
    }))
}

fn recorded(like: Like) -> Server {
    let toy = Toy::new(like);
    Server::start(move |seen: &Seen| {
        let is_streamed = seen.body["stream"] == true;
        match (like, seen.path.as_str()) {
            (Like::Vllm, "/v1/completions") if !is_streamed => vllm_completion(toy, seen),
            (Like::Sglang, "/generate") => sglang_generate(toy, seen),
            _ => toy.answer(seen),
        }
    })
}

#[test]
fn scores_are_read_from_the_full_forms() {
    for (like, form) in [
        (Like::Vllm, ScoringForm::EchoIds),
        (Like::Sglang, ScoringForm::Generate),
    ] {
        let toy = Toy::new(like);
        let scores = |server: &Server| {
            let model = block_on(OpenAi::connect(toy.config(server, Route::Completions))).unwrap();
            assert_eq!(model.support().scoring, Some(form), "{}", model.support());
            let request = ScoreRequest::new(
                prompt("find the coffee"),
                vec!["unseal it".to_owned(), "brew".to_owned()],
            )
            .with_max_continuation_tokens(64)
            .with_time_limit(Duration::from_secs(20));
            block_on(model.score(&request)).unwrap()
        };
        let (full, bare) = (scores(&recorded(like)), scores(&toy.start()));
        assert_eq!(full, bare, "{like:?}");
        assert_eq!(full[0].logprobs.len(), "unseal it".len());
    }
}

/// A chunk as vLLM and SGLang send it.
fn chunk(delta: Value, finish: Value) -> Play {
    event(&json!({
        "id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1_763_900_000, "model": "toy",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish, "matched_stop": null}],
        "usage": null,
    }))
}

#[test]
fn tool_calls_are_read_from_the_full_forms() {
    let call = |index: usize, id: Value, name: Value, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"role": null, "content": null, "reasoning_content": null,
            "tool_calls": [{"id": id, "type": "function", "index": index, "function": function}]})
    };
    for like in [Like::Vllm, Like::Sglang] {
        let toy = Toy::new(like);
        let script = vec![
            events_head(),
            chunk(json!({"role": "assistant", "content": ""}), Value::Null),
            chunk(
                call(0, json!("chatcmpl-tool-1"), json!("look"), ""),
                Value::Null,
            ),
            chunk(call(0, Value::Null, Value::Null, "{\"at\": "), Value::Null),
            chunk(call(0, Value::Null, Value::Null, "\"mast\"}"), Value::Null),
            chunk(json!({"content": ""}), json!("tool_calls")),
            event(
                &json!({"id": "chatcmpl-9", "object": "chat.completion.chunk", "choices": [],
                "usage": {"prompt_tokens": 20, "total_tokens": 31, "completion_tokens": 11}}),
            ),
            done(),
        ];
        let server = Server::start(move |seen: &Seen| {
            let is_ours = seen.body["tools"][0]["function"]["name"] == "look";
            match is_ours {
                true => script.clone(),
                false => toy.answer(seen),
            }
        });
        let model = block_on(OpenAi::connect(toy.config(&server, Route::Chat))).unwrap();
        let mut request = GenerateRequest::greedy(prompt("look around"), 64);
        request.tool_choice = ToolChoice::Required;
        let schema =
            json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]});
        request.tools = vec![ToolDefinition::new("look", "Looks.", schema)];
        let generation = block_on(model.generate(&request)).unwrap();
        assert_eq!(
            (generation.calls.len(), generation.output_tokens),
            (1, 11),
            "{like:?}"
        );
        assert_eq!(generation.calls[0].id, "chatcmpl-tool-1");
        assert_eq!(generation.calls[0].call.arguments["at"], "mast");
    }
}
