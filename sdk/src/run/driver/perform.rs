//! Performs effects with the host's parts. Every call has a time limit, which takes effect at its await points, and every
//! panic becomes an error. Calls of roles, with a prompt that fits the model's context, are here; attempts are in `attempt.rs`, scores in
//! `scores.rs`.

use std::mem::take;

use tracing::{Instrument, Span};

use crate::{
    contract::{
        Embedding, FailedAnswer, FinishReason, GenerateRequest, Generation, LanguageModel,
        RoleAnswer, RoleRequest, RoleTask, Roles, TokenCount,
    },
    domain::{
        Candidate, DecidedOn, Prompt, Query, Role, Skill, SkillRef, Usage,
        gate_policy::ThresholdFor,
    },
    error::{Error, ErrorKind, Result},
    id::Seed,
    policy::{Answer, FailedCall, Played, RoleGeneration, ShortenedPrompt, Unreadable},
    run::{
        driver::{
            attempt::Desk,
            deciding::DecidingPart,
            performer::{self, Performer},
            redaction::holds_mark,
            scores::Wanted,
        },
        machine::effect::{CaseEffect, Effect},
        report::shown,
    },
    stations::{
        inject::{Room, too_long},
        select::check_fitted_for,
    },
    telemetry::{self, Chat},
};

impl Performer {
    /// Performs an effect. Every failure except that of a commit is returned as an answer. Secrets in the answer's texts are
    /// redacted (S10).
    ///
    /// An attempt keeps the skills of its first turn, even if the recipe selects for each turn
    /// ([`AttemptEffect::each_turn`](crate::run::AttemptEffect::each_turn)): only [`Journeyman`](crate::run::Journeyman) selects for later turns.
    ///
    /// # Errors
    /// The store's error for a commit.
    pub async fn perform(&self, effect: Effect) -> Result<Answer> {
        self.perform_at(effect, None).await
    }

    /// [`perform`](Self::perform) for the driver's loop: through `desk` an attempt asks for the skills of its later turns.
    pub(crate) async fn perform_at(&self, effect: Effect, desk: Option<Desk>) -> Result<Answer> {
        let of_secrets = matches!(&effect, Effect::Attempt(effect) if holds_mark(&effect.task));
        let span = span_of(&effect);
        let mut answer = self.answer(effect, desk).instrument(span.clone()).await?;
        self.redacting.answer(&mut answer, of_secrets);
        answered(&span, &answer);
        Ok(answer)
    }

    async fn answer(&self, effect: Effect, desk: Option<Desk>) -> Result<Answer> {
        Ok(match effect {
            Effect::Retrieve(query) => Answer::Retrieved(
                self.bounded_decision(
                    "Retriever::search",
                    (DecidingPart::Retrieval, self.lookup),
                    self.retrieve(&query),
                )
                .await
                .and_then(performer::sound_candidates),
            ),
            Effect::Score {
                query,
                skills,
                score,
                repeatable,
                fitted_for,
            } => {
                let wanted = Wanted { score, repeatable };
                self.scored(&query, &skills, (wanted, fitted_for.as_ref()))
                    .await
            }
            Effect::Threshold { most_wrong, on } => self.fitted((most_wrong, on)).await,
            Effect::Attempt(effect) => {
                let made = self.attempt(&effect, &[], desk).await;
                Answer::Attempted(made.and_then(performer::sound_trajectory))
            }
            Effect::Judge { task, trajectory } => Answer::Judged(
                self.bounded(
                    "Judge::judge",
                    self.limits.judge,
                    self.judge(&task, &trajectory),
                )
                .await,
            ),
            Effect::Role { ask, seed } => {
                let mut spent = Spent::default();
                let playing = self.play(&ask, seed, &mut spent);
                let played = self
                    .bounded("Roles::play", self.limits.write, playing)
                    .await;
                Answer::Played(played.map_err(|error| spent.failed(error)))
            }
            Effect::Case(case) => {
                let mut usage = Usage::default();
                let tried = self.case(&case, &mut usage).await;
                Answer::Tried(tried.map_err(|error| FailedCall {
                    usage,
                    ..FailedCall::from(error)
                }))
            }
            Effect::Embed(texts) => Answer::Embedded(
                self.bounded_decision(
                    "Embedder::embed",
                    (DecidingPart::Retrieval, self.lookup),
                    self.embed(&texts),
                )
                .await,
            ),
            Effect::Gain { skill, attempts } => Answer::Gained(
                self.gain(&skill, &attempts)
                    .await
                    .and_then(performer::sound_gain),
            ),
            Effect::Commit(commit) => Answer::Committed(self.commit(&commit).await?),
        })
    }

    async fn scored(
        &self,
        query: &str,
        skills: &[Skill],
        (wanted, fitted_for): (Wanted, Option<&ThresholdFor>),
    ) -> Answer {
        let scores = async {
            // Scores of other parts are on another scale than the threshold.
            if let Some(fitted) = fitted_for {
                check_fitted_for(fitted, &self.components)?;
            }
            self.score(query, skills, wanted).await
        };
        let part = (DecidingPart::Gate, self.limits.score);
        let scores = self.bounded_decision("Scorer::score", part, scores).await;
        Answer::Scored(scores.and_then(performer::sound_scores))
    }

    async fn fitted(&self, of: (f64, DecidedOn)) -> Answer {
        let fitting = self.threshold(of);
        // A fit that is broken off goes on at the next decision with the scores that it has.
        let part = (
            DecidingPart::Gate,
            self.limits.score.max(self.limits.fit.saturating_mul(4)),
        );
        Answer::Fitted(self.bounded_decision("Scorer::score", part, fitting).await)
    }

    pub(super) async fn retrieve(&self, query: &Query) -> Result<Vec<Candidate>> {
        if let Some(retriever) = &self.components.retriever {
            return retriever.search(query).await;
        }
        // Without a retriever every skill of the cache is a candidate. The run replaces the version by the library's.
        let among = query.among.iter().flatten();
        Ok(among
            .map(|id| Candidate {
                skill: SkillRef {
                    id: id.clone(),
                    version: crate::id::Version(0),
                },
                score: 0.0,
            })
            .collect())
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
                ErrorKind::Model,
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

// The span of each effect, and what its answer adds to it.

/// The span of the work for an effect; that of a commit is made where the commit is.
fn span_of(effect: &Effect) -> Span {
    match effect {
        Effect::Retrieve(query) => telemetry::retrieval(query.limit),
        Effect::Score { skills, .. } => telemetry::score(skills.len()),
        Effect::Threshold { .. } => telemetry::score(0),
        Effect::Attempt(effect) => {
            telemetry::agent(&effect.run, &effect.task.id, &effect.attempt, false)
        }
        Effect::Case(case) => {
            let CaseEffect { attempt, .. } = &**case;
            telemetry::agent(&attempt.run, &attempt.task.id, &attempt.attempt, true)
        }
        Effect::Role { ask, .. } => telemetry::role(ask.role()),
        Effect::Judge { .. } => telemetry::judgement(),
        Effect::Embed(_) => telemetry::embeddings(),
        Effect::Gain { .. } => telemetry::information_gain(),
        Effect::Commit(_) => Span::none(),
    }
}

/// Adds an answer, redacted, to the span of its effect.
fn answered(span: &Span, answer: &Answer) {
    if let Some(counts) = answer.role_counts() {
        let reading = match (counts.unreadable, counts.repaired, counts.failed) {
            (0, 0, 0) => "read",
            (0, _, 0) => "repaired",
            (_, _, 0) => "unreadable",
            _ => "none",
        };
        telemetry::read(span, reading, answer.whole_prompt());
    }
    match answer {
        Answer::Attempted(made) => {
            telemetry::finished(span, made);
            if let Ok(trajectory) = made {
                telemetry::used(span, trajectory.usage);
                telemetry::compacted(span, trajectory.compaction);
                span.record("journeyman.steps", telemetry::int(trajectory.steps.len()));
                if let Some(fault) = trajectory.fault() {
                    telemetry::failed(span, fault);
                }
            }
        }
        Answer::Judged(judged) => {
            telemetry::finished(span, judged);
            if let Ok(verdict) = judged {
                telemetry::judged(span, verdict);
            }
        }
        Answer::Played(Ok(played)) => {
            if let Some(played) = played {
                telemetry::used(span, played.usage);
            }
        }
        Answer::Tried(Ok(tried)) => telemetry::used(span, tried.usage),
        Answer::Played(Err(failed)) | Answer::Tried(Err(failed)) => {
            telemetry::used(span, failed.usage);
            telemetry::failed(span, &failed.error);
        }
        Answer::Retrieved(done) => telemetry::finished(span, done),
        Answer::Scored(done) => telemetry::finished(span, done),
        Answer::Fitted(done) => telemetry::finished(span, done),
        Answer::Embedded(done) => telemetry::finished(span, done),
        Answer::Gained(done) => telemetry::finished(span, done),
        Answer::Committed(_) => {}
    }
}

// Requests to roles: a prompt that fits the model's context, the model's answer, and one repair.

/// The greatest number of shorter prompts that are tried for one request.
const ROUNDS: usize = 8;
/// Of the room that a prompt's characters should need by its count, one part in so many is left free.
const SLACK_PART: usize = 32;
/// A prompt that was narrowed is long enough where no more than one part in so many of its room is free.
const FILLED_PART: usize = 8;

/// What a role's calls of its model used and recorded.
#[derive(Debug, Default)]
struct Spent {
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

    fn failed(mut self, error: Error) -> FailedCall {
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
    async fn play(&self, ask: &RoleTask, seed: Seed, spent: &mut Spent) -> Result<Option<Played>> {
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
