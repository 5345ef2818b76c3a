//! Adapters and prefixes, and workers that die with them.

use std::fs;

use futures::{executor::block_on, poll};
use journeyman::{
    ErrorKind, Result, Retry,
    contract::{Generation, LanguageModel},
};
use journeyman_llama_cpp::IsolatedLlama;
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use super::{greedy, send, tireless, wait_until};
use crate::support::{Lora, TestFile, Tiny};

fn ask(model: &IsolatedLlama, adapter: Option<&str>) -> Result<Generation> {
    let mut request = greedy(20);
    request.adapter = adapter.map(str::to_owned);
    block_on(model.generate(&request))
}

/// Ends the worker, and waits until the host has seen it.
fn kill(model: &IsolatedLlama) {
    let worker = model.process_id();
    send(worker.unwrap(), Signal::KILL);
    wait_until(|| model.process_id() != worker);
}

#[test]
fn adapters_outlive_a_worker() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let lora = TestFile::new("lora.gguf", &Lora::default().bytes());
    let ask = |adapter| ask(&model, adapter);
    let plain = ask(None).unwrap();
    assert_eq!(ask(Some("one")).unwrap_err().kind(), ErrorKind::NotFound);
    block_on(model.load_adapter("one", &lora.0)).unwrap();
    let with = ask(Some("one")).unwrap();
    assert_ne!(with.logprobs, plain.logprobs);
    assert!(block_on(model.stats()).unwrap().answered >= 2);

    kill(&model);
    assert_eq!(ask(Some("one")).unwrap(), with);
    block_on(model.unload_adapter("one")).unwrap();
    assert_eq!(ask(Some("one")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(ask(None).unwrap(), plain);
    let base = Tiny::default().file();
    let error = block_on(model.load_adapter("two", &base.0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn saved_prefixes_are_restored_to_the_next_worker() {
    let (model, file) = Tiny::default().isolate_with(|config| config.model.deterministic = false);
    let folder = file.0.with_extension("prefixes");
    let stats = || block_on(model.stats()).unwrap();
    let first = ask(&model, None).unwrap();
    let saved = block_on(model.save_prefixes(&folder)).unwrap();
    assert!(saved > 0);
    assert_eq!(saved, stats().cached_tokens);
    kill(&model);
    assert_eq!(stats().cached_tokens, 0);
    assert_eq!(block_on(model.restore_prefixes(&folder)).unwrap(), saved);
    let again = ask(&model, None).unwrap();
    assert_eq!(stats().reused_tokens, again.prompt_tokens - 1);
    assert_eq!(again.ids[0], first.ids[0]);
    block_on(model.forget_prefixes()).unwrap();
    assert_eq!(stats().cached_tokens, 0);
    let error = block_on(model.restore_prefixes(folder.join("none"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_adapter_whose_file_is_gone_costs_its_own_requests_alone() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let ask = |adapter| ask(&model, adapter);
    let bytes = Lora::default().bytes();
    let [one, two] = ["one.gguf", "two.gguf"].map(|name| TestFile::new(name, &bytes));
    block_on(model.load_adapter("one", &one.0)).unwrap();
    block_on(model.load_adapter("two", &two.0)).unwrap();
    let with = ask(Some("one")).unwrap();
    fs::remove_file(&one.0).unwrap();
    kill(&model);
    assert_eq!(ask(Some("one")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(ask(Some("two")).unwrap().logprobs, with.logprobs);
    // It is only left out: once the file is back, the next worker has it.
    fs::write(&one.0, &bytes).unwrap();
    kill(&model);
    assert_eq!(ask(Some("one")).unwrap(), with);
}

#[test]
fn an_adapter_that_lets_no_worker_start_can_be_unloaded() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let ask = |adapter| ask(&model, adapter);
    let plain = ask(None).unwrap();
    let lora = TestFile::new("lora.gguf", &Lora::default().bytes());
    block_on(model.load_adapter("one", &lora.0)).unwrap();
    fs::write(&lora.0, b"<html>404</html>").unwrap();
    kill(&model);
    assert_eq!(ask(None).unwrap_err().kind(), ErrorKind::Invalid);
    block_on(model.unload_adapter("one")).unwrap();
    assert_eq!(ask(None).unwrap(), plain);
    assert_eq!(ask(Some("one")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn an_adapter_that_nobody_waited_for_outlives_a_worker() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let lora = TestFile::new("lora.gguf", &Lora::default().bytes());
    let mut loading = Box::pin(model.load_adapter("one", &lora.0));
    block_on(async {
        let _ = poll!(&mut loading);
    });
    drop(loading);
    wait_until(|| ask(&model, Some("one")).is_ok());
    kill(&model);
    ask(&model, Some("one")).unwrap();
}

#[test]
fn a_worker_that_loses_its_context_at_a_change_is_replaced() {
    // Its memory is so large that a context that is made anew finds no room.
    let (model, _file) = tireless().isolate_with(|config| config.model.n_ctx = Some(1 << 17));
    let plain = ask(&model, None).unwrap();
    let lora = TestFile::new("lora.gguf", &Lora::default().bytes());
    let worker = model.process_id();
    let room = Rlimit {
        current: Some(64 << 20),
        maximum: Some(64 << 20),
    };
    let id = Pid::from_raw(worker.unwrap() as i32);
    prlimit(id, Resource::As, room).unwrap();
    // With so little memory the worker may end at the change already.
    if let Err(error) = block_on(model.load_adapter("one", &lora.0)) {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert_eq!(error.retry(), Retry::Temporary);
    }
    // Nobody has to ask for that.
    wait_until(|| model.process_id() != worker);
    assert_eq!(ask(&model, None).unwrap(), plain);
}
