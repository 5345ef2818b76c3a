//! One attempt of the agent, or a test case, which is one too: it is made and judged, and its [`Guidance`] gives the executor the skills
//! of each turn.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use async_trait::async_trait;
use futures::channel::{mpsc::UnboundedSender, oneshot};

use crate::{
    contract::{Attempt, Components, Guidance, JudgeRequest, Tokenizer, TurnContext},
    domain::{
        Action, Exposure, Injection, LeftOut, SkillRef, SkillUse, Task, Trajectory, TurnQuery,
        Usage, Verdict,
    },
    error::{Error, ErrorKind, Result},
    id::ModelId,
    policy::{CaseRun, ChosenSkill},
    run::{
        driver::{
            performer::{Contained, Performer, sound_trajectory},
            redaction::holds_mark,
        },
        machine::effect::{AttemptEffect, CaseEffect, EffectId, TurnAsk},
    },
    stations::{inject, retrieve::turn_query},
};

/// How long an executor may exceed its time limit before the driver drops it. An executor that keeps its limit ends by
/// itself, and returns a trajectory that can be judged.
const GRACE: Duration = Duration::from_secs(1);

impl Performer {
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
        let trajectory = sound_trajectory(trajectory)?;
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
        let mut trajectory = sound_trajectory(trajectory)?;
        self.redacting
            .trajectory(&mut trajectory, holds_mark(&attempt.task));
        match trajectory.fault() {
            Some(fault) => Err(fault.clone()),
            None => Ok(trajectory),
        }
    }
}

/// The error of an attempt at a task that was attempted before, in a world that cannot be set up again.
fn not_again(operation: &'static str) -> Error {
    Error::unsupported(
        operation,
        "the environment does not declare that a task can be set up again, so that no attempt is repeated in it",
    )
    .hint("declare `EnvironmentCapabilities::resettable` (`resettable = True` in Python) if a second attempt at a task finds the world as the first one did")
}

// The skills of an attempt for each of its turns.

/// The state of one attempt's skills: the injection of the first turn, and everything given since.
pub(crate) struct Turning {
    performer: Performer,
    effect: AttemptEffect,
    /// The original task, with its secrets.
    task: Task,
    first: Injection,
    given: Mutex<Given>,
}

/// Omits the task, which may hold secrets.
impl fmt::Debug for Turning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turning")
            .field("attempt", &self.effect.attempt)
            .finish_non_exhaustive()
    }
}

/// The skills that an attempt has been given so far.
#[derive(Debug, Default)]
struct Given {
    /// The query of the latest selection; none before the second turn.
    query: Option<TurnQuery>,
    /// The injection of the latest turn.
    latest: Injection,
    /// Why a selection failed: the injection of the latest turn then stays to the end of the attempt.
    undecided: Option<Error>,
    /// Every skill that was in a prompt, in order of first appearance.
    all: Injection,
    exposures: Vec<Exposure>,
    left_out: Vec<LeftOut>,
}

impl Given {
    /// Records the skills that are in the prompt from `step` on.
    fn add(&mut self, injection: &Injection, left_out: Vec<LeftOut>, step: u32) {
        self.latest = injection.clone();
        for injected in &injection.skills {
            let mut known = self.all.skills.iter();
            if !known.any(|known| known.skill == injected.skill) {
                self.all.skills.push(injected.clone());
                self.exposures.push(Exposure {
                    skill: injected.skill.clone(),
                    used: SkillUse::Unknown,
                    since: step,
                });
            }
        }
        for one in left_out {
            if !self.left_out.iter().any(|known| known.skill == one.skill) {
                self.left_out.push(one);
            }
        }
    }
}

/// The skills that an attempt had, over all its turns.
pub(crate) struct AllGiven {
    /// Every skill that was in a prompt.
    pub(crate) injection: Injection,
    /// The skills that never fit into one.
    pub(crate) left_out: Vec<LeftOut>,
    /// The exposures of the skills in prompts.
    pub(crate) exposures: Vec<Exposure>,
    /// Why the skills of a later turn could not be chosen.
    pub(crate) undecided: Option<Error>,
}

/// How the skills of a turn are obtained.
pub(crate) enum Next {
    /// They are the same as in the turn before.
    Same(Injection),
    /// They have to be selected for this query.
    Select(TurnQuery),
}

impl Turning {
    /// Starts with the injection of the first turn. `task` is the original, with its secrets.
    ///
    /// # Errors
    /// `Corrupt` where a skill's content does not have the hash that the library recorded.
    pub(crate) fn new(performer: &Performer, effect: &AttemptEffect, task: Task) -> Result<Self> {
        let (first, left_out) = inject_all(&performer.components, effect)?;
        let mut given = Given::default();
        given.add(&first, left_out, 0);
        Ok(Self {
            performer: performer.clone(),
            effect: effect.clone(),
            task,
            first,
            given: Mutex::new(given),
        })
    }

    pub(crate) fn first(&self) -> &Injection {
        &self.first
    }

    /// What the attempt was given.
    pub(crate) fn given(&self) -> AllGiven {
        let given = self.lock();
        let mut left_out = given.left_out.clone();
        // A skill that was left out of one turn and injected in another counts as injected.
        left_out.retain(|one| !given.all.skills.iter().any(|had| had.skill == one.skill));
        AllGiven {
            injection: given.all.clone(),
            left_out,
            exposures: given.exposures.clone(),
            undecided: given.undecided.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Given> {
        // The lists stay consistent if a thread panics, so a poisoned lock can be used.
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How to obtain the skills of a turn. A selection is needed only if the recipe selects for each turn and the query has
    /// changed.
    pub(crate) fn next(&self, context: &TurnContext<'_>) -> Next {
        if !self.effect.each_turn || context.turn == 0 {
            return Next::Same(self.first.clone());
        }
        let redact = |text: &str| {
            let mut text = text.to_owned();
            self.performer.redacting.text(&mut text);
            text
        };
        let query = turn_query(&self.task, context.observation, context.steps, redact);
        let given = self.lock();
        match given.undecided.is_some() || given.query.as_ref() == Some(&query) {
            true => Next::Same(given.latest.clone()),
            false => Next::Select(query),
        }
    }

    /// The request for the skills of a turn.
    pub(crate) fn ask(&self, attempt: &EffectId, turn: u32, query: TurnQuery) -> TurnAsk {
        TurnAsk {
            attempt: attempt.clone(),
            seed: self.effect.seed,
            turn,
            query,
        }
    }

    /// The injection of the skills that were selected for a turn. If the selection failed, the injection of the turn before
    /// stays to the end of the attempt: a part that hangs would otherwise take the attempt's time at every turn.
    ///
    /// # Errors
    /// `Corrupt` where a skill's content does not have the hash that the library recorded.
    pub(crate) fn give(
        &self,
        turn: u32,
        query: TurnQuery,
        chosen: Result<Vec<ChosenSkill>>,
    ) -> Result<Injection> {
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(error) => {
                tracing::warn!(%error, turn, "the skills of the turn before stay");
                let mut given = self.lock();
                given.undecided = Some(error);
                return Ok(given.latest.clone());
            }
        };
        let (components, tokens) = (&self.performer.components, self.effect.skill_tokens);
        let (injection, left_out) = inject_chosen(components, &chosen, tokens)?;
        let mut given = self.lock();
        given.add(&injection, left_out, turn);
        given.query = Some(query);
        Ok(injection)
    }

    /// Records the use of a skill; of several reports the greatest counts. A skill that was not in a prompt is ignored.
    pub(crate) fn used(&self, skill: &SkillRef, used: SkillUse) {
        let mut given = self.lock();
        let exposures = given.exposures.iter_mut();
        for exposure in exposures.filter(|exposure| exposure.skill == *skill) {
            exposure.used = exposure.used.max(used);
        }
    }
}

/// A request of a running attempt for the skills of a turn, with the channel for the reply.
#[derive(Debug)]
pub(crate) struct TurnRequest {
    pub(crate) ask: TurnAsk,
    pub(crate) reply: oneshot::Sender<Result<Vec<ChosenSkill>>>,
}

/// The channel through which a running attempt asks the driver's loop for the skills of its turns.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) attempt: EffectId,
    pub(crate) requests: UnboundedSender<TurnRequest>,
}

impl Desk {
    async fn select(&self, ask: TurnAsk) -> Result<Vec<ChosenSkill>> {
        let gone = || {
            Error::new(
                ErrorKind::Cancelled,
                "Guidance::for_turn",
                "the run of this attempt is driven no more",
            )
        };
        let (reply, skills) = oneshot::channel();
        let request = TurnRequest { ask, reply };
        self.requests.unbounded_send(request).map_err(|_| gone())?;
        skills.await.map_err(|_| gone())?
    }
}

/// The guidance of an attempt that an [`Executor`](crate::contract::Executor) makes.
#[derive(Debug)]
pub(crate) struct Guiding {
    pub(crate) turning: Turning,
    /// None without a driver's loop: the injection of the first turn then stays.
    pub(crate) desk: Option<Desk>,
}

#[async_trait]
impl Guidance for Guiding {
    async fn for_turn(&self, context: &TurnContext<'_>) -> Result<Injection> {
        let turning = &self.turning;
        match (turning.next(context), &self.desk) {
            (Next::Same(injection), _) => Ok(injection),
            (Next::Select(_), None) => Ok(turning.first().clone()),
            (Next::Select(query), Some(desk)) => {
                let ask = turning.ask(&desk.attempt, context.turn, query.clone());
                let chosen = desk.select(ask).await;
                turning.give(context.turn, query, chosen)
            }
        }
    }

    fn used(&self, skill: &SkillRef, used: SkillUse) {
        self.turning.used(skill, used);
    }
}

// Builds the injection of an attempt from the selected skills, and completes the exposures that the executor reports.

/// The injection of an attempt's skills, and the skills left out because they exceed the token budget.
///
/// # Errors
/// `Corrupt` where a skill's content does not have the hash that the library recorded.
pub(crate) fn inject_all(
    components: &Components,
    effect: &AttemptEffect,
) -> Result<(Injection, Vec<LeftOut>)> {
    inject_chosen(components, &effect.skills, effect.skill_tokens)
}

/// The injection of these skills, and the skills left out because they exceed `skill_tokens`.
///
/// # Errors
/// `Corrupt` where a skill's content does not have the hash that the library recorded.
pub(crate) fn inject_chosen(
    components: &Components,
    skills: &[ChosenSkill],
    skill_tokens: Option<usize>,
) -> Result<(Injection, Vec<LeftOut>)> {
    let prompt_format = components.prompt_format.as_deref();
    let skills = (skills.iter())
        .map(|chosen| inject::render(&chosen.skill, prompt_format, &chosen.sha256))
        .collect::<Result<_>>()?;
    let injection = Injection { skills };
    match skill_tokens {
        None => Ok((injection, Vec::new())),
        Some(most) => Ok(inject::fit(injection, counting(components)?, most)),
    }
}

/// The tokenizer that counts the tokens of skills, for a recipe with a token budget.
///
/// # Errors
/// `Invalid` where the host gave no tokenizer.
pub(crate) fn counting(components: &Components) -> Result<&dyn Tokenizer> {
    components.tokenizer.as_deref().ok_or_else(|| {
        Error::invalid(
            "Journeyman::open",
            "the recipe limits the tokens of skills, and the host gave no tokenizer",
        )
        .with("field", "skill_tokens")
        .hint("set `Components::tokenizer`, or remove the limit from the recipe")
    })
}

/// Adds an exposure for each injected skill that the executor did not report, with the use that was reported through the
/// guidance. Where both say something, the greatest counts.
pub(crate) fn complete_exposures(trajectory: &mut Trajectory, given: Vec<Exposure>) {
    for exposure in given {
        let mut known = trajectory.exposures.iter_mut();
        match known.find(|known| known.skill == exposure.skill) {
            Some(known) => {
                known.used = known.used.max(exposure.used);
                known.since = exposure.since;
            }
            None => trajectory.exposures.push(exposure),
        }
    }
}
