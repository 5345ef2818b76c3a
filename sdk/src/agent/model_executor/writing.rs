//! One turn of the model: prompts that fit its context, its answers, and the prompt format's reading of them.

use tracing::Instrument;

use super::{
    Run,
    fitting::{self, Fitted},
    turn::{Acted, Turn},
};
use crate::{
    contract::{FinishReason, GenerateRequest, Generation, TurnMove},
    domain::{GenerationRecord, Injection, Observation, Prompt, UnreadTurn, Usage},
    error::{Error, ErrorKind, Result},
    stations::inject::too_long,
    telemetry::Chat,
};

/// The greatest number of moves of a prompt format in one turn, by the contract's rule *ends*.
const MOVES: usize = 8;
/// The greatest number of prompts of one turn that the model may refuse as too long.
const REFUSALS: usize = 8;

/// What was written in a turn.
#[derive(Debug, Default)]
struct Written {
    replies: Vec<Generation>,
    generations: Vec<GenerationRecord>,
    /// The tokens of the prompt behind which the context cut the last answer off.
    cut_off: Option<u64>,
}

impl Run<'_> {
    /// Asks the model until the prompt format reads an action or gives up.
    pub(super) async fn write(
        &mut self,
        observation: &Observation,
        injection: &Injection,
    ) -> Result<Turn> {
        let mut written = Written::default();
        let turn = self.write_on(observation, injection, &mut written).await;
        // Each prompt of a turn contains the one before, so the last one counts.
        self.usage.add(Usage {
            prompt_tokens: written
                .replies
                .last()
                .map_or(0, |reply| reply.prompt_tokens),
            output_tokens: 0,
        });
        self.fitting.turn_is_over();
        turn
    }

    async fn write_on(
        &mut self,
        observation: &Observation,
        injection: &Injection,
        written: &mut Written,
    ) -> Result<Turn> {
        for _ in 0..MOVES {
            match self.next(observation, injection, written).await? {
                Fitted::Generate(..) => {}
                Fitted::TooLong(count) => return Ok(Turn::TooLong(as_u64(count.tokens))),
                Fitted::Move(TurnMove::Act {
                    action,
                    transcript,
                    used,
                    notes,
                }) => {
                    for note in &notes {
                        tracing::warn!(attempt = %self.attempt.id, %note, "passed over");
                    }
                    return Ok(Turn::Act(Box::new(Acted {
                        action,
                        transcript,
                        used,
                        notes,
                        generations: std::mem::take(&mut written.generations),
                    })));
                }
                Fitted::Move(TurnMove::Unreadable { reason, transcript }) => {
                    return Ok(self.unreadable(observation, (reason, transcript), written));
                }
                Fitted::Move(TurnMove::Generate { .. }) => break,
            }
        }
        Err(Error::internal(
            "PromptFormat::turn",
            "the prompt format neither acted nor gave up",
        )
        .with("moves", MOVES)
        .hint("run the prompt format's conformance suite"))
    }

    /// The prompt format's next move. Where that is a prompt, the model has answered it.
    async fn next(
        &mut self,
        observation: &Observation,
        injection: &Injection,
        written: &mut Written,
    ) -> Result<Fitted> {
        let (mut refused, mut last) = (None, None);
        for _ in 0..=REFUSALS {
            let turn = fitting::Turn {
                task: self.attempt.task,
                injection,
                observation,
                steps: &self.steps,
                replies: &written.replies,
            };
            let blank = self.blank();
            let model = &*self.executor.model;
            let parts = (model, &*self.executor.prompt_format);
            let next = self.fitting.fitted(parts, turn, &blank, refused).await?;
            let Fitted::Generate(request, asked) = &next else {
                return Ok(next);
            };
            let is_same = |(prompt, most): &(Prompt, usize)| {
                *prompt == request.prompt && *most == request.max_tokens
            };
            if last.as_ref().is_some_and(is_same) {
                // It would be refused again.
                break;
            }
            // Without texts: the agent works with what is redacted elsewhere.
            let chat = Chat::new(&model.capabilities().model, request, None);
            let mut reply = model.generate(request).instrument(chat.span.clone()).await;
            if request.json_schema.is_some()
                && let Err(error) = &reply
                && matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Invalid)
                && too_long(error).is_none()
            {
                // A tool's schema has a keyword that this model cannot be held to.
                tracing::warn!(attempt = %self.attempt.id, %error, "the model is not held to the form of an action");
                let free = GenerateRequest {
                    json_schema: None,
                    ..(**request).clone()
                };
                reply = model.generate(&free).instrument(chat.span.clone()).await;
            }
            chat.answered(&reply, None);
            if let Some(told) = reply.as_ref().err().and_then(too_long) {
                refused = told.since(refused);
                last = Some((request.prompt.clone(), request.max_tokens));
                continue;
            }
            self.answered(reply?, request, *asked, written);
            return Ok(next);
        }
        let context = self.executor.model.context();
        Ok(refused.map_or_else(|| Fitted::too_long(context), Fitted::TooLong))
    }

    fn answered(
        &mut self,
        reply: Generation,
        request: &GenerateRequest,
        asked: usize,
        written: &mut Written,
    ) {
        self.generations += 1;
        let is_cut = reply.finish == FinishReason::Length && request.max_tokens < asked;
        written.cut_off = is_cut.then_some(reply.prompt_tokens);
        self.usage.add(Usage {
            prompt_tokens: 0,
            output_tokens: reply.output_tokens,
        });
        if self.executor.options.record {
            written.generations.extend(reply.record(request));
        }
        written.replies.push(reply);
    }

    /// The end of a turn in which nothing could be read: for want of context, where that cut the last answer off.
    fn unreadable(
        &self,
        observation: &Observation,
        (reason, transcript): (String, String),
        written: &mut Written,
    ) -> Turn {
        let attempt = &self.attempt.id;
        tracing::warn!(%attempt, %reason, "what the model wrote is no action");
        if let Some(prompt) = written.cut_off {
            return Turn::TooLong(prompt);
        }
        Turn::Unreadable(Box::new(UnreadTurn {
            observation: observation.clone(),
            transcript,
            reason,
            generations: std::mem::take(&mut written.generations),
        }))
    }

    /// The request of the next generation, without a prompt.
    fn blank(&self) -> GenerateRequest {
        let options = &self.executor.options;
        let seed = self.attempt.seed.derive("turn", self.generations);
        GenerateRequest {
            sampling: options.sampling(self.attempt.temperature, seed),
            time_limit: options.generation_time.min(self.attempt.time_limit),
            ..GenerateRequest::greedy(Prompt::default(), 0)
        }
    }
}

fn as_u64(tokens: usize) -> u64 {
    u64::try_from(tokens).unwrap_or(u64::MAX)
}
