//! Performs test cases, embeddings, and requests to roles.

use std::mem::take;

use tracing::Instrument;

use crate::{
    contract::{
        Embedding, FailedAnswer, FinishReason, GenerateRequest, Generation, LanguageModel,
        RoleAnswer, RoleRequest, RoleTask, Roles, TokenCount,
    },
    domain::{Prompt, Role, Trajectory, Usage},
    error::{Error, ErrorKind, Result},
    id::Seed,
    policy::{CaseRun, FailedCall, Played, RoleGeneration, ShortenedPrompt, Unreadable},
    run::{
        driver::{guards, performer::Performer, redaction::holds_mark},
        machine::effect::CaseEffect,
        report::shown,
    },
    stations::inject::{Room, too_long},
    telemetry::Chat,
};

impl Performer {
    /// Plays a test case and judges the attempt. The attempt's tokens are added to `spent`, also where it cannot be judged.
    pub(crate) async fn case(&self, case: &CaseEffect, spent: &mut Usage) -> Result<CaseRun> {
        let CaseEffect { attempt, prefix } = case;
        self.attempts_again("Performer::perform")?;
        if !prefix.is_empty() && !self.repeats() {
            return Err(Error::unsupported(
                "Performer::perform",
                "a test case that begins in the middle of an attempt needs a deterministic environment",
            )
            .hint("declare it in `Environment::capabilities`, or let cases begin at the first step"));
        }
        let trajectory = self.attempt(attempt, prefix, None).await?;
        spent.add(trajectory.usage);
        let trajectory = guards::sound_trajectory(trajectory)?;
        if let Some(fault) = trajectory.fault() {
            return Err(fault.clone());
        }
        if trajectory.lacks_context() {
            return Err(
                Error::invalid("Performer::perform", trajectory.end.to_string()).hint(
                    "use a model with a longer context, or shorten the tools of the environment",
                ),
            );
        }
        let judging = self.judge(&attempt.task, &trajectory);
        let verdict = self
            .bounded("Judge::judge", self.limits.judge, judging)
            .await?;
        let own = trajectory.steps.iter().skip(prefix.len());
        let refused = own.filter(|step| step.result.is_error).count();
        Ok(CaseRun {
            refusals: u32::try_from(refused).unwrap_or(u32::MAX),
            verdict,
            usage: trajectory.usage,
            model: trajectory.model.clone(),
        })
    }

    /// Whether the environment gives the same answers to the same actions, so that actions can be replayed.
    pub(crate) fn repeats(&self) -> bool {
        let world = self.components.environment.as_ref();
        world.is_some_and(|world| world.capabilities().replays_prefixes())
    }

    /// Whether test cases can be played: there are an agent, a judge, and a world that can be set up again.
    pub(crate) fn replays(&self) -> bool {
        let (parts, world) = (&self.components, self.components.environment.as_ref());
        parts.executor.is_some()
            && parts.judge.is_some()
            && world.is_some_and(|world| world.capabilities().resettable)
    }

    /// Checks that a task can be attempted again, where the host gave a world.
    ///
    /// # Errors
    /// `Unsupported` where the world cannot be set up again.
    pub(crate) fn attempts_again(&self, operation: &'static str) -> Result<()> {
        match &self.components.environment {
            Some(world) if !world.capabilities().resettable => Err(not_again(operation)),
            _ => Ok(()),
        }
    }

    /// An attempt outside a run, redacted.
    ///
    /// # Errors
    /// The error of an attempt that could not be made, or that a part's fault ended.
    pub(crate) async fn trial(&self, trial: &CaseEffect) -> Result<Box<Trajectory>> {
        let CaseEffect { attempt, prefix } = trial;
        let trajectory = self.attempt(attempt, prefix, None).await?;
        let mut trajectory = guards::sound_trajectory(trajectory)?;
        self.redacting
            .trajectory(&mut trajectory, holds_mark(&attempt.task));
        match trajectory.fault() {
            Some(fault) => Err(fault.clone()),
            None => Ok(trajectory),
        }
    }

    /// Embeds texts, using the cache; `None` without an embedder.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Option<Vec<Embedding>>> {
        let Some(embedder) = &self.components.embedder else {
            return Ok(None);
        };
        let mut all = self.embedding_cache.get(texts);
        let missing = (0..).zip(&all).filter(|(_, known)| known.is_none());
        let missing: Vec<usize> = missing.map(|(place, _)| place).collect();
        let asked = missing.iter().filter_map(|place| texts.get(*place));
        let asked: Vec<&str> = asked.map(String::as_str).collect();
        let made = match asked.as_slice() {
            [] => Vec::new(),
            asked => embedder.embed(asked).await?,
        };
        if made.len() != asked.len() {
            return Err(Error::new(
                crate::error::ErrorKind::Model,
                "Embedder::embed",
                format!(
                    "the embedder returned {} embeddings for {} texts",
                    made.len(),
                    asked.len()
                ),
            ));
        }
        self.embedding_cache.insert(&asked, &made);
        for (place, embedding) in missing.into_iter().zip(made) {
            if let Some(one) = all.get_mut(place) {
                *one = Some(embedding);
            }
        }
        Ok(all.into_iter().collect())
    }
}

/// The error of an attempt at a task that was attempted before, in a world that cannot be set up again.
pub(crate) fn not_again(operation: &'static str) -> Error {
    Error::unsupported(
        operation,
        "the environment does not declare that a task can be set up again, so that no attempt is repeated in it",
    )
    .hint("declare `EnvironmentCapabilities::resettable` (`resettable = True` in Python) if a second attempt at a task finds the world as the first one did")
}

// Performs role requests: a prompt that fits the model's context, the model's answer, and one repair.

/// The greatest number of shorter prompts that are tried for one request.
const ROUNDS: usize = 8;
/// Of the room that a prompt's characters should need by its count, one part in so many is left free.
const SLACK_PART: usize = 32;
/// A prompt that was narrowed is long enough where no more than one part in so many of its room is free.
const FILLED_PART: usize = 8;

/// What a role's calls of its model used and recorded.
#[derive(Debug, Default)]
pub(super) struct Spent {
    usage: Usage,
    generations: Vec<RoleGeneration>,
    /// Whether a generation has no record: then none of them is handed out, since a part of what a role wrote is not what it did.
    incomplete: bool,
    unreadable: Vec<Unreadable>,
    shortened: Option<ShortenedPrompt>,
}

impl Spent {
    /// The generations, each with its record, or none.
    fn generations(self) -> Vec<RoleGeneration> {
        match self.incomplete {
            true => Vec::new(),
            false => self.generations,
        }
    }

    /// The result of a call that failed.
    pub(super) fn failed(mut self, error: Error) -> FailedCall {
        FailedCall {
            error,
            usage: self.usage,
            unreadable: take(&mut self.unreadable),
            shortened: self.shortened.take(),
            generations: self.generations(),
        }
    }

    fn played(&mut self, answer: RoleAnswer) -> Played {
        let mut spent = take(self);
        Played {
            unreadable: take(&mut spent.unreadable),
            shortened: spent.shortened.take(),
            usage: spent.usage,
            generations: spent.generations(),
            ..Played::of(answer)
        }
    }
}

impl Performer {
    /// Plays a role. If the model's answer cannot be parsed, the model is asked once to repair it; if that fails too, the
    /// role's fallback is used, if it has one (ARISE D.1). Tokens, records and unreadable answers are added to `spent`, so that
    /// those of a call that fails or runs out of time are known.
    ///
    /// # Errors
    /// `Model` where neither answer can be parsed and the role has no fallback; `Invalid` where even the shortest prompt is too
    /// long for the model's context; the model's error.
    pub(super) async fn play(
        &self,
        ask: &RoleTask,
        seed: Seed,
        spent: &mut Spent,
    ) -> Result<Option<Played>> {
        let components = &self.components;
        let (Some(model), Some(roles)) = (components.model_for(ask.role()), &components.roles)
        else {
            return Ok(None);
        };
        let (model, roles) = (model.as_ref(), roles.as_ref());
        let first = RoleRequest::new(ask, seed.derive("round", 0));
        let (text, finish) = self.ask(model, roles, first, spent).await?;
        let fault = match self.read(roles, &first, &text, spent) {
            Ok(played) => return Ok(Some(played)),
            Err(fault) => finish.explain(fault.to_string()),
        };
        let second = RoleRequest {
            seed: seed.derive("round", 1),
            failed: Some(FailedAnswer {
                text: &text,
                reason: &fault,
            }),
            ..first
        };
        let (repaired, _) = self.ask(model, roles, second, spent).await?;
        match self.read(roles, &second, &repaired, spent) {
            Ok(played) => Ok(Some(played)),
            Err(again) => match roles.fallback(ask) {
                None => Err(again
                    .with("role", ask.role())
                    .with("wrote", shown(&repaired))),
                Some(answer) => Ok(Some(Played {
                    fallback: true,
                    ..spent.played(answer)
                })),
            },
        }
    }

    /// Reads an answer; one that cannot be read is added to `spent`.
    fn read(
        &self,
        roles: &dyn Roles,
        request: &RoleRequest<'_>,
        text: &str,
        spent: &mut Spent,
    ) -> Result<Played> {
        match roles.read(request, text) {
            Ok(answer) => Ok(Played {
                notes: roles.notes(request, text),
                ..spent.played(answer)
            }),
            Err(fault) => {
                spent.unreadable.push(Unreadable {
                    text: text.to_owned(),
                    reason: fault.to_string(),
                });
                Err(fault)
            }
        }
    }

    /// The model's answer, redacted: an answer that cannot be parsed becomes part of the repair prompt. Where the prompt or the
    /// answer holds a secret there is no record, since token records cannot be redacted. Prompts are made of redacted attempts, but
    /// a skill of the library may be older than the redactor.
    async fn ask(
        &self,
        model: &dyn LanguageModel,
        roles: &dyn Roles,
        request: RoleRequest<'_>,
        spent: &mut Spent,
    ) -> Result<(String, FinishReason)> {
        let role = request.task.role();
        let (request, generation) = self.generated(model, roles, request, spent).await?;
        let mut text = generation.text.clone();
        self.redacting.text(&mut text);
        spent.usage.add(Usage {
            prompt_tokens: generation.prompt_tokens,
            output_tokens: generation.output_tokens,
        });
        if self.record_roles {
            let prompt = request.prompt.text();
            let is_clean =
                text == generation.text && self.redacting.redactor.redact(&prompt) == prompt;
            match generation.record(&request).filter(|_| is_clean) {
                Some(record) => spent.generations.push(RoleGeneration { role, record }),
                None => spent.incomplete = true,
            }
        }
        Ok((text, generation.finish))
    }

    /// Sends a prompt that fits. A prompt that the model refuses as too long although an estimate said that it fits is shortened
    /// by the model's own count. A schema that the model cannot be constrained by is left out.
    async fn generated(
        &self,
        model: &dyn LanguageModel,
        roles: &dyn Roles,
        mut request: RoleRequest<'_>,
        spent: &mut Spent,
    ) -> Result<(GenerateRequest, Generation)> {
        let mut constrained = model.capabilities().json_schema;
        let (mut counted, mut last) = (None, None);
        for _ in 0..ROUNDS {
            let mut ask = fitted(model, roles, &mut request, counted, &mut spent.shortened).await?;
            if !constrained {
                ask.json_schema = None;
            }
            let is_same =
                |(prompt, most): &(Prompt, usize)| *prompt == ask.prompt && *most == ask.max_tokens;
            if last.as_ref().is_some_and(is_same) {
                // It would be refused again.
                break;
            }
            let capabilities = model.capabilities();
            ask.time_limit = capabilities.time_limit(ask.time_limit, ask.max_tokens);
            let chat = Chat::new(&capabilities.model, &ask, self.texts());
            let generated = model.generate(&ask).instrument(chat.span.clone()).await;
            chat.answered(&generated, self.texts());
            let error = match generated {
                Ok(generation) => return Ok((ask, generation)),
                Err(error) => error,
            };
            if let Some(told) = too_long(&error) {
                counted = told.since(counted);
                last = Some((ask.prompt, ask.max_tokens));
                continue;
            }
            let has_schema = ask.json_schema.is_some();
            if !(error.kind() == ErrorKind::Unsupported && has_schema) {
                return Err(error);
            }
            constrained = false;
        }
        let tokens = counted.map_or(0, |counted| counted.tokens);
        Err(lacks_context(request.task.role(), model, tokens))
    }
}

/// The role's request with a prompt that fits the model's context: the whole one, or a shorter one in whose `room` the request
/// then is. `counted` is the model's own count of the last prompt, where it has refused that.
async fn fitted(
    model: &dyn LanguageModel,
    roles: &dyn Roles,
    request: &mut RoleRequest<'_>,
    counted: Option<TokenCount>,
    shortened: &mut Option<ShortenedPrompt>,
) -> Result<GenerateRequest> {
    let room = Room::of(model.context());
    let mut ask = roles.prompt(request)?;
    let mut count = match counted {
        Some(counted) => counted,
        None => model.count_prompt(&ask).await?,
    };
    let whole = count;
    let answer = ask.max_tokens;
    let mut long = None;
    let mut rounds = 0..ROUNDS;
    while !room.fits(answer, count) {
        let Some(round) = rounds.next() else {
            return Err(lacks_context(request.task.role(), model, count.tokens));
        };
        let tried = Size::of(&ask, count);
        long = Some(tried);
        let most = room.for_prompt(answer, count);
        let narrower = tried.chars.saturating_mul(most) / count.tokens.max(1);
        // Characters and tokens go apart: the last round takes the shortest prompt that there is.
        request.room = Some(match round + 1 < ROUNDS {
            true => narrower - narrower / SLACK_PART,
            false => 0,
        });
        ask = roles.prompt(request)?;
        count = model.count_prompt(&ask).await?;
    }
    // A model's own count of a prompt that it refused and an estimate are of two scales: between them nothing can be found.
    if let (Some(long), None, false) = (long, counted, count.estimated) {
        let bracket = (Size::of(&ask, count), long);
        let rounds = rounds.len();
        let wider = widened(model, roles, request, (room, answer), bracket, rounds).await?;
        if let Some((chars, prompt, tokens)) = wider {
            request.room = Some(chars);
            (ask, count) = (prompt, tokens);
        }
    }
    if request.room.is_some() {
        let before = shortened.as_ref().map_or(0, |before| before.whole);
        *shortened = Some(ShortenedPrompt {
            whole: as_u64(whole.tokens).max(before),
            sent: as_u64(count.tokens),
            estimated: count.estimated,
            left_out: roles.left_out(request).unwrap_or_default(),
        });
    }
    ask.max_tokens = room.for_answer(answer, count.tokens);
    Ok(ask)
}

/// A longer prompt that fits, with its room in characters and its count; `None` where the one that is known is long enough, or none
/// was found in so many `rounds`. The fixed text of a prompt and the data in it have different numbers of characters a token, so a
/// prompt that was narrowed by the average may be far shorter than it has to be.
async fn widened(
    model: &dyn LanguageModel,
    roles: &dyn Roles,
    request: &RoleRequest<'_>,
    (room, answer): (Room, usize),
    (mut fits, mut long): (Size, Size),
    rounds: usize,
) -> Result<Option<(usize, GenerateRequest, TokenCount)>> {
    let mut found = None;
    for _ in 0..rounds {
        let most = room.for_prompt(answer, fits.count);
        let free = most.saturating_sub(fits.tokens());
        let Some(chars) = fits
            .towards(long, free)
            .filter(|_| free > most / FILLED_PART)
        else {
            break;
        };
        let wider = RoleRequest {
            room: Some(chars),
            ..*request
        };
        let ask = roles.prompt(&wider)?;
        let tried = Size::of(&ask, model.count_prompt(&ask).await?);
        if !room.fits(answer, tried.count) {
            long = tried;
        } else if tried.chars > fits.chars {
            fits = tried;
            found = Some((chars, ask, tried.count));
        } else {
            break;
        }
    }
    Ok(found)
}

/// The length of a prompt.
#[derive(Clone, Copy, Debug)]
struct Size {
    chars: usize,
    count: TokenCount,
}

impl Size {
    fn of(ask: &GenerateRequest, count: TokenCount) -> Self {
        Self {
            chars: ask.prompt.text().chars().count(),
            count,
        }
    }

    fn tokens(self) -> usize {
        self.count.tokens
    }

    /// The number of characters at which `free` tokens more than here are used, by a straight line to a longer prompt; `None` where
    /// nothing lies between.
    fn towards(self, long: Self, free: usize) -> Option<usize> {
        let chars = long.chars.checked_sub(self.chars)?;
        let tokens = long.tokens().checked_sub(self.tokens())?;
        let more = chars.saturating_mul(free) / tokens.max(1);
        let more = more - more / SLACK_PART;
        (more > 0).then(|| self.chars.saturating_add(more))
    }
}

fn lacks_context(role: Role, model: &dyn LanguageModel, tokens: usize) -> Error {
    let context = model.context();
    let message = format!(
        "the shortest prompt of the role has {tokens} tokens, which leave no room for an answer in a context of {context}"
    );
    Error::invalid("Roles::prompt", message)
        .with("role", role)
        .with("prompt_tokens", tokens)
        .with("context", context)
        .hint("load the model with a longer context, or shorten the role's skill")
}

fn as_u64(tokens: usize) -> u64 {
    u64::try_from(tokens).unwrap_or(u64::MAX)
}
