//! The skills of one attempt for each of its turns, and the [`Guidance`] that gives them to the executor.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures::channel::{mpsc::UnboundedSender, oneshot};

use crate::{
    contract::{Components, Guidance, Tokenizer, TurnContext},
    domain::{Exposure, Injection, LeftOut, SkillRef, SkillUse, Task, Trajectory, TurnQuery},
    error::{Error, ErrorKind, Result},
    policy::ChosenSkill,
    run::{
        driver::performer::Performer,
        machine::effect::{AttemptEffect, EffectId, TurnAsk},
    },
    stations::{inject, retrieve::turn_query},
};

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

    /// The injection of the first turn.
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
