//! Generating a text, token by token.

use journeyman::{
    Error, ModelId, Result,
    contract::{FinishReason, GenerateRequest, Generation, TokenCount, ToolChoice},
    domain::{NativeCall, Sampling},
    text::{PublishedCalls, TextStream, ToolCalls, WrittenCall, published_calls},
};
use llama_cpp_2::token::LlamaToken;
use serde_json::json;

use self::thoughts::Thoughts;
use crate::{
    calls::CallForm,
    constrain::{Alternative, Constraint},
    convert::{ids, too_long},
    render::{Opening, Rendered, Renderer},
    sampling::{self, Logits, Sampler},
};

mod thoughts;

pub(crate) const GENERATE: &str = "LlamaCpp::generate";

/// About the length of a token in bytes, in a text that is too long to be tokenized.
const BYTES: usize = 3;

/// A request's prompt with the beginning of a call that must be made, and whether the answer's form is given: then it begins
/// without thoughts.
fn rendered(
    renderer: &Renderer,
    request: &GenerateRequest,
    tools: Option<&Tools>,
) -> Result<(Rendered, bool)> {
    let begun = tools.map_or("", |tools| tools.begun.as_str());
    let is_held = request.json_schema.is_some() || !begun.is_empty();
    let opening = match is_held {
        true => Opening::Answer,
        false => Opening::Thoughts,
    };
    let mut rendered = renderer.prompt(GENERATE, &request.prompt, &request.tools, opening)?;
    renderer.begin_call(&mut rendered.tokens, begun, &request.tools);
    Ok((rendered, is_held))
}

/// The number of tokens of a request's prompt, also of one that does not fit the context.
///
/// # Errors
/// As generating, except for a prompt that is too long.
pub(crate) fn count(renderer: &Renderer, request: &GenerateRequest) -> Result<TokenCount> {
    sampling::check(GENERATE, &request.sampling)?;
    let tools = Tools::of(renderer, request)?;
    let error = match rendered(renderer, request, tools.as_ref()) {
        Ok((rendered, _)) => {
            return Ok(TokenCount {
                tokens: rendered.tokens.len(),
                estimated: false,
            });
        }
        Err(error) => error,
    };
    let least = error.fact("prompt_tokens");
    let least: Option<usize> = least.and_then(|least| least.parse().ok());
    let least = least.ok_or(error)?;
    let tools: usize = (request.tools.iter())
        .map(|tool| json!(tool).to_string().len())
        .sum();
    Ok(TokenCount {
        tokens: least.max((request.prompt.text().len() + tools) / BYTES),
        estimated: true,
    })
}

/// The state of a text that is being generated.
pub(crate) struct Writing {
    /// The prompt, followed by the generated tokens.
    tokens: Vec<LlamaToken>,
    prompt: usize,
    /// Maximum tokens to generate, within the context.
    room: usize,
    sampling: Sampling,
    constraint: Option<Constraint>,
    thoughts: Thoughts,
    /// The positions, among the generated tokens, of those that ended the thoughts.
    forced: Vec<usize>,
    logprobs: Vec<f32>,
    stream: TextStream,
    tools: Option<Tools>,
}

/// The tools of a request.
struct Tools {
    form: CallForm,
    calls: ToolCalls,
    /// How the answer begins: a call that must be made is begun for the model.
    begun: String,
    /// The names of the tools that a call which must be made may be of; none where no call must be made.
    callable: Vec<String>,
    /// Whether a grammar holds the answer to one call. The answer then ends with the call's arguments.
    is_held: bool,
}

impl Tools {
    fn of(renderer: &Renderer, request: &GenerateRequest) -> Result<Option<Self>> {
        let demands = !matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None);
        if request.tools.is_empty() && !demands {
            return Ok(None);
        }
        let Some(form) = renderer.call_form() else {
            request.refuse_tools(GENERATE)?;
            return Err(
                Error::unsupported(GENERATE, "this model has no interface for tool calls")
                    .hint("choose ToolChoice::Auto"),
            );
        };
        let calls = ToolCalls::new(&request.tools, &request.tool_choice)?;
        let only = match request.tools.as_slice() {
            [tool] => Some(tool.name.as_str()),
            _ => None,
        };
        let named = match &request.tool_choice {
            ToolChoice::Named(name) => Some(name.as_str()),
            _ => only,
        };
        let begun = match demands {
            true => form.begin(named),
            false => String::new(),
        };
        let may = |name: &String| demands && named.is_none_or(|named| named == name);
        let names = request.tools.iter().map(|tool| &tool.name);
        Ok(Some(Self {
            callable: names.filter(|name| may(name)).cloned().collect(),
            form: form.clone(),
            calls,
            begun,
            is_held: false,
        }))
    }

    /// The constraint of a call that must be made, to its tool or one of the tools, and to that tool's schema. None in a build or for a
    /// schema that cannot constrain, or where a grammar cannot write how such a call begins: then the model writes freely, and the call
    /// is checked.
    fn constraint(&mut self, renderer: &Renderer) -> Option<Constraint> {
        let alternative = |name: &String| {
            let begin = self.form.up_to_arguments(name)?;
            let begin = begin.strip_prefix(&self.begun)?;
            let schema = self.calls.schema(name)?;
            let between = || self.form.behind_name(name);
            let is_spelled =
                begin.is_empty() || between().is_some_and(|text| renderer.is_plain(text));
            is_spelled.then(|| Alternative {
                begin: begin.to_owned(),
                schema,
            })
        };
        let alternatives: Option<Vec<_>> = self.callable.iter().map(alternative).collect();
        let alternatives = alternatives.filter(|all| !all.is_empty())?;
        let constraint = renderer.constraint(GENERATE, &alternatives).ok()?;
        self.is_held = true;
        Some(constraint)
    }

    /// The call that a grammar held the answer to. `None` without a grammar, and where the answer was cut before its arguments.
    fn held(&self, whole: &str) -> Option<WrittenCall> {
        let call = |tool: &String| {
            let begin = self.form.up_to_arguments(tool)?;
            Some(WrittenCall::new(tool, whole.strip_prefix(&begin)?))
        };
        self.callable.iter().find_map(call).filter(|_| self.is_held)
    }

    /// The calls of an answer, and its other text. Where the model decides whether it calls tools, an answer whose calls
    /// cannot be used is all text.
    fn read(self, text: String, finish: FinishReason) -> Result<(String, Vec<NativeCall>)> {
        let whole = format!("{}{text}", self.begun);
        let found = match self.held(&whole) {
            Some(call) => PublishedCalls::new(String::new(), vec![call]),
            None => {
                let is_tool = |name: &str| self.calls.schema(name).is_some();
                let mut found = published_calls(&whole, &is_tool).unwrap_or_default();
                // An id in what was begun is that of the rendering in which the form was found.
                if let Some(first) = found.calls.first_mut()
                    && !self.begun.is_empty()
                {
                    first.id.clear();
                }
                found
            }
        };
        match self.calls.read(found.calls, finish) {
            Ok(calls) if calls.is_empty() => Ok((whole, calls)),
            Ok(calls) => Ok((found.words, calls)),
            Err(_) if self.calls.is_free() => Ok((whole, Vec::new())),
            Err(error) => Err(error),
        }
    }
}

impl Writing {
    pub(crate) fn new(renderer: &Renderer, request: &GenerateRequest) -> Result<Self> {
        let mut tools = Tools::of(renderer, request)?;
        sampling::check(GENERATE, &request.sampling)?;
        if request.stop.iter().any(String::is_empty) {
            return Err(Error::invalid(GENERATE, "a stop text is empty")
                .hint("remove it: every text contains the empty text"));
        }
        let (rendered, is_held) = rendered(renderer, request, tools.as_ref())?;
        let tokens = rendered.tokens;
        let room = renderer
            .context
            .checked_sub(tokens.len())
            .ok_or_else(|| too_long(GENERATE, tokens.len(), renderer.context))?
            .min(request.max_tokens);
        let mut stream = TextStream::new(request.stop.clone(), request.sink.clone());
        if let Some(opened) = rendered.opened {
            // So that the text has the thoughts between two marks.
            stream.push(opened.as_bytes());
        }
        let most = match is_held {
            true => usize::MAX,
            false => renderer.thoughts(room),
        };
        let constraint = match &request.json_schema {
            Some(schema) => {
                let json = Alternative::json(schema.clone());
                Some(renderer.constraint(GENERATE, &[json])?)
            }
            None => tools.as_mut().and_then(|tools| tools.constraint(renderer)),
        };
        Ok(Self {
            prompt: tokens.len(),
            tokens,
            room,
            sampling: request.sampling,
            constraint,
            thoughts: Thoughts::new(rendered.opened.is_some(), most, renderer.end_of_thoughts()),
            forced: Vec::new(),
            logprobs: Vec::new(),
            stream,
            tools,
        })
    }

    /// The tokens that must be in memory before the next one can be drawn.
    pub(crate) fn tokens(&self) -> &[LlamaToken] {
        &self.tokens
    }

    /// Number of generated tokens.
    fn written(&self) -> usize {
        self.logprobs.len()
    }

    /// Number of tokens that may still be generated.
    pub(crate) fn left(&self) -> usize {
        self.room - self.written()
    }

    /// Number of tokens of the prompt.
    pub(crate) fn prompt_len(&self) -> usize {
        self.prompt
    }

    /// Draws the next token; returns the finish reason if it was the last.
    pub(crate) fn next(
        &mut self,
        renderer: &Renderer,
        sampler: &mut Sampler,
        logits: &Logits<'_>,
    ) -> Result<Option<FinishReason>> {
        let (id, logprob) = match self.thoughts.forced() {
            Some(token) => {
                self.forced.push(self.written());
                let logprob = logits.logprob(GENERATE, token.0)?;
                (token.0, logprob)
            }
            None => {
                let place = self.written() as u64;
                let constraint = self.constraint.as_mut();
                sampler.draw(GENERATE, &self.sampling, constraint, place, logits)?
            }
        };
        self.logprobs.push(logprob as f32);
        let token = LlamaToken(id);
        self.tokens.push(token);
        if renderer.ends_text(token) {
            return Ok(Some(FinishReason::EndOfText));
        }
        if let Some(constraint) = &mut self.constraint {
            constraint.accept(id)?;
        }
        let piece = renderer.piece(token);
        self.thoughts.push(&piece);
        let finish = if self.stream.push(&piece) {
            Some(FinishReason::Stop)
        } else if self.left() == 0 {
            Some(FinishReason::Length)
        } else if self.repeats(renderer.most_repeated) && !self.thoughts.end() {
            Some(FinishReason::Repeats)
        } else {
            None
        };
        Ok(finish)
    }

    /// Whether the last tokens, `most` of them, are one phrase again and again; seen at one token in eight.
    fn repeats(&self, most: Option<usize>) -> bool {
        let Some(most) = most.filter(|_| self.written().is_multiple_of(8)) else {
            return false;
        };
        // What the adapter wrote to end thoughts is not the model's, and the answer begins behind it.
        let begin = self.forced.last().map_or(0, |place| place + 1);
        let written = &self.tokens[self.prompt + begin..];
        let Some(last) = written.len().checked_sub(most) else {
            return false;
        };
        (1..=(most / 4).min(last))
            .any(|phrase| written[last..] == written[last - phrase..written.len() - phrase])
    }

    /// # Errors
    /// `Model` where a tool must be called and is not called by its schema.
    pub(crate) fn finish(self, model: &ModelId, finish: FinishReason) -> Result<Generation> {
        let (text, stopped) = self.stream.finish();
        let finish = if stopped { FinishReason::Stop } else { finish };
        let (text, calls) = match self.tools {
            Some(tools) => tools.read(text, finish)?,
            None => (text, Vec::new()),
        };
        let (prompt, written) = self.tokens.split_at(self.prompt);
        let (prompt, written) = (ids(prompt), ids(written));
        let mut generation =
            Generation::of_tokens(model.clone(), text, prompt, written, self.logprobs);
        generation.calls = calls;
        generation.forced = self.forced;
        generation.finish = finish;
        Ok(generation)
    }
}
