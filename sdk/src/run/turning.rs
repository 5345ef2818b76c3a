//! The skills of an attempt's turns: chosen once, or anew where what is asked for changed (HiSME appendix B, row H12).

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::{
    Answer, AttemptNeed, ChosenSkill, Performer, Turns,
    context::Context,
    injecting::{inject_all, inject_chosen},
    maintaining::Overlaps,
    selecting::Selecting,
};
use crate::{
    contract::{Guidance, TurnContext},
    domain::{Injection, LeftOut, SkillRef, Task},
    error::{Error, Result},
    retrieve::{TurnQuery, turn_query},
};

/// The guidance of one attempt.
pub(super) struct Turning {
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
    /// What was asked for last, and what came of it.
    last: Option<(TurnQuery, Injection)>,
    /// Every skill that stood in a prompt, in order of first appearance.
    all: Injection,
    left_out: Vec<LeftOut>,
    used: Vec<SkillRef>,
}

impl Told {
    fn add(&mut self, injection: &Injection, left_out: Vec<LeftOut>) {
        for injected in &injection.skills {
            let mut known = self.all.skills.iter();
            if !known.any(|known| known.skill == injected.skill) {
                self.all.skills.push(injected.clone());
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
    pub(super) fn new(performer: &Performer, need: &AttemptNeed, task: Task) -> Result<Self> {
        let (first, left_out) = inject_all(&performer.backends, need)?;
        let mut told = Told::default();
        told.add(&first, left_out);
        Ok(Self {
            performer: performer.clone(),
            need: need.clone(),
            task,
            first,
            told: Mutex::new(told),
        })
    }

    /// The skills of the first turn.
    pub(super) fn first(&self) -> &Injection {
        &self.first
    }

    /// Every skill that stood in a prompt, those that did not fit in, and those whose use was reported.
    pub(super) fn told(&self) -> (Injection, Vec<LeftOut>, Vec<SkillRef>) {
        let told = self.lock();
        let mut left_out = told.left_out.clone();
        // What did not fit in one turn and did in another was given.
        left_out.retain(|one| !told.all.skills.iter().any(|had| had.skill == one.skill));
        (told.all.clone(), left_out, told.used.clone())
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
        let context = Context {
            run: &self.need.run,
            seed: self.need.seed.derive("turn", turn.into()),
            recipe: &turns.recipe,
            mode: turns.mode,
            library: &turns.library,
            overlaps: &Overlaps::default(),
        };
        let mut selecting = Selecting::new(0, &context);
        let mut events = Vec::new();
        while let Some((_, need)) = selecting.need(query, &context) {
            match self.performer.answer(need).await? {
                Answer::Retrieved(found) => {
                    selecting.retrieved(&context, query, found, &mut events);
                }
                Answer::Embedded(made) => selecting.embedded(&context, query, made, &mut events),
                Answer::Scored(scores) => selecting.scored(&context, scores),
                _ => {
                    return Err(Error::new(
                        crate::error::ErrorKind::Internal,
                        "Guidance::for_turn",
                        "another answer than the one that was asked for",
                    ));
                }
            }
        }
        let chosen = selecting.injected(0).iter();
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
        let mut query = turn_query(&self.task, context.observation, context.steps);
        self.performer.redacting.text(&mut query.text);
        let known = self.lock().last.clone();
        if let Some((_, injection)) = known.filter(|(last, _)| *last == query) {
            return Ok(injection);
        }
        let chosen = self.choose(turns, context.turn, &query).await?;
        let (backends, tokens) = (&self.performer.backends, self.need.skill_tokens);
        let (injection, left_out) = inject_chosen(backends, &chosen, tokens)?;
        let mut told = self.lock();
        told.add(&injection, left_out);
        told.last = Some((query, injection.clone()));
        Ok(injection)
    }

    fn used(&self, skill: &SkillRef) {
        let mut told = self.lock();
        let injected = told.all.skills.iter().any(|had| had.skill == *skill);
        if injected && !told.used.contains(skill) {
            told.used.push(skill.clone());
        }
    }
}
