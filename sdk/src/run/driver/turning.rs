//! The skills of an attempt's turns: chosen once, or anew where what is asked for changed (HiSME appendix B, row H12).

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use async_trait::async_trait;

use super::{
    injecting::{inject_all, inject_chosen},
    perform::Performer,
};
use crate::{
    contract::{Guidance, TurnContext},
    domain::{Exposure, Injection, LeftOut, SkillRef, Task, TurnQuery},
    error::{Error, ErrorKind, Result},
    maintain::Overlaps,
    policy::{Ask, ChosenSkill, Questions},
    program::{Program, Running},
    retrieve::turn_query,
    run::machine::{
        need::{AttemptNeed, Turns},
        scene::Scene,
        work::{Of, need},
    },
    select::selecting::{Selected, select},
};

/// The guidance of one attempt.
pub(crate) struct Turning {
    performer: Performer,
    need: AttemptNeed,
    /// The task with its secrets.
    task: Task,
    first: Injection,
    told: Mutex<Told>,
}

/// Without the task: it is the host's, with its secrets.
impl fmt::Debug for Turning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turning")
            .field("attempt", &self.need.attempt)
            .finish_non_exhaustive()
    }
}

/// What an attempt was told so far.
#[derive(Debug, Default)]
struct Told {
    /// What was asked for last; the first turn's query is not known.
    asked: Option<TurnQuery>,
    /// What came of it.
    last: Injection,
    /// A station could not answer: what was told last stays.
    is_stuck: bool,
    /// Every skill that stood in a prompt, in order of first appearance.
    all: Injection,
    exposures: Vec<Exposure>,
    left_out: Vec<LeftOut>,
}

impl Told {
    /// Takes in what was chosen before a step.
    fn add(&mut self, injection: &Injection, left_out: Vec<LeftOut>, step: u32) {
        self.last = injection.clone();
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

impl Turning {
    /// The guidance of an attempt at a task, with its secrets.
    ///
    /// # Errors
    /// `Corrupt` where a skill is not what the library recorded.
    pub(crate) fn new(performer: &Performer, need: &AttemptNeed, task: Task) -> Result<Self> {
        let (first, left_out) = inject_all(&performer.backends, need)?;
        let mut told = Told::default();
        told.add(&first, left_out, 0);
        Ok(Self {
            performer: performer.clone(),
            need: need.clone(),
            task,
            first,
            told: Mutex::new(told),
        })
    }

    /// The skills of the first turn.
    pub(crate) fn first(&self) -> &Injection {
        &self.first
    }

    /// Every skill that stood in a prompt, those that did not fit in, and what became of the former.
    pub(crate) fn told(&self) -> (Injection, Vec<LeftOut>, Vec<Exposure>) {
        let told = self.lock();
        let mut left_out = told.left_out.clone();
        // What did not fit in one turn and did in another was given.
        left_out.retain(|one| !told.all.skills.iter().any(|had| had.skill == one.skill));
        (told.all.clone(), left_out, told.exposures.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        // The lists stay whole whatever thread panicked while it held the lock.
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The skills for a query, through the same stations as a task's.
    async fn choose(
        &self,
        turns: &Turns,
        turn: u32,
        query: &TurnQuery,
    ) -> Result<Vec<ChosenSkill>> {
        let overlaps = Overlaps::default();
        let context = Scene::new(
            (&self.need.run, self.need.seed.derive("turn", turn.into())),
            turns.mode,
            &turns.recipe,
            &turns.library,
            (&overlaps, &turns.policies),
        );
        let (performer, query) = (&self.performer, query.clone());
        let start = |mut ask: Ask| -> Running<Selected> {
            let (view, query) = (context.view(0), query.clone());
            let (policy, policies) = (turns.recipe.select.clone(), turns.policies.clone());
            Box::pin(async move { select(&mut ask, &view, (&policy, &policies), &query).await })
        };
        let mut program = Program::<Questions, Selected>::new(0);
        let selected = loop {
            if let Poll::Ready(selected) = program.poll(start) {
                break selected?;
            }
            let open = program.questions(start, |place, question| {
                Some((place.clone(), need(&context, 0, Of::Task, place, question)))
            });
            for (place, need) in open {
                let answer = performer.answer(need).await?;
                program.answer(&place, answer);
            }
        };
        if let Some(reason) = selected.unavailable() {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "Guidance::for_turn",
                format!("a station could not answer: {reason}"),
            ));
        }
        let chosen = selected.injected(0).iter();
        let entries = chosen.filter_map(|skill| turns.library.get(&skill.id));
        Ok(entries.map(ChosenSkill::from).collect())
    }
}

#[async_trait]
impl Guidance for Turning {
    async fn for_turn(&self, context: &TurnContext<'_>) -> Result<Injection> {
        let Some(turns) = self.need.turns.as_deref() else {
            return Ok(self.first.clone());
        };
        if context.turn == 0 {
            return Ok(self.first.clone());
        }
        let redact = |text: &str| {
            let mut text = text.to_owned();
            self.performer.redacting.text(&mut text);
            text
        };
        let query = turn_query(&self.task, context.observation, context.steps, redact);
        {
            let told = self.lock();
            if told.is_stuck || told.asked.as_ref() == Some(&query) {
                return Ok(told.last.clone());
            }
        }
        let chosen = match self.choose(turns, context.turn, &query).await {
            Ok(chosen) => chosen,
            Err(error) => {
                // One that hangs would take the attempt's own time at every turn.
                tracing::warn!(%error, turn = context.turn, "the skills of the turn before stay");
                let mut told = self.lock();
                told.is_stuck = true;
                return Ok(told.last.clone());
            }
        };
        let (backends, tokens) = (&self.performer.backends, self.need.skill_tokens);
        let (injection, left_out) = inject_chosen(backends, &chosen, tokens)?;
        let mut told = self.lock();
        told.add(&injection, left_out, context.turn);
        told.asked = Some(query);
        Ok(injection)
    }

    fn used(&self, skill: &SkillRef) {
        let mut told = self.lock();
        let given = told.exposures.iter_mut();
        for exposure in given.filter(|given| given.skill == *skill) {
            exposure.used = true;
        }
    }
}
