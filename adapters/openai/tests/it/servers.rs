//! The adapter at real servers: llama.cpp's `llama-server` and the server of llama-cpp-python, with the bundled model.
//!
//! ```text
//! export $(bash tests/adapters/servers.sh)
//! cargo test -p journeyman-openai --test it -- --ignored servers::
//! ```

use std::{num::NonZeroUsize, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    ErrorKind,
    contract::{Embedder, GenerateRequest, LanguageModel, ScoreRequest, Scorer, ToolChoice},
    domain::{Prompt, ToolDefinition},
    testing::conformance::{
        Report, embedder,
        language_model::{self, LanguageModelFixture},
        scorer::{self, ScorerFixture},
    },
};
use journeyman_openai::{ApiKey, OpenAi, OpenAiEmbedder, Route, ScoringForm, ServerKind};
use serde_json::json;

use crate::support::{
    Pieces, prompt,
    real::{CONTEXT, Real, begun},
};

fn connect(server: &Real, route: Route) -> OpenAi {
    let mut config = server.config(route);
    config.context = NonZeroUsize::new(CONTEXT);
    let model = block_on(OpenAi::connect(config)).unwrap();
    println!("{route:?}\n{}", model.support());
    model
}

/// All cases pass, and only these are skipped.
fn assert_kept(report: Report, skipped: &[&str]) {
    println!("{report}");
    let found: Vec<&str> = report.skipped().map(|case| case.name).collect();
    assert_eq!(found, skipped, "{report}");
    report.into_result().unwrap();
}

fn fixture(prompt: Prompt) -> LanguageModelFixture {
    LanguageModelFixture::new(prompt)
}

fn score_fixture() -> ScorerFixture {
    let continuations = [
        " unseal coffee",
        " unseal coffee; brew coffee power #",
        " the other one",
        " record torch grade # phase # shape #",
    ];
    ScorerFixture::new(
        begun("please unseal the coffee"),
        continuations.map(str::to_owned).to_vec(),
    )
    .with_special("<tool_call>")
    .with_context(CONTEXT)
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn llama_server_writes_and_scores() {
    let server = Real::llama_server(&[]);
    let model = connect(&server, Route::Completions);
    let support = model.support();
    assert_eq!(support.server, ServerKind::LlamaServer);
    assert_eq!(support.scoring, Some(ScoringForm::Forced));
    assert!(support.token_records, "{support}");
    let report = block_on(language_model::check(&model, &fixture(begun("could you"))));
    assert_kept(report, &["deadline"]);
    let report = block_on(scorer::check(&model, &score_fixture()));
    assert_kept(report, &[]);
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn llama_server_chats_streams_and_calls_tools() {
    let server = Real::with_tools();
    let model = connect(&server, Route::Chat);
    assert!(model.capabilities().tools, "{}", model.support());
    let report = block_on(language_model::check(
        &model,
        &fixture(prompt("say something")),
    ));
    assert_kept(report, &["records", "deadline"]);
    // Behind messages that the server renders by its template.
    let mut scores = score_fixture();
    scores.prompt = prompt("say something");
    assert_kept(block_on(scorer::check(&model, &scores)), &[]);

    let sink = Arc::new(Pieces::default());
    let mut request = GenerateRequest::greedy(prompt("go on"), 16);
    request.sink = Some(sink.clone());
    let text = block_on(model.generate(&request)).unwrap().text;
    let pieces = sink.0.lock().unwrap().clone();
    assert!(pieces.len() > 1, "{pieces:?}");
    assert_eq!(pieces.concat(), text);

    let tool = |name: &str, argument: &str, schema: serde_json::Value| {
        let schema = json!({"type": "object", "properties": {argument: schema}, "required": [argument], "additionalProperties": false});
        ToolDefinition::new(name, "A tool.", schema)
    };
    let mut request = GenerateRequest::greedy(prompt("go on"), 200);
    request.tools = vec![
        tool("look", "at", json!({"enum": ["mast", "galley"]})),
        tool("wait", "long", json!({"type": "boolean"})),
    ];
    for name in ["look", "wait"] {
        request.tool_choice = ToolChoice::Named(name.to_owned());
        let generation = block_on(model.generate(&request)).unwrap();
        println!("{:?}", generation.calls);
        assert!(
            generation
                .calls
                .iter()
                .all(|made| made.call.tool == name && !made.id.is_empty())
        );
        assert!(!generation.calls.is_empty());
    }
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn llama_server_that_renders_no_tools_is_found_out() {
    let server = Real::llama_server(&["--no-jinja"]);
    let model = connect(&server, Route::Chat);
    assert!(!model.capabilities().tools, "{}", model.support());
    let declined = model.support().declined.iter();
    assert!(
        declined.clone().any(|one| one.tried == "tools"),
        "{}",
        model.support()
    );
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn llama_server_embeds() {
    let server = Real::llama_server(&["--embeddings", "--pooling", "mean", "--parallel", "1"]);
    let model = block_on(OpenAiEmbedder::connect(server.config(Route::Chat))).unwrap();
    assert_eq!(model.space().dimensions, 128);
    assert_kept(block_on(embedder::check(&model)), &[]);
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn a_wrong_key_and_an_absent_model_are_told() {
    for server in [Real::llama_server(&[]), Real::python(false)] {
        let mut config = server.config(Route::Completions);
        config.context = NonZeroUsize::new(CONTEXT);
        let mut absent = config.clone();
        absent.model = "another".to_owned();
        let error = block_on(OpenAi::connect(absent)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert!(error.message().contains("it has: apprentice"), "{error}");
        for key in [None, Some("another-key-0123456789")] {
            // llama-server lists its models to anybody: the key is asked for by the first text.
            let mut wrong = config.clone();
            wrong.key = key.map(|key| ApiKey::new(key).unwrap());
            let error = block_on(OpenAi::connect(wrong)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            assert!(
                error.hint_text().unwrap().contains("Config::key"),
                "{error}"
            );
            assert!(!format!("{error:?}").contains("another-key"), "{error:?}");
        }
    }
}

fn score(
    model: &OpenAi,
    prompt: Prompt,
) -> journeyman::Result<Vec<journeyman::contract::TokenScores>> {
    block_on(model.score(
        &ScoreRequest::new(prompt, score_fixture().continuations).with_max_continuation_tokens(64),
    ))
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn llama_cpp_python_writes_and_scores_as_llama_server_does() {
    let python = Real::python(true);
    let model = connect(&python, Route::Completions);
    assert_eq!(model.support().server, ServerKind::LlamaCppPython);
    assert_eq!(model.support().scoring, Some(ScoringForm::EchoText));
    let report = block_on(language_model::check(&model, &fixture(begun("could you"))));
    assert_kept(report, &["records", "deadline"]);
    let report = block_on(scorer::check(&model, &score_fixture()));
    assert_kept(report, &[]);

    // Flash attention, which llama-server turns on by itself, changes the numbers by up to 0.015 nats here.
    let other = Real::llama_server(&["--flash-attn", "off"]);
    let other = connect(&other, Route::Completions);
    let given = score_fixture().prompt;
    let (ours, theirs) = (
        score(&model, given.clone()).unwrap(),
        score(&other, given).unwrap(),
    );
    let mut largest: f64 = 0.0;
    for (a, b) in ours.iter().zip(&theirs) {
        assert_eq!(a.ids, b.ids);
        let pairs = a.logprobs.iter().zip(&b.logprobs);
        largest = pairs.fold(largest, |largest, (a, b)| largest.max((a - b).abs()));
    }
    println!("largest difference of a token: {largest:.6} nats");
    assert!(largest <= 0.01, "{largest}");

    // Without the BOS token, which this vocabulary does not add, the server scores other tokens than it names.
    let error = score(&model, prompt("please unseal the coffee")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.message().contains("BOS"), "{error}");
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn llama_cpp_python_without_logits_gives_no_scores_and_says_so() {
    let server = Real::python(false);
    let model = connect(&server, Route::Completions);
    assert!(!model.capabilities().score);
    let declined = model.support().declined.iter();
    let reason = declined
        .filter(|one| one.tried.starts_with("score"))
        .map(ToString::to_string);
    let reason = reason.collect::<String>();
    assert!(reason.contains("logits_all=False"), "{reason}");
    let error = score(&model, score_fixture().prompt).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("logits_all=False"), "{error}");
}

#[test]
#[ignore = "needs tests/adapters/servers.sh"]
fn llama_cpp_python_is_found_to_call_no_tools() {
    let server = Real::python(false);
    let model = connect(&server, Route::Chat);
    assert!(!model.capabilities().tools, "{}", model.support());
    let declined = model.support().declined.iter();
    assert!(
        declined.clone().any(|one| one.tried == "tools"),
        "{}",
        model.support()
    );
}
