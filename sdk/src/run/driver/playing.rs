//! Performs test cases and embeddings.

use super::{performer::Performer, redacting::holds_mark, sound};
use crate::{
    contract::Embedding,
    domain::{Trajectory, Usage},
    error::{Error, Result},
    policy::CaseRun,
    run::machine::effect::CaseEffect,
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
        let trajectory = sound::trajectory(trajectory)?;
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
