//! Workers that die, hang or go mad; hosts that die.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use futures::{executor::block_on, future::join_all};
use journeyman::{
    Error, ErrorKind, Retry,
    contract::{LanguageModel, Tokenizer},
};
use journeyman_llama_cpp::IsolatedLlama;
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use crate::{
    Told, endless, greedy, is_gone, send,
    support::{TestFile, Tiny, isolated_config, prompt},
    tireless, wait_until,
};

/// Sends this signal to the worker while it writes for three, and gives their errors.
fn struck(model: &Arc<IsolatedLlama>, signal: Signal) -> Vec<Error> {
    let (sink, told) = Told::new();
    let mut request = endless();
    request.sink = Some(Arc::new(sink));
    let asking = thread::spawn({
        let model = model.clone();
        move || {
            let requests = [request, endless(), endless()];
            let answers = join_all(requests.iter().map(|request| model.generate(request)));
            block_on(answers)
        }
    });
    told.recv().unwrap();
    send(model.process_id().unwrap(), signal);
    let answers = asking.join().unwrap();
    answers.into_iter().map(Result::unwrap_err).collect()
}

#[test]
fn an_abort_costs_the_requests_in_flight_and_nothing_else() {
    let tiny = tireless();
    let expect = block_on(tiny.load().generate(&greedy(20))).unwrap();
    let (model, _file) = tiny.isolate_with(|_| ());
    for (signal, said) in [
        (Signal::ABORT, "was ended by signal 6 (SIGABRT)"),
        (Signal::KILL, "was ended by signal 9 (SIGKILL"),
    ] {
        let before = model.process_id();
        for error in struck(&model, signal) {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert_eq!(error.retry(), Retry::Temporary);
            assert_eq!(error.operation(), "LlamaCpp::generate");
            assert!(error.message().contains(said), "{error}");
            assert!(
                error.message().ends_with("another one is started"),
                "{error}"
            );
            assert!(error.hint_text().is_some());
        }
        let got = block_on(model.generate(&greedy(20))).unwrap();
        assert_eq!(got, expect);
        assert_ne!(model.process_id(), before);
        assert!(is_gone(before.unwrap()));
    }
}

#[test]
fn want_of_memory_costs_the_requests_in_flight_and_nothing_else() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let worker = model.process_id().unwrap();
    // From now on the system gives it none.
    let nothing = Rlimit {
        current: Some(1 << 20),
        maximum: Some(1 << 20),
    };
    prlimit(Pid::from_raw(worker as i32), Resource::As, nothing).unwrap();
    let mut request = greedy(5);
    request.prompt = prompt(&"word ".repeat(12 << 20));
    let error = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(error.retry(), Retry::Temporary);
    assert!(error.message().contains("was ended by signal"), "{error}");
    block_on(model.generate(&greedy(5))).unwrap();
    assert!(is_gone(worker));
}

#[test]
fn a_frozen_worker_is_replaced() {
    let (model, _file) = Tiny::default().isolate_with(|config| {
        config.grace = Duration::from_millis(300);
        config.count_limit = Duration::from_millis(50);
    });
    let frozen = model.process_id().unwrap();
    send(frozen, Signal::STOP);
    let count = model.count("the lamp");
    assert!(count.estimated && count.tokens == 8, "{count:?}");
    assert_eq!(model.truncate("the lamp", 3), "the");
    let mut request = greedy(5);
    request.time_limit = Duration::from_millis(100);
    let late = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout, "{late}");
    wait_until(|| model.process_id() != Some(frozen));
    wait_until(|| is_gone(frozen));
    block_on(model.generate(&greedy(5))).unwrap();
    assert!(!model.count("the lamp").estimated);
}

#[test]
fn requests_to_a_frozen_worker_learn_why_they_failed() {
    let grace = Duration::from_millis(300);
    let (model, _file) = Tiny::default().isolate_with(|config| config.grace = grace);
    send(model.process_id().unwrap(), Signal::STOP);
    let mut short = greedy(5);
    short.time_limit = Duration::from_millis(100);
    let patient = greedy(5);
    let answers = [&short, &patient].map(|request| model.generate(request));
    let errors = block_on(join_all(answers));
    assert_eq!(errors[0].as_ref().unwrap_err().kind(), ErrorKind::Timeout);
    let error = errors[1].as_ref().unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Unavailable, Retry::Temporary)
    );
    assert!(
        error.message().contains("did not answer a request"),
        "{error}"
    );
}

#[test]
fn a_worker_that_dies_again_and_again_is_not_started_for_ever() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("link-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let link = folder.join("worker");
    let point_at = |target: &str| {
        let _ = fs::remove_file(&link);
        symlink(target, &link).unwrap();
    };
    let worker = env!("CARGO_BIN_EXE_journeyman-llama-worker");
    point_at(worker);
    let rest = Duration::from_millis(400);
    let (model, _file) = Tiny::default().isolate_with(|config| {
        config.worker = Some(link.clone());
        (config.restarts, config.rest) = (2, rest);
    });
    let first = model.process_id().unwrap();
    point_at("/bin/false");
    send(first, Signal::KILL);
    wait_until(|| model.process_id() != Some(first));
    let refused = block_on(model.generate(&greedy(5))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    assert_eq!(refused.retry(), Retry::Temporary);
    let said = "the worker process ended with exit code 1, as 2 before it";
    assert_eq!(refused.message(), said);
    assert_eq!(refused.fact("next_try_in"), Some("400ms"));
    point_at(worker);
    wait_until(|| block_on(model.generate(&greedy(5))).is_ok());
    drop(model);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_that_became_another_model_is_refused() {
    let (model, file) = Tiny::default().isolate_with(|config| config.rest = Duration::ZERO);
    let other = Tiny {
        seed: 2,
        ..Tiny::default()
    };
    fs::write(&file.0, other.bytes()).unwrap();
    send(model.process_id().unwrap(), Signal::KILL);
    let check = |kind| {
        wait_until(|| {
            let answer = block_on(model.generate(&greedy(5)));
            answer.is_err_and(|error| error.kind() == kind)
        });
    };
    check(ErrorKind::Conflict);
    fs::remove_file(&file.0).unwrap();
    check(ErrorKind::NotFound);
    fs::write(&file.0, Tiny::default().bytes()).unwrap();
    wait_until(|| block_on(model.generate(&greedy(5))).is_ok());
}

#[test]
fn it_goes_with_its_handle() {
    let (model, _file) = tireless().isolate_with(|_| ());
    let process = model.process_id().unwrap();
    let (sink, told) = Told::new();
    let mut request = endless();
    request.sink = Some(Arc::new(sink));
    let mut writing = model.generate(&request);
    block_on(async {
        assert!(futures::poll!(&mut writing).is_pending());
    });
    told.recv().unwrap();
    drop(writing);
    drop(model);
    assert!(is_gone(process));
}

const HOST: &str = "JOURNEYMAN_TEST_HOST_OF";

/// A host for the test below; run by that test alone.
#[test]
fn host() {
    let Ok(path) = env::var(HOST) else {
        return;
    };
    let config = isolated_config(Path::new(&path));
    let model = IsolatedLlama::load(config).unwrap();
    let (sink, told) = Told::new();
    let mut request = endless();
    request.sink = Some(Arc::new(sink));
    thread::spawn({
        let model = model.clone();
        move || block_on(model.generate(&request))
    });
    told.recv().unwrap();
    eprintln!("\nworker {}", model.process_id().unwrap());
    thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_host_that_is_killed_leaves_no_worker() {
    let file = TestFile::new("tiny.gguf", &tireless().bytes());
    let mut host = Command::new(env::current_exe().unwrap())
        .args(["--exact", "deaths::host", "--nocapture"])
        .env(HOST, &file.0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(host.stderr.take().unwrap()).lines();
    let worker = said
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("worker ")?.parse().ok())
        .unwrap();
    assert!(!is_gone(worker));
    host.kill().unwrap();
    host.wait().unwrap();
    wait_until(|| is_gone(worker));
}

#[test]
fn a_worker_that_went_mad_is_replaced() {
    // A worker that says hello and that it loaded, and then repeats what it is told.
    let file = TestFile::new("tiny.gguf", b"");
    let (model, real) = Tiny::default().isolate_with(|_| ());
    let capabilities = serde_json::json!({ "Loaded": model.capabilities() });
    let hello = serde_json::json!({
        "Hello": { "name": "journeyman-llama-worker", "protocol": 1 }
    });
    let mut bytes = Vec::new();
    for message in [hello, capabilities] {
        let text = message.to_string();
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.into_bytes());
    }
    fs::write(&file.0, bytes).unwrap();
    let mut config = isolated_config(&real.0);
    config.worker = Some("/bin/cat".into());
    config.worker_arguments = vec![file.0.to_str().unwrap().to_owned(), "-".to_owned()];
    config.restarts = 1;
    let mad = IsolatedLlama::load(config).unwrap();
    let error = block_on(mad.generate(&greedy(5))).unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Unavailable, Retry::Temporary)
    );
    let said = "wrote what is not of the protocol (a frame that is no message)";
    assert!(error.message().contains(said), "{error}");
}
