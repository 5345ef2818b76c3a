//! Changes that can take earlier ones back: merge, roll back, restore, and retire a run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::{Committed, LibraryChange, Origin, Skill, SkillRef, State},
    id::{Revision, RunId, SkillId, TaskId, Timestamp, Version},
    library::{
        Entry, Merged, Move, Operation, PassReason, SetBy, SkillLibrary, applied::Outcome,
        entry::is_suspect, tiers,
    },
};

impl SkillLibrary {
    /// Adds the new skill with the mean of its sources' utilities, and archives them; where it begins `beside` them and is not in use yet,
    /// they stay as they are.
    pub(super) fn merge(&mut self, skill: &Skill, sources: &[SkillId], beside: bool) -> Outcome {
        let known: Vec<&Entry> = sources.iter().filter_map(|id| self.get(id)).collect();
        if known.is_empty() {
            return Err(PassReason::NoSource);
        }
        let utility = known.iter().map(|entry| entry.utility).sum::<f64>() / known.len() as f64;
        let mut skill = skill.clone();
        if skill.parents.is_empty() {
            skill.parents = known.iter().map(|entry| entry.skill.reference()).collect();
        }
        let mut moves = self.add(&skill, utility)?;
        for moved in &mut moves {
            moved.operation = Operation::Merged;
        }
        // As the library took it: one that has to be looked at first is in quarantine.
        let in_use = |entry: &Entry| entry.skill.state == State::Active;
        let stay = beside && !self.get(&skill.id).is_some_and(in_use);
        for id in sources {
            let Ok(entry) = self.known(id) else { continue };
            let merged = Merged {
                into: skill.id.clone(),
                version: entry.skill.version,
                from: entry.skill.state,
            };
            entry.merged = Some(merged);
            if !stay {
                entry.skill.state = State::Archived;
                moves.extend(tiers::settle(entry));
            }
        }
        Ok(moves)
    }

    /// The skills that were merged into this one and are still offered beside it, in the version that was merged, by id.
    pub(crate) fn offered_beside<'a>(
        &'a self,
        merged: &'a SkillId,
    ) -> impl Iterator<Item = &'a Entry> {
        let entries = self.entries();
        entries.filter(move |entry| {
            let version = entry.skill.version;
            let is_source = |of: &Merged| of.into == *merged && of.version == version;
            entry.skill.state.is_offered() && entry.merged.as_ref().is_some_and(is_source)
        })
    }

    /// The skills that were archived when this one, into which they were merged, came into use, by id.
    pub(crate) fn gave_way_to<'a>(
        &'a self,
        merged: &'a SkillId,
    ) -> impl Iterator<Item = &'a Entry> {
        let entries = self.entries().filter(|entry| entry.gave_way());
        entries.filter(move |entry| entry.merged.as_ref().is_some_and(|of| of.into == *merged))
    }

    /// Archives the sources of a merged skill that came into use.
    pub(super) fn archive_sources(&mut self, merged: &SkillId, by: &SetBy) -> Vec<Move> {
        let sources = self.offered_beside(merged);
        let sources: Vec<SkillId> = sources.map(|source| source.skill.id.clone()).collect();
        let mut moves = Vec::new();
        for id in &sources {
            if let Ok(source) = self.known(id) {
                source.give_way(by.clone());
                moves.extend(tiers::settle(source));
            }
        }
        moves
    }

    /// Makes an earlier version the current one, as the next version, with the current state. A run that does it is one of the
    /// version's runs, so that its retirement takes the version back.
    pub(super) fn roll_back(&mut self, id: &SkillId, to: Version, run: Option<&RunId>) -> Outcome {
        let entry = self.known(id)?;
        if to == entry.skill.version {
            return Err(PassReason::NotLater);
        }
        let mut history = entry.history.iter();
        let before = history.find(|version| version.version == to);
        let before = before.ok_or(PassReason::NoSuchVersion)?;
        let current = entry.skill.version;
        let mut skill = brought_back(before, &entry.skill);
        let runs = &mut skill.provenance.runs;
        if let Some(run) = run.filter(|run| !runs.contains(run)) {
            runs.push(run.clone());
        }
        let moves = self.replace(skill, Operation::RolledBack)?;
        let entry = self.known(id)?;
        entry.merged = None;
        entry.carry_state([current, to]);
        Ok(moves)
    }

    /// Restores a deleted skill as it was.
    pub(super) fn restore(&mut self, id: &SkillId) -> Outcome {
        if self.entries.contains(id) {
            return Err(PassReason::NotDeleted);
        }
        let mut entry = self.deleted.remove(id).ok_or(PassReason::Unknown)?;
        entry.tier = tiers::entered(entry.skill.state);
        Ok(vec![self.enter(entry, Operation::Restored)])
    }

    /// Takes back what a run left besides skills.
    fn take_back_memory(&mut self, run: &RunId) {
        self.memory_mut().take_back(run);
        self.rubrics.take_back(run);
        self.assigned.take_back(run);
    }

    /// Takes back a run: its credits, and every version that it made or that was made from one it made. A skill goes
    /// back to its latest version of another making, and is not offered where that was not; one that has none is
    /// disabled, and so is such a one that was deleted, should it be restored. What the host or a person took out of use stays
    /// so by their word, and what a person made from it is quarantined, for the person to decide. Skills that were merged into a disabled one are as they were before, and so
    /// are those whose state the run set last.
    pub(super) fn retire_run(&mut self, run: &RunId) -> Vec<Move> {
        let made = self.made_by(run);
        self.take_back_memory(run);
        let ids = |library: &Self| -> Vec<SkillId> {
            let entries = library.entries();
            entries.map(|entry| entry.skill.id.clone()).collect()
        };
        let mut moves = Vec::new();
        let mut disabled = self.retire_deleted(run, &made);
        for id in ids(self) {
            let touched = self.get(&id).is_some_and(|entry| entry.is_touched_by(run));
            if touched && let Ok(entry) = self.known(&id) {
                entry.take_back(run);
                moves.extend(tiers::settle(entry));
            }
            let Some(entry) = self.get(&id) else { continue };
            let current = &entry.skill;
            if !made.contains(&current.reference()) || entry.is_retired(current.version, run) {
                continue;
            }
            let by = SetBy::Retirement(run.clone());
            let is_human = current.provenance.origin == Origin::Human;
            let has_none = is_human || entry.latest_without(&made).is_none();
            let back = if entry.is_out_by_host() && has_none {
                if let Ok(entry) = self.known(&id) {
                    entry.mark_retired_below_host(run);
                }
                if !is_human {
                    disabled.insert(id.clone());
                }
                Ok(Vec::new())
            } else if is_human {
                self.set_state(&id, State::Quarantined, by)
            } else if let Some(before) = entry.latest_without(&made) {
                let back = GoneBack::of(before, current);
                let skill = taken_back(before, current);
                let moves = self.replace(skill, Operation::RolledBack);
                if let Ok(entry) = self.known(&id) {
                    entry.gone_back(&back);
                    entry.mark_taken_back(&made, run);
                }
                moves
            } else {
                disabled.insert(id.clone());
                self.set_state(&id, State::Disabled, by)
            };
            moves.extend(back.unwrap_or_default());
        }
        for id in ids(self) {
            let Ok(entry) = self.known(&id) else { continue };
            let Some(merged) = entry.merged.clone() else {
                continue;
            };
            let archived = entry.skill.state == State::Archived;
            if !archived || !disabled.contains(&merged.into) {
                continue;
            }
            // Another version than the one that was merged was never released.
            let other = entry.skill.version != merged.version;
            let state = match merged.from {
                State::Active if other && is_suspect(&entry.skill) => State::Quarantined,
                from => from,
            };
            entry.skill.state = state;
            entry.merged = None;
            moves.extend(tiers::settle(entry));
        }
        moves
    }

    /// The same for deleted skills, in case they are restored; gives those that are disabled.
    fn retire_deleted(&mut self, run: &RunId, made: &BTreeSet<SkillRef>) -> BTreeSet<SkillId> {
        let ids: Vec<SkillId> = self.deleted().map(|entry| entry.skill.id.clone()).collect();
        let mut disabled = BTreeSet::new();
        for id in ids {
            let Some(entry) = self.deleted.get_mut(&id) else {
                continue;
            };
            entry.take_back(run);
            let current = &entry.skill;
            if !made.contains(&current.reference()) || entry.is_retired(current.version, run) {
                continue;
            }
            let by = SetBy::Retirement(run.clone());
            let is_human = current.provenance.origin == Origin::Human;
            let has_none = is_human || entry.latest_without(made).is_none();
            if entry.is_out_by_host() && has_none {
                entry.mark_retired_below_host(run);
                if !is_human {
                    disabled.insert(id);
                }
            } else if is_human {
                entry.set_state(State::Quarantined, by);
            } else if let Some(before) = entry.latest_without(made) {
                let back = GoneBack::of(before, current);
                let skill = taken_back(before, current);
                entry.replace(skill);
                entry.gone_back(&back);
                entry.mark_taken_back(made, run);
            } else {
                entry.set_state(State::Disabled, by);
                disabled.insert(id);
            }
        }
        disabled
    }

    /// The versions that a run made, and those that were made from them before the run was retired.
    fn made_by(&self, run: &RunId) -> BTreeSet<SkillRef> {
        let versions = || {
            let entries = self.entries().chain(self.deleted());
            entries.flat_map(Entry::versions)
        };
        let mut made: BTreeSet<SkillRef> = versions()
            .filter(|version| version.provenance.runs.contains(run))
            .map(Skill::reference)
            .collect();
        let retired = |parent: &SkillRef| {
            let entry = self
                .get(&parent.id)
                .or_else(|| self.deleted.get(&parent.id));
            entry.is_some_and(|entry| entry.is_retired(parent.version, run))
        };
        loop {
            let from_made = |parent: &SkillRef| made.contains(parent) && !retired(parent);
            let more: Vec<SkillRef> = versions()
                .filter(|version| version.parents.iter().any(from_made))
                .map(Skill::reference)
                .filter(|version| !made.contains(version))
                .collect();
            if more.is_empty() {
                return made;
            }
            made.extend(more);
        }
    }
}

/// An entry's going back from a version to one before it.
struct GoneBack {
    from: Version,
    to: Version,
    /// The state that the version gone back to had.
    state: State,
}

impl GoneBack {
    fn of(before: &Skill, current: &Skill) -> Self {
        Self {
            from: current.version,
            to: before.version,
            state: before.state,
        }
    }
}

impl Entry {
    /// Adapts the rest of the entry after it went back: what set the state, and the state before a merge.
    fn gone_back(&mut self, back: &GoneBack) {
        self.carry_state([back.from, back.to]);
        if let Some(merged) = &mut self.merged
            && !back.state.is_offered()
        {
            merged.from = back.state;
        }
    }
}

/// An earlier version as the one after `current`, in its state; but one that was held back then, or that is tainted or
/// imported and was never active, is held back now.
fn brought_back(before: &Skill, current: &Skill) -> Skill {
    let offered = current.state.is_offered();
    let unproven = current.state == State::Active && before.state != State::Active;
    let held = (offered && before.state == State::Quarantined) || (unproven && is_suspect(before));
    Skill {
        version: current.version.next(),
        parents: vec![before.reference()],
        state: if held {
            State::Quarantined
        } else {
            current.state
        },
        ..before.clone()
    }
}

/// The same where what came after is taken back with its run: what was not offered before is not offered again.
fn taken_back(before: &Skill, current: &Skill) -> Skill {
    let skill = brought_back(before, current);
    let state = match before.state {
        was if skill.state.is_offered() && !was.is_offered() => was,
        _ => skill.state,
    };
    Skill { state, ..skill }
}

/// Which runs to take back: those for which everything holds that is set.
///
/// Runs by which a host adds skills, sets states and sets rules are found by their id alone: an undone day of learning keeps
/// what was decided on it.
///
/// ```
/// use journeyman::{domain::Timestamp, library::RunFilter};
///
/// // What the session "desk" learned since then.
/// let mut filter = RunFilter::of_session("desk");
/// filter.since = Some(Timestamp(1_790_000_000_000));
/// assert!(filter.runs(&[]).is_empty());
/// ```
#[non_exhaustive]
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
#[non_exhaustive]
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
    /// The run of this id.
    pub fn of_run(run: impl Into<RunId>) -> Self {
        Self {
            run: Some(run.into()),
            ..Self::default()
        }
    }

    /// All runs of this session.
    pub fn of_session(session: impl Into<String>) -> Self {
        Self {
            session: Some(session.into()),
            ..Self::default()
        }
    }

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
            ..
        } => into.id == *skill || sources.contains(skill),
        other => other.skill().is_some_and(|of| of.id == *skill),
    }
}
