//! Generating a text.

use journeyman::{
    ErrorKind,
    contract::{FinishReason, GenerateRequest, Generation, ToolChoice},
    domain::{NativeCall, Sampling, TokenId},
    text::{JsonSchema, TextStream, ToolCalls, WrittenCall, spelled},
};
use serde_json::Value;

use crate::{
    answer::Answer,
    budget::Usage,
    config::Route,
    error::OpenAiError,
    http::Place,
    names::own_names,
    retry::Deadline,
    server::Server,
    streamed::{Read, read_events, read_whole},
    support::ServerKind,
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
                    if answer.usage.is_some_and(|said| said.input == usage.input) {
                        self.learn_density(request, usage.input);
                    }
                    return self.finished(request, prepared, answer, usage);
                }
                // Nothing that reached a sink is repeated.
                Err(error) if request.sink.is_some() && answer.stream.sent() > 0 => {
                    return Err(error);
                }
                Err(error) => {
                    reservation.after(&error, answer.pieces > 0);
                    if let Some(told) = error.too_long() {
                        let answer = prepared.most.output;
                        if let Some(prompt) = told.prompt {
                            // Some servers name the prompt with the answer that was asked for.
                            self.learn_density(
                                request,
                                prompt.saturating_sub(prepared.most.output),
                            );
                        }
                        let prompt = self.count(request).tokens as u64;
                        self.learn_context(told, prompt + answer, answer);
                    }
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
        self.check_schema(request)?;
        let tools = self.checked_tools(request)?;
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
                        room = room.min(self.context() - ids.len());
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
                input: most.min(self.context() as u64),
                output: room as u64,
            },
            tools,
            records: self.gives_records(request),
        })
    }

    fn check_schema(&self, request: &GenerateRequest) -> Result<(), OpenAiError> {
        match &request.json_schema {
            Some(_) if !self.support.json_schema => Err(OpenAiError::Request {
                kind: ErrorKind::Unsupported,
                what: "the server did not obey a JSON Schema when it was probed".to_owned(),
                hint: "ask in the prompt and validate the answer: agent::role::Structured does both",
            }),
            Some(schema) => match JsonSchema::new(schema.clone()) {
                Ok(_) => Ok(()),
                Err(error) => Err(invalid(
                    &error.to_string(),
                    "put right the request's json_schema",
                )),
            },
            None => Ok(()),
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
                hint: "write the tools into the prompt and read the answer, as agent::ChatFormat does",
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
            // A server that does not stream, or calls a stream something else.
            false => read_whole(&body.whole().await?, answer),
        };
        match (read, answer.finish) {
            // Where another request interrupts this one, this server marks an end that is none.
            (Ok(Read::Done), None) if self.support.server == ServerKind::LlamaCppPython => {
                Err(OpenAiError::Broken {
                    said: "the server ended the answer, as it does for another request".to_owned(),
                })
            }
            // All of the text is there.
            (Ok(Read::Whole | Read::Done), _)
            | (Ok(Read::Cut) | Err(OpenAiError::Broken { .. }), Some(_)) => Ok(()),
            (Err(error), _) => Err(self.http.clean(error)),
            (Ok(Read::Cut), None) => Err(OpenAiError::Broken {
                said: "the stream ended without a finish_reason".to_owned(),
            }),
        }
    }

    /// The tokens used, as the server counts them; estimated where it counts none, or more than were asked for.
    fn usage(&self, prepared: &Prepared, answer: &Answer) -> Usage {
        let estimate = Usage {
            input: match prepared.prompt_ids.len() {
                0 => prepared.most.input.div_ceil(4),
                known => known as u64,
            },
            output: answer.pieces.max(answer.logprobs.len() as u64),
        };
        let is_absurd = |usage: &Usage| {
            usage.output > prepared.most.output || usage.input > self.capabilities.context as u64
        };
        let counted = answer.usage.filter(|usage| !is_absurd(usage));
        let mut usage = counted.unwrap_or(estimate);
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
        let mut written = answer.take_calls();
        own_names(&mut written, &request.tools);
        let (calls, as_text) = called(prepared.tools.as_ref(), written, finish)?;
        answer.stream.push(as_text.as_bytes());
        let (mut text, is_stopped) = answer.stream.finish();
        if is_stopped {
            finish = FinishReason::Stop;
        }
        if text.is_empty() && calls.is_empty() && !answer.thoughts.is_empty() {
            let end = if finish.is_cut() { "" } else { "</think>" };
            text = format!("<think>{}{end}", answer.thoughts);
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

/// The calls of an answer; where the model was free to call and did it wrongly, none, and a text that spells what it called: the
/// prompt format reads it as it reads calls in any text, and asks again.
fn called(
    tools: Option<&ToolCalls>,
    written: Vec<WrittenCall>,
    finish: FinishReason,
) -> Result<(Vec<NativeCall>, String), OpenAiError> {
    let Some(tools) = tools else {
        return Ok((Vec::new(), spelled(&written)));
    };
    match tools.read(written.clone(), finish) {
        Ok(calls) => Ok((calls, String::new())),
        Err(_) if tools.is_free() => Ok((Vec::new(), spelled(&written))),
        Err(error) => Err(OpenAiError::shape(error.message())),
    }
}
