//! What could not be done for now comes again, and not without end: each maintenance does so much at most, and what never
//! can be done would take the place of all that could.

use super::super::{Event, context::Context};
use crate::domain::LibraryChange;

/// How many maintenances try the same.
const TRIES: usize = 3;

/// What marks that something was done, or given up.
pub(super) fn handled(fingerprint: &str) -> LibraryChange {
    LibraryChange::Handled {
        fingerprint: fingerprint.to_owned(),
    }
}

/// What marks that something could not be done for now; with the last of [`TRIES`] it is given up, which is told.
pub(super) fn missed(
    context: &Context<'_>,
    step: u64,
    what: &str,
    fingerprint: &str,
    events: &mut Vec<Event>,
) -> LibraryChange {
    let misses = (1..TRIES).map(|miss| format!("{fingerprint}/missed/{miss}"));
    let miss = misses
        .into_iter()
        .find(|miss| !context.library.is_handled(miss));
    let Some(miss) = miss else {
        let reason = format!(
            "{what} could not be done in {TRIES} maintenances, and is not tried again until there is more evidence"
        );
        events.push(Event::Refused { step, reason });
        return handled(fingerprint);
    };
    handled(&miss)
}
