//! Workers that do not come up.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
    time::Duration,
};

use journeyman::{Error, ErrorKind};
use journeyman_llama_cpp::{IsolatedConfig, IsolatedLlama, LlamaConfig, LlamaCpp};
use serde_json::json;

use crate::support::{TestFile, Tiny, isolated_config};

fn refusal(change: impl FnOnce(&mut IsolatedConfig)) -> Error {
    let file = TestFile::new("tiny.gguf", &Tiny::default().bytes());
    let mut config = isolated_config(&file.0);
    change(&mut config);
    IsolatedLlama::load(config).unwrap_err()
}

/// A program that is no worker.
fn check(program: &str, arguments: &[&str], kind: ErrorKind, said: &str) {
    let error = refusal(|config| {
        config.worker = Some(program.into());
        config.worker_arguments = arguments.iter().map(|&text| text.to_owned()).collect();
        config.load_limit = Duration::from_millis(500);
    });
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(said), "{error}");
    assert!(error.hint_text().is_some(), "{error}");
    assert_eq!(error.fact("worker"), Some(program), "{error}");
}

#[test]
fn programs_that_are_no_workers() {
    let (gone, missing) = (ErrorKind::Unavailable, ErrorKind::NotFound);
    check(
        "/no/such/worker",
        &[],
        missing,
        "the worker's executable does not exist",
    );
    check("/etc/hostname", &[], gone, "the worker cannot be started");
    check("/bin/false", &[], gone, "ended with exit code 1");
    check("/bin/echo", &["hello"], gone, "(a frame that is too long)");
    check("/bin/cat", &[], gone, "(a frame that is no message)");
    check(
        "/bin/sleep",
        &["60"],
        gone,
        "did not load the model within 0.5 s",
    );
}

#[test]
fn one_that_fails_says_why() {
    let error = refusal(|config| {
        config.worker = Some("/bin/cat".into());
        config.worker_arguments = vec!["/no/such/file".to_owned()];
    });
    let said = error.fact("said").unwrap();
    assert!(said.contains("/no/such/file"), "{error}");
}

#[test]
fn the_worker_is_looked_for_beside_the_host() {
    let error = refusal(|config| config.worker = None);
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    let beside = std::env::current_exe().unwrap();
    let beside = beside.with_file_name("journeyman-llama-worker");
    assert_eq!(error.fact("worker"), beside.to_str());
}

#[test]
fn what_the_model_is_refused_for_comes_across_whole() {
    let check = |config: LlamaConfig| {
        let expect = LlamaCpp::load(config.clone()).unwrap_err();
        let error = refusal(|isolated| isolated.model = config);
        assert_eq!(error, expect);
    };
    check(LlamaConfig::new("no/such/model.gguf"));
    let text = TestFile::new("text.gguf", b"<html>404</html>");
    check(LlamaConfig::new(&text.0));
    let bytes = Tiny::default().bytes();
    let cut = TestFile::new("cut.gguf", &bytes[..bytes.len() / 2]);
    check(LlamaConfig::new(&cut.0));
    let whole = TestFile::new("whole.gguf", &bytes);
    let mut config = LlamaConfig::new(&whole.0);
    config.threads = Some(0);
    check(config);
}

#[test]
fn a_request_that_cannot_be_read_costs_no_other() {
    let file = Tiny::default().file();
    let mut worker = Command::new(env!("CARGO_BIN_EXE_journeyman-llama-worker"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = worker.stdin.take().unwrap();
    for message in [
        json!({ "Load": { "load": { "Model": isolated_config(&file.0).model }, "known": null } }),
        json!({ "Ask": { "id": 7, "ask": { "Generate": null } } }),
        json!({ "Tell": {} }),
        json!({ "Ask": { "id": 8, "ask": "Stats" } }),
    ] {
        let text = message.to_string();
        pipe.write_all(&(text.len() as u32).to_le_bytes()).unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
    }
    let mut output = worker.stdout.take().unwrap();
    let mut said = std::iter::repeat_with(|| {
        let mut length = [0; 4];
        output.read_exact(&mut length).unwrap();
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        output.read_exact(&mut text).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap()
    });
    let mut answer = || {
        said.find_map(|message| message.get("Answer").cloned())
            .unwrap()
    };
    let refused = answer();
    assert_eq!(refused["id"], 7);
    assert_eq!(refused["answer"]["Err"]["kind"], "Invalid");
    let counted = answer();
    assert_eq!(counted["id"], 8);
    assert!(counted["answer"]["Ok"]["Stats"].is_object());
    drop(pipe);
    worker.wait().unwrap();
}

#[test]
fn by_itself_it_says_what_it_is_for() {
    for input in ["", "hello, worker", "\u{2}\0\0\0{}"] {
        let mut worker = Command::new(env!("CARGO_BIN_EXE_journeyman-llama-worker"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = worker.stdin.take().unwrap();
        pipe.write_all(input.as_bytes()).unwrap();
        drop(pipe);
        let output = worker.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("started by a host"), "{said}");
    }
}
