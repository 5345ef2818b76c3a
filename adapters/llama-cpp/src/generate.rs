//! Generating a text, token by token.

use journeyman::{
    Error, ModelId, Result,
    contract::{FinishReason, GenerateRequest, Generation},
    domain::Sampling,
    text::TextStream,
};
use llama_cpp_2::token::LlamaToken;

use crate::{
    constrain::Constraint,
    convert::{ids, too_long},
    render::Renderer,
    sampling::{self, Sampler},
};

pub(crate) const GENERATE: &str = "LlamaCpp::generate";

/// The state of a text that is being generated.
pub(crate) struct Writing {
    /// The prompt, followed by the generated tokens.
    tokens: Vec<LlamaToken>,
    prompt: usize,
    /// Maximum tokens to generate, within the context.
    room: usize,
    sampling: Sampling,
    constraint: Option<Constraint>,
    logprobs: Vec<f32>,
    stream: TextStream,
}

impl Writing {
    pub(crate) fn new(renderer: &Renderer, request: &GenerateRequest) -> Result<Self> {
        request.refuse_tools(GENERATE)?;
        sampling::check(GENERATE, &request.sampling)?;
        if request.stop.iter().any(String::is_empty) {
            return Err(Error::invalid(GENERATE, "a stop text is empty")
                .hint("remove it: every text contains the empty text"));
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

    /// Draws the next token; returns the finish reason if it was the last.
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
            calls: Vec::new(),
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
