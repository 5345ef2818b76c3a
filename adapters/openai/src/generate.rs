//! Generating a text.

use journeyman::{
    ErrorKind,
    contract::{FinishReason, GenerateRequest, Generation, ToolChoice},
    domain::{Sampling, TokenId},
    text::{JsonSchema, TextStream, ToolCalls},
};
use serde_json::Value;

use crate::{
    answer::{Answer, Chunk},
    budget::Usage,
    config::Route,
    error::OpenAiError,
    events::Events,
    http::{Body, Place, parsed},
    retry::Deadline,
    server::Server,
    tokens::Written,
};

pub(crate) const GENERATE: &str = "OpenAi::generate";

/// A request that can be sent.
#[derive(Debug)]
struct Prepared {
    place: Place,
    body: Value,
    /// The prompt's tokens, where they are known.
    prompt_ids: Vec<TokenId>,
    /// The greatest amount that the request can take.
    most: Usage,
    schema: Option<JsonSchema>,
    /// The request's tools, where it has some.
    tools: Option<ToolCalls>,
    /// Whether the answer has token ids and log-probabilities.
    records: bool,
}

fn invalid(what: &str, hint: &'static str) -> OpenAiError {
    OpenAiError::Request {
        kind: ErrorKind::Invalid,
        what: what.to_owned(),
        hint,
    }
}

/// Refuses what no server can do.
fn check(request: &GenerateRequest) -> Result<(), OpenAiError> {
    let Sampling {
        temperature, top_p, ..
    } = request.sampling;
    if request.stop.iter().any(String::is_empty) {
        return Err(invalid(
            "a stop text is empty",
            "remove it: every text contains the empty text",
        ));
    }
    if request.max_tokens == 0 {
        return Err(invalid("max_tokens is 0", "ask for one token at least"));
    }
    if !(0.0..=100.0).contains(&temperature) {
        return Err(invalid(
            "the temperature is out of range",
            "0 is greedy; at most 100",
        ));
    }
    if !(top_p > 0.0 && top_p <= 1.0) {
        return Err(invalid("top_p is out of range", "above 0 and at most 1"));
    }
    Ok(())
}

impl Server {
    /// The text, and the number of attempts for it.
    pub(crate) async fn generate(
        &self,
        request: &GenerateRequest,
        deadline: Deadline,
        attempts_made: &mut u32,
    ) -> Result<Generation, OpenAiError> {
        let prepared = self.prepare(request, deadline).await?;
        let mut attempts = self.attempts(deadline);
        loop {
            *attempts_made = attempts.made;
            let stream = TextStream::new(request.stop.clone(), request.sink.clone());
            let mut answer = Answer::new(stream);
            let reservation = self.ledger.reserve(prepared.most)?;
            let outcome = self.attempt(&prepared, &mut answer, deadline).await;
            match outcome {
                Ok(()) => {
                    let usage = self.usage(&prepared, &answer);
                    reservation.settle(usage);
                    return self.finished(request, prepared, answer, usage);
                }
                // Nothing that reached a sink is repeated.
                Err(error) if request.sink.is_some() && answer.stream.sent() > 0 => {
                    return Err(error);
                }
                Err(error) => {
                    reservation.after(&error, answer.pieces > 0);
                    attempts.again(error).await?;
                }
            }
        }
    }

    /// The answer to a request that is sent once, as the server gave it.
    pub(crate) async fn once(
        &self,
        request: &GenerateRequest,
        deadline: Deadline,
    ) -> Result<Answer, OpenAiError> {
        let prepared = self.prepare(request, deadline).await?;
        let mut answer = Answer::new(TextStream::new(Vec::new(), None));
        let reservation = self.ledger.reserve(prepared.most)?;
        match self.attempt(&prepared, &mut answer, deadline).await {
            Ok(()) => {
                reservation.settle(self.usage(&prepared, &answer));
                Ok(answer)
            }
            Err(error) => {
                reservation.after(&error, answer.pieces > 0);
                Err(error)
            }
        }
    }

    async fn prepare(
        &self,
        request: &GenerateRequest,
        deadline: Deadline,
    ) -> Result<Prepared, OpenAiError> {
        check(request)?;
        let (schema, tools) = (self.schema(request)?, self.checked_tools(request)?);
        let asked = self.model_for(request.adapter.as_deref())?;
        let mut room = request.max_tokens;
        let (place, name, prompt, prompt_ids, most) = match self.config.route {
            Route::Chat => {
                let messages = self.messages(&request.prompt)?;
                self.fits_as_text(&request.prompt.text(), deadline).await?;
                // What a template adds to a message is rarely more.
                let around = 16 * (messages.len() as u64 + 1);
                let most = request.prompt.text().len() as u64 + around;
                (
                    Place::Api("chat/completions"),
                    "messages",
                    Value::from(messages),
                    Vec::new(),
                    most,
                )
            }
            Route::Completions => {
                let written = self.written(&request.prompt, deadline).await?;
                let most = written.most_tokens();
                let json = written.to_json();
                let ids = match written {
                    Written::Ids(ids) => {
                        self.fits(ids.len(), 1)?;
                        room = room.min(self.capabilities.context - ids.len());
                        ids
                    }
                    Written::Text(text) => {
                        self.fits_as_text(&text, deadline).await?;
                        Vec::new()
                    }
                };
                (Place::Api("completions"), "prompt", json, ids, most)
            }
        };
        let mut fields = self.fields(request, &asked, room);
        fields.insert(name.to_owned(), prompt);
        Ok(Prepared {
            place,
            body: Value::Object(fields),
            prompt_ids,
            most: Usage {
                input: most.min(self.capabilities.context as u64),
                output: room as u64,
            },
            schema,
            tools,
            records: self.gives_records(request),
        })
    }

    fn schema(&self, request: &GenerateRequest) -> Result<Option<JsonSchema>, OpenAiError> {
        match &request.json_schema {
            Some(_) if !self.support.json_schema => Err(OpenAiError::Request {
                kind: ErrorKind::Unsupported,
                what: "the server did not obey a JSON Schema when it was probed".to_owned(),
                hint: "ask in the prompt and validate the answer: role::Structured does both",
            }),
            Some(schema) => match JsonSchema::new(schema.clone()) {
                Ok(schema) => Ok(Some(schema)),
                Err(error) => Err(invalid(
                    &error.to_string(),
                    "put right the request's json_schema",
                )),
            },
            None => Ok(None),
        }
    }

    fn checked_tools(&self, request: &GenerateRequest) -> Result<Option<ToolCalls>, OpenAiError> {
        if request.tools.is_empty()
            && matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None)
        {
            return Ok(None);
        }
        if !self.support.tools {
            let declined = self.support.declined.iter();
            let declined = declined
                .filter(|one| one.tried == "tools")
                .map(ToString::to_string);
            return Err(OpenAiError::Request {
                kind: ErrorKind::Unsupported,
                what: format!(
                    "the server did not call a tool when it was probed ({})",
                    declined.collect::<String>()
                ),
                hint: "write the tools into the prompt and read the answer, as builtin::ChatDialect does",
            });
        }
        let tools = ToolCalls::new(&request.tools, &request.tool_choice);
        let tools =
            tools.map_err(|error| invalid(error.message(), "put right the request's tools"))?;
        Ok(Some(tools))
    }

    /// Sends the request once and takes in its answer.
    async fn attempt(
        &self,
        prepared: &Prepared,
        answer: &mut Answer,
        deadline: Deadline,
    ) -> Result<(), OpenAiError> {
        let body = self
            .http
            .send(prepared.place, Some(&prepared.body), deadline)
            .await?;
        let read = match body.is_events() {
            true => read_events(body, answer).await,
            // A server that does not stream.
            false => match parsed::<Chunk>(&body.whole().await?) {
                Ok(chunk) => answer.absorb(chunk).map(drop),
                Err(error) => Err(error),
            },
        };
        match (read, answer.finish) {
            // All of the text is there.
            (Ok(()) | Err(OpenAiError::Broken { .. }), Some(_)) => Ok(()),
            (Err(error), _) => Err(self.http.clean(error)),
            (Ok(()), None) => Err(OpenAiError::Broken {
                said: "the stream ended without a finish_reason".to_owned(),
            }),
        }
    }

    /// The tokens used, as the server counts them, or estimated.
    fn usage(&self, prepared: &Prepared, answer: &Answer) -> Usage {
        let estimate = Usage {
            input: match prepared.prompt_ids.len() {
                0 => prepared.most.input.div_ceil(4),
                known => known as u64,
            },
            output: answer.pieces.max(answer.logprobs.len() as u64),
        };
        let mut usage = answer.usage.unwrap_or(estimate);
        if prepared.records {
            usage.output = answer.ids.len() as u64;
        }
        usage
    }

    fn finished(
        &self,
        request: &GenerateRequest,
        prepared: Prepared,
        mut answer: Answer,
        usage: Usage,
    ) -> Result<Generation, OpenAiError> {
        let mut finish = answer.finish.unwrap_or(FinishReason::EndOfText);
        let written = answer.take_calls();
        let calls = match &prepared.tools {
            None if !written.is_empty() => {
                return Err(OpenAiError::shape(
                    "it calls a tool, though the request has none",
                ));
            }
            None => Vec::new(),
            Some(tools) => (tools.read(written, finish))
                .map_err(|error| OpenAiError::shape(error.message()))?,
        };
        let (text, is_stopped) = answer.stream.finish();
        if is_stopped {
            finish = FinishReason::Stop;
        }
        if usage.output > prepared.most.output {
            return Err(OpenAiError::shape(format!(
                "it has {} tokens, and at most {} were asked for",
                usage.output, prepared.most.output
            )));
        }
        if let Some(schema) = &prepared.schema
            && finish != FinishReason::Length
            && calls.is_empty()
        {
            obeyed(schema, &text)?;
        }
        let mut generation =
            Generation::new(self.capabilities.model.clone(), &request.prompt, text);
        generation.calls = calls;
        generation.prompt_tokens = usage.input;
        generation.output_tokens = usage.output;
        generation.finish = finish;
        if prepared.records {
            if answer.ids.len() != answer.logprobs.len() {
                return Err(OpenAiError::shape(format!(
                    "it has {} token ids and {} log-probabilities",
                    answer.ids.len(),
                    answer.logprobs.len()
                )));
            }
            generation.prompt_ids = match prepared.prompt_ids.is_empty() {
                true => answer.prompt_ids,
                false => prepared.prompt_ids,
            };
            generation.prompt_tokens = generation.prompt_ids.len() as u64;
            generation.ids = answer.ids;
            generation.logprobs = answer.logprobs;
        }
        Ok(generation)
    }
}

/// Refuses a text that does not obey the schema: servers exist that ignore the field.
fn obeyed(schema: &JsonSchema, text: &str) -> Result<(), OpenAiError> {
    let Ok(value) = serde_json::from_str::<Value>(text.trim()) else {
        return Err(OpenAiError::shape(
            "the text is not JSON, though a JSON Schema was given",
        ));
    };
    match schema.faults(&value).first() {
        None => Ok(()),
        Some(fault) => Err(OpenAiError::shape(format!(
            "the text does not obey the JSON Schema: {fault}"
        ))),
    }
}

async fn read_events(mut body: Body, answer: &mut Answer) -> Result<(), OpenAiError> {
    let mut events = Events::default();
    while let Some(piece) = body.piece().await? {
        events.push(&piece);
        while let Some(event) = events.next()? {
            if event.trim() == "[DONE]" || answer.absorb(parsed(event.as_bytes())?)? {
                return Ok(());
            }
        }
    }
    Ok(())
}
