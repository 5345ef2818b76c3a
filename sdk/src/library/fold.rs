//! The fold: the effect of each change. `history` has those that take earlier changes back.

use super::{
    Applied, Entry, Evidence, Move, Operation, PassReason, PassedOver, SetBy, SkillLibrary,
    applied::Outcome, entry::is_suspect, tiers,
};
use crate::{
    domain::{Committed, LibraryChange, Origin, Skill, SkillRef, State},
    error::{Error, Result},
    id::SkillId,
};

impl SkillLibrary {
    /// Folds one commit.
    ///
    /// # Errors
    /// `Invalid` where the commit's revision is not the next one, or one of its changes breaks the rules of
    /// [`LibraryChange::validate`]; the library stays as it was.
    pub fn apply(&mut self, committed: &Committed) -> Result<Applied> {
        let next = self.revision.next();
        if committed.revision != next {
            return Err(Error::invalid(
                "SkillLibrary::apply",
                format!(
                    "the next revision is {next}, and the commit's is {}",
                    committed.revision
                ),
            )
            .hint("fold what the store gives since the library's revision, in order"));
        }
        for (index, change) in committed.changes.iter().enumerate() {
            change
                .validate()
                .map_err(|error| error.with("revision", next).with("change", index))?;
        }
        self.origin.get_or_insert_with(|| committed.key.clone());
        self.revision = next;
        self.keys.push(next, committed.key.clone());
        self.steps += u64::from(committed.cause.task.is_some());
        let mut applied = Applied {
            revision: next,
            ..Applied::default()
        };
        for (index, change) in committed.changes.iter().enumerate() {
            match self.change(committed, change) {
                Ok(moves) => applied.moves.extend(moves),
                Err(reason) => {
                    *self.passed_over.entry(reason).or_default() += 1;
                    applied.passed_over.push(PassedOver {
                        change: index,
                        reason,
                    });
                }
            }
        }
        Ok(applied)
    }

    fn change(&mut self, commit: &Committed, change: &LibraryChange) -> Outcome {
        match change {
            LibraryChange::Configure(policy) => {
                self.policy = policy.clone();
                Ok(Vec::new())
            }
            LibraryChange::Credit {
                skill,
                attempt,
                reward,
                uses,
            } => {
                let evidence = Evidence {
                    attempt: attempt.clone(),
                    version: skill.version,
                    reward: *reward,
                    uses: *uses,
                    beta: self.policy.beta,
                    run: commit.cause.run.clone(),
                };
                self.credit(&skill.id, evidence)
            }
            LibraryChange::Add(skill) => self.add(skill, self.policy.initial_utility),
            LibraryChange::Revise(skill) => self.revise(skill),
            LibraryChange::Merge {
                skill,
                sources,
                beside,
            } => self.merge(skill, sources, *beside),
            LibraryChange::Maintain => Ok(self.maintain()),
            LibraryChange::Expose { .. }
            | LibraryChange::Attribute(_)
            | LibraryChange::PatchBundle { .. }
            | LibraryChange::Test { .. }
            | LibraryChange::Gain { .. }
            | LibraryChange::Compare { .. }
            | LibraryChange::Prove { .. }
            | LibraryChange::Observe(_)
            | LibraryChange::Note(_)
            | LibraryChange::Assign(_)
            | LibraryChange::Handled { .. }
            | LibraryChange::SetRules { .. }
            | LibraryChange::Assess(_)
            | LibraryChange::SetPrototypes(_)
            | LibraryChange::SetAnchors(_)
            | LibraryChange::CheckAnchors(_) => self.remember(commit.cause.run.as_ref(), change),
            LibraryChange::SetState { skill, state, .. } => self.state_set(commit, skill, *state),
            LibraryChange::Release {
                skill,
                from_quarantine,
                ..
            } => self.released(commit, skill, *from_quarantine),
            LibraryChange::RollBack { skill, to, .. } => {
                self.roll_back(skill, *to, commit.cause.run.as_ref())
            }
            LibraryChange::RetireRun { run, .. } => Ok(self.retire_run(run)),
            LibraryChange::Restore { skill, .. } => self.restore(skill),
            LibraryChange::Erased { skills } => Ok(self.erased(skills)),
            LibraryChange::Place { skill, tier, .. } => tiers::place(self.known(skill)?, *tier),
        }
    }

    fn state_set(&mut self, commit: &Committed, skill: &SkillId, state: State) -> Outcome {
        let entry = self.known(skill)?;
        if state == State::Trial && entry.skill.state != State::Trial {
            entry.life.begin_trial();
        }
        self.set_state(skill, state, set_by(commit))
    }

    fn released(&mut self, commit: &Committed, skill: &SkillRef, from_quarantine: bool) -> Outcome {
        let entry = self.known(&skill.id)?;
        if entry.skill.version != skill.version {
            return Err(PassReason::OtherVersion);
        }
        let fits = match from_quarantine {
            true => entry.awaits_evidence(),
            false => entry.skill.state == State::Trial,
        };
        if !fits {
            return Err(PassReason::NotOnTrial);
        }
        self.set_state(&skill.id, State::Active, set_by(commit))
    }

    fn credit(&mut self, id: &SkillId, evidence: Evidence) -> Outcome {
        let entry = self.known(id)?;
        if entry.skill.version != evidence.version {
            return Err(PassReason::OtherVersion);
        }
        if !entry.seen.insert(evidence.attempt.clone()) {
            return Err(PassReason::SeenBefore);
        }
        entry.credit(evidence);
        Ok(Vec::new())
    }

    pub(super) fn add(&mut self, skill: &Skill, utility: f64) -> Outcome {
        if self.entries.contains(&skill.id) {
            return Err(PassReason::IdTaken);
        }
        let before = self.deleted.get(&skill.id);
        if before.is_some_and(|before| skill.version <= before.skill.version) {
            return Err(PassReason::Deleted);
        }
        let skill = self.guarded(skill);
        let before = self.deleted.remove(&skill.id);
        let tier = tiers::entered(skill.state);
        let mut entry = Entry::new(skill, tier, utility, self.revision);
        if let Some(before) = before {
            entry.history = before.history;
            entry.history.push(before.skill);
            entry.seen = before.seen;
        }
        Ok(vec![self.enter(entry, Operation::Added)])
    }

    /// A version as the library accepts it (S2, J7): tainted where one of its parents is, and quarantined where it would be
    /// active and is tainted or imported. A person's version is accepted as it is.
    fn guarded(&self, skill: &Skill) -> Skill {
        let mut skill = skill.clone();
        if skill.provenance.origin == Origin::Human {
            return skill;
        }
        let parents = skill
            .parents
            .iter()
            .filter_map(|parent| self.version(parent));
        skill.taint = parents
            .map(|parent| parent.taint)
            .fold(skill.taint, Ord::max);
        if skill.state == State::Active && is_suspect(&skill) {
            skill.state = State::Quarantined;
        }
        skill
    }

    /// Adds an entry under a free name.
    pub(super) fn enter(&mut self, mut entry: Entry, operation: Operation) -> Move {
        entry.rename(self.names.free(&entry.skill.name, &entry.skill.id));
        self.names.take(&entry.skill.name, &entry.skill.id);
        entry.changed_at = self.revision;
        let moved = tiers::moved(&entry, operation);
        self.entries.insert(entry);
        moved
    }

    fn revise(&mut self, skill: &Skill) -> Outcome {
        if skill.version <= self.known(&skill.id)?.skill.version {
            return Err(PassReason::NotLater);
        }
        let mut skill = skill.clone();
        if skill.parents.is_empty() {
            skill.parents.push(self.known(&skill.id)?.skill.reference());
        }
        let before = self.known(&skill.id)?;
        let taken_out = before.state_set().filter(|_| before.is_out_by_host());
        let taken_out = taken_out.cloned();
        let moves = self.replace(self.guarded(&skill), Operation::Revised)?;
        let entry = self.known(&skill.id)?;
        entry.merged = None;
        // Who edits the text of a skill that a person took out of use has not said that it may come back.
        if let Some(set) = taken_out {
            entry.leave_out(set);
        }
        Ok(moves)
    }

    /// Makes `skill` the entry's current version; the previous one moves to its history. The skill gets a free name.
    pub(super) fn replace(&mut self, mut skill: Skill, operation: Operation) -> Outcome {
        skill.name = self.names.free(&skill.name, &skill.id);
        let revision = self.revision;
        let entry = self.known(&skill.id)?;
        entry.changed_at = revision;
        let before = entry.skill.name.clone();
        let (id, name) = (skill.id.clone(), skill.name.clone());
        entry.replace(skill);
        let mut moves = vec![tiers::moved(entry, operation)];
        moves.extend(tiers::settle(entry));
        self.names.release(&before);
        self.names.take(&name, &id);
        Ok(moves)
    }

    pub(super) fn set_state(&mut self, id: &SkillId, state: State, by: SetBy) -> Outcome {
        let entry = self.known(id)?;
        let comes_into_use = entry.skill.state != State::Active && state == State::Active;
        entry.set_state(state, by.clone());
        let mut moves: Vec<Move> = tiers::settle(entry).into_iter().collect();
        if comes_into_use {
            moves.extend(self.archive_sources(id, &by));
        }
        Ok(moves)
    }

    fn maintain(&mut self) -> Vec<Move> {
        let (moves, gone) = tiers::maintain(&mut self.entries, &self.policy);
        for mut entry in gone {
            entry.changed_at = self.revision;
            self.names.release(&entry.skill.name);
            self.deleted.insert(entry);
        }
        moves
    }

    /// Marks the skills as changed, so that an index applies their texts anew.
    fn erased(&mut self, skills: &[SkillId]) -> Vec<Move> {
        let revision = self.revision;
        let mut moves = Vec::new();
        for id in skills {
            if let Some(entry) = self.entries.get_mut(id) {
                entry.changed_at = revision;
                moves.push(tiers::moved(entry, Operation::Erased));
            } else if let Some(entry) = self.deleted.get_mut(id) {
                entry.changed_at = revision;
            }
        }
        moves
    }

    pub(super) fn known(&mut self, id: &SkillId) -> Result<&mut Entry, PassReason> {
        let deleted = self.deleted.contains(id);
        self.entries.get_mut(id).ok_or(if deleted {
            PassReason::Deleted
        } else {
            PassReason::Unknown
        })
    }
}

fn set_by(commit: &Committed) -> SetBy {
    let run = commit.cause.run.clone();
    run.map_or(SetBy::Host, SetBy::Run)
}
