//! The events of a decision, completed after its commit: final names and states of skills, and the conditions under which
//! new skills become active.

use super::run_context::RunContext;
use crate::{
    domain::{LibraryChange, Skill, State},
    library::{PassedOver, SkillLibrary},
    maintain::live,
    report::EventKind,
};

/// Completes the events of a decision after its commit: admitted skills get their final names and states, skills that another
/// writer changed first become refusals, and events are added for waiting skills, changed states, credits and judgements.
pub(crate) fn settled(
    context: &RunContext<'_>,
    changes: &[LibraryChange],
    passed_over: &[PassedOver],
    kinds: Vec<EventKind>,
) -> Vec<EventKind> {
    let mut events = Vec::new();
    for kind in kinds {
        let EventKind::Admitted { skill, revised } = kind else {
            events.push(kind);
            continue;
        };
        let overtaken = passed_over.iter().any(|passed| {
            let change = changes.get(passed.change).and_then(LibraryChange::skill);
            change.is_some_and(|change| change.reference() == skill.reference())
        });
        if overtaken {
            let reason = format!("{}: another writer was first", skill.name);
            events.push(EventKind::Refused { reason });
            continue;
        }
        let entry = context.library.get(&skill.id);
        let skill = entry.map_or(skill, |entry| Box::new(entry.skill.clone()));
        let waits = waits(context, &skill);
        events.push(EventKind::Admitted { skill, revised });
        events.extend(waits);
    }
    let taken = changes.iter().enumerate();
    let taken = taken.filter(|(place, _)| !passed_over.iter().any(|one| one.change == *place));
    let others = taken.filter_map(|(_, change)| {
        state_changed(context.library, change).or_else(|| said_of(context.library, change))
    });
    events.extend(others);
    events
}

/// The event of a credit or a judgement, if the skill is in the library.
fn said_of(library: &SkillLibrary, change: &LibraryChange) -> Option<EventKind> {
    match change {
        LibraryChange::Credit {
            skill,
            attempt,
            reward,
            ..
        } => {
            let entry = library.get(&skill.id)?;
            Some(EventKind::Credited {
                skill: skill.clone(),
                name: entry.skill.name.clone(),
                attempt: attempt.clone(),
                reward: *reward,
                utility: entry.utility,
            })
        }
        LibraryChange::Attribute(said) => Some(EventKind::Attributed {
            skill: said.skill.clone(),
            name: library.get(&said.skill.id)?.skill.name.clone(),
            attempt: said.attempt.clone(),
            judgement: said.judgement,
            reason: said.reason.clone(),
        }),
        _ => None,
    }
}

fn state_changed(library: &SkillLibrary, change: &LibraryChange) -> Option<EventKind> {
    let (skill, state, reason) = match change {
        LibraryChange::SetState {
            skill,
            state,
            reason,
        } => (skill, *state, reason),
        LibraryChange::Release { skill, reason, .. } => (&skill.id, State::Active, reason),
        _ => return None,
    };
    let entry = library.get(skill)?;
    // Another writer may have set another state first.
    (entry.skill.state == state).then(|| EventKind::StateChanged {
        skill: skill.clone(),
        name: entry.skill.name.clone(),
        state,
        reason: reason.clone(),
    })
}

/// The event with the condition under which a draft, or a skill on trial or in quarantine, comes into use; none for other
/// states.
fn waits(context: &RunContext<'_>, skill: &Skill) -> Option<EventKind> {
    let evidence = || {
        let tasks = live::tasks_needed(&context.maintenance_context(), skill.state);
        match &context.recipe.maintenance.bundles {
            Some(_) => format!(
                "its test bundle passes at {tasks} tasks or, where nothing of that can be played again, live attempts \
                 at {tasks} tasks go well with it"
            ),
            None => format!("live attempts at {tasks} tasks go well with it"),
        }
    };
    let reason = match skill.state {
        State::Trial => format!("on trial until {}", evidence()),
        State::Draft => "a draft of the next version until that passes its test bundle; the version before stays in use"
            .to_owned(),
        State::Quarantined if context.recipe.maintenance.quarantine.is_some() => format!(
            "in quarantine, since it was written from observations of an untrusted source: it is tried in learning alone \
             until {}; the first harm ends the trial",
            evidence()
        ),
        State::Quarantined => "in quarantine, since it was written from observations of an untrusted source: no run \
                               lifts this; `Journeyman::set_state` does, and `Trust::Trusted` for sources that the \
                               host vouches for avoids it"
            .to_owned(),
        _ => return None,
    };
    Some(EventKind::Waits {
        skill: skill.reference(),
        name: skill.name.clone(),
        state: skill.state,
        reason,
    })
}
