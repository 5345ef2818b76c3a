//! A server that fails as a script says, and the requests that tests send to it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Error,
    contract::{GenerateRequest, LanguageModel},
};
use journeyman_openai::{ApiKey, Config, OpenAi, Route};
use serde_json::json;

use super::{
    Pieces, Play, Script, Seen, Server, done, event, events_head, prompt,
    toy::{Like, Toy},
};

pub(crate) const KEY: &str = "key-for-nobody-0123456789";
pub(crate) const CHAT: &str = "/v1/chat/completions";

/// A server that connects like a toy model; then the scripts are played in turn for each text, the last again and again.
pub(crate) fn failing(scripts: Vec<Script>) -> (Server, OpenAi) {
    failing_with(scripts, |_| {})
}

pub(crate) fn failing_with(scripts: Vec<Script>, change: impl Fn(&mut Config)) -> (Server, OpenAi) {
    failing_at(CHAT, Like::OpenAi, scripts, |mut config| {
        config.key = Some(ApiKey::new(KEY).unwrap());
        change(&mut config);
        block_on(OpenAi::connect(config)).unwrap()
    })
}

/// A server that connects like a toy model; then the scripts are played in turn for each request of this path.
pub(crate) fn failing_at<T>(
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

pub(crate) fn request(sink: &Arc<Pieces>, limit: Duration) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt("go"), 16);
    request.time_limit = limit;
    request.sink = Some(sink.clone());
    request
}

pub(crate) fn text(text: &str) -> Play {
    event(&json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}))
}

pub(crate) fn end() -> Play {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
}

pub(crate) fn good() -> Script {
    vec![events_head(), text("all "), text("well"), end(), done()]
}

pub(crate) fn ask(
    model: &OpenAi,
    limit: Duration,
) -> (Result<String, Error>, Vec<String>, Duration) {
    let sink = Arc::new(Pieces::default());
    let began = Instant::now();
    let answer = block_on(model.generate(&request(&sink, limit)));
    let pieces = sink.0.lock().unwrap().clone();
    (answer.map(|answer| answer.text), pieces, began.elapsed())
}
