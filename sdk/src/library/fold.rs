//! The fold: what each change does.

use super::{
    Applied, Entry, Move, Operation, PassReason, PassedOver, SkillLibrary, entry::Deleted,
    name::free_name, tiers,
};
use crate::{
    domain::{Committed, LibraryChange, Skill, SkillName, SkillRef, State},
    error::{Error, Result},
    id::{AttemptId, SkillId},
};

/// What one change did: its moves, or why it had no effect.
type Outcome = Result<Vec<Move>, PassReason>;

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
        self.revision = next;
        self.steps += u64::from(committed.cause.task.is_some());
        let mut applied = Applied {
            revision: next,
            ..Applied::default()
        };
        for (index, change) in committed.changes.iter().enumerate() {
            match self.change(change) {
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

    fn change(&mut self, change: &LibraryChange) -> Outcome {
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
            } => self.credit(skill, attempt, *reward, *uses),
            LibraryChange::Add(skill) => self.add(skill),
            LibraryChange::Revise(skill) => self.revise(skill),
            LibraryChange::Maintain => Ok(self.maintain()),
            LibraryChange::SetState { skill, state, .. } => self.set_state(skill, *state),
        }
    }

    fn credit(&mut self, skill: &SkillRef, attempt: &AttemptId, reward: f64, uses: u64) -> Outcome {
        let beta = self.policy.beta;
        let entry = self.known(&skill.id)?;
        if entry.skill.version != skill.version {
            return Err(PassReason::OtherVersion);
        }
        if !entry.seen.insert(attempt.clone()) {
            return Err(PassReason::SeenBefore);
        }
        tiers::update(entry, beta, reward, uses);
        Ok(Vec::new())
    }

    fn add(&mut self, skill: &Skill) -> Outcome {
        if self.entries.contains_key(&skill.id) {
            return Err(PassReason::IdTaken);
        }
        let before = self.deleted.get(&skill.id);
        if before.is_some_and(|before| skill.version <= before.version) {
            return Err(PassReason::Deleted);
        }
        let mut skill = skill.clone();
        skill.name = self.name_for(&skill.name, &skill.id);
        let before = self.deleted.remove(&skill.id);
        let entry = Entry {
            tier: tiers::entered(skill.state),
            history: Vec::new(),
            utility: self.policy.initial_utility,
            uses: 0,
            credits: 0,
            added_at: self.revision,
            seen: before.map(|before| before.seen).unwrap_or_default(),
            skill,
        };
        let moved = tiers::moved(&entry, Operation::Added);
        self.entries.insert(entry.skill.id.clone(), entry);
        Ok(vec![moved])
    }

    fn revise(&mut self, skill: &Skill) -> Outcome {
        if skill.version <= self.known(&skill.id)?.skill.version {
            return Err(PassReason::NotLater);
        }
        let name = self.name_for(&skill.name, &skill.id);
        let entry = self.known(&skill.id)?;
        let mut skill = skill.clone();
        skill.name = name;
        if skill.parents.is_empty() {
            skill.parents.push(entry.skill.reference());
        }
        let before = std::mem::replace(&mut entry.skill, skill);
        entry.history.push(before);
        entry.credits = 0;
        let mut moves = vec![tiers::moved(entry, Operation::Revised)];
        moves.extend(tiers::settle(entry));
        Ok(moves)
    }

    fn set_state(&mut self, id: &SkillId, state: State) -> Outcome {
        let entry = self.known(id)?;
        entry.skill.state = state;
        Ok(tiers::settle(entry).into_iter().collect())
    }

    fn maintain(&mut self) -> Vec<Move> {
        let (moves, gone) = tiers::maintain(&mut self.entries, &self.policy);
        self.deleted.extend(gone.into_iter().map(|entry| {
            let deleted = Deleted {
                version: entry.skill.version,
                seen: entry.seen,
            };
            (entry.skill.id, deleted)
        }));
        moves
    }

    fn known(&mut self, id: &SkillId) -> Result<&mut Entry, PassReason> {
        let deleted = self.deleted.contains_key(id);
        self.entries.get_mut(id).ok_or(if deleted {
            PassReason::Deleted
        } else {
            PassReason::Unknown
        })
    }

    /// The name asked for, or the first free one beside it; a skill's own name is free to it.
    fn name_for(&self, asked: &SkillName, id: &SkillId) -> SkillName {
        let taken = self
            .entries()
            .filter(|entry| entry.skill.id != *id)
            .map(|entry| entry.skill.name.as_str())
            .collect();
        free_name(asked, &taken)
    }
}
