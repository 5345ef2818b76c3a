//! Whether a release would break a neighbour: a skill at whose tasks the released one would be chosen from then on.

use std::collections::BTreeSet;

use super::NOT_REPEATED;
use crate::{
    domain::{
        CaseKind, HandledMark, LibraryChange, MaintenanceBudget, Skill, SkillRef, Trace, TurnQuery,
    },
    id::TaskId,
    library::{Entry, SkillLibrary},
    policy::{Ask, Case, PlayedCase, SelectProgram, View},
    stations::{
        maintain::{cases::whole_attempt, outcomes::is_temporary, within_budget::play_all},
        select::candidates::select,
    },
};

/// What the release of a version would do to the tasks of other skills.
#[derive(Debug)]
pub(super) enum Neighbours {
    /// None that was looked at is lost.
    Kept,
    /// This task, which another skill did, would not be done any more. `new` is the record of it.
    Broken {
        told: String,
        new: Option<LibraryChange>,
    },
    /// It is not known yet, for this reason.
    NotKnown(&'static str),
}

/// Looks at the tasks of other skills, at most `most`, the latest first: those that were done with another skill. Where the recipe's
/// selector would choose other skills with the version in use, they are attempted again with what is chosen now and then.
pub(super) async fn looked_at(
    ask: &mut Ask,
    (view, selector): (&View, &dyn SelectProgram),
    entry: &Entry,
    (most, left): (u32, &mut MaintenanceBudget),
) -> Neighbours {
    let (library, version) = (view.library(), entry.skill.reference());
    if let Some(told) = known_as_broken(view, &version) {
        return Neighbours::Broken { told, new: None };
    }
    let now = library.clone().with_versions_in_use(view.model());
    let then = library.with_in_use(&version, view.model());
    let views = [Some(now), then].map(|library| library.map(|library| view.evaluating(library)));
    let [Some(now), Some(then)] = views else {
        return Neighbours::Kept;
    };
    for (trace, neighbour) in neighbours(library, entry, most) {
        let before = chosen(ask, (&now, selector), trace).await;
        let after = chosen(ask, (&then, selector), trace).await;
        if before == after || !after.iter().any(|skill| skill.reference() == version) {
            continue;
        }
        let case = Box::new(whole_attempt(library, trace, CaseKind::Negative));
        let cases = [before, after].map(|skills| {
            let mut skills = skills.into_iter();
            Case {
                skill: skills.next().map(Box::new),
                beside: skills.collect(),
                case: case.clone(),
            }
        });
        match breaks(ask, left, cases).await {
            Ok(false) => {}
            Err(why) => return Neighbours::NotKnown(why),
            Ok(true) => {
                let told = format!(
                    "{}, which is done with {} and not with it",
                    trace.task.id, neighbour.name
                );
                let subject = format!("{}{told}", marked(view, &version));
                let fingerprint = HandledMark::done(subject);
                return Neighbours::Broken {
                    told,
                    new: Some(LibraryChange::Handled { fingerprint }),
                };
            }
        }
    }
    Neighbours::Kept
}

/// Whether a task is done with what is chosen now, and not with what would be chosen then. What breaks is remembered for good, so it has
/// to happen twice. What is not done with what is chosen now either says nothing.
///
/// # Errors
/// The reason why it is not known.
async fn breaks(
    ask: &mut Ask,
    left: &mut MaintenanceBudget,
    cases: [Case; 2],
) -> Result<bool, &'static str> {
    const BROKEN: [bool; 2] = [true, false];
    if done(ask, left, &cases).await? != BROKEN {
        return Ok(false);
    }
    match done(ask, left, &cases).await? {
        BROKEN => Ok(true),
        _ => Err(NOT_REPEATED),
    }
}

/// Whether the task of each of two cases is done.
///
/// # Errors
/// The reason why it is not known.
async fn done(
    ask: &mut Ask,
    left: &mut MaintenanceBudget,
    cases: &[Case; 2],
) -> Result<[bool; 2], &'static str> {
    if left.is_spent() || !left.allows(2) {
        return Err("the budget of maintenance is used up");
    }
    let runs = play_all(ask, left, cases.to_vec()).await;
    match runs.as_slice() {
        [now, then] => does(now).zip(does(then)).map(<[bool; 2]>::from),
        _ => None,
    }
    .ok_or("an attempt failed for the moment, or nobody could decide about it")
}

/// The start of the mark of a version that breaks a neighbour with this model; the task and the neighbour follow.
fn marked(view: &View, version: &SkillRef) -> String {
    let model = view.model().map(ToString::to_string).unwrap_or_default();
    format!("neighbours/{}/{}/{model}/", version.id, version.version)
}

fn known_as_broken(view: &View, version: &SkillRef) -> Option<String> {
    let start = marked(view, version);
    let mut marks = view.library().handled();
    let told = marks.find_map(|mark| mark.subject.strip_prefix(&start))?;
    Some(told.to_owned())
}

/// The skills that the recipe's selector chooses for a task.
async fn chosen(
    ask: &mut Ask,
    (view, selector): (&View, &dyn SelectProgram),
    trace: &Trace,
) -> Vec<Skill> {
    let query = TurnQuery {
        text: trace.task.instruction.clone(),
        tools: Vec::new(),
        category: trace.task.category.clone(),
    };
    let selected = select(ask, view, selector, &query).await;
    let skills = selected.injected(0).iter();
    let skills = skills.filter_map(|skill| view.library().get(&skill.id));
    skills.map(|entry| entry.skill.clone()).collect()
}

/// Whether a task was done; `None` where that is not known: nobody decided, or the attempt failed for the moment.
fn does(played: &PlayedCase) -> Option<bool> {
    match &played.run {
        Ok(run) => run.verdict.success(),
        Err(error) => (!is_temporary(error)).then_some(false),
    }
}

/// The kept attempts that did their task with another skill, the latest of each task, with that skill.
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
        let is_offered = other.skill.state.is_offered();
        is_offered.then_some((trace, &other.skill))
    });
    let once = by_another.filter(move |(trace, _)| tasks.insert(&trace.task.id));
    once.take(most as usize)
}
