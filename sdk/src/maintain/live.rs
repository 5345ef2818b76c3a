//! Release by live attempts: evidence for skills on trial whose cases cannot be played again.

use super::Upkeep;
use crate::{
    domain::{LibraryChange, State},
    library::Entry,
    reward::SkillUse,
};

/// At how many different tasks a live attempt has to go well with a skill, where the recipe has no bundles to say so. What
/// the paper asks of refactored skills (HiSME, algorithm 3).
const TASKS: u32 = 2;

/// Minimum number of different tasks at which a live attempt has to go well for a release.
pub(crate) fn tasks_needed(context: &Upkeep<'_>) -> u32 {
    let bundles = context.policy.bundles.as_ref();
    bundles.map_or(TASKS, |bundles| bundles.tasks)
}

/// Number of tasks whose live attempts support a release; `None` where they do not suffice. An attempt supports it when it was
/// done with the skill and without a refused action. More attempts must be done than not, and no more judgements may call
/// the skill harmful than helpful.
pub(crate) fn support(context: &Upkeep<'_>, entry: &Entry) -> Option<u32> {
    let by_use = context.skill_use == SkillUse::Reported;
    let version = entry.skill.version;
    let live = entry.life.live(version, by_use);
    let counts = entry.life.counts(version);
    let speaks = live.tasks >= tasks_needed(context)
        && live.done > live.failed
        && counts.harmful <= counts.helpful;
    speaks.then_some(live.tasks)
}

/// The change that releases a skill for what live attempts say.
pub(crate) fn release(entry: &Entry, tasks: u32) -> LibraryChange {
    LibraryChange::Release {
        skill: entry.skill.reference(),
        reason: format!("live attempts at {tasks} tasks went well with it"),
    }
}

/// The skills on trial that live attempts release, where the recipe has no maintenance that does.
pub(crate) fn released(context: &Upkeep<'_>) -> Vec<LibraryChange> {
    if !context.policy.is_none() {
        return Vec::new();
    }
    let on_trial = context.offered();
    let on_trial = on_trial.filter(|entry| entry.skill.state == State::Trial);
    on_trial
        .filter_map(|entry| Some(release(entry, support(context, entry)?)))
        .collect()
}
