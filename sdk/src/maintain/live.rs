//! Release by live attempts, for skills on trial whose test cases cannot be played.

use super::Upkeep;
use crate::{
    domain::{LibraryChange, State},
    library::Entry,
    reward::SkillUse,
};

/// Minimum number of tasks with a successful live attempt for a release, if the recipe has no [`BundlePolicy`] that says so. The
/// paper requires two of refactored skills (HiSME, algorithm 3).
///
/// [`BundlePolicy`]: super::BundlePolicy
const TASKS: u32 = 2;

/// Minimum number of different tasks with a successful live attempt for a release.
pub(crate) fn tasks_needed(context: &Upkeep<'_>) -> u32 {
    let bundles = context.policy.bundles.as_ref();
    bundles.map_or(TASKS, |bundles| bundles.tasks.get())
}

/// Number of tasks whose live attempts support a release; `None` if they do not suffice. An attempt supports a release if it
/// succeeded with the skill and without a refused action. More attempts with the skill must have succeeded than failed, and
/// harmful judgements may not outnumber helpful ones.
pub(crate) fn support(context: &Upkeep<'_>, entry: &Entry) -> Option<u32> {
    let by_use = context.skill_use == SkillUse::Reported;
    let version = entry.skill.version;
    let live = entry.life.live(version, by_use);
    let counts = entry.life.counts(version);
    let suffices = live.tasks >= tasks_needed(context)
        && live.done > live.failed
        && counts.harmful <= counts.helpful;
    suffices.then_some(live.tasks)
}

/// The change that releases a skill for successful live attempts at so many tasks.
pub(crate) fn release(entry: &Entry, tasks: u32) -> LibraryChange {
    LibraryChange::Release {
        skill: entry.skill.reference(),
        reason: format!("live attempts at {tasks} tasks went well with it"),
    }
}

/// Releases of skills on trial by live attempts, if the recipe has no maintenance that releases them.
pub(crate) fn released(context: &Upkeep<'_>) -> Vec<LibraryChange> {
    if context.policy.looks_after_skills() {
        return Vec::new();
    }
    let on_trial = context.offered();
    let on_trial = on_trial.filter(|entry| entry.skill.state == State::Trial);
    on_trial
        .filter_map(|entry| Some(release(entry, support(context, entry)?)))
        .collect()
}
