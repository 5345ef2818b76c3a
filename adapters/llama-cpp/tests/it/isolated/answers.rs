//! While all goes well.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use futures::{executor::block_on, future::join_all, poll};
use journeyman::{
    ErrorKind, Seed,
    contract::{
        LanguageModel, ModelCapabilities, ScoreRequest, Scorer, TokenSink, Tokenizer, ToolChoice,
    },
    domain::{Sampling, ToolDefinition},
};
use journeyman_llama_cpp::{IsolatedLlama, Template};

use super::{Told, endless, greedy, tireless};
use crate::support::{TestFile, Tiny, isolated_config, prompt, scripted};

#[test]
fn they_equal_those_in_process() {
    let tiny = Tiny::default();
    let here = tiny.load_with(|config| config.deterministic = true);
    let (there, _file) = tiny.isolate_with(|_| ());
    // Each measures its own speed.
    let without_speed = |capabilities: &ModelCapabilities| {
        assert!(capabilities.speed.is_some());
        let mut capabilities = capabilities.clone();
        capabilities.speed = None;
        capabilities
    };
    assert_eq!(
        without_speed(there.capabilities()),
        without_speed(here.capabilities())
    );
    let mut drawn = greedy(40);
    drawn.stop = vec!["never written".to_owned()];
    drawn.sampling = Sampling::new(1.3, 0.9, Seed(3));
    for request in [greedy(60), drawn] {
        let expect = block_on(here.generate(&request)).unwrap();
        assert_eq!(block_on(there.generate(&request)).unwrap(), expect);
    }
    let request = ScoreRequest::new(
        prompt("find the coffee"),
        vec!["by the mast".to_owned(), String::new(), "x y z".to_owned()],
    )
    .with_max_continuation_tokens(4)
    .with_time_limit(Duration::from_secs(10));
    let expect = block_on(here.score(&request)).unwrap();
    assert_eq!(block_on(there.score(&request)).unwrap(), expect);
    let text = "the <call> of the \u{1f600}";
    assert_eq!(there.count(text), here.count(text));
    assert_eq!(there.truncate(text, 7), here.truncate(text, 7));
}

#[test]
fn tools_and_their_calls_come_across() {
    const TOOLS: &str = include_str!("../../templates/own/objects.jinja");
    let mut request = greedy(200);
    let schema = serde_json::json!({"type": "object", "properties": {"at": {"type": "string"}}});
    request.tools = vec![ToolDefinition::new("look", "Looks.", schema)];
    let text = "I look.\n{\"name\": \"look\", \"parameters\": {\"at\": \"mast\"}}";
    let expect = scripted::answer(TOOLS, |_| (), &request, text).unwrap();
    assert_eq!(expect.calls.len(), 1);
    let at = expect.prompt_ids.len() - 1;
    let file = TestFile::new("scripted.gguf", &scripted::bytes(TOOLS, text, at));
    let mut config = isolated_config(&file.0);
    config.model.template = Template::Auto;
    let there = IsolatedLlama::load(config).unwrap();
    assert!(there.capabilities().tools);
    let answer = block_on(there.generate(&request)).unwrap();
    assert_eq!((&answer.calls, &answer.text), (&expect.calls, &expect.text));
    assert_eq!(answer.prompt_ids, expect.prompt_ids);
    let count = block_on(there.count_prompt(&request)).unwrap();
    assert_eq!(count.tokens, expect.prompt_ids.len());
    request.tool_choice = ToolChoice::Named("swim".to_owned());
    let error = block_on(there.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn errors_come_across_whole() {
    let tiny = Tiny::default();
    let here = tiny.load();
    let (there, _file) = tiny.isolate_with(|_| ());
    let mut long = greedy(1);
    long.prompt = prompt(&"word ".repeat(2000));
    let mut stopped = greedy(1);
    stopped.stop = vec![String::new()];
    let mut adapted = greedy(1);
    adapted.adapter = Some("none".to_owned());
    let [mut hot, mut narrow] = [greedy(1), greedy(1)];
    hot.sampling.temperature = f32::INFINITY;
    narrow.sampling.top_p = f32::NAN;
    let process = there.process_id();
    for request in [&hot, &narrow] {
        let expect = block_on(here.count_prompt(request)).unwrap_err();
        assert_eq!(block_on(there.count_prompt(request)).unwrap_err(), expect);
    }
    let mut null = greedy(1);
    null.json_schema = Some(serde_json::Value::Null);
    for request in [long, stopped, adapted, hot, narrow, null] {
        let expect = block_on(here.generate(&request)).unwrap_err();
        assert_eq!(block_on(there.generate(&request)).unwrap_err(), expect);
    }
    assert_eq!(there.process_id(), process);
}

#[test]
fn a_schema_nested_without_end_harms_nobody() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let process = model.process_id();
    let mut request = greedy(1);
    let mut schema = serde_json::json!(true);
    for _ in 0..500 {
        schema = serde_json::json!({ "not": schema });
    }
    request.json_schema = Some(schema.clone());
    let error = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    request.json_schema = None;
    request.tools = vec![ToolDefinition::new("look", "Looks.", schema)];
    let error = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert_eq!(model.process_id(), process);
}

#[test]
fn requests_that_fit_into_no_frame_are_invalid() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let mut request = greedy(1);
    request.prompt = prompt(&"word ".repeat(14 << 20));
    let error = block_on(model.generate(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    let text = "\u{e9}".repeat(1 << 20);
    let path = OsStr::from_bytes(b"lora\xff.gguf");
    let error = block_on(model.load_adapter("one", path)).unwrap_err();
    assert_eq!(error.message(), "the path is not UTF-8");
    let count = model.count(&text);
    assert!(count.estimated && count.tokens == text.len());
    assert_eq!(model.truncate(&text, 5), "\u{e9}\u{e9}");
    block_on(model.generate(&greedy(1))).unwrap();
}

#[test]
fn tokens_are_told_as_they_come() {
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let (sink, told) = Told::new();
    let mut request = greedy(40);
    request.sink = Some(Arc::new(sink));
    let got = block_on(model.generate(&request)).unwrap();
    drop(request);
    let pieces: Vec<String> = told.iter().collect();
    assert!(pieces.len() > 10, "{pieces:?}");
    assert_eq!(pieces.concat(), got.text);
}

#[test]
fn a_sink_that_panics_is_not_called_again() {
    struct Panics(mpsc::Sender<()>);
    impl TokenSink for Panics {
        fn token(&self, _text: &str) {
            self.0.send(()).unwrap();
            panic!("a host's fault");
        }
    }
    let (model, _file) = Tiny::default().isolate_with(|_| ());
    let (tell, told) = mpsc::channel();
    let mut request = greedy(40);
    request.sink = Some(Arc::new(Panics(tell)));
    let got = block_on(model.generate(&request)).unwrap();
    drop(request);
    assert_eq!(got.output_tokens, 40);
    assert_eq!(told.iter().count(), 1);
}

#[test]
fn many_ask_at_once() {
    let tiny = Tiny::default();
    let (model, _file) = tiny.isolate_with(|_| ());
    let alone = tiny.load_with(|config| config.deterministic = true);
    let requests: Vec<_> = (1..30).map(greedy).collect();
    let answers = join_all(requests.iter().map(|request| model.generate(request)));
    for (request, answer) in requests.iter().zip(block_on(answers)) {
        assert_eq!(answer, block_on(alone.generate(request)));
    }
}

#[test]
fn a_dropped_future_stops_the_work_and_not_the_worker() {
    let grace = Duration::from_millis(200);
    let (model, _file) = tireless().isolate_with(|config| config.grace = grace);
    let process = model.process_id().unwrap();
    let (sink, told) = Told::new();
    let mut request = endless();
    request.sink = Some(Arc::new(sink));
    let mut writing = model.generate(&request);
    block_on(async {
        assert!(poll!(&mut writing).is_pending());
    });
    told.recv().unwrap();
    drop(writing);
    drop(request);
    // The sink goes too: then this ends.
    assert!(told.iter().count() < 100_000);
    // A worker that had not heard of it would be killed by then.
    let dropped = Instant::now();
    while dropped.elapsed() < 3 * grace {
        block_on(model.generate(&greedy(2))).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(model.process_id(), Some(process));
}

#[test]
fn the_worker_has_no_environment_and_its_prints_go_elsewhere() {
    let mut given = vec!["GGML_NO_BACKTRACE=1".to_owned()];
    let (model, _file) = Tiny::default().isolate_with(|config| {
        config.environment.push(("ONE".to_owned(), "1".to_owned()));
        let environment = config.environment.iter();
        given.extend(environment.map(|(name, value)| format!("{name}={value}")));
    });
    given.sort_unstable();
    let own = format!("/proc/{}", model.process_id().unwrap());
    let environment = fs::read_to_string(format!("{own}/environ")).unwrap();
    let mut entries: Vec<&str> = environment.split_terminator('\0').collect();
    entries.sort_unstable();
    assert_eq!(entries, given);
    let output = fs::read_link(format!("{own}/fd/1")).unwrap();
    assert_eq!(output, fs::read_link(format!("{own}/fd/2")).unwrap());
}
