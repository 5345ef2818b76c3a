//! Whether a release would break a neighbour: a skill at whose tasks the released one would be chosen from then on, or one that was
//! merged into it, at whose tasks it would not be chosen.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::NOT_REPEATED;
use crate::{
    domain::{
        BundleCase, CaseKind, HandledMark, LibraryChange, MaintenanceBudget, Skill, SkillRef,
        State, Task, Trace, TurnQuery,
    },
    id::{SkillId, TaskId},
    library::{Entry, SkillLibrary, StandingWith},
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

/// A task that another skill did.
struct Neighbour {
    case: Box<BundleCase>,
    /// Whether it was done with one of the skills that were merged into the version.
    had_source: bool,
}

/// What a version would break, as the record of it has it.
#[derive(Debug, Serialize, Deserialize)]
struct Broken {
    /// The skills that the task is done with; none where it is done without one.
    by: Vec<SkillRef>,
    /// The task and these skills, in words.
    told: String,
}

/// Looks at the tasks of other skills: at most `most` that were done with one, the latest first, and as many of their test bundles. Where the recipe's
/// selector would choose other skills with the version in use, they are attempted again with what is chosen now and then. As many tasks
/// of the skills that were merged into the version are looked at, where it would not be chosen: where it would, the two were compared.
/// A task that it is known to break is not attempted again while the skills that do it are in use.
pub(super) async fn looked_at(
    ask: &mut Ask,
    (view, selector): (&View, &dyn SelectProgram),
    entry: &Entry,
    (most, left): (u32, &mut MaintenanceBudget),
) -> Neighbours {
    let (library, version) = (view.library(), entry.skill.reference());
    let now = library.clone().with_versions_in_use(view.model());
    let then = library.with_in_use(&version, view.model());
    let then = then.map(|library| library.with_versions_in_use(view.model()));
    let views = [Some(now), then].map(|library| library.map(|library| view.evaluating(library)));
    let [Some(now), Some(then)] = views else {
        return Neighbours::Kept;
    };
    if let Some(told) = known_as_broken(view, &version, &now) {
        return Neighbours::Broken { told, new: None };
    }
    // What gave way to the version by another model's proof is in use with this one.
    let sources = [library, now.library()].map(|one| one.offered_beside(&version.id));
    let sources = sources.into_iter().flatten();
    let sources: BTreeSet<&SkillId> = sources.map(|source| &source.skill.id).collect();
    for neighbour in neighbours(now.library(), (&version.id, &sources), most) {
        let task = &neighbour.case.task;
        let before = chosen(ask, (&now, selector), task).await;
        let after = chosen(ask, (&then, selector), task).await;
        let comes = after.iter().any(|skill| skill.reference() == version);
        let goes = before.iter().any(|skill| sources.contains(&skill.id));
        let is_other = match comes {
            true => !neighbour.had_source,
            false => goes,
        };
        if before == after || !is_other {
            continue;
        }
        let cases = cases(&neighbour.case, [before.clone(), after]);
        match breaks(ask, left, cases).await {
            Ok(false) => {}
            Err(why) => return Neighbours::NotKnown(why),
            Ok(true) => {
                let without = match comes {
                    true => "with it",
                    false => "with what would be chosen in its place",
                };
                let (task, with) = (&task.id, named(&before));
                let told = format!("{task}, which is done {with} and not {without}");
                let by = before.iter().map(Skill::reference).collect();
                return Broken { by, told }.recorded(view, &version);
            }
        }
    }
    Neighbours::Kept
}

/// A task with the skills that are chosen before and after a release.
fn cases(case: &BundleCase, chosen: [Vec<Skill>; 2]) -> [Case; 2] {
    chosen.map(|skills| {
        let mut skills = skills.into_iter();
        Case {
            skill: skills.next().map(Box::new),
            beside: skills.collect(),
            case: Box::new(case.clone()),
        }
    })
}

/// Whether a task is done with what is chosen now, and not with what would be chosen then. What breaks is remembered, so it has to
/// happen twice. What is not done with what is chosen now either says nothing.
///
/// # Errors
/// The reason why it is not known.
async fn breaks(
    ask: &mut Ask,
    left: &mut MaintenanceBudget,
    cases: [Case; 2],
) -> Result<bool, &'static str> {
    const BROKEN: [bool; 2] = [true, false];
    // A first try that cannot be followed by a second one would be made anew in each round.
    if left.is_spent() || !left.allows(4) {
        return Err("the budget of maintenance is used up");
    }
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
    let runs = play_all(ask, left, cases.to_vec()).await;
    match runs.as_slice() {
        [now, then] => does(now).zip(does(then)).map(<[bool; 2]>::from),
        _ => None,
    }
    .ok_or("an attempt failed for the moment, or nobody could decide about it")
}

/// With which skills a task is done, in words.
fn named(skills: &[Skill]) -> String {
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    match names.is_empty() {
        true => "without a skill".to_owned(),
        false => format!("with {}", names.join(" and ")),
    }
}

impl Broken {
    /// That the version breaks it, with the change that keeps this.
    fn recorded(self, view: &View, version: &SkillRef) -> Neighbours {
        let record = serde_json::to_string(&self).unwrap_or_default();
        let fingerprint = HandledMark::done(marked(view, version) + &record);
        Neighbours::Broken {
            told: self.told,
            new: Some(LibraryChange::Handled { fingerprint }),
        }
    }
}

/// The start of the mark of a version that breaks a neighbour with this model; the record of it follows.
fn marked(view: &View, version: &SkillRef) -> String {
    let model = view.model().map(ToString::to_string).unwrap_or_default();
    format!("neighbours/{}/{}/{model}/", version.id, version.version)
}

/// What a version is known to break: a task that is done with skills that are still in use with the model, in their versions. One that is
/// done without a skill is known for good.
fn known_as_broken(view: &View, version: &SkillRef, now: &View) -> Option<String> {
    let start = marked(view, version);
    let marks = view.library().handled();
    let records = marks.filter_map(|mark| mark.subject.strip_prefix(&start));
    let mut broken = records.filter_map(|record| serde_json::from_str::<Broken>(record).ok());
    let is_in_use = |skill: &SkillRef| {
        let entry = now.library().get(&skill.id);
        entry.is_some_and(|entry| {
            entry.skill.state == State::Active
                && entry.skill.version == skill.version
                && now.context().standing_with(entry) == StandingWith::InUse
        })
    };
    let broken = broken.find(|broken| broken.by.iter().all(is_in_use))?;
    Some(broken.told)
}

/// The skills that the recipe's selector chooses for a task.
async fn chosen(
    ask: &mut Ask,
    (view, selector): (&View, &dyn SelectProgram),
    task: &Task,
) -> Vec<Skill> {
    let query = TurnQuery {
        text: task.instruction.clone(),
        tools: Vec::new(),
        category: task.category.clone(),
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

/// The tasks of kept attempts that were done with another skill, the latest first, and then those of other skills' test bundles, each
/// once: at most `most` of either that had none of these sources, and as many that had one.
fn neighbours(
    library: &SkillLibrary,
    (own, sources): (&SkillId, &BTreeSet<&SkillId>),
    most: u32,
) -> Vec<Neighbour> {
    let mut tasks: BTreeSet<TaskId> = BTreeSet::new();
    let attempted = by_another(library, own, sources).chain(bundled(library, own, sources));
    let once = attempted.filter(|neighbour| tasks.insert(neighbour.case.task.id.clone()));
    let mut left = [most as usize; 4];
    let few = once.filter(|neighbour| {
        let is_bundled = neighbour.case.kind == CaseKind::Integration;
        let left = &mut left[usize::from(is_bundled) * 2 + usize::from(neighbour.had_source)];
        let is_among = *left > 0;
        *left = left.saturating_sub(1);
        is_among
    });
    few.collect()
}

/// The kept attempts that did their task with another skill, the latest first.
fn by_another<'a>(
    library: &'a SkillLibrary,
    own: &'a SkillId,
    sources: &'a BTreeSet<&SkillId>,
) -> impl Iterator<Item = Neighbour> + 'a {
    let traces: Vec<&Trace> = library.traces().collect();
    let latest = traces.into_iter().rev();
    let done = latest.filter(|trace| trace.is_success());
    done.filter_map(move |trace| {
        let mut skills = trace.trajectory.exposures.iter();
        if skills.clone().any(|seen| seen.skill.id == *own) {
            return None;
        }
        let had_source = skills.clone().any(|seen| sources.contains(&seen.skill.id));
        let other = skills.find_map(|seen| library.get(&seen.skill.id))?;
        other.skill.state.is_offered().then(|| Neighbour {
            case: Box::new(whole_attempt(library, trace, CaseKind::Negative)),
            had_source,
        })
    })
}

/// The whole tasks that other skills are tested with.
fn bundled<'a>(
    library: &'a SkillLibrary,
    own: &'a SkillId,
    sources: &'a BTreeSet<&SkillId>,
) -> impl Iterator<Item = Neighbour> + 'a {
    let others = library.entries().filter(move |entry| {
        let skill = &entry.skill;
        skill.id != *own && skill.state.is_offered()
    });
    others.flat_map(move |entry| {
        let had_source = sources.contains(&entry.skill.id);
        let cases = entry.life.bundle.iter().map(|bundled| &bundled.case);
        let whole = cases.filter(|case| case.kind == CaseKind::Integration && case.is_whole());
        whole.map(move |case| Neighbour {
            case: Box::new(case.clone()),
            had_source,
        })
    })
}
