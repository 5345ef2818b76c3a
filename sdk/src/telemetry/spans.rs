//! Spans. Each is made before its work, and told the result.

use serde_json::{Value, json};
use tracing::{Span, field::Empty, info_span};

use crate::{
    contract::{FinishReason, GenerateRequest, Generation},
    domain::{
        Action, Compaction, LibraryChange, Message, Prompt, Role, Speaker, State, ToolCall,
        Transition, Usage,
    },
    error::{Error, ErrorKind, Result},
    id::{AttemptId, ModelId, RunId, SkillId, TaskId, Version},
    telemetry::number::int,
    text::Redactor,
};

/// The conventions ask who provides what is called. The parts of a host have no provider's name, so it is ours.
const PROVIDER: &str = "journeyman";

/// A run, or a part of one that the host's own loop drives.
pub(crate) fn run(run: &RunId) -> Span {
    info_span!(
        "journeyman.run",
        journeyman.run = %run,
        "error.type" = Empty,
    )
}

pub(crate) fn agent(run: &RunId, task: &TaskId, attempt: &AttemptId, is_case: bool) -> Span {
    info_span!(
        "invoke_agent",
        otel.kind = "internal",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.provider.name = PROVIDER,
        gen_ai.conversation.id = %attempt,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        journeyman.run = %run,
        journeyman.task = %task,
        journeyman.case = is_case,
        journeyman.steps = Empty,
        journeyman.prompt.left_out = Empty,
        "error.type" = Empty,
    )
}

/// A search for skills.
pub(crate) fn retrieval(limit: usize) -> Span {
    info_span!(
        "retrieval",
        otel.kind = "internal",
        gen_ai.operation.name = "retrieval",
        gen_ai.provider.name = PROVIDER,
        gen_ai.data_source.id = "skills",
        gen_ai.retrieval.top_k = int(limit),
        "error.type" = Empty,
    )
}

/// Log-probabilities of skills. The conventions have no name for it.
pub(crate) fn score(skills: usize) -> Span {
    info_span!(
        "journeyman.score",
        otel.kind = "internal",
        journeyman.skills = int(skills),
        "error.type" = Empty,
    )
}

pub(crate) fn embeddings() -> Span {
    info_span!(
        "embeddings",
        otel.kind = "internal",
        gen_ai.operation.name = "embeddings",
        gen_ai.provider.name = PROVIDER,
        "error.type" = Empty,
    )
}

/// A role's answer, with the repair where one was needed.
pub(crate) fn role(role: Role) -> Span {
    info_span!(
        "journeyman.role",
        otel.kind = "internal",
        journeyman.role = %role,
        journeyman.role.reading = Empty,
        journeyman.prompt.whole_tokens = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        "error.type" = Empty,
    )
}

/// A judgement of an attempt; its verdict is an event of the span.
pub(crate) fn judgement() -> Span {
    info_span!(
        "journeyman.judge",
        otel.kind = "internal",
        "error.type" = Empty,
    )
}

/// The exact information gain of a skill.
pub(crate) fn information_gain() -> Span {
    info_span!(
        "journeyman.gain",
        otel.kind = "internal",
        "error.type" = Empty
    )
}

/// The skills that a commit changes, one span each. They last as long as the commit does.
pub(crate) fn commit(changes: &[LibraryChange]) -> Vec<Span> {
    changes.iter().flat_map(memory).collect()
}

fn memory(change: &LibraryChange) -> Vec<Span> {
    let span = |operation: &'static str, skill: &SkillId, version: Option<Version>| {
        let span = info_span!(
            "memory",
            otel.name = operation,
            otel.kind = "internal",
            gen_ai.operation.name = operation,
            gen_ai.provider.name = PROVIDER,
            gen_ai.memory.store.id = "skills",
            gen_ai.memory.record.id = %skill,
            journeyman.skill.id = %skill,
            journeyman.skill.version = Empty,
            "error.type" = Empty,
        );
        if let Some(version) = version {
            span.record("journeyman.skill.version", int(version.0));
        }
        span
    };
    let delete = |skill: &SkillId| span("delete_memory", skill, None);
    match change {
        LibraryChange::Add(skill) => vec![span("create_memory", &skill.id, Some(skill.version))],
        LibraryChange::Revise(skill) => vec![span("update_memory", &skill.id, Some(skill.version))],
        LibraryChange::RollBack { skill, .. } => vec![span("update_memory", skill, None)],
        LibraryChange::Merge {
            skill,
            sources,
            beside,
        } => {
            let new = span("create_memory", &skill.id, Some(skill.version));
            let gone = sources.iter().filter(|_| !beside);
            std::iter::once(new).chain(gone.map(delete)).collect()
        }
        LibraryChange::SetState { skill, state, .. } if *state == State::Archived => {
            vec![delete(skill)]
        }
        _ => Vec::new(),
    }
}

pub(crate) fn failed(span: &Span, error: &Error) {
    span.record("error.type", error_type(error.kind()));
}

/// Records that the work failed, if it did.
pub(crate) fn finished<T>(span: &Span, result: &Result<T>) {
    if let Err(error) = result {
        failed(span, error);
    }
}

/// Records the tokens that were used.
pub(crate) fn used(span: &Span, usage: Usage) {
    span.record("gen_ai.usage.input_tokens", int(usage.prompt_tokens));
    span.record("gen_ai.usage.output_tokens", int(usage.output_tokens));
}

/// Records how a role's answer could be read, and the tokens of the whole prompt where a shorter one was sent.
pub(crate) fn read(span: &Span, reading: &'static str, whole: Option<u64>) {
    span.record("journeyman.role.reading", reading);
    if let Some(whole) = whole {
        span.record("journeyman.prompt.whole_tokens", int(whole));
    }
}

/// Records what the prompts of an attempt left out.
pub(crate) fn compacted(span: &Span, compaction: Compaction) {
    if !compaction.is_none() {
        span.record("journeyman.prompt.left_out", compaction.to_string());
    }
}

/// Names of few values, as the conventions want them.
fn error_type(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "invalid",
        ErrorKind::NotFound => "not_found",
        ErrorKind::Conflict => "conflict",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::RateLimited => "rate_limited",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Model => "model",
        ErrorKind::Panicked => "panicked",
        ErrorKind::Cancelled => "cancelled",
        ErrorKind::Internal => "internal",
    }
}

/// A call of a language model.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) span: Span,
}

impl Chat {
    /// `texts` has the redactor where the host wants texts in spans.
    pub(crate) fn new(
        model: &ModelId,
        request: &GenerateRequest,
        texts: Option<&Redactor>,
    ) -> Self {
        let sampling = request.sampling;
        let span = info_span!(
            "chat",
            otel.name = %format_args!("chat {model}"),
            otel.kind = "internal",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = PROVIDER,
            gen_ai.request.model = %model,
            gen_ai.request.max_tokens = int(request.max_tokens),
            gen_ai.request.temperature = f64::from(sampling.temperature),
            gen_ai.request.top_p = f64::from(sampling.top_p),
            // The seed's 64 bits as a signed number, the only one that the conventions and OTLP have.
            gen_ai.request.seed = sampling.seed.0.cast_signed(),
            gen_ai.request.stream = request.sink.is_some(),
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.input.messages = Empty,
            gen_ai.output.messages = Empty,
            "error.type" = Empty,
        );
        if let Some(redactor) = texts
            && !span.is_disabled()
        {
            let messages = redacted(messages(&request.prompt), redactor);
            span.record("gen_ai.input.messages", messages);
        }
        Self { span }
    }

    pub(crate) fn answered(&self, answer: &Result<Generation>, texts: Option<&Redactor>) {
        let span = &self.span;
        let generation = match answer {
            Ok(generation) => generation,
            Err(error) => return failed(span, error),
        };
        let reason = match generation.finish {
            FinishReason::EndOfText | FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::Repeats => "repeats",
        };
        span.record("gen_ai.response.model", generation.model.as_str());
        span.record("gen_ai.response.finish_reasons", reason);
        span.record("gen_ai.usage.input_tokens", int(generation.prompt_tokens));
        span.record("gen_ai.usage.output_tokens", int(generation.output_tokens));
        if let Some(redactor) = texts
            && !span.is_disabled()
        {
            let written = json!([{
                "role": "assistant",
                "parts": [{"type": "text", "content": generation.text}],
                "finish_reason": reason,
            }]);
            span.record("gen_ai.output.messages", redacted(written, redactor));
        }
    }
}

/// A value as text, without secrets. They are taken out before it is written: in JSON's quotation their forms differ.
fn redacted(mut value: Value, redactor: &Redactor) -> String {
    redactor.redact_json(&mut value);
    value.to_string()
}

/// The messages in the form of the conventions.
fn messages(prompt: &Prompt) -> Value {
    let message = |message: &Message| {
        let role = match message.speaker {
            Speaker::System => "system",
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::Tool => "tool",
        };
        json!({"role": role, "parts": [{"type": "text", "content": message.text()}]})
    };
    prompt.messages.iter().map(message).collect()
}

/// The greatest length of a tool's name in a span, in characters.
const LONGEST_NAME: usize = 100;
/// The greatest number of tools that a span names.
const MOST_NAMES: usize = 16;

/// A step of an episode in which tools are called.
#[derive(Debug)]
pub(crate) struct ToolCalls {
    pub(crate) span: Span,
}

impl ToolCalls {
    /// `None` for an action without calls; `texts` as for [`Chat::new`]. Names are a model's own words until the world has taken
    /// the call: they are redacted, and cut.
    pub(crate) fn new(
        action: &Action,
        redactor: &Redactor,
        texts: Option<&Redactor>,
    ) -> Option<Self> {
        let Action::Call(calls) = action else {
            return None;
        };
        let name = |call: &ToolCall| {
            redactor
                .redact(&call.tool)
                .chars()
                .take(LONGEST_NAME)
                .collect()
        };
        let names: Vec<String> = calls.iter().take(MOST_NAMES).map(name).collect();
        let names = names.join(", ");
        let span = info_span!(
            "execute_tool",
            otel.name = %format_args!("execute_tool {names}"),
            otel.kind = "internal",
            gen_ai.operation.name = "execute_tool",
            gen_ai.provider.name = PROVIDER,
            gen_ai.tool.name = %names,
            gen_ai.tool.type = "function",
            gen_ai.tool.call.arguments = Empty,
            gen_ai.tool.call.result = Empty,
            "error.type" = Empty,
        );
        if let Some(redactor) = texts
            && !span.is_disabled()
        {
            let arguments: Vec<_> = calls.iter().map(|call| &call.arguments).collect();
            let arguments = redacted(json!(arguments), redactor);
            span.record("gen_ai.tool.call.arguments", arguments);
        }
        Some(Self { span })
    }

    pub(crate) fn answered(&self, result: &Result<Transition>, texts: Option<&Redactor>) {
        let transition = match result {
            Ok(transition) => transition,
            Err(error) => return failed(&self.span, error),
        };
        if transition.is_error {
            self.span.record("error.type", "refused");
        }
        if let Some(redactor) = texts
            && !self.span.is_disabled()
        {
            let text = redactor.redact(&transition.observation.text);
            self.span.record("gen_ai.tool.call.result", &*text);
        }
    }
}
