//! What could not be done for now comes again, and not without end: a maintenance does so much at most, and what never can be
//! done would take the place of all that could. Skills that are to be mended or tested wait behind those that were not missed;
//! groups come in their own order, the same one three times.
//!
//! A thing is told by a fingerprint, `what/its evidence`; more evidence makes another thing of it, with tries of its own.

use super::Upkeep;
use crate::{
    domain::{HandledMark, LibraryChange},
    library::SkillLibrary,
    report::EventKind,
};

/// How many maintenances try the same.
const TRIES: u32 = 3;

/// What marks that something was done, or given up.
pub(crate) fn handled(fingerprint: &str) -> LibraryChange {
    LibraryChange::Handled {
        fingerprint: HandledMark::done(fingerprint),
    }
}

/// What marks that something could not be done for now; with the last of [`TRIES`] it is given up, which is told.
pub(crate) fn missed(
    context: &Upkeep<'_>,
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

/// How often something could not be done for now, whatever the evidence was.
pub(crate) fn misses(library: &SkillLibrary, what: &str) -> usize {
    let all = library.handled();
    all.filter(|mark| mark.miss.is_some() && mark.subject.starts_with(what))
        .count()
}
