//! Spans and events by OpenTelemetry's conventions for generative AI.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Mutex,
};

use journeyman::{
    agent::{ModelExecutor, ModelExecutorOptions},
    domain::{Action, Role, ToolCall},
};
use serde_json::json;
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, layer::Context, prelude::*, registry::LookupSpan};

use super::*;

const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";
/// A secret by what stands around it, which JSON writes in another way.
const QUOTED: &str = "q7Zt2mKx9Lw4Vb6n";

/// A span or an event: its name, its parent's name, and its fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    name: String,
    parent: Option<String>,
    fields: BTreeMap<String, String>,
}

impl Seen {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let value = format!("{value:?}");
        self.fields.insert(field.name().to_owned(), value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields
            .insert(field.name().to_owned(), value.to_owned());
    }
}

/// Keeps what is traced: spans in the order in which they end, and events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Mutex<(Vec<Seen>, Vec<Seen>)>>);

impl Kept {
    fn all(&self) -> Vec<Seen> {
        let kept = self.0.lock().unwrap();
        [kept.0.clone(), kept.1.clone()].concat()
    }

    fn spans(&self, name: &str) -> Vec<Seen> {
        let spans = self.0.lock().unwrap().0.clone().into_iter();
        spans.filter(|span| span.name == name).collect()
    }

    pub(crate) fn events(&self, name: &str) -> Vec<Seen> {
        let events = self.0.lock().unwrap().1.clone().into_iter();
        events.filter(|event| event.name == name).collect()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Kept {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        let mut seen = Seen {
            name: attributes.metadata().name().to_owned(),
            parent: span.parent().map(|parent| parent.name().to_owned()),
            fields: BTreeMap::new(),
        };
        attributes.record(&mut seen);
        span.extensions_mut().insert(seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        if let Some(seen) = span.extensions_mut().get_mut::<Seen>() {
            values.record(seen);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let seen = span.extensions_mut().remove::<Seen>();
        self.0.lock().unwrap().0.extend(seen);
    }

    fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
        let parent = context.event_span(event);
        let mut seen = Seen {
            name: event.metadata().name().to_owned(),
            parent: parent.map(|parent| parent.name().to_owned()),
            fields: BTreeMap::new(),
        };
        event.record(&mut seen);
        self.0.lock().unwrap().1.push(seen);
    }
}

pub(crate) fn traced(work: impl AsyncFnOnce()) -> Kept {
    let kept = Kept::default();
    let subscriber = tracing_subscriber::registry().with(kept.clone());
    tracing::subscriber::with_default(subscriber, || block_on(work()));
    kept
}

/// The agent calls a tool, which its world does not have, and then says what its task asks for.
fn parts() -> Components {
    let mut components = components();
    components.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        if steps.is_empty() {
            let note = format!("password = \"{QUOTED}\"");
            let arguments = json!({"where": SECRET, "note": note});
            return Play::Give(Some(Action::call("look", arguments)));
        }
        let due = attempt.task.payload.get(steps.len() - 1);
        let due = due.and_then(|word| word.as_str());
        Play::Give(due.map(|word| Action::Message(word.to_owned())))
    })));
    components
}

async fn learn(components: Components, options: Options, recipe: Recipe) -> RunReport {
    let opened = Journeyman::open(components, recipe, options).await;
    let journeyman = opened.expect("it opens");
    journeyman.learn(tasks(3)).await.expect("it learns")
}

#[test]
fn a_run_is_spans_by_the_conventions() {
    let kept = traced(async || {
        let report = learn(parts(), Options::new("test", Seed(7)), recipe()).await;
        assert!(report.written().any(|one| one.admitted.is_some()));
    });
    // The span, its parent, and the operation that the conventions name.
    for (name, parent, operation) in [
        ("retrieval", "journeyman.run", Some("retrieval")),
        ("journeyman.score", "journeyman.run", None),
        ("invoke_agent", "journeyman.run", Some("invoke_agent")),
        ("execute_tool", "invoke_agent", Some("execute_tool")),
        ("journeyman.judge", "journeyman.run", None),
        ("journeyman.role", "journeyman.run", None),
        ("chat", "journeyman.role", Some("chat")),
        ("memory", "journeyman.run", Some("create_memory")),
    ] {
        let spans = kept.spans(name);
        assert!(!spans.is_empty(), "no span {name}");
        for span in &spans {
            assert_eq!(span.parent.as_deref(), Some(parent), "{name}");
            assert_eq!(span.field("gen_ai.operation.name"), operation, "{name}");
            let provider = span.field("gen_ai.provider.name");
            assert_eq!(provider.is_some(), operation.is_some(), "{name}");
        }
    }
    let agents = kept.spans("invoke_agent");
    let conversations: BTreeSet<_> = agents
        .iter()
        .filter_map(|span| span.field("gen_ai.conversation.id"))
        .collect();
    assert_eq!(conversations.len(), agents.len(), "one for each attempt");
    let tool = &kept.spans("execute_tool")[0];
    assert_eq!(tool.field("otel.name"), Some("execute_tool look"));
    assert_eq!(tool.field("gen_ai.tool.name"), Some("look"));
    assert_eq!(tool.field("error.type"), Some("refused"));
    let chat = &kept.spans("chat")[0];
    assert!(chat.field("gen_ai.request.model").is_some());
    assert!(chat.field("gen_ai.usage.output_tokens").is_some());
    let memory = &kept.spans("memory")[0];
    assert_eq!(memory.field("otel.name"), Some("create_memory"));
    assert!(memory.field("journeyman.skill.id").is_some());

    let verdicts = kept.events("gen_ai.evaluation.result");
    assert_eq!(verdicts.len(), agents.len());
    assert_eq!(verdicts[0].parent.as_deref(), Some("journeyman.judge"));
    let score = verdicts[0].field("gen_ai.evaluation.score.value");
    assert!(score.is_some_and(|score| score.parse::<f64>().is_ok()));
    let gates = kept.events("journeyman.gate");
    assert!(!gates.is_empty());
    let decided = |gate: &Seen| gate.field("journeyman.gate.decision").map(str::to_owned);
    let decisions: BTreeSet<_> = gates.iter().filter_map(decided).collect();
    assert!(decisions.contains("no_candidates"), "{decisions:?}");
}

#[test]
fn texts_are_in_spans_only_where_the_host_asks_for_them_and_redacted() {
    const TEXTS: [&str; 4] = [
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
    ];
    let run = |texts_in_spans| {
        traced(async || {
            let mut options = Options::new("test", Seed(7));
            options.texts_in_spans = texts_in_spans;
            learn(parts(), options, recipe()).await;
        })
    };
    let with = |kept: &Kept| -> BTreeSet<String> {
        let spans = kept.all();
        let fields = spans.iter().flat_map(|span| span.fields.keys().cloned());
        fields
            .filter(|field| TEXTS.contains(&field.as_str()))
            .collect()
    };
    let bare = run(false);
    assert_eq!(with(&bare), BTreeSet::new());
    let kept = run(true);
    assert_eq!(with(&kept), TEXTS.map(str::to_owned).into());
    for seen in kept.all().iter().chain(&bare.all()) {
        for secret in [SECRET, QUOTED] {
            assert!(!format!("{seen:?}").contains(secret), "{seen:?}");
        }
    }
    let arguments = kept.spans("execute_tool")[0].clone();
    let arguments = arguments
        .field("gen_ai.tool.call.arguments")
        .map(str::to_owned);
    assert!(arguments.is_some_and(|text| text.contains("[redacted: access token]")));
}

#[test]
fn an_agents_model_and_failures_are_in_spans_too() {
    let kept = traced(async || {
        let mut components = parts();
        let model = ScriptedModel::by(|_, call| match call {
            0 => Play::Fail(Error::new(ErrorKind::RateLimited, "a server", "slow down")),
            _ => Play::Give("one".to_owned()),
        });
        let agent = ModelExecutor::new(
            Arc::new(model),
            Arc::new(ScriptedFormat),
            ModelExecutorOptions::default(),
        );
        components.executor = Some(Arc::new(agent.expect("an agent")));
        components.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate])));
        learn(components, Options::new("test", Seed(7)), recipe()).await;
    });
    let chats: Vec<Seen> = kept
        .spans("chat")
        .into_iter()
        .filter(|chat| chat.parent.as_deref() == Some("invoke_agent"))
        .collect();
    assert!(chats.len() > 1);
    assert_eq!(chats[0].field("error.type"), Some("rate_limited"));
    assert!(chats[1].field("gen_ai.usage.output_tokens").is_some());
    let failed = kept.spans("invoke_agent");
    let failed = failed.iter().filter_map(|span| span.field("error.type"));
    assert_eq!(failed.collect::<Vec<_>>(), ["rate_limited"]);
}

#[test]
fn a_tools_name_is_the_models_word_and_so_redacted_and_cut() {
    let kept = traced(async || {
        let mut components = parts();
        components.executor = Some(Arc::new(ScriptedExecutor::acting(|_, steps| {
            let name = format!("{SECRET} {}", "x".repeat(5_000));
            let call = ToolCall::new(name, json!({}));
            Play::Give(steps.is_empty().then(|| Action::Call(vec![call; 40])))
        })));
        learn(components, Options::new("test", Seed(7)), recipe()).await;
    });
    let spans = kept.spans("execute_tool");
    assert!(!spans.is_empty());
    for span in spans {
        assert!(!format!("{span:?}").contains(SECRET), "{span:?}");
        for field in ["gen_ai.tool.name", "otel.name"] {
            let length = span.field(field).unwrap().chars().count();
            assert!((100..2_000).contains(&length), "{field}: {length}");
        }
    }
}

#[test]
fn a_skill_that_is_tried_in_quarantine_is_marked() {
    let marked = |tries: bool| {
        let kept = traced(async || {
            let world = ScriptedEnvironment::words().beginning(|task, _| {
                let mut seen = sample::observation(&task.instruction);
                seen.source = sample::source(journeyman::domain::Trust::Untrusted);
                Play::Give(seen)
            });
            let components = components().with_environment(Arc::new(world));
            let mut recipe = recipe();
            recipe.maintenance.quarantine =
                tries.then(journeyman::stations::maintain::QuarantinePolicy::default);
            let journeyman = Journeyman::open(components, recipe, Options::new("test", Seed(7)));
            let journeyman = journeyman.await.expect("it opens");
            journeyman.learn(tasks(6)).await.expect("it learns");
        });
        let gates = kept.events("journeyman.gate").into_iter();
        let marks = gates.filter_map(|gate| {
            let mark = gate
                .field("journeyman.skill.quarantined")
                .map(str::to_owned);
            mark.map(|mark| {
                (
                    mark,
                    gate.field("journeyman.gate.decision").map(str::to_owned),
                )
            })
        });
        marks.collect::<BTreeSet<_>>()
    };
    let injected = ("true".to_owned(), Some("inject".to_owned()));
    assert_eq!(marked(true), BTreeSet::from([injected]));
    assert_eq!(marked(false), BTreeSet::new());
}
