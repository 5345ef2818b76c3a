//! Which runs are taken back: found in a store's commits.

use std::collections::BTreeMap;

use crate::{
    domain::{Committed, LibraryChange},
    id::{Revision, RunId, SkillId, TaskId, Timestamp},
};

/// Which runs to take back: those for which everything holds that is set.
///
/// Runs by which a host adds skills, sets states and sets rules are found by their id alone: an undone day of learning keeps
/// what was decided on it.
///
/// ```
/// use journeyman::{Timestamp, library::RunFilter};
///
/// // What the session "desk" learned since then.
/// let filter = RunFilter {
///     session: Some("desk".to_owned()),
///     since: Some(Timestamp(1_790_000_000_000)),
///     ..RunFilter::default()
/// };
/// assert!(filter.runs(&[]).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// The run of this id.
    pub run: Option<RunId>,
    /// The runs of this session ([`Options::session`](crate::run::Options::session)).
    pub session: Option<String>,
    /// The runs with a commit about this task.
    pub task: Option<TaskId>,
    /// The runs that wrote a version of this skill, or set its state.
    pub skill: Option<SkillId>,
    /// The runs with a commit at this time or later. A commit has no time where the host gave no clock; its run is
    /// then found in other ways.
    pub since: Option<Timestamp>,
}

/// A run with commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRun {
    /// Its id.
    pub run: RunId,
    /// Number of its commits.
    pub commits: usize,
    /// Number of the credits in its commits. Once the run is taken back they do not count; [`Applied::moves`](super::Applied::moves)
    /// does not show that, since a credit moves no skill.
    pub credits: usize,
    /// Its latest commit.
    pub latest: Revision,
    /// The time of its earliest commit that has one, and of its latest.
    pub times: Option<(Timestamp, Timestamp)>,
}

/// What a run's commits are about.
#[derive(Default)]
struct Seen {
    commits: usize,
    credits: usize,
    latest: Revision,
    times: Option<(Timestamp, Timestamp)>,
    task: bool,
    skill: bool,
    since: bool,
    /// The commit that retired it last.
    retired: Option<Revision>,
}

impl RunFilter {
    /// The runs, the latest first. A run is left out when it was retired and has made no commit since.
    pub fn runs(&self, commits: &[Committed]) -> Vec<FoundRun> {
        let mut runs: BTreeMap<&RunId, Seen> = BTreeMap::new();
        for committed in commits {
            if let Some(run) = &committed.cause.run {
                self.see(runs.entry(run).or_default(), committed);
            }
            for change in &committed.changes {
                if let LibraryChange::RetireRun { run, .. } = change {
                    runs.entry(run).or_default().retired = Some(committed.revision);
                }
            }
        }
        let mut found: Vec<FoundRun> = runs
            .into_iter()
            .filter(|(run, seen)| self.takes(run, seen))
            .map(|(run, seen)| FoundRun {
                run: run.clone(),
                commits: seen.commits,
                credits: seen.credits,
                latest: seen.latest,
                times: seen.times,
            })
            .collect();
        found.sort_by_key(|found| std::cmp::Reverse(found.latest));
        found
    }

    fn see(&self, seen: &mut Seen, committed: &Committed) {
        let cause = &committed.cause;
        let is_credit = |change: &&LibraryChange| matches!(change, LibraryChange::Credit { .. });
        seen.commits += 1;
        seen.credits += committed.changes.iter().filter(is_credit).count();
        seen.latest = committed.revision;
        if let Some(at) = cause.at {
            let (first, last) = seen.times.unwrap_or((at, at));
            // A clock may have been set back between two commits.
            seen.times = Some((first.min(at), last.max(at)));
            seen.since |= self.since.is_some_and(|since| at >= since);
        }
        seen.task |= cause.task.is_some() && cause.task == self.task;
        let wanted = self.skill.as_ref();
        seen.skill |= wanted.is_some_and(|skill| {
            let mut changes = committed.changes.iter();
            changes.any(|change| decides_about(change, skill))
        });
    }

    fn takes(&self, run: &RunId, seen: &Seen) -> bool {
        let by_id = self.run.as_ref() == Some(run);
        let is_new = seen.retired.is_none_or(|retired| retired < seen.latest);
        seen.commits > 0
            && is_new
            && (by_id || (self.run.is_none() && !run.is_by_host()))
            && (self.session.iter()).all(|session| run.is_of(session))
            && (self.task.is_none() || seen.task)
            && (self.skill.is_none() || seen.skill)
            && (self.since.is_none() || seen.since)
    }
}

/// Whether a change gives a skill a version or a state.
fn decides_about(change: &LibraryChange, skill: &SkillId) -> bool {
    match change {
        LibraryChange::SetState { skill: of, .. } | LibraryChange::RollBack { skill: of, .. } => {
            of == skill
        }
        LibraryChange::Release { skill: of, .. } => of.id == *skill,
        LibraryChange::Merge {
            skill: into,
            sources,
        } => into.id == *skill || sources.contains(skill),
        other => other.skill().is_some_and(|of| of.id == *skill),
    }
}
