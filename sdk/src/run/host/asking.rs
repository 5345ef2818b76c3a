//! Programs of a host's calls: their questions are answered outside a run.

use std::task::Poll;

use futures::{StreamExt, stream};

use super::journeyman::Journeyman;
use crate::{
    domain::Usage,
    error::Result,
    policy::{
        Ask, Question, Questions,
        program::{Program, QuestionPath, Running},
    },
    run::{machine::Effect, report::EventKind},
};

/// What came of a program.
#[derive(Debug)]
pub(crate) struct Ended<T> {
    pub(crate) value: T,
    /// What the program told meanwhile.
    pub(crate) events: Vec<EventKind>,
    /// Tokens that its roles used.
    pub(crate) usage: Usage,
}

impl<T> Ended<T> {
    /// Why roles gave no answer or another one took its place, and why skills stayed out, a line each.
    pub(crate) fn refusals(&self) -> Vec<String> {
        self.events.iter().filter_map(refusal).collect()
    }
}

impl Journeyman {
    /// Runs a program to its end: at most as many of its questions at once as the session allows. `need` gives what has to be
    /// done for a question.
    ///
    /// # Errors
    /// The program's, `need`'s, and those of parts that end a call, such as the store's.
    pub(crate) async fn to_the_end<T>(
        &self,
        start: impl Fn(Ask) -> Running<T> + Copy,
        effect: impl Fn(&QuestionPath, Question) -> Result<Effect>,
    ) -> Result<Ended<T>> {
        let session = &self.session;
        let mut program: Program<Questions, T> = Program::new(0);
        let (mut events, mut usage) = (Vec::new(), Usage::default());
        loop {
            if let Poll::Ready(value) = program.poll(start) {
                events.extend(program.take_events());
                return Ok(Ended {
                    value: value?,
                    events,
                    usage,
                });
            }
            let open = program.questions(start, |place, question| {
                let effect = effect(place, question.clone());
                Some(effect.map(|effect| (place.clone(), effect)))
            });
            let open: Vec<(QuestionPath, Effect)> = open.into_iter().collect::<Result<_>>()?;
            let answering = open.into_iter().map(async |(place, effect)| {
                let answer = session.performer.perform(effect).await;
                (place, answer)
            });
            let mut answers =
                stream::iter(answering).buffer_unordered(session.options.in_flight.get());
            while let Some((place, answer)) = answers.next().await {
                let answer = answer?;
                usage.add(answer.usage().total());
                program.answer(&place, answer);
            }
        }
    }
}

fn refusal(event: &EventKind) -> Option<String> {
    match event {
        EventKind::Refused { reason } => Some(reason.clone()),
        EventKind::RoleFailed { role, reason } => Some(format!("{role}: {reason}")),
        EventKind::FellBack { role, reason, .. } => Some(format!("{role} fell back: {reason}")),
        _ => None,
    }
}
