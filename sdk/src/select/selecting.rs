//! Selection for one query (ARISE 3.2, HiSME appendix B): of a task, or of a later turn if the recipe selects per turn. Every
//! selector, of ours or of a host's own, is called and checked alike.

use crate::{
    domain::{Decision, HeldBack, NothingReason, SkillRef, State, TurnQuery},
    policy::{Ask, Context, SelectProgram, View, checks, selected::Selected},
};

/// Number of skills that a selection without a candidate names.
const HELD_BACK: usize = 5;

/// Selects for a query: the recipe's selector chooses, if there is anything to choose.
pub(crate) async fn select(
    ask: &mut Ask,
    view: &View,
    selector: &dyn SelectProgram,
    query: &TurnQuery,
) -> Selected {
    let mut selected = among_offered(ask, view, selector, query).await;
    let context = view.context();
    for selection in &mut selected.selections {
        selection.quarantined = quarantined(&context, selection.skills());
        if selection.decision == Decision::Nothing(NothingReason::NoCandidates) {
            selection.held_back = held_back(&context);
        }
    }
    selected
}

/// The chosen skills that are tried in quarantine.
fn quarantined(context: &Context<'_>, chosen: &[SkillRef]) -> Vec<SkillRef> {
    let is_tried = |skill: &&SkillRef| {
        let entry = context.library.get(&skill.id);
        entry.is_some_and(|entry| context.tries(entry))
    };
    chosen.iter().filter(is_tried).cloned().collect()
}

/// The skills of the library that wait for their release, the first few by name.
fn held_back(context: &Context<'_>) -> Vec<HeldBack> {
    let waits = |state| matches!(state, State::Trial | State::Quarantined);
    let waiting = context
        .library
        .entries()
        .filter(|entry| waits(entry.skill.state));
    let waiting = waiting.filter(|entry| !context.offers(entry));
    let mut waiting: Vec<HeldBack> = waiting
        .map(|entry| HeldBack {
            name: entry.skill.name.clone(),
            state: entry.skill.state,
        })
        .collect();
    waiting.sort_by(|a, b| a.name.cmp(&b.name));
    waiting.truncate(HELD_BACK);
    waiting
}

async fn among_offered(
    ask: &mut Ask,
    view: &View,
    selector: &dyn SelectProgram,
    query: &TurnQuery,
) -> Selected {
    let nothing = |reason| Selected::nothing(Vec::new(), reason);
    if view.context().warming_up {
        return nothing(NothingReason::WarmUp);
    }
    if selector.never_selects() {
        return nothing(NothingReason::Disabled);
    }
    if view.offered().next().is_none() {
        return nothing(NothingReason::NoCandidates);
    }
    let selected = selector.select(ask, view, query).await;
    let checked = selected.and_then(|selected| {
        checks::selected(&selected, view)?;
        Ok(selected)
    });
    checked.unwrap_or_else(|error| nothing(NothingReason::SelectorFailed(error.to_string())))
}
