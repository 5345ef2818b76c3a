//! The guidance of an attempt: its skills, turn by turn.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures::channel::{mpsc::UnboundedSender, oneshot};

use super::{
    injecting::{inject_all, inject_chosen},
    performer::Performer,
};
use crate::{
    contract::{Guidance, TurnContext},
    domain::{Exposure, Injection, LeftOut, SkillRef, Task, TurnQuery},
    error::{Error, ErrorKind, Result},
    policy::ChosenSkill,
    retrieve::turn_query,
    run::machine::need::{AttemptNeed, NeedId, TurnAsk},
};

/// The skills of one attempt.
pub(crate) struct Turning {
    performer: Performer,
    need: AttemptNeed,
    /// The task with its secrets.
    task: Task,
    first: Injection,
    given: Mutex<Given>,
}

/// Without the task, which is the host's and has its secrets.
impl fmt::Debug for Turning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turning")
            .field("attempt", &self.need.attempt)
            .finish_non_exhaustive()
    }
}

/// The skills that an attempt was given so far.
#[derive(Debug, Default)]
struct Given {
    /// The query of the latest selection; none for the first turn.
    query: Option<TurnQuery>,
    /// The skills of the latest turn.
    latest: Injection,
    /// Whether a station failed: the skills of the latest turn stay to the end.
    is_stuck: bool,
    /// Every skill that was in a prompt, in order of first appearance.
    all: Injection,
    exposures: Vec<Exposure>,
    left_out: Vec<LeftOut>,
}

impl Given {
    /// Takes in the skills that were chosen before a step.
    fn add(&mut self, injection: &Injection, left_out: Vec<LeftOut>, step: u32) {
        self.latest = injection.clone();
        for injected in &injection.skills {
            let mut known = self.all.skills.iter();
            if !known.any(|known| known.skill == injected.skill) {
                self.all.skills.push(injected.clone());
                self.exposures.push(Exposure {
                    skill: injected.skill.clone(),
                    used: false,
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

/// What a turn needs.
pub(crate) enum Next {
    /// The same skills as the turn before.
    Same(Injection),
    /// A selection for this query.
    Select(TurnQuery),
}

impl Turning {
    /// The skills of an attempt at a task, with the task's secrets.
    ///
    /// # Errors
    /// `Corrupt` where a skill is not what the library recorded.
    pub(crate) fn new(performer: &Performer, need: &AttemptNeed, task: Task) -> Result<Self> {
        let (first, left_out) = inject_all(&performer.backends, need)?;
        let mut given = Given::default();
        given.add(&first, left_out, 0);
        Ok(Self {
            performer: performer.clone(),
            need: need.clone(),
            task,
            first,
            given: Mutex::new(given),
        })
    }

    /// The skills of the first turn.
    pub(crate) fn first(&self) -> &Injection {
        &self.first
    }

    /// Every skill that was in a prompt, those that did not fit in, and the exposures of the former.
    pub(crate) fn given(&self) -> (Injection, Vec<LeftOut>, Vec<Exposure>) {
        let given = self.lock();
        let mut left_out = given.left_out.clone();
        // A skill that did not fit into one turn and did into another was given.
        left_out.retain(|one| !given.all.skills.iter().any(|had| had.skill == one.skill));
        (given.all.clone(), left_out, given.exposures.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Given> {
        // The lists stay whole whatever thread panicked while it held the lock.
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a turn needs: a selection only where the recipe selects for each turn and the query has changed.
    pub(crate) fn next(&self, context: &TurnContext<'_>) -> Next {
        if !self.need.each_turn || context.turn == 0 {
            return Next::Same(self.first.clone());
        }
        let redact = |text: &str| {
            let mut text = text.to_owned();
            self.performer.redacting.text(&mut text);
            text
        };
        let query = turn_query(&self.task, context.observation, context.steps, redact);
        let given = self.lock();
        match given.is_stuck || given.query.as_ref() == Some(&query) {
            true => Next::Same(given.latest.clone()),
            false => Next::Select(query),
        }
    }

    /// What is asked for a turn of this attempt.
    pub(crate) fn ask(&self, attempt: &NeedId, turn: u32, query: TurnQuery) -> TurnAsk {
        TurnAsk {
            attempt: attempt.clone(),
            seed: self.need.seed,
            turn,
            query,
        }
    }

    /// The injection of the skills that were selected for a turn. Where they could not be selected, the skills of the turn
    /// before stay, to the end of the attempt: a station that hangs would take the attempt's own time at every turn.
    ///
    /// # Errors
    /// `Corrupt` where a skill is not what the library recorded.
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
                given.is_stuck = true;
                return Ok(given.latest.clone());
            }
        };
        let (backends, tokens) = (&self.performer.backends, self.need.skill_tokens);
        let (injection, left_out) = inject_chosen(backends, &chosen, tokens)?;
        let mut given = self.lock();
        given.add(&injection, left_out, turn);
        given.query = Some(query);
        Ok(injection)
    }

    /// Marks a skill as used. One that was not given is passed over.
    pub(crate) fn used(&self, skill: &SkillRef) {
        let mut given = self.lock();
        let exposures = given.exposures.iter_mut();
        for exposure in exposures.filter(|exposure| exposure.skill == *skill) {
            exposure.used = true;
        }
    }
}

/// A turn of an attempt that waits for its skills.
#[derive(Debug)]
pub(crate) struct TurnRequest {
    pub(crate) ask: TurnAsk,
    pub(crate) reply: oneshot::Sender<Result<Vec<ChosenSkill>>>,
}

/// Where an attempt under way asks for the skills of its turns: the loop that drives its run.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) attempt: NeedId,
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

/// The guidance of an attempt that the driver makes.
#[derive(Debug)]
pub(crate) struct Guiding {
    pub(crate) turning: Turning,
    /// None where no loop drives the attempt: the skills of its first turn stay.
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

    fn used(&self, skill: &SkillRef) {
        self.turning.used(skill);
    }
}
