//! Nothing that is logged holds the key: at every level, from every crate, while calls go well and while they fail.

use std::{
    fmt::{Debug, Write},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer};
use journeyman_openai::{ApiKey, OpenAi, Route};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::support::{
    Seen, Server, answer, prompt,
    toy::{Like, Toy},
};

const KEY: &str = "key-that-no-log-holds-0123456789";

/// Keeps all that this process logs: under `cargo test` what its other tests log too.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn the_key_is_in_no_log_and_no_error() {
    let log = Log::default();
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    let toy = Toy::new(Like::Vllm);
    let ready = Arc::new(Mutex::new(true));
    let goes_well = ready.clone();
    // When it fails, it repeats what it was sent.
    let server = Server::start(move |seen: &Seen| match *goes_well.lock().unwrap() {
        true => toy.answer(seen),
        false => answer(
            503,
            &format!("X-Echo: {KEY}\r\n"),
            &format!("you sent {} {KEY}", seen.head),
        ),
    });
    let mut config = toy.config(&server, Route::Completions);
    config.key = Some(ApiKey::new(KEY).unwrap());
    let mut shown = format!("{config:?}");
    let model = block_on(OpenAi::connect(config)).unwrap();
    write!(shown, "{model:?} {}", model.support()).unwrap();
    let request = GenerateRequest::greedy(prompt("go"), 8);
    let scores = ScoreRequest::new(prompt("go"), vec!["on".to_owned()])
        .with_max_continuation_tokens(8)
        .with_time_limit(Duration::from_secs(20));
    block_on(model.generate(&request)).unwrap();
    block_on(model.score(&scores)).unwrap();
    *ready.lock().unwrap() = false;
    for error in [
        block_on(model.generate(&request)).unwrap_err(),
        block_on(model.score(&scores)).unwrap_err(),
    ] {
        let source = std::error::Error::source(&error).unwrap();
        write!(shown, "{error} {error:?} {source} {source:?}").unwrap();
    }
    let sent = server
        .seen
        .lock()
        .unwrap()
        .iter()
        .all(|seen| seen.head.contains(KEY));
    assert!(sent, "every request carries the key");
    assert!(!shown.contains(KEY), "{shown}");
    let logged = log.0.lock().unwrap().clone();
    assert!(logged.contains("the request is sent again"), "{logged}");
    let line = logged.lines().find(|line| line.contains(KEY));
    assert_eq!(line, None);
}
