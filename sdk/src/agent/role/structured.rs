//! JSON answers by a schema from any language model.

use std::{sync::Arc, time::Duration};

use futures::future::{Either, select};
use serde_json::Value;

use crate::{
    contract::{Clock, FinishReason, GenerateRequest, Generation, LanguageModel},
    domain::{Message, Span, Speaker},
    error::{Error, ErrorKind, Result},
    id::Timestamp,
    text::{JsonSchema, NoObject, SchemaFault, fenced, first_whole, without_thinking},
};

const GENERATE: &str = "Structured::generate";
/// The length of the part of an unusable answer that the repair prompt repeats, in characters.
const FAILED_CHARS: usize = 2_000;

/// Asks a model for JSON that is valid under a schema.
///
/// The instruction is appended to the prompt's last message as data. A model with the capability
/// ([`ModelCapabilities::json_schema`](crate::contract::ModelCapabilities)) is constrained by the schema while it writes;
/// any other model writes freely. In both cases the first JSON object or array of the answer is extracted from reasoning,
/// fences and prose, and validated; JSON that is not strict is accepted where its meaning is unambiguous
/// ([`first_object`](crate::text::first_object)). Where that fails, the model is asked once more, with its own answer and
/// the fault. A model's text is parsed and compared, never compiled or run.
///
/// The request's `time_limit` is for both answers together. With a [`Clock`] the repair has the time that the first answer
/// left, and a model that hangs is given up; without one, each of the two has half the time.
///
/// Only with the feature `json-schema`.
///
/// ```
/// use journeyman::{
///     contract::GenerateRequest,
///     domain::{Message, Prompt, Speaker},
///     agent::role::Structured,
///     testing::ScriptedModel,
///     text::JsonSchema,
/// };
/// use serde_json::json;
///
/// let schema = JsonSchema::new(json!({
///     "type": "object",
///     "properties": {"tool": {"type": "string"}},
///     "required": ["tool"],
/// }))?;
/// let prompt = Prompt::new(vec![Message::data(Speaker::User, "Which tool brews?")]);
/// let model = ScriptedModel::answers(["The kettle!", "```json\n{\"tool\": \"kettle\"}\n```"]);
/// let structured = Structured::new(schema);
/// let asking = structured.generate(&model, GenerateRequest::greedy(prompt, 64));
/// let answer = futures::executor::block_on(asking)?;
/// assert_eq!(answer.value["tool"], "kettle");
/// assert!(answer.repaired());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Structured {
    schema: JsonSchema,
    clock: Option<Arc<dyn Clock>>,
    instruct: bool,
}

/// A value that is valid under the schema, with the generations that led to it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredAnswer {
    /// The value.
    pub value: Value,
    /// The generations in order; the value is from the last one.
    pub generations: Vec<Generation>,
}

impl StructuredAnswer {
    /// Whether the repair was needed.
    pub fn repaired(&self) -> bool {
        self.generations.len() > 1
    }
}

/// Why an answer cannot be used.
enum Unusable {
    /// No JSON begins in it.
    None(&'static str),
    /// The answer ends within its JSON.
    CutOff,
    /// The JSON is not valid.
    Malformed(String),
    /// The value breaks the schema.
    Schema(Vec<SchemaFault>),
}

impl Structured {
    /// Asks for answers that are valid under this schema.
    pub fn new(schema: JsonSchema) -> Self {
        Self {
            schema,
            clock: None,
            instruct: true,
        }
    }

    /// Adds a clock, which keeps the time limit over both answers.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Adds no instruction, for a prompt that has its own.
    #[must_use]
    pub fn without_instruction(mut self) -> Self {
        self.instruct = false;
        self
    }

    /// Asks the model. Sets the request's `json_schema`; the request's sink gets the tokens of both answers.
    ///
    /// # Errors
    /// - `Model`: the repair is unusable too. `stage` gives the reason (`extract`: no JSON, `cut_off`, `parse`, `schema`), and
    ///   `at` the place in the value that breaks the schema, as a JSON pointer.
    /// - `Timeout`: the time limit passed.
    /// - The error of the model's `generate`.
    pub async fn generate(
        &self,
        model: &dyn LanguageModel,
        mut request: GenerateRequest,
    ) -> Result<StructuredAnswer> {
        let limit = request.time_limit;
        let until = self.clock.as_ref().map(|clock| {
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            Timestamp(clock.now().0.saturating_add(limit_ms))
        });
        if until.is_none() {
            request.time_limit = limit / 2;
        }
        request.json_schema =
            (model.capabilities().json_schema).then(|| self.schema.as_value().clone());
        if self.instruct {
            self.instruct(&mut request.prompt.messages);
        }
        let first = self.ask(model, &mut request, until, limit).await?;
        let unusable = match self.read(&first) {
            Ok(value) => {
                return Ok(StructuredAnswer {
                    value,
                    generations: vec![first],
                });
            }
            Err(unusable) => unusable,
        };
        let messages = &mut request.prompt.messages;
        let shown = without_thinking(&first.text);
        let shown: String = shown.trim().chars().take(FAILED_CHARS).collect();
        messages.push(Message::data(Speaker::Assistant, shown));
        messages.push(Message::data(Speaker::User, unusable.repair()));
        request.sampling.seed = request.sampling.seed.derive("repair", 1);
        let second = self.ask(model, &mut request, until, limit).await?;
        match self.read(&second) {
            Ok(value) => Ok(StructuredAnswer {
                value,
                generations: vec![first, second],
            }),
            Err(unusable) => Err(unusable.error(model)),
        }
    }

    /// Appends the instruction to the prompt, to the last turn if that is the user's: many templates refuse two turns of one
    /// speaker in a row.
    fn instruct(&self, messages: &mut Vec<Message>) {
        let schema = fenced("schema", &self.schema.as_value().to_string());
        let text = format!(
            "Answer with one JSON value and nothing else: no other words, no Markdown, no code fences. It must be \
             valid under this JSON Schema:\n{schema}"
        );
        match messages.last_mut() {
            Some(last) if last.speaker == Speaker::User => {
                last.content.push(Span::Data(format!("\n\n{text}")));
            }
            _ => messages.push(Message::data(Speaker::User, text)),
        }
    }

    /// Asks within the remaining time. A model that does not support this schema writes freely.
    async fn ask(
        &self,
        model: &dyn LanguageModel,
        request: &mut GenerateRequest,
        until: Option<Timestamp>,
        limit: Duration,
    ) -> Result<Generation> {
        let answer = self.within(model, request, until, limit).await;
        match answer {
            Err(error)
                if error.kind() == ErrorKind::Unsupported
                    && request.json_schema.take().is_some() =>
            {
                self.within(model, request, until, limit).await
            }
            answer => answer,
        }
    }

    async fn within(
        &self,
        model: &dyn LanguageModel,
        request: &mut GenerateRequest,
        until: Option<Timestamp>,
        limit: Duration,
    ) -> Result<Generation> {
        let (Some(clock), Some(until)) = (&self.clock, until) else {
            return model.generate(request).await;
        };
        let left = until.0.saturating_sub(clock.now().0);
        if left == 0 {
            return Err(timed_out(limit));
        }
        request.time_limit = Duration::from_millis(left);
        match select(model.generate(request), clock.sleep_until(until)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(timed_out(limit)),
        }
    }

    /// The first value of the schema's kind; an object is also taken out of an array of one item.
    fn value(&self, text: &str) -> Result<Value, NoObject> {
        let brackets = self.schema.brackets();
        match first_whole(text, &brackets) {
            Err(NoObject::Absent) if brackets == ['{'] => match first_whole(text, &['[']) {
                Ok(Value::Array(mut items)) if items.len() == 1 => {
                    items.pop().filter(Value::is_object).ok_or(NoObject::Absent)
                }
                _ => Err(NoObject::Absent),
            },
            found => found,
        }
    }

    fn read(&self, answer: &Generation) -> Result<Value, Unusable> {
        let value = self.value(&answer.text).map_err(|fault| {
            match fault {
                NoObject::Unfinished | NoObject::Absent
                    if answer.finish == FinishReason::Repeats =>
                {
                    Unusable::None("the answer says the same again and again")
                }
                NoObject::Unfinished => Unusable::CutOff,
                NoObject::Malformed { line, column } => Unusable::Malformed(format!(
                    "the JSON is not valid at line {line} column {column}"
                )),
                NoObject::Repeated { line, column } => Unusable::Malformed(format!(
                    "the JSON has a key twice with different values, again at line {line} column {column}"
                )),
                NoObject::InReasoning => Unusable::Malformed(fault.to_string()),
                NoObject::TooDeep => {
                    Unusable::Malformed("the JSON is nested deeper than 32".to_owned())
                }
                NoObject::TooLong => Unusable::None("the answer is longer than 1 MiB"),
                // Also the case of reasoning that used all tokens.
                NoObject::Absent if answer.finish.is_cut() => Unusable::CutOff,
                NoObject::Absent => Unusable::None("there is no such JSON in the answer"),
            }
        })?;
        let faults = self.schema.faults(&value);
        match faults.is_empty() {
            true => Ok(value),
            false => Err(Unusable::Schema(faults)),
        }
    }
}

impl Unusable {
    fn stage(&self) -> &'static str {
        match self {
            Self::None(_) => "extract",
            Self::CutOff => "cut_off",
            Self::Malformed(_) => "parse",
            Self::Schema(_) => "schema",
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::None(why) => (*why).to_owned(),
            Self::CutOff => "the answer ends before its JSON does".to_owned(),
            Self::Malformed(why) => why.clone(),
            Self::Schema(faults) => {
                let faults: Vec<String> = faults.iter().map(SchemaFault::to_string).collect();
                format!("the JSON breaks the schema; {}", faults.join("; "))
            }
        }
    }

    fn repair(&self) -> String {
        let shorter = match self {
            Self::CutOff => " Be shorter.",
            _ => "",
        };
        format!(
            "This answer cannot be used: {}. Answer again with the whole JSON value, and nothing else.{shorter}",
            self.reason()
        )
    }

    fn error(&self, model: &dyn LanguageModel) -> Error {
        let error = Error::new(ErrorKind::Model, GENERATE, self.reason())
            .with("model", &model.capabilities().model)
            .with("stage", self.stage());
        let error = match self {
            Self::Schema(faults) => {
                error.with("at", faults.first().map_or("", |fault| fault.at.as_str()))
            }
            _ => error,
        };
        error.hint(match self {
            Self::CutOff => "raise max_tokens, or ask for less",
            _ => "ask for less at once, say in the prompt what the fields mean, or use a more capable model",
        })
    }
}

fn timed_out(limit: Duration) -> Error {
    Error::new(
        ErrorKind::Timeout,
        GENERATE,
        format!("no valid answer within {} s", limit.as_secs_f64()),
    )
    .temporary()
    .hint("raise time_limit, or ask for fewer tokens")
}
