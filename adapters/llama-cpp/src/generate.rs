//! Writing, token by token.

use journeyman::{
    Error, ModelId, Result,
    contract::{FinishReason, GenerateRequest, Generation},
    domain::Sampling,
};
use llama_cpp_2::token::LlamaToken;

use crate::{
    constrain::Constraint,
    convert::{ids, too_long},
    render::Renderer,
    sampling::{self, Sampler},
    text_stream::TextStream,
};

pub(crate) const GENERATE: &str = "LlamaCpp::generate";

/// A text on its way.
pub(crate) struct Writing {
    /// The prompt, and behind it what was written.
    tokens: Vec<LlamaToken>,
    prompt: usize,
    /// Greatest number of tokens to write, within the context.
    room: usize,
    sampling: Sampling,
    constraint: Option<Constraint>,
    logprobs: Vec<f32>,
    stream: TextStream,
}

impl Writing {
    pub(crate) fn new(renderer: &Renderer, request: &GenerateRequest) -> Result<Self> {
        sampling::check(GENERATE, &request.sampling)?;
        if request.stop.iter().any(String::is_empty) {
            return Err(Error::invalid(GENERATE, "a stop text is empty")
                .hint("leave it out: every text holds the empty one"));
        }
        let tokens = renderer.prompt(GENERATE, &request.prompt)?;
        let room = renderer
            .context
            .checked_sub(tokens.len())
            .ok_or_else(|| too_long(GENERATE, tokens.len(), renderer.context))?;
        Ok(Self {
            prompt: tokens.len(),
            tokens,
            room: room.min(request.max_tokens),
            sampling: request.sampling,
            constraint: renderer.constraint(GENERATE, request)?,
            logprobs: Vec::new(),
            stream: TextStream::new(request.stop.clone(), request.sink.clone()),
        })
    }

    /// What must be in memory before the next token can be drawn.
    pub(crate) fn tokens(&self) -> &[LlamaToken] {
        &self.tokens
    }

    /// How many tokens are written.
    fn written(&self) -> usize {
        self.logprobs.len()
    }

    /// How many tokens may still come.
    pub(crate) fn left(&self) -> usize {
        self.room - self.written()
    }

    /// Draws the next token; the reason where it was the last.
    pub(crate) fn next(
        &mut self,
        renderer: &Renderer,
        sampler: &mut Sampler,
        logits: &[f32],
    ) -> Result<Option<FinishReason>> {
        let place = self.written() as u64;
        let constraint = self.constraint.as_mut();
        let (id, logprob) = sampler.draw(GENERATE, &self.sampling, constraint, place, logits)?;
        self.logprobs.push(logprob as f32);
        let token = LlamaToken(id);
        self.tokens.push(token);
        if renderer.ends_text(token) {
            return Ok(Some(FinishReason::EndOfText));
        }
        if let Some(constraint) = &mut self.constraint {
            constraint.accept(id)?;
        }
        let finish = if self.stream.push(&renderer.piece(token)) {
            Some(FinishReason::Stop)
        } else if self.left() == 0 {
            Some(FinishReason::Length)
        } else {
            None
        };
        Ok(finish)
    }

    pub(crate) fn finish(self, model: &ModelId, finish: FinishReason) -> Generation {
        let (text, stopped) = self.stream.finish();
        let (prompt, written) = self.tokens.split_at(self.prompt);
        Generation {
            text,
            prompt_tokens: prompt.len() as u64,
            output_tokens: written.len() as u64,
            prompt_ids: ids(prompt),
            ids: ids(written),
            logprobs: self.logprobs,
            finish: if stopped { FinishReason::Stop } else { finish },
            model: model.clone(),
        }
    }
}
