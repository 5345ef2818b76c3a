//! Deadlines, cancellation, panics, the end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use futures::{FutureExt, executor::block_on, future::join_all};
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind,
    contract::{GenerateRequest, LanguageModel, TokenSink},
};
use journeyman_llama_cpp::LlamaCpp;

use crate::support::{Tiny, prompt};

/// Takes its time over each token, and counts them.
#[derive(Default)]
struct Slow(AtomicUsize);

impl TokenSink for Slow {
    fn token(&self, _: &str) {
        self.0.fetch_add(1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(10));
    }
}

struct Panicking;

impl TokenSink for Panicking {
    fn token(&self, _: &str) {
        panic!("the host's sink");
    }
}

/// A host's sink that panics when the last one lets go of it.
struct Fragile;

impl TokenSink for Fragile {
    fn token(&self, _: &str) {
        thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(
            thread::current().name() != Some("llama-cpp"),
            "the host's sink"
        );
    }
}

fn slow(limit: Duration) -> (GenerateRequest, Arc<Slow>) {
    let sink = Arc::new(Slow::default());
    let mut request = GenerateRequest::greedy(prompt("go"), 900);
    request.time_limit = limit;
    request.sink = Some(sink.clone());
    (request, sink)
}

fn assert_serves(model: &LlamaCpp) {
    let request = GenerateRequest::greedy(prompt("go"), 4);
    assert_eq!(block_on(model.generate(&request)).unwrap().ids.len(), 4);
}

#[test]
fn a_deadline_ends_it() {
    let model = Tiny::default().load();
    let (request, sink) = slow(Duration::from_millis(200));
    let start = Instant::now();
    let error = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(start.elapsed() < Duration::from_millis(1200));
    assert_serves(&model);
    assert!(sink.0.load(Ordering::SeqCst) < 100);
    let none = slow(Duration::ZERO).0;
    let error = block_on(model.generate(&none)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let forever =
        GenerateRequest::greedy(prompt("go"), 2).edited(|it| it.time_limit = Duration::MAX);
    assert!(block_on(model.generate(&forever)).is_ok());
}

#[test]
fn a_deadline_counts_in_the_queue() {
    let model = Tiny::default().load_with(|config| config.deterministic = true);
    let (long, _) = slow(Duration::from_millis(1500));
    let (waiting, sink) = slow(Duration::from_millis(100));
    let start = Instant::now();
    let waits = async {
        let error = model.generate(&waiting).await.unwrap_err();
        (error.kind(), start.elapsed())
    };
    let (long, (kind, waited)) = block_on(futures::future::join(model.generate(&long), waits));
    assert_eq!(long.unwrap_err().kind(), ErrorKind::Timeout);
    assert_eq!(kind, ErrorKind::Timeout);
    assert!(waited < Duration::from_millis(1000), "{waited:?}");
    assert_serves(&model);
    assert_eq!(sink.0.load(Ordering::SeqCst), 0);
}

#[test]
fn dropping_the_future_stops_the_work() {
    let model = Tiny::default().load();
    let (request, sink) = slow(Duration::from_secs(60));
    let mut future = Box::pin(model.generate(&request));
    assert!((&mut future).now_or_never().is_none());
    while sink.0.load(Ordering::SeqCst) < 3 {
        thread::sleep(Duration::from_millis(1));
    }
    drop(future);
    let start = Instant::now();
    assert_serves(&model);
    assert!(start.elapsed() < Duration::from_secs(1));
    assert!(sink.0.load(Ordering::SeqCst) < 100);
}

#[test]
fn a_panic_is_one_requests_error() {
    let model = Tiny::default().load();
    let mut request = GenerateRequest::greedy(prompt("go"), 4);
    request.sink = Some(Arc::new(Panicking));
    let error = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_serves(&model);
}

#[test]
fn in_deterministic_mode_many_askers_get_what_one_gets() {
    let model = Tiny::default().load_with(|config| config.deterministic = true);
    let requests: Vec<_> = (0..20)
        .map(|n| GenerateRequest::greedy(prompt(&format!("task {n}")), 16))
        .collect();
    let together = block_on(join_all(
        requests.iter().map(|request| model.generate(request)),
    ));
    for (request, got) in requests.iter().zip(together) {
        assert_eq!(got.unwrap(), block_on(model.generate(request)).unwrap());
    }
}

/// Holds the model itself, so that the worker's own thread drops the last handle.
struct Holder(std::sync::Mutex<Option<Arc<LlamaCpp>>>);

impl TokenSink for Holder {
    fn token(&self, _: &str) {
        self.0.lock().unwrap().take();
    }
}

#[test]
fn the_end_comes_whoever_drops_it() {
    let model = Tiny::default().load();
    let (request, sink) = slow(Duration::from_secs(60));
    {
        let mut future = Box::pin(model.generate(&request));
        assert!((&mut future).now_or_never().is_none());
    }
    drop(request);
    drop(model);
    assert_eq!(Arc::strong_count(&sink), 1);

    let model = Tiny::default().load();
    let mut request = GenerateRequest::greedy(prompt("go"), 4);
    request.sink = Some(Arc::new(Holder(Some(model.clone()).into())));
    assert!(block_on(model.generate(&request)).is_ok());
}

#[test]
fn a_sink_that_panics_when_it_goes_costs_nobody_the_engine() {
    let model = Tiny::default().load();
    let mut request = GenerateRequest::greedy(prompt("go"), 900);
    request.sink = Some(Arc::new(Fragile));
    let asked = model.clone();
    let mut writing = Box::pin(async move { asked.generate(&request).await });
    block_on(async {
        let _ = futures::poll!(&mut writing);
    });
    // The engine has it last.
    drop(writing);
    assert_serves(&model);
    assert_eq!(model.stats().failed, 1);
    assert_serves(&model);
}
