//! The use of skills by kept attempts, and the tasks that a skill's bundle covers.

use std::collections::BTreeSet;

use crate::{
    domain::{BundleCase, CaseKind, SkillRef, SkillUse, Trajectory},
    id::TaskId,
    library::{Entry, SkillLibrary},
};

/// An attempt's use of a skill's version: what the agent said and, where it left it open, what a role judged. A version that was
/// not in its prompt is not followed.
pub(crate) fn use_of(
    library: &SkillLibrary,
    trajectory: &Trajectory,
    skill: &SkillRef,
) -> SkillUse {
    let mut exposures = trajectory.exposures.iter();
    let Some(exposure) = exposures.find(|seen| seen.skill == *skill) else {
        return SkillUse::NotFollowed;
    };
    let entry = library.get(&skill.id);
    let judgement =
        entry.and_then(|entry| entry.life.judgement(skill.version, &trajectory.attempt));
    exposure.used.judged(judgement)
}

/// The step before which a version first stood in the prompt of an attempt that is known to have followed it; `None` for any other
/// attempt. One of unknown use counts only if a role judged that the version helped it or did harm.
pub(crate) fn followed_since(
    library: &SkillLibrary,
    trajectory: &Trajectory,
    skill: &SkillRef,
) -> Option<u32> {
    let mut exposures = trajectory.exposures.iter();
    let seen = exposures.find(|seen| seen.skill == *skill)?;
    use_of(library, trajectory, skill)
        .is_followed()
        .then_some(seen.since)
}

/// The use of all skills in an attempt's prompt as that of one ([`SkillUse::of_any`]).
pub(crate) fn use_of_any(library: &SkillLibrary, trajectory: &Trajectory) -> SkillUse {
    let exposures = trajectory.exposures.iter();
    SkillUse::of_any(exposures.map(|seen| use_of(library, trajectory, &seen.skill)))
}

// The tasks that a skill's bundle covers with whole-attempt cases.

/// Greatest number of tasks of which a bundle takes whole-attempt cases that have to pass. Bounded, since every case is played
/// at each change of the skill or its bundle.
const ENOUGH_TASKS: usize = 4;

/// The tasks of which a bundle has whole-attempt cases that have to pass, negative cases aside.
pub(crate) struct Covered(BTreeSet<TaskId>);

impl Covered {
    /// The tasks of a skill's bundle and of the cases that will be added to it.
    pub(crate) fn of<'a>(
        entry: &'a Entry,
        coming: impl IntoIterator<Item = &'a BundleCase>,
    ) -> Self {
        let bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
        let cases = bundle.chain(coming);
        let whole = cases.filter(|case| case.kind != CaseKind::Negative && case.is_whole());
        Self(whole.map(|case| case.task.id.clone()).collect())
    }

    /// Whether a whole-attempt case of a task is still wanted.
    pub(crate) fn lacks(&self, task: &TaskId) -> bool {
        self.0.len() < ENOUGH_TASKS && !self.0.contains(task)
    }

    /// Adds a task if a whole-attempt case of it is still wanted; returns whether it was.
    pub(crate) fn insert(&mut self, task: &TaskId) -> bool {
        self.lacks(task) && self.0.insert(task.clone())
    }
}
