//! Workers that die, hang or go mad; hosts that die.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use futures::{executor::block_on, future::join_all};
use journeyman::{
    Error, ErrorKind, Retry,
    contract::{LanguageModel, TokenSink, Tokenizer},
};
use journeyman_llama_cpp::{IsolatedConfig, IsolatedLlama};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use super::{Told, endless, greedy, is_gone, send, tireless, wait_until};
use crate::support::{TestFile, Tiny, isolated_config, prompt};

/// Sends this signal to the worker while it writes for three, and gives their errors.
fn struck(model: &Arc<IsolatedLlama>, signal: Signal) -> Vec<Error> {
    let (sink, told) = Told::new();
    let mut request = endless();
    request.sink = Some(Arc::new(sink));
    let (all_sent, sent) = mpsc::channel();
    let asking = thread::spawn({
        let model = model.clone();
        move || {
            let requests = [request, endless(), endless()];
            let mut answers = join_all(requests.iter().map(|request| model.generate(request)));
            block_on(async {
                assert!(futures::poll!(&mut answers).is_pending());
                all_sent.send(()).unwrap();
                answers.await
            })
        }
    });
    told.recv().unwrap();
    sent.recv().unwrap();
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
    assert_eq!(refused.fact("next_try_in"), Some("0.4 s"));
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
        .args(["--exact", "isolated::deaths::host", "--nocapture"])
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

/// A worker that says hello and that it loaded, then the further messages, and then repeats what it is told. With the
/// files that it needs.
fn mad(further: &[&str]) -> (IsolatedConfig, [TestFile; 2]) {
    let (model, real) = Tiny::default().isolate_with(|_| ());
    let hello = serde_json::json!({
        "Hello": { "name": "journeyman-llama-worker", "protocol": 10 }
    });
    let loaded = serde_json::json!({
        "Loaded": { "loaded": { "Model": model.capabilities() }, "file": { "sha256": "0", "stamp": null } }
    });
    let (hello, loaded) = (hello.to_string(), loaded.to_string());
    let mut bytes = Vec::new();
    for message in [&["Hello", "Loaded"], further].concat() {
        let text = match message {
            "Hello" => &hello,
            "Loaded" => &loaded,
            other => other,
        };
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    let said = TestFile::new("said", &bytes);
    let mut config = isolated_config(&real.0);
    config.worker = Some("/bin/cat".into());
    config.worker_arguments = vec![said.0.to_str().unwrap().to_owned(), "-".to_owned()];
    config.restarts = 1;
    (config, [real, said])
}

#[test]
fn a_worker_that_went_mad_is_replaced() {
    let (config, _files) = mad(&[]);
    let mad = IsolatedLlama::load(config).unwrap();
    let error = block_on(mad.generate(&greedy(5))).unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Unavailable, Retry::Temporary)
    );
    let said = "wrote what is not of the protocol (a frame that is no message)";
    assert!(error.message().contains(said), "{error}");
}

#[test]
fn a_worker_that_greets_twice_is_killed_and_reaped() {
    let refused = Error::invalid("x", "y");
    let refused = serde_json::json!({ "Refused": refused }).to_string();
    for message in ["Loaded", "Hello", &refused] {
        let (mut config, files) = mad(&[message]);
        // One after the other: this shell becomes the worker, and its process ids are known.
        let ids = TestFile::new("ids", b"");
        let script = format!(
            "echo $$ >> {}; exec /bin/cat {} -",
            ids.0.display(),
            files[1].0.display()
        );
        config.worker = Some("/bin/sh".into());
        config.worker_arguments = vec!["-c".to_owned(), script];
        let model = IsolatedLlama::load(config).unwrap();
        let error = std::iter::repeat_with(|| block_on(model.generate(&greedy(5))).unwrap_err())
            .find(|error| error.operation() == "IsolatedLlama::load")
            .unwrap();
        let said = "wrote what is not of the protocol (a message out of turn)";
        assert!(error.message().contains(said), "{error}");
        let ids = fs::read_to_string(&ids.0).unwrap();
        assert_eq!(ids.lines().count(), 2, "{ids}");
        for id in ids.lines() {
            assert!(!Path::new("/proc").join(id).exists());
        }
    }
}

/// The worker that a script has started.
fn child_of(script: u32) -> u32 {
    let children = format!("/proc/{script}/task/{script}/children");
    let children = fs::read_to_string(children).unwrap();
    children.trim().parse().unwrap()
}

#[test]
fn a_frozen_worker_behind_a_script_is_replaced() {
    // In the script's process group, and in one of its own, where it keeps the pipes open.
    for apart in ["", "setsid "] {
        let worker = env!("CARGO_BIN_EXE_journeyman-llama-worker");
        let (model, _file) = Tiny::default().isolate_with(|config| {
            config.worker = Some("/bin/sh".into());
            config.worker_arguments = vec!["-c".to_owned(), format!("{apart}{worker}; true")];
            config.grace = Duration::from_millis(300);
        });
        let script = model.process_id().unwrap();
        let frozen = child_of(script);
        send(frozen, Signal::STOP);
        let mut request = greedy(5);
        request.time_limit = Duration::from_millis(100);
        let late = block_on(model.generate(&request)).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Timeout, "{late}");
        wait_until(|| model.process_id() != Some(script));
        block_on(model.generate(&greedy(5))).unwrap();
        if !apart.is_empty() {
            send(frozen, Signal::KILL);
        }
        wait_until(|| is_gone(script) && is_gone(frozen));
    }
}

#[test]
fn a_frozen_worker_is_replaced_though_its_request_had_no_limit() {
    let grace = Duration::from_millis(300);
    let (model, _file) = Tiny::default().isolate_with(|config| config.grace = grace);
    let frozen = model.process_id().unwrap();
    send(frozen, Signal::STOP);
    let mut request = greedy(5);
    request.time_limit = Duration::MAX;
    let mut writing = model.generate(&request);
    block_on(async {
        assert!(futures::poll!(&mut writing).is_pending());
    });
    drop(writing);
    wait_until(|| is_gone(frozen));
    block_on(model.generate(&greedy(5))).unwrap();
}

#[test]
fn a_slow_sink_costs_no_worker() {
    struct Slow(Mutex<mpsc::Receiver<()>>);
    impl TokenSink for Slow {
        fn token(&self, _text: &str) {
            let _ = self.0.lock().unwrap().recv();
        }
    }
    let grace = Duration::from_millis(50);
    let (model, _file) = Tiny::default().isolate_with(|config| config.grace = grace);
    let worker = model.process_id();
    let (go_on, wait) = mpsc::channel();
    let mut request = greedy(20);
    request.time_limit = Duration::from_millis(500);
    request.sink = Some(Arc::new(Slow(Mutex::new(wait))));
    let late = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout, "{late}");
    // Long after it was due; its answer came in time, behind the tokens.
    thread::sleep(4 * grace);
    drop(go_on);
    block_on(model.generate(&greedy(5))).unwrap();
    assert_eq!(model.process_id(), worker);
}

#[test]
fn no_more_wait_for_a_worker_than_may() {
    let flag = TestFile::new("flag", b"");
    let worker = env!("CARGO_BIN_EXE_journeyman-llama-worker");
    let script = format!(
        "[ -e {} ] && exec {worker}; exec sleep 60",
        flag.0.display()
    );
    let (model, _file) = Tiny::default().isolate_with(|config| {
        config.worker = Some("/bin/sh".into());
        config.worker_arguments = vec!["-c".to_owned(), script];
        config.model.max_waiting = 2;
    });
    let first = model.process_id();
    fs::remove_file(&flag.0).unwrap();
    send(first.unwrap(), Signal::KILL);
    wait_until(|| model.process_id() != first);
    let mut request = greedy(5);
    request.time_limit = Duration::from_millis(300);
    let answers = [&request, &request, &request].map(|request| model.generate(request));
    let kinds = block_on(join_all(answers)).into_iter();
    let kinds: Vec<_> = kinds.map(|answer| answer.unwrap_err().kind()).collect();
    let (timeout, refused) = (ErrorKind::Timeout, ErrorKind::RateLimited);
    assert_eq!(kinds, [timeout, timeout, refused]);
}
