//! Failures of a server end in typed errors, within the retries and the deadline, and nothing reaches a sink twice (F10 to
//! F12).
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Retry,
    contract::{Embedder, GenerateRequest, LanguageModel, ScoreRequest, Scorer},
};
use journeyman_openai::{
    ApiKey, Config, OpenAi, OpenAiEmbedder, OpenAiError, Route, Scoring, ScoringForm,
};
use serde_json::json;

mod support;

use support::{
    Pieces, Play, Script, Seen, Server, answer, done, event, events_head, prompt,
    toy::{Like, Toy},
};

const KEY: &str = "key-for-nobody-0123456789";
const CHAT: &str = "/v1/chat/completions";

/// A server that connects like a toy model; then the scripts are played in turn for each text, the last again and again.
fn failing(scripts: Vec<Script>) -> (Server, OpenAi) {
    failing_with(scripts, |_| {})
}

fn failing_with(scripts: Vec<Script>, change: impl Fn(&mut Config)) -> (Server, OpenAi) {
    failing_at(CHAT, Like::OpenAi, scripts, |mut config| {
        config.key = Some(ApiKey::new(KEY).unwrap());
        change(&mut config);
        block_on(OpenAi::connect(config)).unwrap()
    })
}

/// A server that connects like a toy model; then the scripts are played in turn for each request of this path.
fn failing_at<T>(
    path: &'static str,
    like: Like,
    scripts: Vec<Script>,
    connect: impl FnOnce(Config) -> T,
) -> (Server, T) {
    let toy = Toy::new(like);
    let ready = Arc::new(AtomicUsize::new(usize::MAX));
    let turn = ready.clone();
    let server = Server::start(move |seen: &Seen| {
        if turn.load(Ordering::SeqCst) == usize::MAX || seen.path != path {
            return toy.answer(seen);
        }
        let at = turn.fetch_add(1, Ordering::SeqCst);
        scripts[at.min(scripts.len() - 1)].clone()
    });
    let route = match path {
        CHAT => Route::Chat,
        _ => Route::Completions,
    };
    let connected = connect(toy.config(&server, route));
    server.seen.lock().unwrap().clear();
    ready.store(0, Ordering::SeqCst);
    (server, connected)
}

fn request(sink: &Arc<Pieces>, limit: Duration) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt("go"), 16);
    request.time_limit = limit;
    request.sink = Some(sink.clone());
    request
}

fn text(text: &str) -> Play {
    event(&json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}))
}

fn end() -> Play {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
}

fn good() -> Script {
    vec![events_head(), text("all "), text("well"), end(), done()]
}

fn ask(model: &OpenAi, limit: Duration) -> (Result<String, Error>, Vec<String>, Duration) {
    let sink = Arc::new(Pieces::default());
    let began = Instant::now();
    let answer = block_on(model.generate(&request(&sink, limit)));
    let pieces = sink.0.lock().unwrap().clone();
    (answer.map(|answer| answer.text), pieces, began.elapsed())
}

/// The text that arrives after a failure that passes.
#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let status =
        |status: u16, headers: &str| answer(status, headers, r#"{"error":{"message":"later"}}"#);
    for (name, script) in [
        ("408", status(408, "")),
        ("429", status(429, "")),
        ("429 with Retry-After", status(429, "Retry-After: 1\r\n")),
        ("500", status(500, "")),
        ("502", status(502, "")),
        ("503", answer(503, "", "<html>busy</html>")),
        ("504", status(504, "")),
        ("529", status(529, "")),
        ("reset", vec![Play::Reset]),
        ("half a head", vec![Play::Send(b"HTTP/1.1 200 OK\r\nContent-".to_vec()), Play::Reset]),
        (
            "half a body",
            vec![
                Play::Send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"choices\":".to_vec()),
                Play::Reset,
            ],
        ),
        ("a stream that ends before its text", vec![events_head(), Play::Reset]),
        (
            "an error in the stream",
            vec![events_head(), event(&json!({"error": {"message": "overloaded", "code": 503}}))],
        ),
    ] {
        let (server, model) = failing(vec![script, good()]);
        let (answer, pieces, took) = ask(&model, Duration::from_secs(20));
        assert_eq!(answer.unwrap(), "all well", "{name}");
        assert_eq!(pieces.concat(), "all well", "{name}");
        assert_eq!(server.count(CHAT), 2, "{name}");
        if name.contains("Retry-After") {
            assert!(took >= Duration::from_secs(1), "{name}: {took:?}");
        }
    }
}

#[test]
fn a_failure_that_stays_ends_after_the_retries() {
    for (name, script, kind) in [
        ("429", answer(429, "", "{}"), ErrorKind::RateLimited),
        ("500", answer(500, "", "{}"), ErrorKind::Unavailable),
        ("504", answer(504, "", "{}"), ErrorKind::Timeout),
        ("reset", vec![Play::Reset], ErrorKind::Unavailable),
        (
            "half a stream",
            vec![events_head(), Play::Send(b"data: {\"cho".to_vec())],
            ErrorKind::Unavailable,
        ),
    ] {
        let (server, model) = failing(vec![script]);
        let (answer, pieces, _) = ask(&model, Duration::from_secs(20));
        let error = answer.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (kind, Retry::Temporary),
            "{name}: {error}"
        );
        assert_eq!(error.fact("attempts"), Some("4"), "{name}: {error}");
        assert!(
            error.fact("endpoint").unwrap().ends_with(CHAT),
            "{name}: {error}"
        );
        assert!(
            error.hint_text().is_some() && pieces.is_empty(),
            "{name}: {error}"
        );
        assert_eq!(server.count(CHAT), 4, "{name}");
    }
}

#[test]
fn what_cannot_pass_is_sent_once() {
    let quota =
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
    let stream = |body: &[u8]| vec![events_head(), Play::Send(body.to_vec())];
    for (name, script, kind) in [
        ("400", answer(400, "", "{}"), ErrorKind::Invalid),
        ("401", answer(401, "", "{}"), ErrorKind::Invalid),
        ("403", answer(403, "", "{}"), ErrorKind::Invalid),
        ("404", answer(404, "", "{}"), ErrorKind::NotFound),
        ("a quota", answer(429, "", quota), ErrorKind::RateLimited),
        ("a redirect", answer(302, "Location: http://127.0.0.1:9/\r\n", ""), ErrorKind::Unsupported),
        ("garbage", answer(200, "", "\u{1}\u{2}garbage"), ErrorKind::Model),
        ("an empty body", answer(200, "", ""), ErrorKind::Model),
        ("another schema", answer(200, "", r#"{"answer":"well"}"#), ErrorKind::Model),
        ("choices of another type", answer(200, "", r#"{"choices":"well"}"#), ErrorKind::Model),
        ("NaN", stream(b"data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"logprobs\":{\"content\":[{\"logprob\":NaN}]}}]}\n\n"), ErrorKind::Model),
        ("a positive log-probability", stream(b"data: {\"choices\":[{\"delta\":{},\"logprobs\":{\"content\":[{\"logprob\":3.0}]}}]}\n\n"), ErrorKind::Model),
        ("garbage in a stream", stream(b"data: nothing\n\n"), ErrorKind::Model),
        ("bytes that are no text", stream(b"data: \xff\xfe\n\n"), ErrorKind::Model),
        ("a filter", stream(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n"), ErrorKind::Model),
        ("a stream's refusal", vec![events_head(), event(&json!({"error": {"message": "no", "code": 400}}))], ErrorKind::Invalid),
    ] {
        let (server, model) = failing(vec![script]);
        let (answer, pieces, _) = ask(&model, Duration::from_secs(20));
        let error = answer.unwrap_err();
        assert_eq!((error.kind(), error.retry()), (kind, Retry::Permanent), "{name}: {error}");
        assert!(error.hint_text().is_some() && pieces.is_empty(), "{name}: {error}");
        assert_eq!(server.count(CHAT), 1, "{name}");
    }
}

/// A server may promise JSON by a schema and not keep to it.
#[test]
fn a_text_that_breaks_its_schema_is_refused() {
    let schema = json!({
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": false,
    });
    let finish = |reason: &str| {
        event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    };
    let written = |said: &str, reason| vec![events_head(), text(said), finish(reason), done()];
    let ask = |script| {
        let (server, model) = failing(vec![script, good()]);
        assert!(model.support().json_schema, "{}", model.support());
        let mut request = GenerateRequest::greedy(prompt("go"), 16);
        request.json_schema = Some(schema.clone());
        let answer = block_on(model.generate(&request)).map(|answer| answer.text);
        assert_eq!(server.count(CHAT), 1);
        answer
    };
    for (said, fault) in [
        ("it is ready", "the text is not JSON"),
        ("{\"ready\":", "the text is not JSON"),
        ("{}", "ready"),
        ("{\"ready\":\"yes\"}", "does not obey the JSON Schema"),
        (
            "{\"ready\":true,\"by\":\"Ada\"}",
            "does not obey the JSON Schema",
        ),
    ] {
        let error = ask(written(said, "stop")).unwrap_err();
        let found = (error.kind(), error.retry());
        assert_eq!(
            found,
            (ErrorKind::Model, Retry::Permanent),
            "{said}: {error}"
        );
        assert!(error.message().contains(fault), "{said}: {error}");
    }
    let sound = "{\"ready\":false}";
    assert_eq!(ask(written(sound, "stop")).unwrap(), sound);
    // A text that the limit of tokens cut is the host's to judge.
    assert_eq!(ask(written("{\"rea", "length")).unwrap(), "{\"rea");
}

#[test]
fn nothing_that_reached_a_sink_is_repeated() {
    for (name, rest) in [
        ("reset", vec![Play::Reset]),
        ("half an event", vec![Play::Send(b"data: {\"cho".to_vec())]),
        (
            "an error",
            vec![event(&json!({"error": {"message": "later", "code": 503}}))],
        ),
        ("garbage", vec![Play::Send(b"data: ]\n\n".to_vec())]),
    ] {
        let script = [vec![events_head(), text("all ")], rest].concat();
        let (server, model) = failing(vec![script, good()]);
        let (answer, pieces, _) = ask(&model, Duration::from_secs(20));
        assert!(answer.is_err(), "{name}");
        assert_eq!(pieces, ["all "], "{name}");
        assert_eq!(server.count(CHAT), 1, "{name}");

        // Without a sink nothing was seen.
        if name != "garbage" {
            let script = server_script(name);
            let (server, model) = failing(vec![script, good()]);
            let answer = block_on(model.generate(&GenerateRequest::greedy(prompt("go"), 16)));
            assert_eq!(answer.unwrap().text, "all well", "{name}");
            assert_eq!(server.count(CHAT), 2, "{name}");
        }
    }
}

fn server_script(name: &str) -> Script {
    let rest = match name {
        "an error" => event(&json!({"error": {"message": "later", "code": 503}})),
        "half an event" => Play::Send(b"data: {\"cho".to_vec()),
        _ => Play::Reset,
    };
    vec![events_head(), text("all "), rest]
}

#[test]
fn a_long_line_is_refused_while_it_is_read() {
    let line = |head: &str| {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {head}\r\nConnection: close\r\n\r\ndata: ");
        vec![Play::Send(head.into_bytes()), Play::Flood(10 << 20)]
    };
    for kind in ["text/event-stream", "application/json"] {
        let (server, model) = failing(vec![line(kind)]);
        let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model, "{error}");
        assert!(
            error.message().contains("longer than 8388608 bytes"),
            "{error}"
        );
        assert_eq!(server.count(CHAT), 1);
    }
    // An endless stream of small events too.
    let many = std::iter::repeat_n(text("word "), 4_000);
    let (_server, model) = failing_with(
        vec![[events_head()].into_iter().chain(many).collect()],
        |config| {
            config.largest_response = NonZeroUsize::new(64 << 10).unwrap();
        },
    );
    let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
    assert!(
        error.message().contains("longer than 65536 bytes"),
        "{error}"
    );
}

#[test]
fn a_server_that_does_not_answer_ends_in_time() {
    let forever = Play::Wait(Duration::from_secs(8));
    let slow = |piece: Vec<u8>| {
        let drop = std::iter::repeat_n(
            [Play::Send(piece), Play::Wait(Duration::from_millis(100))],
            80,
        );
        drop.flatten().collect::<Script>()
    };
    let loris = [vec![events_head()], slow(b": wait\n".to_vec())].concat();
    let slow_head = slow(b"H".to_vec());
    let later = answer(429, "Retry-After: 30\r\n", "{}");
    for (name, script, kind) in [
        ("never", vec![forever.clone()], ErrorKind::Timeout),
        (
            "never after the head",
            vec![events_head(), forever.clone()],
            ErrorKind::Timeout,
        ),
        ("a byte at a time", loris, ErrorKind::Timeout),
        ("a head of a byte at a time", slow_head, ErrorKind::Timeout),
        ("a wait beyond the limit", later, ErrorKind::RateLimited),
    ] {
        let (_server, model) = failing(vec![script]);
        let (answer, _, took) = ask(&model, Duration::from_millis(600));
        let error = answer.unwrap_err();
        // An answer's head that is no HTTP is a broken one.
        let broken = name.starts_with("a head") && error.kind() == ErrorKind::Unavailable;
        assert!(error.kind() == kind || broken, "{name}: {error}");
        assert!(took < Duration::from_millis(1_600), "{name}: {took:?}");
    }
}

#[test]
fn each_deadline_has_its_own_error() {
    let forever = Play::Wait(Duration::from_secs(3));
    for (script, named) in [
        (vec![forever.clone()], "FirstByte"),
        (vec![events_head(), forever.clone()], "Idle"),
    ] {
        let (_server, model) = failing_with(vec![script], |config| {
            config.deadlines.first_byte = Duration::from_millis(300);
            config.deadlines.idle = Duration::from_millis(300);
        });
        let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.message().contains(named), "{error}");
    }
}

#[test]
fn waiting_for_a_free_place_counts_towards_the_deadline() {
    let slow = vec![
        events_head(),
        Play::Wait(Duration::from_millis(1_500)),
        text("x"),
        end(),
    ];
    let (server, model) = failing_with(vec![slow], |config| config.concurrency = NonZeroUsize::MIN);
    block_on(async {
        let sink = Arc::new(Pieces::default());
        let (first, second) = (
            request(&sink, Duration::from_secs(20)),
            request(&sink, Duration::from_millis(400)),
        );
        let (first, second) = futures::join!(model.generate(&first), model.generate(&second));
        assert!(first.is_ok());
        assert_eq!(second.unwrap_err().kind(), ErrorKind::Timeout);
    });
    assert_eq!(server.count(CHAT), 1, "the second was never sent");
}

#[test]
fn the_budget_refuses_what_it_does_not_cover() {
    let counted =
        event(&json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}));
    let script = vec![events_head(), text("well"), end(), counted, done()];
    // The probe counts too.
    let (server, model) = failing_with(vec![script.clone()], |_| {});
    let before = model.used_tokens();
    ask(&model, Duration::from_secs(20)).0.unwrap();
    assert_eq!(model.used_tokens(), before + 5);
    assert_eq!(server.count(CHAT), 1);

    let (server, model) = failing_with(vec![script], |config| {
        config.budget.tokens = std::num::NonZeroU64::new(before + 60);
    });
    let mut large = GenerateRequest::greedy(prompt("go"), 400);
    large.time_limit = Duration::from_secs(20);
    let error = block_on(model.generate(&large)).unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::RateLimited, Retry::Permanent),
        "{error}"
    );
    assert!(error.message().contains("budget"), "{error}");
    assert_eq!(server.count(CHAT), 0, "it was never sent");
}

#[test]
fn a_key_is_never_shown() {
    let said = format!(
        "{{\"error\":{{\"message\":\"wrong key {KEY} {}\"}}}}",
        "long ".repeat(500)
    );
    let (server, model) = failing(vec![answer(401, "", &said)]);
    let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
    let sources = format!("{error} {error:?} {:?}", std::error::Error::source(&error));
    assert!(server.last(CHAT).head.contains(KEY), "the key was sent");
    assert!(!sources.contains(KEY), "{sources}");
    assert!(error.hint_text().unwrap().contains("key"), "{error}");
    assert!(error.message().chars().count() < 600, "{error}");
    assert!(!format!("{model:?}").contains(KEY));
    let stream = vec![
        events_head(),
        event(&json!({"error": {"message": KEY, "code": 400}})),
    ];
    let (_server, model) = failing(vec![stream]);
    let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
    assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
    let mut config = Config::new("http://ada:hunter22@127.0.0.1:9/v1", "toy");
    config.proxy = Some("http://ada:hunter22@127.0.0.1:3128".to_owned());
    assert!(!format!("{config:?}").contains("hunter22"), "{config:?}");
    assert!(ApiKey::new("short").is_err());
    let error = ApiKey::new("with-a\nline-break").unwrap_err();
    assert!(!error.to_string().contains("line-break"), "{error}");
}

#[test]
fn a_configuration_out_of_range_is_refused() {
    let refused = |change: &dyn Fn(&mut Config)| {
        let mut config = Config::new("http://127.0.0.1:9/v1", "toy");
        config.retries.attempts = NonZeroU32::MIN;
        change(&mut config);
        block_on(OpenAi::connect(config)).unwrap_err()
    };
    for address in [
        "",
        "127.0.0.1",
        "ftp://host/v1",
        "http://ada:hunter22@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=hunter22",
    ] {
        let error = refused(&|config| config.base_url = address.to_owned());
        assert_eq!(
            (error.kind(), error.fact("field")),
            (ErrorKind::Invalid, Some("base_url")),
            "{error}"
        );
        assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
    }
    let error = refused(&|config| config.deadlines.idle = Duration::ZERO);
    assert_eq!(error.fact("field"), Some("deadlines.idle"));
    let error = refused(&|config| config.model = String::new());
    assert_eq!(error.fact("field"), Some("model"));
    // Nothing listens there.
    let error = refused(&|_| {});
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Unavailable, Retry::Temporary),
        "{error}"
    );
    assert_eq!(
        error.fact("endpoint"),
        Some("http://127.0.0.1:9/v1/"),
        "{error}"
    );
}

#[test]
fn a_model_that_the_server_lacks_is_named_with_those_that_are_there() {
    let toy = Toy::new(Like::Vllm);
    let server = toy.start();
    let mut config = toy.config(&server, Route::Chat);
    config.model = "toyy".to_owned();
    let error = block_on(OpenAi::connect(config)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains("toy, toy-lora, other"), "{error}");
}

#[test]
fn a_score_is_declined_with_what_was_tried() {
    let off = |like| Toy {
        is_off_by_one: true,
        ..Toy::new(like)
    };
    for (toy, reason) in [
        (off(Like::LlamaCppPython), "belong to other tokens"),
        (off(Like::LlamaServer), "belong to other tokens"),
        (Toy::new(Like::OpenAi), "scores no given texts"),
    ] {
        let server = toy.start();
        let model = block_on(OpenAi::connect(toy.config(&server, Route::Completions))).unwrap();
        assert!(!model.capabilities().score);
        let request = ScoreRequest {
            prompt: prompt("find"),
            continuations: vec!["it".to_owned()],
            max_continuation_tokens: 8,
            time_limit: Duration::from_secs(20),
            adapter: None,
        };
        let error = block_on(model.score(&request)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(reason), "{error}");
        assert!(
            model.support().to_string().contains("declined: score"),
            "{}",
            model.support()
        );

        // A host that insists is told at once.
        if toy.is_off_by_one {
            let mut config = toy.config(&server, Route::Completions);
            config.scoring = Scoring::Form(match toy.like {
                Like::LlamaServer => ScoringForm::Forced,
                _ => ScoringForm::EchoText,
            });
            assert_eq!(
                block_on(OpenAi::connect(config)).unwrap_err().kind(),
                ErrorKind::Model
            );
        }
    }
}

#[test]
fn an_embedder_whose_dimensions_change_is_refused() {
    let toy = Toy::new(Like::OpenAi);
    let count = AtomicUsize::new(0);
    let server = Server::start(move |seen: &Seen| {
        let first = seen.path != "/v1/embeddings" || count.fetch_add(1, Ordering::SeqCst) == 0;
        match first {
            true => toy.answer(seen),
            false => support::json(&json!({"data": [{"index": 0, "embedding": [0.6, 0.8]}]})),
        }
    });
    let model = block_on(OpenAiEmbedder::connect(toy.config(&server, Route::Chat))).unwrap();
    assert_eq!(model.space().dimensions, 8);
    let error = block_on(model.embed(&["x"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert!(
        error.message().contains("2 dimensions, and the space 8"),
        "{error}"
    );
    assert_eq!(
        error.hint_text(),
        Some("the server's embedding model changed: connect again and rebuild the index")
    );
}

/// A whole answer, half of it, and a head without a body.
fn broken(body: &str) -> Vec<(&'static str, Script, ErrorKind)> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let half = format!("{head}{}", &body[..body.len() / 2]);
    let forever = Play::Wait(Duration::from_secs(8));
    let send = |text: &str| Play::Send(text.as_bytes().to_vec());
    vec![
        ("half a body", vec![send(&half)], ErrorKind::Unavailable),
        (
            "half a body, then reset",
            vec![send(&half), Play::Reset],
            ErrorKind::Unavailable,
        ),
        ("429", answer(429, "", "{}"), ErrorKind::RateLimited),
        ("500", answer(500, "", "{}"), ErrorKind::Unavailable),
        ("reset", vec![Play::Reset], ErrorKind::Unavailable),
        ("garbage", answer(200, "", "\u{1}garbage"), ErrorKind::Model),
        (
            "another schema",
            answer(200, "", r#"{"answer":"well"}"#),
            ErrorKind::Model,
        ),
        ("401", answer(401, "", "{}"), ErrorKind::Invalid),
        ("never", vec![forever.clone()], ErrorKind::Timeout),
        (
            "never after the head",
            vec![send(&head), forever],
            ErrorKind::Timeout,
        ),
        (
            "10 MiB",
            vec![
                send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
                Play::Flood(10 << 20),
            ],
            ErrorKind::Model,
        ),
    ]
}

/// Checks a fault of an endpoint that answers at once: its kind, its time, and how often the request was sent.
fn check_fault(
    (name, path, kind): (&str, &str, ErrorKind),
    server: &Server,
    ask: impl FnOnce() -> Error,
) -> Error {
    let began = Instant::now();
    let error = ask();
    let took = began.elapsed();
    assert_eq!(error.kind(), kind, "{name}: {error}");
    assert!(took < LIMIT + Duration::from_secs(1), "{name}: {took:?}");
    let passes = matches!(kind, ErrorKind::Unavailable | ErrorKind::RateLimited);
    assert_eq!(server.count(path), if passes { 4 } else { 1 }, "{name}");
    assert!(
        error.fact("endpoint").unwrap().ends_with(path),
        "{name}: {error}"
    );
    assert!(error.hint_text().is_some(), "{name}: {error}");
    error
}

/// The time of a call to a scorer and an embedder.
const LIMIT: Duration = Duration::from_secs(3);

#[test]
fn a_fault_while_a_text_is_scored_is_typed_and_in_time() {
    let path = "/v1/completions";
    let echo = |logprobs: &str| {
        format!(
            r#"{{"choices":[{{"logprobs":{{"token_logprobs":{logprobs}}}}}],"usage":{{"prompt_tokens":6}}}}"#
        )
    };
    // `find` and `it` are six tokens of the toy behind a BOS token.
    let each = |value: &str| echo(&format!("[null{}]", format!(",{value}").repeat(6)));
    let mut faults = broken(&each("-1"));
    for (name, body) in [
        ("NaN", each("NaN")),
        ("an infinite log-probability", each("-1e999")),
        ("a positive log-probability", each("0.5")),
        ("a missing log-probability", each("null")),
        ("a text", each("\"-1\"")),
        ("too few", echo("[null,-1]")),
    ] {
        faults.push((name, answer(200, "", &body), ErrorKind::Model));
    }
    let request = ScoreRequest {
        prompt: prompt("find"),
        continuations: vec!["it".to_owned()],
        max_continuation_tokens: 8,
        time_limit: LIMIT,
        adapter: None,
    };
    for (name, script, kind) in faults {
        let (server, model) = failing_at(path, Like::Vllm, vec![script], |config| {
            block_on(OpenAi::connect(config)).unwrap()
        });
        assert!(model.capabilities().score, "{}", model.support());
        check_fault((name, path, kind), &server, || {
            block_on(model.score(&request)).unwrap_err()
        });
    }
}

#[test]
fn a_fault_while_a_text_is_embedded_is_typed_and_in_time() {
    let path = "/v1/embeddings";
    let of = |vectors: &str| format!(r#"{{"data":[{vectors}]}}"#);
    let one = |vector: &str| of(&format!(r#"{{"index":0,"embedding":{vector}}}"#));
    let mut faults = broken(&one("[1,0,0,0,0,0,0,0]"));
    for (name, body) in [
        ("NaN", one("[NaN,0,0,0,0,0,0,0]")),
        ("an infinite number", one("[1e999,0,0,0,0,0,0,0]")),
        ("no direction", one("[0,0,0,0,0,0,0,0]")),
        ("no vector", of("")),
        ("a text", one("\"AACAPw==\"")),
        (
            "another place",
            of(r#"{"index":1,"embedding":[1,0,0,0,0,0,0,0]}"#),
        ),
    ] {
        faults.push((name, answer(200, "", &body), ErrorKind::Model));
    }
    for (name, script, kind) in faults {
        let (server, model) = failing_at(path, Like::OpenAi, vec![script], |mut config| {
            config.deadlines.total = LIMIT;
            block_on(OpenAiEmbedder::connect(config)).unwrap()
        });
        let error = check_fault((name, path, kind), &server, || {
            block_on(model.embed(&["x"])).unwrap_err()
        });
        let attempts = (server.count(path) == 4).then_some("4");
        assert_eq!(error.fact("attempts"), attempts, "{name}: {error}");
    }
}

#[test]
fn dropping_a_call_aborts_its_request_and_dropping_the_model_in_a_runtime_is_fine() {
    let (server, model) = failing(vec![
        vec![events_head(), Play::Wait(Duration::from_millis(500))],
        good(),
    ]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let sink = Arc::new(Pieces::default());
        let long = request(&sink, Duration::from_secs(20));
        let dropped = tokio::time::timeout(Duration::from_millis(200), model.generate(&long)).await;
        assert!(dropped.is_err());
        let answer = model
            .generate(&request(&sink, Duration::from_secs(20)))
            .await;
        assert_eq!(answer.unwrap().text, "all well");
        tokio::time::sleep(Duration::from_millis(600)).await;
        drop(model);
    });
    assert_eq!(
        server.count(CHAT),
        2,
        "the dropped request was not sent again"
    );
}

/// The most memory that this process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let (_, peak) = status.split_once("VmHWM:").unwrap();
    peak.split_whitespace().next().unwrap().parse().unwrap()
}

#[cfg(not(target_os = "linux"))]
fn peak() -> usize {
    0
}

/// What the figures of `tests/` count: calls that end later than their deadline and 1 s, effects that happened twice, calls
/// without a typed error, and the KiB by which an answer without an end raised the peak of this process' memory.
#[test]
fn every_fault_is_counted() {
    let limit = Duration::from_millis(1_200);
    let (mut late, mut twice, mut untyped, mut memory) = (0, 0, 0, 0);
    let all = every_fault();
    for (name, script, may_end_well) in &all {
        let (_server, model) = failing(vec![script.clone(), good()]);
        let before = peak();
        let (answer, pieces, took) = ask(&model, limit);
        // Some kernels let the peak sink.
        memory = memory.max(peak().saturating_sub(before));
        println!("{name}: {took:?} {answer:?} {pieces:?}");
        late += usize::from(took > limit + Duration::from_secs(1));
        let text = pieces.concat();
        let once = match &answer {
            Ok(answer) => text == *answer && "all well".starts_with(&text),
            Err(_) => text.matches("all ").count() <= 1 && text.len() <= "all ".len(),
        };
        twice += usize::from(!once);
        let is_typed = match &answer {
            Ok(_) => *may_end_well,
            Err(error) => {
                let source = std::error::Error::source(error);
                let is_ours = source.is_some_and(|source| source.is::<OpenAiError>());
                is_ours && error.hint_text().is_some() && error.fact("endpoint").is_some()
            }
        };
        untyped += usize::from(!is_typed);
    }
    println!(
        "faults: calls={} late={late} twice={twice} untyped={untyped} memory={memory}",
        all.len()
    );
    assert_eq!((late, twice, untyped), (0, 0, 0));
    // An answer has at most 8 MiB, and a buffer that grows holds its old half and its new one for a moment.
    assert!(memory <= 32 << 10, "{memory} KiB");
}

/// Each fault of a server, and whether a call may end well in spite of it: the second answer is a good one.
fn every_fault() -> Vec<(String, Script, bool)> {
    let forever = Play::Wait(Duration::from_secs(8));
    let raw = |bytes: &[u8]| vec![Play::Send(bytes.to_vec())];
    let stream = |body: &[u8]| vec![events_head(), Play::Send(body.to_vec())];
    let mut slow = vec![events_head()];
    let drops = (0..80).flat_map(|_| {
        [
            Play::Send(b": wait\n".to_vec()),
            Play::Wait(Duration::from_millis(100)),
        ]
    });
    slow.extend(drops);
    let long = |bytes| {
        vec![
            events_head(),
            Play::Send(b"data: ".to_vec()),
            Play::Flood(bytes),
        ]
    };
    let half = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"choices\":";
    let call = |arguments: &str| {
        let calls =
            json!([{"index": 0, "id": "a", "function": {"name": "swim", "arguments": arguments}}]);
        event(
            &json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}),
        )
    };
    let mut all: Vec<(String, Script, bool)> = [
        ("garbage", answer(200, "", "\u{1}\u{2}garbage"), false),
        ("an empty body", answer(200, "", ""), false),
        ("another schema", answer(200, "", r#"{"answer":"well"}"#), false),
        ("choices of another type", answer(200, "", r#"{"choices":"well"}"#), false),
        ("NaN", stream(b"data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"logprobs\":{\"content\":[{\"logprob\":NaN}]}}]}\n\n"), false),
        ("a positive log-probability", stream(b"data: {\"choices\":[{\"delta\":{},\"logprobs\":{\"content\":[{\"logprob\":3.0}]}}]}\n\n"), false),
        ("garbage in a stream", stream(b"data: nothing\n\n"), false),
        ("bytes that are no text", stream(b"data: \xff\xfe\n\n"), false),
        ("a line of 10 MiB", long(10 << 20), false),
        ("a line of 200 MiB", long(200 << 20), false),
        ("a call that nobody asked for", vec![events_head(), call("{}"), done()], false),
        ("a call cut to garbage", vec![events_head(), call("{\"a"), done()], false),
        ("garbage after text", vec![events_head(), text("all "), Play::Send(b"data: ]\n\n".to_vec())], false),
        ("an error after text", vec![events_head(), text("all "), event(&json!({"error": {"message": "later", "code": 503}}))], false),
        ("a reset after text", vec![events_head(), text("all "), Play::Reset], false),
        ("half an event after text", vec![events_head(), text("all "), Play::Send(b"data: {\"cho".to_vec())], false),
        ("never after text", vec![events_head(), text("all "), forever.clone()], false),
        ("never", vec![forever.clone()], false),
        ("never after the head", vec![events_head(), forever], false),
        ("a byte at a time", slow, false),
        ("reset", vec![Play::Reset], true),
        ("half a head", raw(b"HTTP/1.1 200 OK\r\nContent-"), true),
        ("half a body", raw(half), true),
        ("half a body, then reset", [raw(half), vec![Play::Reset]].concat(), true),
        ("a stream that ends before its text", vec![events_head(), Play::Reset], true),
        ("a wait beyond the limit", answer(429, "Retry-After: 30\r\n", "{}"), false),
        ("a redirect", answer(302, "Location: http://127.0.0.1:9/\r\n", ""), false),
    ]
    .map(|(name, script, may_end_well)| (name.to_owned(), script, may_end_well))
    .to_vec();
    for status in [
        400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504, 529,
    ] {
        let passes = matches!(status, 408 | 429 | 500 | 502..=504 | 529);
        all.push((status.to_string(), answer(status, "", "{}"), passes));
    }
    all
}
