//! The program against a collector within the test: what arrives is decoded and held against the conventions.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Output},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use prost::Message;

const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
/// Attributes that are texts of the host's world, its prompts and its model.
const TEXTS: [&str; 4] = [
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
];

/// How the collector answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Take,
    /// Takes this many requests; the rest get an error that is not for the moment only.
    Refuse(usize),
    Never,
}

/// A collector: an HTTP server that keeps what is posted to it.
#[derive(Debug)]
struct Collector {
    endpoint: String,
    posted: Arc<Mutex<Vec<Posted>>>,
}

#[derive(Clone, Debug)]
struct Posted {
    /// The request's line and headers, in lower case.
    head: String,
    body: Vec<u8>,
}

impl Collector {
    fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let posted = Arc::<Mutex<Vec<Posted>>>::default();
        let kept = Arc::clone(&posted);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(&connection.unwrap(), answer, &kept));
            }
        });
        Self { endpoint, posted }
    }

    fn spans(&self) -> Vec<Seen> {
        let mut spans = Vec::new();
        for posted in self.posted.lock().unwrap().iter() {
            assert!(
                posted.head.starts_with("post /v1/traces http/1.1"),
                "{posted:?}"
            );
            let kind = "content-type: application/x-protobuf";
            assert!(posted.head.contains(kind), "{posted:?}");
            let request = ExportTraceServiceRequest::decode(&*posted.body).unwrap();
            for resource in request.resource_spans {
                // The question at the start whether a collector is there has no spans, and no service.
                if resource
                    .scope_spans
                    .iter()
                    .all(|scope| scope.spans.is_empty())
                {
                    continue;
                }
                let of = attributes(&resource.resource.unwrap().attributes);
                let service = Value::StringValue("ticket-desk".to_owned());
                assert_eq!(of["service.name"], service);
                let spans_of = resource.scope_spans.into_iter();
                spans.extend(spans_of.flat_map(|scope| scope.spans).map(Seen::of));
            }
        }
        spans
    }
}

/// Answers the requests of a connection until it is closed.
fn serve(connection: &TcpStream, answer: Answer, kept: &Mutex<Vec<Posted>>) {
    let mut reader = BufReader::new(connection);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let head = head.to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap();
        let length = length.split("\r\n").next().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let before = {
            let mut kept = kept.lock().unwrap();
            kept.push(Posted { head, body });
            kept.len() - 1
        };
        let status = match answer {
            Answer::Never => continue,
            Answer::Refuse(after) if before >= after => "400 Bad Request",
            _ => "200 OK",
        };
        let said = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        let mut connection = connection;
        if connection.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}

/// A span that arrived, or an event of one.
#[derive(Clone, Debug)]
struct Seen {
    id: Vec<u8>,
    parent: Vec<u8>,
    trace: Vec<u8>,
    name: String,
    attributes: BTreeMap<String, Value>,
    events: Vec<(String, BTreeMap<String, Value>)>,
}

impl Seen {
    fn of(span: Span) -> Self {
        let events = span.events.iter();
        let events = events.map(|event| (event.name.clone(), attributes(&event.attributes)));
        Self {
            events: events.collect(),
            attributes: attributes(&span.attributes),
            id: span.span_id,
            parent: span.parent_span_id,
            trace: span.trace_id,
            name: span.name,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name) {
            Some(Value::StringValue(text)) => Some(text),
            _ => None,
        }
    }
}

fn attributes(list: &[KeyValue]) -> BTreeMap<String, Value> {
    let value = |one: &KeyValue| one.value.clone().unwrap().value.unwrap();
    list.iter()
        .map(|one| (one.key.clone(), value(one)))
        .collect()
}

/// Runs the program with these variables and none of OpenTelemetry's beside them.
fn run(variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_telemetry"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_")) {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).output().unwrap()
}

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

/// The number of spans that the program says it sent.
fn sent(output: &Output) -> usize {
    let (out, errors) = said(output);
    assert!(output.status.success(), "{out}{errors}");
    let line = out.lines().last().unwrap();
    let number = line.strip_prefix("sent ").unwrap().split(' ').next();
    number.unwrap().parse().unwrap()
}

/// What a run without texts sends, and what the program says.
fn without_texts() -> (Vec<Seen>, Output) {
    let collector = Collector::start(Answer::Take);
    let output = run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint)]);
    let (out, _) = said(&output);
    let end = format!("spans without texts to {}/v1/traces\n", collector.endpoint);
    assert!(out.ends_with(&end), "{out}");
    (collector.spans(), output)
}

#[test]
fn every_span_arrives_with_its_name_and_its_parent() {
    let (spans, output) = without_texts();
    assert_eq!(spans.len(), sent(&output));
    let by_id: BTreeMap<_, _> = spans.iter().map(|span| (&span.id, span)).collect();
    assert_eq!(by_id.len(), spans.len());
    // The beginning of the name, the parent's, and the operation that the conventions name.
    let rules = [
        ("journeyman.run", None, None),
        ("retrieval", Some("journeyman.run"), Some("retrieval")),
        ("embeddings", Some("journeyman.run"), Some("embeddings")),
        ("journeyman.score", Some("journeyman.run"), None),
        ("invoke_agent", Some("journeyman.run"), Some("invoke_agent")),
        ("execute_tool ", Some("invoke_agent"), Some("execute_tool")),
        ("journeyman.judge", Some("journeyman.run"), None),
        ("journeyman.role", Some("journeyman.run"), None),
    ];
    // Within a run, or on their own where the host changes the library.
    let memories = [
        ("create_memory", vec![None, Some("journeyman.run")]),
        ("update_memory", vec![None]),
        ("delete_memory", vec![None]),
    ];
    let mut found = BTreeSet::new();
    let mut within = BTreeMap::<String, BTreeSet<_>>::new();
    for span in &spans {
        let parent = by_id.get(&span.parent).map(|parent| parent.name.as_str());
        let operation = span.text("gen_ai.operation.name");
        if span.name.starts_with("chat ") {
            let of = ["invoke_agent", "journeyman.role"];
            assert!(parent.is_some_and(|one| of.contains(&one)), "{span:?}");
            assert_eq!(operation, Some("chat"));
            found.insert("chat");
            continue;
        }
        if span.name.ends_with("_memory") {
            assert_eq!(operation, Some(span.name.as_str()));
            within.entry(span.name.clone()).or_default().insert(parent);
            continue;
        }
        let rule = rules.iter().find(|(name, ..)| span.name.starts_with(name));
        let (name, of, due) = rule.unwrap_or_else(|| panic!("no rule for {span:?}"));
        assert_eq!((parent, operation), (*of, *due), "{span:?}");
        if let Some(parent) = by_id.get(&span.parent) {
            assert_eq!(parent.trace, span.trace);
        }
        found.insert(name);
    }
    let all = rules.map(|(name, ..)| name).into_iter().chain(["chat"]);
    assert_eq!(found, all.collect());
    let due = memories.map(|(name, parents)| (name.to_owned(), parents.into_iter().collect()));
    assert_eq!(within, due.into());
}

#[test]
fn attributes_and_events_are_those_of_the_conventions() {
    let (spans, _) = without_texts();
    let named = |prefix: &str| -> Vec<Seen> {
        let named = spans.iter().filter(|span| span.name.starts_with(prefix));
        named.cloned().collect()
    };
    for span in &spans {
        let provider = span.text("gen_ai.operation.name").map(|_| "journeyman");
        assert_eq!(span.text("gen_ai.provider.name"), provider, "{span:?}");
        let events = span.events.iter().flat_map(|(_, attributes)| attributes);
        for (name, _) in span.attributes.iter().chain(events) {
            let is_ours = name.starts_with("journeyman.");
            assert!(
                is_ours || name.starts_with("gen_ai.") || name == "error.type",
                "{name}"
            );
        }
    }
    let agents = named("invoke_agent");
    let conversations = agents.iter().map(|one| one.text("gen_ai.conversation.id"));
    let conversations = conversations.collect::<BTreeSet<_>>();
    assert_eq!(conversations.len(), agents.len(), "one for each attempt");
    let tools = named("execute_tool ");
    let tool = &tools[0];
    let name = tool.text("gen_ai.tool.name").unwrap();
    assert_eq!(tool.name, format!("execute_tool {name}"));
    assert_eq!(tool.text("gen_ai.tool.type"), Some("function"));
    let refused = |span: &&Seen| span.text("error.type") == Some("refused");
    assert!(tools.iter().any(|span| refused(&span)));
    for chat in named("chat ") {
        assert_eq!(chat.name, "chat scripted-7b");
        assert_eq!(chat.text("gen_ai.request.model"), Some("scripted-7b"));
        assert_eq!(chat.text("gen_ai.response.finish_reasons"), Some("stop"));
        let temperature = &chat.attributes["gen_ai.request.temperature"];
        assert!(matches!(temperature, Value::DoubleValue(_)), "{chat:?}");
        for number in [
            "gen_ai.request.max_tokens",
            "gen_ai.request.seed",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
        ] {
            let value = chat.attributes.get(number);
            assert!(matches!(value, Some(Value::IntValue(_))), "{chat:?}");
        }
    }
    let memory = &named("create_memory")[0];
    assert_eq!(memory.text("gen_ai.memory.store.id"), Some("skills"));
    let id = memory.text("gen_ai.memory.record.id");
    assert!(id.is_some() && id == memory.text("journeyman.skill.id"));

    let verdicts: Vec<_> = named("journeyman.judge")
        .into_iter()
        .flat_map(|span| span.events)
        .collect();
    assert_eq!(verdicts.len(), agents.len());
    for (name, attributes) in verdicts {
        assert_eq!(name, "gen_ai.evaluation.result");
        let score = &attributes["gen_ai.evaluation.score.value"];
        assert!(matches!(score, Value::DoubleValue(_)), "{score:?}");
    }
    let runs = named("journeyman.run").into_iter();
    let events: BTreeSet<_> = runs
        .flat_map(|run| run.events)
        .map(|(name, _)| name)
        .collect();
    let due = ["journeyman.credit", "journeyman.gate"].map(str::to_owned);
    assert_eq!(events, due.into());
}

#[test]
fn texts_are_sent_only_where_they_are_asked_for() {
    let with = |spans: &[Seen]| -> BTreeSet<String> {
        let names = spans.iter().flat_map(|span| span.attributes.keys());
        let texts = names.filter(|name| TEXTS.contains(&name.as_str()));
        texts.cloned().collect()
    };
    // Words of tasks and of the desk's answers.
    let words = ["of customer", "is not verified"];
    let holds = |spans: &[Seen], word: &str| format!("{spans:?}").contains(word);

    let (bare, output) = without_texts();
    assert!(sent(&output) > 0 && with(&bare).is_empty());
    for word in words {
        assert!(!holds(&bare, word), "{word}");
    }
    let collector = Collector::start(Answer::Take);
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint.as_str());
    let output = run(&[endpoint, (CONTENT, "true")]);
    let told = collector.spans();
    assert_eq!(told.len(), sent(&output));
    assert!(said(&output).0.contains(" spans with texts to "));
    assert_eq!(with(&told), TEXTS.map(str::to_owned).into());
    for word in words {
        assert!(holds(&told, word), "{word}");
    }
}

/// Checks that the program fails with a message that says each of `due`, within `limit`.
fn check_failure(variables: &[(&str, &str)], due: &[&str], limit: Duration) {
    let started = Instant::now();
    let output = run(variables);
    let (out, errors) = said(&output);
    assert!(started.elapsed() < limit, "{:?}", started.elapsed());
    assert_eq!(output.status.code(), Some(1), "{out}{errors}");
    assert!(!out.contains("sent"), "{out}");
    for part in due {
        assert!(errors.contains(part), "{part} is not in: {errors}");
    }
}

#[test]
fn a_collector_that_is_not_there_is_an_error_and_no_wait() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let due = [
        "no collector takes spans at",
        &endpoint,
        "start one, or name it in OTEL_EXPORTER_OTLP_ENDPOINT",
    ];
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    check_failure(&variables, &due, Duration::from_secs(20));
}

#[test]
fn a_collector_that_never_answers_is_an_error_in_time() {
    let collector = Collector::start(Answer::Never);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1000"),
    ];
    let due = ["no collector takes spans at"];
    check_failure(&variables, &due, Duration::from_secs(20));
}

#[test]
fn a_collector_that_refuses_later_is_an_error_with_the_number() {
    let collector = Collector::start(Answer::Refuse(1));
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint.as_str())];
    let due = ["telemetry: 0 of ", " spans were sent; ", "status code: 400"];
    check_failure(&variables, &due, Duration::from_secs(60));
}

#[test]
fn an_encrypted_address_is_refused_before_the_work() {
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:1")];
    check_failure(&variables, &["plain http only"], Duration::from_secs(20));
}
