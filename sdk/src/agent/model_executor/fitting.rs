//! Prompts of turns that fit the model's context.

use super::compact::{Compactor, Seen};
use crate::{
    contract::{
        GenerateRequest, Generation, LanguageModel, PromptFormat, TokenCount, TurnMove, TurnView,
    },
    domain::{Compaction, Injection, Observation, Step, Task},
    error::Result,
    stations::inject::Room,
};

/// The greatest number of prompts that are tried for one turn before everything that can be left out is.
const ROUNDS: usize = 6;
/// Where steps are shortened, one part in so many of the prompt's room is left free for the next turns.
const SPARE_PART: usize = 4;

/// What a turn's prompt is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn<'a> {
    pub(super) task: &'a Task,
    pub(super) injection: &'a Injection,
    pub(super) observation: &'a Observation,
    pub(super) steps: &'a [Step],
    pub(super) replies: &'a [Generation],
}

impl<'a> Turn<'a> {
    fn seen(self) -> Seen<'a> {
        Seen {
            instruction: &self.task.instruction,
            steps: self.steps,
            observation: self.observation,
        }
    }
}

/// The next move of a turn, with a prompt that fits.
pub(super) enum Fitted {
    /// A request that fits, with the tokens of an answer that the prompt format asked for.
    Generate(Box<GenerateRequest>, usize),
    /// A move that needs no prompt.
    Move(TurnMove),
    /// Even the shortest prompt is too long.
    TooLong(TokenCount),
}

impl Fitted {
    /// A prompt that is about as long as the context.
    pub(super) fn too_long(context: usize) -> Self {
        Self::TooLong(TokenCount {
            tokens: context,
            estimated: true,
        })
    }
}

/// Makes the prompts of an attempt's turns fit.
#[derive(Debug, Default)]
pub(super) struct Fitting {
    compactor: Compactor,
    /// What the prompts of earlier turns left out.
    pub(super) left_out: Compaction,
}

impl Fitting {
    /// The next move. `blank` is the request without a prompt; `refused` is the model's own count of the last prompt, where it has refused that as too long.
    pub(super) async fn fitted(
        &mut self,
        (model, prompt_format): (&dyn LanguageModel, &dyn PromptFormat),
        turn: Turn<'_>,
        blank: &GenerateRequest,
        mut refused: Option<TokenCount>,
    ) -> Result<Fitted> {
        let room = Room::of(model.context());
        for round in 0..=ROUNDS {
            let (next, left_out) = self.next(prompt_format, turn)?;
            let TurnMove::Generate {
                prompt,
                tools,
                stop,
                max_tokens,
                json_schema,
            } = next
            else {
                return Ok(Fitted::Move(next));
            };
            let mut ask = GenerateRequest {
                prompt,
                tools,
                stop,
                max_tokens,
                json_schema: json_schema.filter(|_| model.capabilities().json_schema),
                ..blank.clone()
            };
            let count = match refused.take() {
                Some(count) => count,
                None => model.count_prompt(&ask).await?,
            };
            let answer = ask.max_tokens;
            if room.fits(answer, count) {
                self.left_out.add(Compaction {
                    prompts: 0,
                    ..left_out
                });
                ask.max_tokens = room.for_answer(answer, count.tokens);
                return Ok(Fitted::Generate(Box::new(ask), answer));
            }
            let seen = turn.seen();
            let chars = ask.prompt.text().chars().count() + tools_chars(&ask);
            let most = room.for_prompt(answer, count);
            let need = (count.tokens - most) * chars / count.tokens.max(1);
            let spare = chars * most / count.tokens.max(1) / SPARE_PART;
            let any = match round + 1 < ROUNDS {
                true => self.compactor.cut(seen, (need + 1, spare)),
                false => {
                    let before = self.compactor.clone();
                    self.compactor.cut_all(seen);
                    self.compactor != before
                }
            };
            if !any {
                return Ok(Fitted::TooLong(count));
            }
        }
        // The last round left out everything, and found nothing more to leave out.
        Ok(Fitted::too_long(model.context()))
    }

    /// Counts a turn whose prompt left something out.
    pub(super) fn turn_is_over(&mut self) {
        if self.compactor != Compactor::default() {
            self.left_out.prompts = self.left_out.prompts.saturating_add(1);
        }
    }

    /// The prompt format's move, in view of what the prompt may show.
    fn next(
        &self,
        prompt_format: &dyn PromptFormat,
        turn: Turn<'_>,
    ) -> Result<(TurnMove, Compaction)> {
        let compacted =
            (self.compactor != Compactor::default()).then(|| self.compactor.apply(turn.seen()));
        let (steps, observation, left_out) = match &compacted {
            None => (turn.steps, turn.observation, Compaction::NONE),
            Some(shown) => (&*shown.steps, &shown.observation, shown.left_out),
        };
        let next = prompt_format.turn(&TurnView {
            task: turn.task,
            injection: turn.injection,
            observation,
            steps,
            replies: turn.replies,
        })?;
        Ok((next, left_out))
    }
}

fn tools_chars(ask: &GenerateRequest) -> usize {
    let chars = ask
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len());
    chars.sum()
}
