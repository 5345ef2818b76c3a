//! Bounded retries of maintenance work that failed with a temporary error.
//!
//! One maintenance does a limited amount of work, so work that fails each time would keep other work from being done. Each
//! piece of work is therefore tried in at most three maintenances. Skills that are to be refined or tested come behind those
//! that were missed less often; groups keep their own order.
//!
//! A piece of work is identified by a fingerprint, `subject/its evidence`; more evidence makes another piece of work, with
//! tries of its own.

use crate::{
    domain::{HandledMark, LibraryChange},
    library::SkillLibrary,
    policy::Context,
    run::report::EventKind,
};

/// Number of maintenances that try the same piece of work.
const TRIES: u32 = 3;

/// The change that marks a piece of work as done, or as given up.
pub(crate) fn handled(fingerprint: &str) -> LibraryChange {
    LibraryChange::Handled {
        fingerprint: HandledMark::done(fingerprint),
    }
}

/// The change that marks a miss of a piece of work. After the last of [`TRIES`] the work is given up, with an event that calls
/// it `what`.
pub(crate) fn missed(
    context: &Context<'_>,
    what: &str,
    fingerprint: &str,
    events: &mut Vec<EventKind>,
) -> LibraryChange {
    let mut misses = (1..TRIES).map(|miss| HandledMark::missed(fingerprint, miss));
    let is_known = |miss: &HandledMark| context.library.handled().any(|known| known == miss);
    if let Some(fingerprint) = misses.find(|miss| !is_known(miss)) {
        return LibraryChange::Handled { fingerprint };
    }
    let reason = format!(
        "{what} could not be done in {TRIES} maintenances, and is not tried again until there is more evidence"
    );
    events.push(EventKind::Refused { reason });
    handled(fingerprint)
}

/// Number of misses of the work whose fingerprints begin with `prefix`, whatever the evidence was.
pub(crate) fn misses(library: &SkillLibrary, prefix: &str) -> usize {
    let all = library.handled();
    all.filter(|mark| mark.miss.is_some() && mark.subject.starts_with(prefix))
        .count()
}
