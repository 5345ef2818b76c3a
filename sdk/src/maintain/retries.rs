//! What could not be done for now comes again, and not without end: a maintenance does so much at most, and what never can be
//! done would take the place of all that could. Skills that are to be mended or tested wait behind those that were not missed;
//! groups come in their own order, the same one three times.
//!
//! A thing is told by a fingerprint, `what/its evidence`; more evidence makes another thing of it, with tries of its own.

use super::Upkeep;
use crate::{domain::LibraryChange, library::SkillLibrary, report::EventKind};

/// How many maintenances try the same.
const TRIES: usize = 3;

/// What stands behind the fingerprint of what could not be done for now, before the number of that miss.
const MISSED: &str = "/missed/";

/// What marks that something was done, or given up.
pub(crate) fn handled(fingerprint: &str) -> LibraryChange {
    LibraryChange::Handled {
        fingerprint: fingerprint.to_owned(),
    }
}

/// What marks that something could not be done for now; with the last of [`TRIES`] it is given up, which is told.
pub(crate) fn missed(
    context: &Upkeep<'_>,
    what: &str,
    fingerprint: &str,
    events: &mut Vec<EventKind>,
) -> LibraryChange {
    let mut misses = (1..TRIES).map(|miss| format!("{fingerprint}{MISSED}{miss}"));
    if let Some(miss) = misses.find(|miss| !context.library.is_handled(miss)) {
        return handled(&miss);
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
    all.filter(|mark| mark.starts_with(what) && mark.contains(MISSED))
        .count()
}
