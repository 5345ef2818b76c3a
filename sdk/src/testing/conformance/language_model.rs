//! The conformance suite of [`LanguageModel`].

use std::{sync::Arc, time::Duration};

use futures::future::{Either, select};

use super::report::{Report, Shortfall, Tried, require, require_error, skip};
use crate::{
    contract::{Clock, FinishReason, GenerateRequest, Generation, LanguageModel, ToolChoice},
    domain::{Message, Prompt, Sampling, Speaker, ToolDefinition},
    error::{ErrorKind, Result},
    id::{Seed, Timestamp},
};

/// Two tokens count as nearly tied if their log-probabilities differ by less than this.
const TIE: f32 = 1e-3;
/// The tool that the suite brings, and the values of its one argument.
const TOOL: &str = "look";
const PLACES: [&str; 2] = ["mast", "galley"];
/// Tokens in which every model can write a call of the tool.
const ROOM: usize = 128;

/// The inputs for checking a model.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct LanguageModelFixture {
    /// A prompt that the model answers with at least some words.
    pub prompt: Prompt,
    /// Maximum number of tokens of that answer.
    pub max_tokens: usize,
    /// Time limit of all other requests than `slow`.
    pub time_limit: Duration,
    /// A request that takes longer than its own `time_limit`; with none, the rule of deadlines is skipped.
    pub slow: Option<GenerateRequest>,
    /// A clock; with none, the rule of deadlines is skipped.
    pub clock: Option<Arc<dyn Clock>>,
}

impl LanguageModelFixture {
    /// A prompt that is answered in at most 24 tokens, within a minute.
    pub fn new(prompt: Prompt) -> Self {
        Self {
            prompt,
            max_tokens: 24,
            time_limit: Duration::from_secs(60),
            slow: None,
            clock: None,
        }
    }

    /// The same with another greatest number of tokens.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: usize) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// The same with this time limit.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// The same with a request that takes longer than its own time limit.
    #[must_use]
    pub fn with_slow(mut self, slow: impl Into<Option<GenerateRequest>>) -> Self {
        self.slow = slow.into();
        self
    }

    /// The same with a clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }
}

/// Checks a model.
pub async fn check(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Report {
    let mut report = Report::new("LanguageModel");
    report.case("repeats", repeats(model, fixture).await);
    report.case("limit", limit(model, fixture).await);
    report.case("stop", stop(model, fixture).await);
    report.case("records", records(model, fixture).await);
    report.case("deadline", deadline(model, fixture).await);
    report.case("too long", too_long(model, fixture).await);
    report.case("unsupported", unsupported(model, fixture).await);
    report.case("tools", tools(model, fixture).await);
    report.case("cancel", cancel(model, fixture).await);
    report.case("count", count(model, fixture).await);
    report
}

fn ask(fixture: &LanguageModelFixture) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(fixture.prompt.clone(), fixture.max_tokens);
    request.time_limit = fixture.time_limit;
    request
}

async fn repeats(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    let sampled = |seed| Sampling {
        temperature: 0.8,
        top_p: 0.95,
        seed: Seed(seed),
    };
    for sampling in [Sampling::GREEDY, sampled(3), sampled(4)] {
        let mut request = ask(fixture);
        request.sampling = sampling;
        let first = model.generate(&request).await?;
        let second = model.generate(&request).await?;
        let same = first.text == second.text
            || !model.capabilities().deterministic && tied(&sampling, &first, &second);
        require(same, || {
            format!(
                "expected equal texts for equal requests with {sampling:?}, found {:?}, then {:?}",
                first.text, second.text
            )
        })?;
    }
    Ok(())
}

/// Whether the first difference of two greedy texts is at nearly tied tokens. For sampled texts this cannot be decided, and
/// the result is true.
fn tied(sampling: &Sampling, a: &Generation, b: &Generation) -> bool {
    if sampling.temperature > 0.0 {
        return true;
    }
    let part = a.ids.iter().zip(&b.ids).position(|(a, b)| a != b);
    let logprobs = |at: usize| Some((a.logprobs.get(at)?, b.logprobs.get(at)?));
    part.and_then(logprobs)
        .is_some_and(|(a, b)| (a - b).abs() < TIE)
}

async fn count(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    for request in [ask(fixture), with_tool(fixture)] {
        if !request.tools.is_empty() && !model.capabilities().tools {
            continue;
        }
        let counted = model.count_prompt(&request).await?;
        let reported = model.generate(&request).await?.prompt_tokens;
        require(
            counted.estimated || counted.tokens as u64 == reported,
            || {
                let tokens = counted.tokens;
                format!(
                    "expected the {reported} tokens of the generation from `count_prompt`, found {tokens}"
                )
            },
        )?;
    }
    let context = model.capabilities().context;
    let long = "word ".repeat(4 * context.min(100_000));
    let messages = vec![Message::data(Speaker::User, long)];
    let open = Vec::new();
    let request = GenerateRequest::greedy(Prompt { messages, open }, 1);
    let counted = model.count_prompt(&request).await?.tokens;
    require(counted > context.min(100_000), || {
        format!(
            "expected more than {context} tokens for a prompt that is longer than the context, found {counted}"
        )
    })
}

async fn unsupported(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    let mut request = ask(fixture);
    request.adapter = Some("no adapter has this name".to_owned());
    let refused = model.generate(&request).await;
    require_error(
        refused,
        &[ErrorKind::NotFound],
        "a request with an unknown adapter",
    )?;
    if !model.capabilities().json_schema {
        let mut request = ask(fixture);
        request.json_schema = Some(serde_json::json!({ "type": "object" }));
        let refused = model.generate(&request).await;
        require_error(
            refused,
            &[ErrorKind::Unsupported],
            "a request with a JSON Schema to a model without that capability",
        )?;
    }
    Ok(())
}

/// A request with one tool, which the model decides about.
fn with_tool(fixture: &LanguageModelFixture) -> GenerateRequest {
    let mut request = ask(fixture);
    request.max_tokens = request.max_tokens.max(ROOM);
    request.tools = vec![ToolDefinition {
        name: TOOL.to_owned(),
        description: "Looks at a place.".to_owned(),
        input_schema: serde_json::json!({
            "type": "object",
            "properties": {"place": {"type": "string", "enum": PLACES}},
            "required": ["place"],
            "additionalProperties": false,
        }),
    }];
    request
}

/// The calls are of the tool, and each has exactly the argument that its schema permits.
fn calls_are_sound(answer: &Generation, choice: &ToolChoice) -> Tried {
    for made in &answer.calls {
        let (tool, arguments) = (&made.call.tool, &made.call.arguments);
        let place = arguments.get("place").and_then(|place| place.as_str());
        let obeys = arguments.len() == 1 && place.is_some_and(|place| PLACES.contains(&place));
        require(tool == TOOL && obeys, || {
            format!("expected a call of `{TOOL}` by its schema with {choice:?}, found {made:?}")
        })?;
    }
    Ok(())
}

async fn tools(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    if !model.capabilities().tools {
        let refused = model.generate(&with_tool(fixture)).await;
        let what = "a request with tools to a model without that capability";
        return require_error(refused, &[ErrorKind::Unsupported], what).map(drop);
    }
    let named = ToolChoice::Named(TOOL.to_owned());
    for choice in [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        named,
    ] {
        let mut request = with_tool(fixture);
        request.tool_choice = choice.clone();
        let answer = model.generate(&request).await?;
        calls_are_sound(&answer, &choice)?;
        let count = answer.calls.len();
        let fits = match choice {
            ToolChoice::Auto => true,
            ToolChoice::None => count == 0,
            ToolChoice::Required | ToolChoice::Named(_) => count > 0,
        };
        require(fits, || {
            format!("expected calls as {choice:?} says, found {count}")
        })?;
    }
    let mut unknown = with_tool(fixture);
    unknown.tool_choice = ToolChoice::Named("no tool has this name".to_owned());
    let mut twice = with_tool(fixture);
    twice.tools.extend(twice.tools.clone());
    for (request, what) in [
        (unknown, "a choice of a tool that the request does not have"),
        (twice, "a request with two tools of one name"),
    ] {
        let refused = model.generate(&request).await;
        require_error(refused, &[ErrorKind::Invalid], what)?;
    }
    Ok(())
}

async fn limit(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    let whole = model.generate(&ask(fixture)).await?;
    for max_tokens in [1, 2, 5] {
        let mut request = ask(fixture);
        request.max_tokens = max_tokens;
        let short = model.generate(&request).await?;
        require(short.output_tokens <= max_tokens as u64, || {
            format!(
                "expected at most {max_tokens} tokens, found {}",
                short.output_tokens
            )
        })?;
        let cut = whole.output_tokens > max_tokens as u64;
        require(!cut || short.finish == FinishReason::Length, || {
            format!(
                "expected `finish` to be `Length` for a text cut at {max_tokens} tokens, found {:?}",
                short.finish
            )
        })?;
    }
    Ok(())
}

/// A piece from the middle of the model's text.
fn middle(text: &str) -> Option<String> {
    let characters = text.chars().count();
    let piece: String = text.chars().skip(characters / 2).take(2).collect();
    (!piece.is_empty()).then_some(piece)
}

async fn stop(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    let whole = model.generate(&ask(fixture)).await?.text;
    let Some(piece) = middle(&whole) else {
        return skip("the model wrote nothing for the fixture's prompt");
    };
    let mut request = ask(fixture);
    request.stop = vec!["\u{1}never written\u{1}".to_owned(), piece.clone()];
    let stopped = model.generate(&request).await?;
    let due = whole.split(piece.as_str()).next().unwrap_or_default();
    require(!stopped.text.contains(&piece), || {
        format!(
            "expected a text without the stop text {piece:?}, found {:?}",
            stopped.text
        )
    })?;
    require(
        stopped.text == due && stopped.finish == FinishReason::Stop,
        || {
            format!(
                "expected {due:?} with `finish` `Stop` when stopping {whole:?} at {piece:?}, found {:?} with {:?}",
                stopped.text, stopped.finish
            )
        },
    )
}

async fn records(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    if !model.capabilities().token_records {
        return skip("the model says that it gives no token records");
    }
    let answer = model.generate(&ask(fixture)).await?;
    let written = answer.output_tokens as usize;
    require(
        answer.ids.len() == written && answer.logprobs.len() == written,
        || {
            format!(
                "expected {written} ids and log-probabilities, as `output_tokens` says, found {} and {}",
                answer.ids.len(),
                answer.logprobs.len()
            )
        },
    )?;
    require(
        answer.prompt_ids.len() as u64 == answer.prompt_tokens,
        || {
            format!(
                "expected {} prompt ids, as `prompt_tokens` says, found {}",
                answer.prompt_tokens,
                answer.prompt_ids.len()
            )
        },
    )?;
    let sound = (answer.logprobs.iter()).all(|logprob| logprob.is_finite() && *logprob <= 0.0);
    require(sound, || {
        format!(
            "expected finite log-probabilities of at most 0, found {:?}",
            answer.logprobs
        )
    })
}

/// Waits for an answer; fails the case if there is none by `latest`.
async fn answered(
    model: &dyn LanguageModel,
    request: &GenerateRequest,
    clock: &dyn Clock,
    latest: Timestamp,
) -> Tried<Result<Generation>> {
    match select(model.generate(request), clock.sleep_until(latest)).await {
        Either::Left((answer, _)) => Ok(answer),
        Either::Right(_) => Err(Shortfall::Failed(format!(
            "expected an answer at most 1 s after the time limit of {:?}, found none",
            request.time_limit
        ))),
    }
}

async fn deadline(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    let (Some(slow), Some(clock)) = (&fixture.slow, &fixture.clock) else {
        return skip("the fixture has no slow request or no clock");
    };
    let limit = u64::try_from(slow.time_limit.as_millis()).unwrap_or(u64::MAX);
    let latest = Timestamp(clock.now().0.saturating_add(limit).saturating_add(1_000));
    let answer = answered(model, slow, clock.as_ref(), latest).await?;
    require_error(
        answer,
        &[ErrorKind::Timeout],
        "a request over its time limit",
    )
    .map(drop)
}

async fn too_long(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    let context = model.capabilities().context;
    let mut request = ask(fixture);
    // More words than the context has tokens.
    request.prompt = Prompt {
        messages: vec![Message::data(Speaker::User, "word ".repeat(context + 1))],
        open: Vec::new(),
    };
    let tried = model.generate(&request).await;
    let error = require_error(
        tried,
        &[ErrorKind::Invalid],
        "a request with a prompt longer than the context",
    )?;
    let said = error.to_string();
    let numbers = (said.split(|c: char| !c.is_ascii_digit()))
        .filter_map(|digits| digits.parse::<usize>().ok())
        .collect::<Vec<_>>();
    let both = numbers.contains(&context) && numbers.iter().any(|n| *n > context);
    require(both, || {
        format!(
            "expected an error that names the context of {context} tokens and the prompt's greater length, found: {said}"
        )
    })
}

async fn cancel(model: &dyn LanguageModel, fixture: &LanguageModelFixture) -> Tried {
    let request = fixture.slow.clone().unwrap_or_else(|| ask(fixture));
    let mut started = model.generate(&request);
    // The first poll starts the request; it is pending unless the model answers at once.
    let under_way = futures::poll!(&mut started).is_pending();
    if under_way && let Some(clock) = &fixture.clock {
        let soon = Timestamp(clock.now().0.saturating_add(20));
        let _ = select(&mut started, clock.sleep_until(soon)).await;
    }
    drop(started);
    let answer = model.generate(&ask(fixture)).await?;
    let again = model.generate(&ask(fixture)).await?;
    require(answer.text == again.text, || {
        format!(
            "expected equal texts for two equal requests after a cancelled one, found {:?}, then {:?}",
            answer.text, again.text
        )
    })
}
