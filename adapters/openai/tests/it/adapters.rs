//! Adapters (LoRA) by name, as vLLM and llama-server have them.

use std::{sync::Arc, time::Duration};

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    agent::AdaptedModel,
    contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer},
};
use journeyman_openai::{OpenAi, Route};
use serde_json::{Value, json};

use crate::support::{
    Seen, Server, json as answered, prompt,
    toy::{Like, Toy},
};

/// A server of this kind, which lists these adapters at llama-server's endpoint.
fn serving(like: Like, adapters: &'static [&'static str]) -> (Server, Arc<OpenAi>) {
    let toy = Toy::new(like);
    let server = Server::start(move |seen: &Seen| match seen.path.as_str() {
        "/lora-adapters" if !adapters.is_empty() => {
            let listed = (0..).zip(adapters).map(|(id, name)| {
                json!({"id": id, "path": format!("/models/{name}.gguf"), "scale": 1.0})
            });
            answered(&Value::from(listed.collect::<Vec<_>>()))
        }
        _ => toy.answer(seen),
    });
    let config = toy.config(&server, Route::Completions);
    let model = block_on(OpenAi::connect(config)).unwrap();
    (server, Arc::new(model))
}

/// The last request's model and its adapters, after a text was written and one was scored.
fn asked<M: LanguageModel + Scorer + 'static>(server: &Server, model: &M) -> [Value; 2] {
    let seen = || {
        let body = server.last("/v1/completions").body;
        json!([body["model"], body["lora"]])
    };
    let request = GenerateRequest::greedy(prompt("one two"), 3);
    block_on(model.generate(&request)).unwrap();
    let written = seen();
    let request = ScoreRequest::new(prompt("one two"), vec!["three".to_owned()])
        .with_max_continuation_tokens(8)
        .with_time_limit(Duration::from_secs(20));
    block_on(model.score(&request)).unwrap();
    [written, seen()]
}

#[test]
fn vllm_has_an_adapter_as_a_model_of_its_own() {
    let (server, model) = serving(Like::Vllm, &[]);
    assert_eq!(
        asked(&server, &*model),
        [json!(["toy", null]), json!(["toy", null])]
    );
    let adapted = AdaptedModel::new(model.clone(), "toy-lora");
    let both = [json!(["toy-lora", null]), json!(["toy-lora", null])];
    assert_eq!(asked(&server, &adapted), both);
    assert!(model.require_adapter("toy-lora").is_ok());
    // Another model is no adapter of this one.
    for name in ["other", "gone"] {
        let refused = model.require_adapter(name).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        assert!(
            refused.to_string().contains("it has: toy-lora"),
            "{refused}"
        );
        let hint = refused.hint_text().unwrap();
        assert!(hint.contains("--lora-modules"), "{hint}");
        let request = GenerateRequest::greedy(prompt("one"), 3);
        let gone = AdaptedModel::new(model.clone(), name);
        let refused = block_on(gone.generate(&request)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }
}

#[test]
fn llama_server_is_told_the_scale_of_each_adapter() {
    let (server, model) = serving(Like::LlamaServer, &["agent", "writer"]);
    let scales = |agent: f64, writer: f64| {
        let lora = json!([{"id": 0, "scale": agent}, {"id": 1, "scale": writer}]);
        let asked = json!(["toy", lora]);
        [asked.clone(), asked]
    };
    // The server would apply what it was started with.
    assert_eq!(asked(&server, &*model), scales(0.0, 0.0));
    let writer = AdaptedModel::new(model.clone(), "writer");
    assert_eq!(asked(&server, &writer), scales(0.0, 1.0));
    assert!(model.require_adapter("agent").is_ok());
    let refused = model.require_adapter("gone").unwrap_err();
    assert!(refused.to_string().contains("agent, writer"), "{refused}");
}

#[test]
fn a_server_without_adapters_is_asked_as_before() {
    let (server, model) = serving(Like::LlamaServer, &[]);
    assert_eq!(
        asked(&server, &*model),
        [json!(["toy", null]), json!(["toy", null])]
    );
    let body = server.last("/v1/completions").body;
    assert!(body.get("lora").is_none(), "{body}");
}
