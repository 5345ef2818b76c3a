//! Selection of skills for the later turns of attempts (HiSME appendix B, row H12). Its questions are effects as all others, so
//! their answers are in the journal.

use std::{sync::Arc, task::Poll};

use serde::{Deserialize, Serialize};

use super::{
    effect::{Effect, EffectId, Station, TurnAsk},
    run_context::RunContext,
    work::{Of, effect},
};
use crate::{
    error::{Error, ErrorKind, Result},
    id::AttemptId,
    policy::{Answer, Ask, CallUsage, ChosenSkill, Questions, fits, selected::Selected},
    program::{Program, QuestionPath, Running},
    select::selecting::select,
};

/// The turns of unfinished attempts for which skills were requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Turns(Vec<Turn>);

/// One turn, and the selection for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Turn {
    ask: TurnAsk,
    /// The prefix of the places of its questions: the attempt's place, and the number of this request among the attempt's
    /// requests.
    place: QuestionPath,
    program: Program<Questions, Selected>,
    selected: Option<Result<Selected>>,
}

impl Turn {
    /// The function that starts the selection. The view's step is 0: the randomness comes from the attempt's seed instead.
    fn start<'a>(
        &self,
        run_context: &RunContext<'a>,
    ) -> impl FnOnce(Ask) -> Running<Selected> + use<'a> {
        let (run_context, query) = (self.run_context(run_context), self.ask.query.clone());
        move |mut ask: Ask| {
            let view = run_context.view(0);
            let selector = Arc::clone(&run_context.policies.selector);
            Box::pin(async move { select(&mut ask, &view, selector.as_ref(), &query).await })
        }
    }

    fn run_context<'a>(&self, run_context: &RunContext<'a>) -> RunContext<'a> {
        let seed = self.ask.seed.derive("turn", self.ask.turn.into());
        run_context.with_seed(seed)
    }

    fn go_on(&mut self, run_context: &RunContext<'_>) {
        let start = self.start(run_context);
        if self.selected.is_none()
            && let Poll::Ready(selected) = self.program.poll(start)
        {
            self.selected = Some(selected);
        }
    }

    /// The place of an effect relative to this turn; none if the effect belongs to another turn.
    fn within(&self, id: &EffectId) -> Option<QuestionPath> {
        (id.step == self.ask.attempt.step).then_some(())?;
        id.place.behind(&self.place)
    }

    fn effects(
        &self,
        run_context: &RunContext<'_>,
        wanted: &dyn Fn(&EffectId) -> bool,
    ) -> Vec<(EffectId, Effect)> {
        if self.selected.is_some() {
            return Vec::new();
        }
        let own = self.run_context(run_context);
        self.program
            .questions(self.start(run_context), |place, question| {
                let id = EffectId {
                    step: self.ask.attempt.step,
                    station: Station::Turn,
                    place: self.place.join(place),
                };
                let effect =
                    wanted(&id).then(|| named(effect(&own, 0, Of::Task, place, question), &id));
                effect.map(|effect| (id, effect))
            })
    }
}

/// A test case's attempt is named by the task and the turn that asked for it, so that no two of a run share an id.
fn named(mut effect: Effect, id: &EffectId) -> Effect {
    if let Effect::Case(case) = &mut effect {
        let run = &case.attempt.run;
        case.attempt.attempt = AttemptId::new(format!("{run}/{}/t{}", id.step, id.place));
    }
    effect
}

impl Turns {
    /// Begins the selection for a turn. Does nothing if the same request was made before.
    pub(crate) fn ask(&mut self, run_context: &RunContext<'_>, ask: TurnAsk) {
        if self.0.iter().any(|turn| turn.ask == ask) {
            return;
        }
        let before = self.0.iter();
        let before = before
            .filter(|turn| turn.ask.attempt == ask.attempt)
            .count();
        let number = u32::try_from(before).unwrap_or(u32::MAX);
        let mut turn = Turn {
            place: ask.attempt.place.within(number),
            ask,
            program: Program::new(0),
            selected: None,
        };
        turn.go_on(run_context);
        self.0.push(turn);
    }

    /// The skills for a turn; none while they are not selected.
    ///
    /// # Errors
    /// `Unavailable` where the retriever or scorer failed; the error of the selector.
    pub(crate) fn skills(
        &self,
        run_context: &RunContext<'_>,
        ask: &TurnAsk,
    ) -> Option<Result<Vec<ChosenSkill>>> {
        let turn = self.0.iter().find(|turn| turn.ask == *ask)?;
        let selected = match turn.selected.as_ref()? {
            Ok(selected) => selected,
            Err(error) => return Some(Err(error.clone())),
        };
        if let Some(reason) = selected.unavailable() {
            return Some(Err(Error::new(
                ErrorKind::Unavailable,
                "Guidance::for_turn",
                format!("no skills could be selected: {reason}"),
            )));
        }
        let chosen = selected.injected(0).iter();
        let entries = chosen.filter_map(|skill| run_context.library.get(&skill.id));
        Some(Ok(entries.map(ChosenSkill::from).collect()))
    }

    /// The open effects whose ids are `wanted`.
    pub(crate) fn effects(
        &self,
        run_context: &RunContext<'_>,
        wanted: &dyn Fn(&EffectId) -> bool,
    ) -> Vec<(EffectId, Effect)> {
        let turns = self.0.iter();
        turns
            .flat_map(|turn| turn.effects(run_context, wanted))
            .collect()
    }

    /// The digest of the open question of an effect.
    pub(crate) fn question(&self, id: &EffectId) -> Option<String> {
        let mut turns = self.0.iter();
        turns.find_map(|turn| turn.program.digest(&turn.within(id)?))
    }

    /// Applies an answer, and returns the tokens of a role or a test case. A second answer to a question, and an answer for a
    /// finished attempt, are ignored, with their tokens.
    ///
    /// # Errors
    /// `Invalid` for an answer without an open question.
    pub(crate) fn answer(
        &mut self,
        run_context: &RunContext<'_>,
        id: &EffectId,
        answer: Answer,
    ) -> Result<CallUsage> {
        let mut turns = self.0.iter_mut();
        let Some((turn, place)) = turns.find_map(|turn| turn.within(id).map(|place| (turn, place)))
        else {
            return Ok(CallUsage::default());
        };
        if turn.selected.is_some() || turn.program.is_past(&place) {
            return Ok(CallUsage::default());
        }
        let usage = answer.usage();
        let asked = turn
            .program
            .questions(turn.start(run_context), |at, question| {
                (*at == place).then(|| fits(question, &answer))
            });
        if asked.first() != Some(&true) || !turn.program.answer(&place, answer) {
            let message = "no open question has this id";
            return Err(Error::invalid("RunMachine::answer", message).with("effect", id));
        }
        turn.go_on(run_context);
        Ok(usage)
    }

    /// Drops the turns of a finished attempt.
    pub(crate) fn forget(&mut self, attempt: &EffectId) {
        self.0.retain(|turn| turn.ask.attempt != *attempt);
    }

    /// Runs the selections of a loaded run over their saved answers.
    pub(crate) fn wake(&mut self, run_context: &RunContext<'_>) {
        self.0.iter_mut().for_each(|turn| turn.go_on(run_context));
    }
}
