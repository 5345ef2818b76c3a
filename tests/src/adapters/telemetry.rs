//! The spans of `examples/telemetry` at a real collector, and their names against OpenTelemetry's conventions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::external::{self, set_up};
use crate::figures::{Bound, Figures, Outcome};

const COLLECTOR: &str = "JOURNEYMAN_COLLECTOR";
const LOST: &str = "OTLP: spans that were sent less those that a real collector received";
const UNKNOWN: &str = "OTLP: names that the conventions do not have";
const ABSENT: &str = "OTLP: operations and texts of which no span arrived";
/// The variable by which a host is asked for texts.
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
/// Every operation of `docs/reference/events.md`.
const OPERATIONS: [&str; 8] = [
    "chat",
    "create_memory",
    "delete_memory",
    "embeddings",
    "execute_tool",
    "invoke_agent",
    "retrieval",
    "update_memory",
];
/// Attributes that hold texts.
const TEXTS: [&str; 4] = [
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
];
/// What the collector calls the fields of an event.
const EVENT_FIELDS: [&str; 4] = ["Name", "Timestamp", "DroppedAttributesCount", "Attributes"];
/// How long the collector may take to start, and to print what it received.
const PATIENCE: Duration = Duration::from_secs(20);

/// What `tests/adapters/telemetry.py` prints.
#[derive(Deserialize)]
struct Conventions {
    released: Released,
    current: Current,
}

#[derive(Deserialize)]
struct Released {
    attributes: BTreeSet<String>,
    operations: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Current {
    attributes: BTreeMap<String, String>,
    operations: BTreeSet<String>,
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let Some(collector) = set_up(COLLECTOR) else {
        figures.progress(format_args!(
            "missing: {COLLECTOR} is not set; run: export $(bash tests/adapters/collector.sh)"
        ));
        figures.record(LOST, f64::NAN, Bound::AtMost(0.0));
        figures.record(UNKNOWN, f64::NAN, Bound::AtMost(0.0));
        figures.record(ABSENT, f64::NAN, Bound::AtMost(0.0));
        return Ok(());
    };
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--package", "telemetry"]);
    let built = external::run(build)?;
    if !built.status.success() {
        return Err(format!("the example cannot be built: {}", built.err).into());
    }
    let conventions = conventions(&collector)?;
    // With texts, so that the names of their attributes are checked too.
    let (sent, received) = send(&collector)?;
    figures.record(
        "OTLP: spans that were sent",
        sent as f64,
        Bound::AtLeast(1.0),
    );
    figures.record(
        LOST,
        sent as f64 - received.spans as f64,
        Bound::AtMost(0.0),
    );
    let unknown = received.unknown(&conventions);
    for name in &unknown {
        figures.progress(format_args!("not in the conventions: {name}"));
    }
    figures.record(UNKNOWN, unknown.len() as f64, Bound::AtMost(0.0));
    let absent = received.absent();
    for name in &absent {
        figures.progress(format_args!("no span has it: {name}"));
    }
    figures.record(ABSENT, absent.len() as f64, Bound::AtMost(0.0));
    let others = received.other_types(&conventions);
    for (name, found) in &others {
        figures.progress(format_args!(
            "of another type than the conventions': {name} ({found})"
        ));
    }
    let title = "OTLP: attributes of another type than the conventions'";
    figures.record(title, others.len() as f64, Bound::None);
    Ok(())
}

fn conventions(collector: &Path) -> Result<Conventions, Box<dyn std::error::Error + Send + Sync>> {
    // The environment's interpreter: the collector lies in its packages.
    let mut folders = collector.ancestors();
    let python =
        folders.find_map(|folder| Some(folder.join("bin/python")).filter(|path| path.exists()));
    let python = python
        .ok_or("the collector is not in the environment that tests/adapters/collector.sh makes")?;
    let mut command = Command::new(python);
    command.arg("tests/adapters/telemetry.py");
    let ended = external::run(command)?;
    serde_json::from_str(&ended.out).map_err(|error| format!("{error}: {}", ended.err).into())
}

/// What the collector printed of what it received.
#[derive(Debug, Default)]
struct Received {
    spans: usize,
    /// The types of each attribute.
    attributes: BTreeMap<String, BTreeSet<String>>,
    operations: BTreeSet<String>,
}

impl Received {
    fn read(log: &str) -> Self {
        let mut received = Self::default();
        let mut of_resource = false;
        for line in log.lines() {
            let line = line.trim();
            of_resource = match line {
                "Resource attributes:" => true,
                "Attributes:" => false,
                _ => of_resource,
            };
            received.spans += usize::from(line.starts_with("Span #"));
            let Some((name, value)) = line
                .strip_prefix("-> ")
                .and_then(|line| line.split_once(": "))
            else {
                continue;
            };
            let (kind, value) = value.split_once('(').unwrap_or((value, ""));
            // A resource's own names are OpenTelemetry's SDK's; the collector shows an event's fields as it shows attributes.
            if of_resource || EVENT_FIELDS.contains(&name) {
                continue;
            }
            if name == "gen_ai.operation.name" {
                received
                    .operations
                    .insert(value.trim_end_matches(')').to_owned());
            }
            let kinds = received.attributes.entry(name.to_owned()).or_default();
            kinds.insert(kind.to_owned());
        }
        received
    }

    /// Attributes and operations that neither release nor draft of the conventions has, and that do not say that they are ours.
    fn unknown(&self, conventions: &Conventions) -> Vec<String> {
        let Conventions { released, current } = conventions;
        let attributes = self.attributes.keys().filter(|name| {
            let known =
                released.attributes.contains(*name) || current.attributes.contains_key(*name);
            !known && !name.starts_with("journeyman.")
        });
        let operations = self.operations.iter().filter(|name| {
            !released.operations.contains(*name) && !current.operations.contains(*name)
        });
        attributes.chain(operations).cloned().collect()
    }

    /// Operations and texts that should have come and did not.
    fn absent(&self) -> Vec<&'static str> {
        let operations = OPERATIONS.into_iter();
        let operations = operations.filter(|name| !self.operations.contains(*name));
        let texts = TEXTS.into_iter();
        let texts = texts.filter(|name| !self.attributes.contains_key(*name));
        operations.chain(texts).collect()
    }

    fn other_types(&self, conventions: &Conventions) -> Vec<(String, String)> {
        let kinds = self.attributes.iter().filter_map(|(name, kinds)| {
            let due = match conventions.current.attributes.get(name)?.as_str() {
                "int" => "Int",
                "double" => "Double",
                "boolean" => "Bool",
                "string" => "Str",
                other => other,
            };
            let others = kinds.iter().filter(|kind| *kind != due);
            let others: Vec<&str> = others.map(String::as_str).collect();
            (!others.is_empty()).then(|| (name.clone(), format!("{}, due {due}", others.join(" "))))
        });
        kinds.collect()
    }
}

/// The collector, ended with the figure.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the example against the collector; how many spans it says that it sent, and what arrived.
fn send(collector: &Path) -> Result<(usize, Received), Box<dyn std::error::Error + Send + Sync>> {
    let place = tempfile::tempdir()?;
    let log = place.path().join("collector.log");
    let (grpc, http) = (free_port()?, free_port()?);
    let child = Command::new(collector)
        .args(["start", "--exporter", "blackhole"])
        .args(["--debug-log", "traces", "--debug-log-verbosity", "detailed"])
        .args(["--otlp-grpc-endpoint", &format!("127.0.0.1:{grpc}")])
        .args(["--otlp-http-endpoint", &format!("127.0.0.1:{http}")])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .stdout(File::create(&log)?)
        .stderr(Stdio::null())
        .spawn()?;
    let _running = Running(child);
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", http)).is_err() {
        if started.elapsed() > PATIENCE {
            return Err("the collector does not listen".into());
        }
        sleep(Duration::from_millis(50));
    }
    let mut command = Command::new(external::built("telemetry")?);
    command.env(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        format!("http://127.0.0.1:{http}"),
    );
    command.env(CONTENT, "true");
    let ended = external::run(command)?;
    let said = ended.out.lines().last().unwrap_or_default();
    let sent = said
        .strip_prefix("sent ")
        .and_then(|rest| rest.split(' ').next());
    let sent: usize = sent
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("the example sent nothing: {}{}", ended.out, ended.err))?;
    let started = Instant::now();
    loop {
        let received = Received::read(&std::fs::read_to_string(&log)?);
        if received.spans >= sent || started.elapsed() > PATIENCE {
            return Ok((sent, received));
        }
        sleep(Duration::from_millis(200));
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collectors_log_is_read_and_compared() {
        let log = "Resource attributes:\n     -> service.name: Str(desk)\nSpan #0\n    Name : chat\nAttributes:\n     \
                   -> gen_ai.operation.name: Str(chat)\n     -> gen_ai.usage.input_tokens: Str(7)\n     -> journeyman.run: Str(r)\n\
                   Span #1\nAttributes:\n     -> gen_ai.operation.name: Str(gossip)\n     -> gen_ai.own: Int(1)\n\
                   Events:\nSpanEvent #0\n -> Name: gen_ai.evaluation.result\n -> Timestamp: 17\n -> Attributes::\n";
        let received = Received::read(log);
        assert_eq!(received.spans, 2);
        let conventions: Conventions = serde_json::from_value(serde_json::json!({
            "released": {"attributes": ["gen_ai.operation.name"], "operations": ["chat"]},
            "current": {"attributes": {"gen_ai.usage.input_tokens": "int", "gen_ai.operation.name": "string"}, "operations": []},
        }))
        .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(received.unknown(&conventions), ["gen_ai.own", "gossip"]);
        let absent = received.absent();
        assert_eq!(absent.len(), OPERATIONS.len() - 1 + TEXTS.len());
        assert!(!absent.contains(&"chat") && absent.contains(&"delete_memory"));
        let others = received.other_types(&conventions);
        assert_eq!(
            others,
            [(
                "gen_ai.usage.input_tokens".to_owned(),
                "Str, due Int".to_owned()
            )]
        );
    }
}
