//! What our programs tell while they run.

use crate::{
    policy::{Ask, PlayedCase},
    run::report::EventKind,
    stations::maintain::outcomes::undecided,
};

/// Emits a program's events, except those of skills that enter: the run tells these after the commit, which fixes their names.
pub(crate) fn tell(ask: &mut Ask, events: Vec<EventKind>) {
    let events = events.into_iter();
    let told = events.filter(|event| !matches!(event, EventKind::Admitted { .. }));
    told.for_each(|event| ask.tell(event));
}

/// Emits an event for each test case that decides nothing.
pub(crate) fn tell_undecided(ask: &mut Ask, runs: &[PlayedCase]) {
    for PlayedCase { case, run } in runs {
        if let Some(reason) = undecided(run) {
            let case = case.case.name.clone();
            ask.tell(EventKind::CaseFailed { case, reason });
        }
    }
}
