//! What a model is asked beside acting: roles, cases of bundles, embeddings.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{perform::Performer, sound};
use crate::{
    contract::{Embedding, FailedAnswer, GenerateRequest, LanguageModel, RoleRequest, RoleTask},
    domain::Usage,
    error::{Error, Result},
    id::{Seed, sha256_hex},
    policy::{CaseRun, Played},
    run::machine::need::CaseNeed,
};

impl Performer {
    /// Plays a role: one answer, one repair, then what stands in for an answer where anything can (ARISE D.1).
    ///
    /// # Errors
    /// `Model` where neither answer can be read and nothing stands in for one; what the model gives.
    pub(crate) async fn play(&self, ask: &RoleTask, seed: Seed) -> Result<Option<Played>> {
        let (Some(model), Some(roles)) = (&self.backends.model, &self.backends.roles) else {
            return Ok(None);
        };
        let request = |round, failed| RoleRequest {
            task: ask,
            seed: seed.derive("round", round),
            failed,
        };
        let first = request(0, None);
        let (text, usage) = self.ask(model.as_ref(), roles.prompt(&first)?).await?;
        let fault = match roles.read(&first, &text) {
            Ok(answer) => return Ok(Some(played(answer, Vec::new(), usage))),
            Err(fault) => fault.to_string(),
        };
        let failed = FailedAnswer {
            text: &text,
            reason: &fault,
        };
        let second = request(1, Some(failed));
        let (repaired, more) = self.ask(model.as_ref(), roles.prompt(&second)?).await?;
        let usage = Usage {
            prompt_tokens: usage.prompt_tokens + more.prompt_tokens,
            output_tokens: usage.output_tokens + more.output_tokens,
        };
        let mut unreadable = vec![(text.clone(), fault.clone())];
        match roles.read(&second, &repaired) {
            Ok(answer) => Ok(Some(played(answer, unreadable, usage))),
            Err(again) => {
                let Some(answer) = roles.fallback(ask) else {
                    return Err(again.with("role", ask.role()));
                };
                unreadable.push((repaired, again.to_string()));
                Ok(Some(Played {
                    fallback: true,
                    ..played(answer, unreadable, usage)
                }))
            }
        }
    }

    /// The model's answer without secrets: what cannot be read goes into the prompt of the repair.
    async fn ask(
        &self,
        model: &dyn LanguageModel,
        request: GenerateRequest,
    ) -> Result<(String, Usage)> {
        let mut generation = model.generate(&request).await?;
        self.redacting.text(&mut generation.text);
        let usage = Usage {
            prompt_tokens: generation.prompt_tokens,
            output_tokens: generation.output_tokens,
        };
        Ok((generation.text, usage))
    }

    /// Plays a case and has it judged.
    pub(crate) async fn case(&self, case: &CaseNeed) -> Result<CaseRun> {
        let CaseNeed { attempt, prefix } = case;
        let world = self.backends.environment.as_ref();
        let repeats = world.is_some_and(|world| world.capabilities().deterministic);
        if !prefix.is_empty() && !repeats {
            return Err(Error::unsupported(
                "Performer::perform",
                "a fragment needs a world that gives the same answers to the same actions",
            )
            .hint("say so in `Environment::capabilities`, or let cases begin at the first step"));
        }
        let trajectory = self.attempt(attempt, prefix).await?;
        let trajectory = sound::trajectory(trajectory)?;
        if let Some(fault) = trajectory.fault() {
            return Err(fault.clone());
        }
        let judging = self.judge(&attempt.task, &trajectory);
        let verdict = self
            .bounded("Judge::judge", self.limits.judge, judging)
            .await
            .and_then(sound::verdict)?;
        let own = trajectory.steps.iter().skip(prefix.len());
        let refused = own.filter(|step| step.result.is_error).count();
        Ok(CaseRun {
            refusals: u32::try_from(refused).unwrap_or(u32::MAX),
            verdict,
            usage: trajectory.usage,
        })
    }

    /// Embeds texts, where there is something that does.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Option<Vec<Embedding>>> {
        let Some(embedder) = &self.backends.embedder else {
            return Ok(None);
        };
        let mut all = self.embedded.of(texts);
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
                "the embedder gave another number of answers than it was asked for",
            ));
        }
        self.embedded.keep(&asked, &made);
        for (place, embedding) in missing.into_iter().zip(made) {
            if let Some(one) = all.get_mut(place) {
                *one = Some(embedding);
            }
        }
        Ok(all.into_iter().collect())
    }
}

/// How many texts at least are remembered before the oldest are forgotten.
const LEAST_EMBEDDED: usize = 8_192;

/// Embeddings by the hashes of their texts: the same skills are ranked for every task, and the same attempts compared in
/// every round. The contract has it that a text's embedding is always the same.
#[derive(Debug, Default)]
pub(crate) struct Embedded(Mutex<Generations>);

/// What was asked for lately, and what was asked for before that. A generation has room for all texts of the largest
/// question, so that a library that is asked for again and again is not embedded again and again.
#[derive(Debug, Default)]
struct Generations {
    current: HashMap<String, Embedding>,
    before: HashMap<String, Embedding>,
    largest: usize,
}

impl Generations {
    /// An embedding that is asked for is of the current generation from there on.
    fn get(&mut self, key: &str) -> Option<Embedding> {
        if let Some((key, embedding)) = self.before.remove_entry(key) {
            self.current.insert(key, embedding);
        }
        self.current.get(key).cloned()
    }

    /// Behind a question, so that none of its own texts is forgotten.
    fn forget(&mut self) {
        if self.current.len() > self.largest.max(LEAST_EMBEDDED) {
            self.before = std::mem::take(&mut self.current);
        }
    }
}

impl Embedded {
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, texts: &[String]) -> Vec<Option<Embedding>> {
        let mut known = self.lock();
        known.largest = known.largest.max(texts.len());
        let keys = texts.iter().map(sha256_hex);
        keys.map(|key| known.get(&key)).collect()
    }

    fn keep(&self, texts: &[&str], embeddings: &[Embedding]) {
        let mut known = self.lock();
        for (text, embedding) in texts.iter().zip(embeddings) {
            known.current.insert(sha256_hex(text), embedding.clone());
        }
        known.forget();
    }
}

fn played(
    answer: crate::contract::RoleAnswer,
    unreadable: Vec<(String, String)>,
    usage: Usage,
) -> Played {
    Played {
        answer,
        fallback: false,
        unreadable,
        usage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_larger_than_the_room_is_remembered_whole() {
        let texts = |of: &str, count: usize| -> Vec<String> {
            (0..count).map(|at| format!("{of} {at}")).collect()
        };
        let embedded = Embedded::default();
        let ask = |texts: &[String]| {
            let known = embedded.of(texts);
            let missing = texts.iter().zip(known).filter(|(_, known)| known.is_none());
            let missing: Vec<&str> = missing.map(|(text, _)| text.as_str()).collect();
            let one = Embedding::new(vec![1.0]).unwrap();
            embedded.keep(&missing, &vec![one; missing.len()]);
            missing.len()
        };
        let many = texts("many", LEAST_EMBEDDED + 1_000);
        assert_eq!(ask(&many), many.len());
        for round in 0..4 {
            assert_eq!(ask(&texts(&format!("few {round}"), 50)), 50);
            assert_eq!(ask(&many), 0, "round {round}");
        }
        // What nobody asks for any more is forgotten.
        for round in 0..3 {
            ask(&texts(&format!("others {round}"), LEAST_EMBEDDED + 1_000));
        }
        assert_eq!(ask(&many), many.len());
    }
}
