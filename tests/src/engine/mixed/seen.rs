//! What became of the requests.

use futures::executor::block_on;
use journeyman_llama_cpp::LlamaCpp;

use super::{
    Answer, End, Load, REQUESTS, ask,
    compare::{Same, compared},
};
use crate::{
    engine::bare::Bare,
    figures::{Bound, Figures, Outcome},
};

#[derive(Default)]
pub(super) struct Seen {
    answered: u64,
    taken_back: u64,
    out_of_time: u64,
    /// Answered with an adapter.
    adapted: u64,
    /// Of these, otherwise than without.
    changed: u64,
    /// In deterministic mode not the same bytes as alone.
    pub(super) unequal: u64,
    ties: u64,
    different: u64,
    first_failure: Option<String>,
}

impl Seen {
    pub(super) fn record(&self, figures: &mut Figures<'_>) {
        if let Some(reason) = &self.first_failure {
            figures.progress(format_args!("failed without reason: {reason}"));
        }
        let ended = self.answered + self.taken_back + self.out_of_time;
        let answered = self.answered as f64;
        let some = Bound::AtLeast(1.0);
        let none = Bound::AtMost(0.0);
        for (name, value, bound) in [
            ("answered", answered, some),
            ("answered with an adapter", self.adapted as f64, some),
            (
                "of these, otherwise than without, share",
                self.changed as f64 / self.adapted as f64,
                Bound::AtLeast(0.5),
            ),
            ("taken back", self.taken_back as f64, some),
            ("out of time", self.out_of_time as f64, some),
            (
                "ended with neither answer nor reason",
                (REQUESTS - ended) as f64,
                none,
            ),
            (
                "answers that part at a near tie, share",
                self.ties as f64 / answered,
                Bound::None,
            ),
            ("answers that differ otherwise", self.different as f64, none),
        ] {
            figures.record(&format!("1,000 requests: {name}"), value, bound);
        }
    }

    /// What became of one request, in shared batches and once more in deterministic mode.
    pub(super) fn take(
        &mut self,
        load: &Load,
        end: &End,
        again: &End,
        alone: &LlamaCpp,
        bare: &Bare,
    ) -> Outcome {
        let answered = [end, again]
            .iter()
            .any(|end| matches!(end, End::Answered(_)));
        let want = answered
            .then(|| block_on(ask(alone, &load.ask.patient())))
            .transpose()?;
        self.note(end, want.as_ref(), load, bare);
        if let (End::Answered(_), Some(want), Some(plain)) = (end, &want, load.ask.plain()) {
            let without = block_on(ask(alone, &plain))?;
            self.adapted += 1;
            self.changed += u64::from(compared(want, &without, load, bare) == Same::Different);
        }
        match again {
            End::Answered(answer) => self.unequal += u64::from(Some(answer) != want.as_ref()),
            End::Failed(reason) => return Err(format!("deterministic mode: {reason}").into()),
            End::TakenBack | End::OutOfTime => {}
        }
        Ok(())
    }

    fn note(&mut self, end: &End, want: Option<&Answer>, load: &Load, bare: &Bare) {
        match (end, want) {
            (End::TakenBack, _) => self.taken_back += 1,
            (End::OutOfTime, _) => self.out_of_time += 1,
            (End::Failed(reason), _) => {
                self.first_failure.get_or_insert_with(|| reason.clone());
            }
            (End::Answered(got), Some(want)) => {
                self.answered += 1;
                match compared(got, want, load, bare) {
                    Same::Equal => {}
                    Same::Tied => self.ties += 1,
                    Same::Different => self.different += 1,
                }
            }
            (End::Answered(_), None) => self.different += 1,
        }
    }
}
