//! Whether a release would break a neighbour: a skill at whose tasks the released one would be chosen from then on.

use std::collections::BTreeSet;

use crate::{
    domain::{
        CaseKind, HandledMark, LibraryChange, MaintenanceBudget, Skill, SkillName, State, Trace,
        TurnQuery,
    },
    id::TaskId,
    library::{Entry, SkillLibrary},
    policy::{Ask, Case, PlayedCase, View},
    stations::{
        maintain::{cases::whole_attempt, outcomes::is_temporary, within_budget::play_all},
        select::candidates::select,
    },
};

/// A task that a neighbour did, and that is not done any more once the skill is released.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) task: TaskId,
    /// The skill that did it.
    pub(super) neighbour: SkillName,
}

/// The mark of a version that breaks a neighbour.
pub(super) fn mark(entry: &Entry) -> String {
    let skill = &entry.skill;
    format!("neighbours/{}/{}", skill.id, skill.version)
}

/// The first task of a neighbour that the release of a version breaks. At most `most` tasks are looked at, the latest first: those that
/// were done with another skill. Where the recipe's selector would choose the version, they are attempted again, with either.
pub(super) async fn broken(
    ask: &mut Ask,
    view: &View,
    entry: &Entry,
    (most, left): (u32, &mut MaintenanceBudget),
) -> Option<Broken> {
    let selector = view.context().selector?.clone();
    let library = view.library();
    let released = view.evaluating(library.with_state(&entry.skill.id, State::Active)?);
    for (trace, neighbour) in neighbours(library, entry, most) {
        if left.is_spent() || !left.allows(2) {
            return None;
        }
        let query = TurnQuery {
            text: trace.task.instruction.clone(),
            tools: Vec::new(),
            category: trace.task.category.clone(),
        };
        let selected = select(ask, &released, selector.as_ref(), &query).await;
        if !selected.injected(0).contains(&entry.skill.reference()) {
            continue;
        }
        let case = Box::new(whole_attempt(library, trace, CaseKind::Negative));
        let cases = [neighbour, &entry.skill].map(|skill| Case {
            skill: Some(Box::new(skill.clone())),
            beside: Vec::new(),
            case: case.clone(),
        });
        let runs = play_all(ask, left, cases.to_vec()).await;
        // One that the neighbour does not do again either failed by chance, or for another reason.
        if let [with_neighbour, with_it] = runs.as_slice()
            && does(with_neighbour) == Some(true)
            && does(with_it) == Some(false)
        {
            return Some(Broken {
                task: trace.task.id.clone(),
                neighbour: neighbour.name.clone(),
            });
        }
    }
    None
}

/// Whether a task was done; `None` where that is not known: nobody decided, or the attempt failed for the moment.
fn does(played: &PlayedCase) -> Option<bool> {
    match &played.run {
        Ok(run) => run.verdict.success(),
        Err(error) => (!is_temporary(error)).then_some(false),
    }
}

/// The kept attempts that did their task with another skill in use, the latest of each task, with that skill.
fn neighbours<'a>(
    library: &'a SkillLibrary,
    entry: &'a Entry,
    most: u32,
) -> impl Iterator<Item = (&'a Trace, &'a Skill)> {
    let mut tasks: BTreeSet<&TaskId> = BTreeSet::new();
    let traces: Vec<&Trace> = library.traces().collect();
    let latest = traces.into_iter().rev();
    let done = latest.filter(|trace| trace.is_success());
    let by_another = done.filter_map(|trace| {
        let mut skills = trace.trajectory.exposures.iter();
        let own = &entry.skill.id;
        if skills.clone().any(|seen| seen.skill.id == *own) {
            return None;
        }
        let other = skills.find_map(|seen| library.get(&seen.skill.id))?;
        let in_use = other.skill.state == State::Active;
        in_use.then_some((trace, &other.skill))
    });
    let once = by_another.filter(move |(trace, _)| tasks.insert(&trace.task.id));
    once.take(most as usize)
}

/// The record that a version breaks a neighbour, so that the tasks are not attempted again and again.
pub(super) fn recorded(entry: &Entry) -> LibraryChange {
    LibraryChange::Handled {
        fingerprint: HandledMark::done(mark(entry)),
    }
}
