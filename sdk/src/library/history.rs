//! Changes that can take earlier ones back: merge, roll back, restore, and retire a run.

use std::collections::BTreeSet;

use super::{
    Entry, Merged, Move, Operation, PassReason, SetBy, SkillLibrary, applied::Outcome,
    entry::is_suspect, tiers,
};
use crate::{
    domain::{Origin, Skill, SkillRef, State},
    id::{RunId, SkillId, Version},
};

impl SkillLibrary {
    /// Adds the new skill with the mean of its sources' utilities, and archives them.
    pub(super) fn merge(&mut self, skill: &Skill, sources: &[SkillId]) -> Outcome {
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
        for id in sources {
            let Ok(entry) = self.known(id) else { continue };
            let merged = Merged {
                into: skill.id.clone(),
                version: entry.skill.version,
                from: entry.skill.state,
            };
            entry.merged = Some(merged);
            entry.skill.state = State::Archived;
            moves.extend(tiers::settle(entry));
        }
        Ok(moves)
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

    /// Takes back a run: its credits, and every version that it made or that was made from one it made. A skill goes
    /// back to its latest version of another making, and is not offered where that was not; one that has none is
    /// disabled, and so is such a one that was deleted, should it be restored. What the host or a person took out of use stays
    /// so by their word, and what a person made from it is quarantined, for the person to decide. Skills that were merged into a disabled one are as they were before, and so
    /// are those whose state the run set last.
    pub(super) fn retire_run(&mut self, run: &RunId) -> Vec<Move> {
        let made = self.made_by(run);
        self.memory_mut().take_back(run);
        self.rubrics.take_back(run);
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
