//! Writing, token by token.

use journeyman::{
    Error, ModelId, Result,
    contract::{FinishReason, GenerateRequest, Generation},
    domain::TokenId,
};
use llama_cpp_2::token::LlamaToken;

use crate::{
    constrain::Constraint,
    convert::{ids, too_long},
    decode::{Engine, GoOn, Row},
    sampling::{self, LogSum},
    text_stream::TextStream,
};

pub(crate) const GENERATE: &str = "LlamaCpp::generate";

/// What the model chose, and what holds it to a schema.
struct Written {
    constraint: Option<Constraint>,
    ids: Vec<TokenId>,
    logprobs: Vec<f32>,
}

impl Written {
    /// Draws the next token, of those that may come.
    fn draw(&mut self, request: &GenerateRequest, logits: &[f32]) -> Result<TokenId> {
        let place = self.ids.len() as u64;
        let Some(constraint) = &mut self.constraint else {
            return Ok(sampling::draw(&request.sampling, place, logits));
        };
        let mut masked = logits.to_vec();
        constraint.mask(&mut masked)?;
        Ok(sampling::draw(&request.sampling, place, &masked))
    }
}

pub(crate) fn generate(
    engine: &mut Engine<'_>,
    model: &ModelId,
    request: &GenerateRequest,
    go_on: GoOn<'_>,
) -> Result<Generation> {
    sampling::check(GENERATE, &request.sampling)?;
    if request.stop.iter().any(String::is_empty) {
        return Err(Error::invalid(GENERATE, "a stop text is empty")
            .hint("leave it out: every text holds the empty one"));
    }
    let prompt = engine.renderer.prompt(GENERATE, &request.prompt)?;
    let context = engine.renderer.context;
    let room = context
        .checked_sub(prompt.len())
        .ok_or_else(|| too_long(GENERATE, prompt.len(), context))?;

    let mut written = Written {
        constraint: engine.renderer.constraint(GENERATE, request)?,
        ids: Vec::new(),
        logprobs: Vec::new(),
    };
    let mut stream = TextStream::new(request.stop.clone(), request.sink.clone());
    let room = room.min(request.max_tokens);
    let mut finish = FinishReason::Length;
    if room > 0 {
        finish = write(
            engine,
            request,
            &prompt,
            room,
            &mut written,
            &mut stream,
            go_on,
        )?;
    }
    let (text, stopped) = stream.finish();
    if stopped {
        finish = FinishReason::Stop;
    }
    Ok(Generation {
        text,
        prompt_tokens: prompt.len() as u64,
        output_tokens: written.ids.len() as u64,
        prompt_ids: ids(&prompt),
        ids: written.ids,
        logprobs: written.logprobs,
        finish,
        model: model.clone(),
    })
}

/// Writes at most `room` tokens, at least one.
fn write(
    engine: &mut Engine<'_>,
    request: &GenerateRequest,
    prompt: &[LlamaToken],
    room: usize,
    written: &mut Written,
    stream: &mut TextStream,
    go_on: GoOn<'_>,
) -> Result<FinishReason> {
    let mut row = engine.prefill(GENERATE, prompt, go_on)?;
    loop {
        go_on()?;
        let logits = engine.logits(row);
        let log_sum = LogSum::of(GENERATE, logits)?;
        let id = written.draw(request, logits)?;
        written
            .logprobs
            .push(log_sum.logprob(GENERATE, logits, id)? as f32);
        written.ids.push(id);

        let token = LlamaToken(id);
        if engine.renderer.ends_text(token) {
            return Ok(FinishReason::EndOfText);
        }
        if let Some(constraint) = &mut written.constraint {
            constraint.accept(id)?;
        }
        if stream.push(&engine.renderer.piece(token)) {
            return Ok(FinishReason::Stop);
        }
        if written.ids.len() == room {
            return Ok(FinishReason::Length);
        }
        let next = Row {
            token,
            position: prompt.len() + written.ids.len() - 1,
            sequence: 0,
            logits: true,
        };
        engine.decode(GENERATE, &[next])?;
        row = 0;
    }
}
