//! Performs effects with the host's parts. Every call has a time limit, which takes effect at its await points, and every
//! panic becomes an error.

use std::{sync::atomic::AtomicU64, time::Duration};

use tracing::Instrument;

use crate::{
    contract::{Attempt, JudgeRequest},
    domain::{
        Action, Candidate, DecidedOn, Query, Skill, SkillRef, Task, Trajectory, Usage, Verdict,
        gate_policy::ThresholdFor,
    },
    error::{Error, Result},
    id::ModelId,
    policy::{Answer, FailedCall},
    run::{
        driver::{
            deciding::DecidingPart,
            guards::{self, Contained},
            performer::{self, Performer},
            playing::Spent,
            redaction::holds_mark,
            scores::Wanted,
            turns::{Desk, Guiding, Turning, complete_exposures},
        },
        machine::effect::{AttemptEffect, Effect},
    },
    stations::select::check_fitted_for,
};

/// How long an executor may exceed its time limit before the driver drops it. An executor that keeps its limit ends by
/// itself, and returns a trajectory that can be judged.
const GRACE: Duration = Duration::from_secs(1);

impl Performer {
    /// Performs an effect. Every failure except that of a commit is returned as an answer. Secrets in the answer's texts are
    /// redacted (S10).
    ///
    /// An attempt keeps the skills of its first turn, even if the recipe selects for each turn
    /// ([`AttemptEffect::each_turn`]): only [`Journeyman`](crate::run::Journeyman) selects for later turns.
    ///
    /// # Errors
    /// The store's error for a commit.
    pub async fn perform(&self, effect: Effect) -> Result<Answer> {
        self.perform_at(effect, None).await
    }

    /// [`perform`](Self::perform) for the driver's loop: through `desk` an attempt asks for the skills of its later turns.
    pub(crate) async fn perform_at(&self, effect: Effect, desk: Option<Desk>) -> Result<Answer> {
        let of_secrets = matches!(&effect, Effect::Attempt(effect) if holds_mark(&effect.task));
        let span = performer::of(&effect);
        let mut answer = self.answer(effect, desk).instrument(span.clone()).await?;
        self.redacting.answer(&mut answer, of_secrets);
        performer::answered(&span, &answer);
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
                .and_then(guards::sound_candidates),
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
                Answer::Attempted(made.and_then(guards::sound_trajectory))
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
                    .and_then(guards::sound_gain),
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
        Answer::Scored(scores.and_then(guards::sound_scores))
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

    pub(crate) async fn attempt(
        &self,
        effect: &AttemptEffect,
        prefix: &[Action],
        desk: Option<Desk>,
    ) -> Result<Box<Trajectory>> {
        let (Some(executor), Some(environment)) =
            (&self.components.executor, &self.components.environment)
        else {
            return Err(Error::unsupported(
                "Executor::execute",
                "the host gave no agent or no world, so no attempt can be made here",
            )
            .hint("set `Components::executor` and `Components::environment`, or make the attempts in your own loop: `Journeyman::begin`"));
        };
        let task = self.redacting.real(effect)?;
        let injecting = async { Turning::new(self, effect, task.clone()) };
        let turning = self
            .bounded("PromptFormat::skill_text", effect.time_limit, injecting)
            .await?;
        let guidance = Guiding { turning, desk };
        let reset = environment.reset(&task, effect.world_seed);
        let mut episode = self
            .bounded("Environment::reset", effect.time_limit, reset)
            .await?;
        let attempt = Attempt {
            id: effect.attempt.clone(),
            task: &task,
            seed: effect.seed,
            temperature: effect.temperature,
            injection: guidance.turning.first(),
            guidance: &guidance,
            time_limit: effect.time_limit,
            prefix,
        };
        let took = AtomicU64::new(0);
        let mut contained = Contained::new(episode.as_mut(), self, &took);
        let execution = executor.execute(attempt, &mut contained);
        let made = self
            .bounded_around(
                "Executor::execute",
                effect.time_limit + GRACE,
                &took,
                execution,
            )
            .await;
        // The driver owns the episode and closes it even if the attempt failed. An error on closing does not invalidate the
        // attempt.
        let closed = self
            .bounded("Episode::close", effect.time_limit, episode.close())
            .await;
        if let Err(error) = closed {
            tracing::warn!(%error, "an episode could not be closed");
        }
        let mut trajectory = made?;
        let given = guidance.turning.given();
        complete_exposures(&mut trajectory, given.exposures);
        trajectory.injection = given.injection;
        trajectory.left_out = given.left_out;
        trajectory.undecided = given.undecided;
        if trajectory.model.is_none() {
            trajectory.model = self.acting_model();
        }
        Ok(Box::new(trajectory))
    }

    /// The model that acts, with its adapter; `None` where the agent does not say.
    pub(crate) fn acting_model(&self) -> Option<ModelId> {
        self.components.acting_model().cloned()
    }

    pub(crate) async fn judge(&self, task: &Task, trajectory: &Trajectory) -> Result<Verdict> {
        let Some(judge) = &self.components.judge else {
            return Err(Error::unsupported(
                "Judge::judge",
                "the host gave no judge, and the attempt was finished without an outcome",
            )
            .hint("finish attempts with their outcome, or set `Components::judge`"));
        };
        judge.judge(&JudgeRequest { task, trajectory }).await
    }
}
