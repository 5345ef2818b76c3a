//! Performs role requests, test cases and embeddings.

use std::mem::take;

use tracing::Instrument;

use super::{performer::Performer, redacting::holds_mark, sound};
use crate::{
    contract::{Embedding, FailedAnswer, GenerateRequest, LanguageModel, RoleRequest, RoleTask},
    domain::{Role, Trajectory, Usage},
    error::{Error, Result},
    id::Seed,
    policy::{CaseRun, Played, RoleGeneration, Unreadable},
    run::machine::need::CaseNeed,
    telemetry::Chat,
};

/// What a role's calls of its model used and recorded.
#[derive(Debug, Default)]
pub(super) struct Spent {
    pub(super) usage: Usage,
    generations: Vec<RoleGeneration>,
    /// Whether a generation has no record: then none of them is handed out, since a part of what a role wrote is not what it did.
    incomplete: bool,
}

impl Spent {
    /// The generations, each with its record, or none.
    pub(super) fn generations(self) -> Vec<RoleGeneration> {
        match self.incomplete {
            true => Vec::new(),
            false => self.generations,
        }
    }
}

impl Performer {
    /// Plays a role. If the model's answer cannot be parsed, the model is asked once to repair it; if that fails too, the
    /// role's fallback is used, if it has one (ARISE D.1). Tokens and records are added to `spent`, so that those of a call
    /// that fails or runs out of time are known.
    ///
    /// # Errors
    /// `Model` where neither answer can be parsed and the role has no fallback; the model's error.
    pub(super) async fn play(
        &self,
        ask: &RoleTask,
        seed: Seed,
        spent: &mut Spent,
    ) -> Result<Option<Played>> {
        let (Some(model), Some(roles)) = (&self.backends.model, &self.backends.roles) else {
            return Ok(None);
        };
        let request = |round, failed| RoleRequest {
            task: ask,
            seed: seed.derive("round", round),
            failed,
        };
        let first = request(0, None);
        let text = self
            .ask(model.as_ref(), (ask.role(), roles.prompt(&first)?), spent)
            .await?;
        let fault = match roles.read(&first, &text) {
            Ok(answer) => return Ok(Some(played(answer, Vec::new(), take(spent)))),
            Err(fault) => fault.to_string(),
        };
        let failed = FailedAnswer {
            text: &text,
            reason: &fault,
        };
        let second = request(1, Some(failed));
        let repaired = self
            .ask(model.as_ref(), (ask.role(), roles.prompt(&second)?), spent)
            .await?;
        let mut unreadable = vec![Unreadable {
            text: text.clone(),
            reason: fault.clone(),
        }];
        match roles.read(&second, &repaired) {
            Ok(answer) => Ok(Some(played(answer, unreadable, take(spent)))),
            Err(again) => {
                let Some(answer) = roles.fallback(ask) else {
                    return Err(again.with("role", ask.role()));
                };
                unreadable.push(Unreadable {
                    text: repaired,
                    reason: again.to_string(),
                });
                Ok(Some(Played {
                    fallback: true,
                    ..played(answer, unreadable, take(spent))
                }))
            }
        }
    }

    /// The model's answer, redacted: an answer that cannot be parsed becomes part of the repair prompt. Where the prompt or the
    /// answer holds a secret there is no record, since token records cannot be redacted. Prompts are made of redacted attempts, but
    /// a skill of the library may be older than the redactor.
    async fn ask(
        &self,
        model: &dyn LanguageModel,
        (role, mut request): (Role, GenerateRequest),
        spent: &mut Spent,
    ) -> Result<String> {
        let capabilities = model.capabilities();
        request.time_limit = capabilities.time_limit(request.time_limit, request.max_tokens);
        let chat = Chat::new(&capabilities.model, &request, self.texts());
        let generated = model.generate(&request).instrument(chat.span.clone());
        let generated = generated.await;
        chat.answered(&generated, self.texts());
        let generation = generated?;
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
        Ok(text)
    }

    /// Plays a test case and judges the attempt. The attempt's tokens are added to `spent`, also where it cannot be judged.
    pub(crate) async fn case(&self, case: &CaseNeed, spent: &mut Usage) -> Result<CaseRun> {
        let CaseNeed { attempt, prefix } = case;
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
        let trajectory = sound::trajectory(trajectory)?;
        if let Some(fault) = trajectory.fault() {
            return Err(fault.clone());
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
        })
    }

    /// Whether the environment gives the same answers to the same actions, so that actions can be replayed.
    pub(crate) fn repeats(&self) -> bool {
        let world = self.backends.environment.as_ref();
        world.is_some_and(|world| world.capabilities().replays_prefixes())
    }

    /// Whether test cases can be played: there are an agent, a judge, and a world that can be set up again.
    pub(crate) fn replays(&self) -> bool {
        let (parts, world) = (&self.backends, self.backends.environment.as_ref());
        parts.executor.is_some()
            && parts.judge.is_some()
            && world.is_some_and(|world| world.capabilities().resettable)
    }

    /// Checks that a task can be attempted again, where the host gave a world.
    ///
    /// # Errors
    /// `Unsupported` where the world cannot be set up again.
    pub(crate) fn attempts_again(&self, operation: &'static str) -> Result<()> {
        match &self.backends.environment {
            Some(world) if !world.capabilities().resettable => Err(not_again(operation)),
            _ => Ok(()),
        }
    }

    /// An attempt outside a run, redacted.
    ///
    /// # Errors
    /// The error of an attempt that could not be made, or that a part's fault ended.
    pub(crate) async fn trial(&self, trial: &CaseNeed) -> Result<Box<Trajectory>> {
        let CaseNeed { attempt, prefix } = trial;
        let trajectory = self.attempt(attempt, prefix, None).await?;
        let mut trajectory = sound::trajectory(trajectory)?;
        self.redacting
            .trajectory(&mut trajectory, holds_mark(&attempt.task));
        match trajectory.fault() {
            Some(fault) => Err(fault.clone()),
            None => Ok(trajectory),
        }
    }

    /// Embeds texts, using the cache; `None` without an embedder.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Option<Vec<Embedding>>> {
        let Some(embedder) = &self.backends.embedder else {
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
    .hint("declare `EnvironmentCapabilities::resettable` if a second attempt at a task finds the world as the first one did")
}

fn played(
    answer: crate::contract::RoleAnswer,
    unreadable: Vec<Unreadable>,
    spent: Spent,
) -> Played {
    Played {
        answer,
        fallback: false,
        unreadable,
        usage: spent.usage,
        generations: spent.generations(),
    }
}
