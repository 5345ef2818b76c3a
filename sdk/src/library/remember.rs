//! The changes that move no skill: evidence, notes, marks, and roles' rules.

use std::sync::Arc;

use super::{
    Entry, KnownSubgoal, PassReason, SkillLibrary,
    applied::Outcome,
    life::{Exposed, Gained, Judged, Proof, Tested},
    memory::Memory,
};
use crate::{
    domain::{
        Anchor, AnchorScores, Assignment, AttemptNote, HandledMark, LibraryChange, Prototype, Role,
        RoleRule, SkillRef, Trace,
    },
    id::RunId,
};

impl SkillLibrary {
    /// The attempts that are kept for roles that work on several, oldest first.
    pub fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.memory.traces()
    }

    /// The notes on the latest attempts of small groups, oldest first.
    pub fn notes(&self) -> impl DoubleEndedIterator<Item = &AttemptNote> {
        self.memory.notes()
    }

    /// The attempts of which chance decided what they were given, in their order ([`Withhold`](crate::domain::Withhold)).
    pub fn assignments(&self) -> impl Iterator<Item = &Assignment> {
        self.assigned.all()
    }

    /// Those of them from a number on, each with its number: one that comes later has a greater one, as long as no run is retired.
    pub(crate) fn assignments_since(
        &self,
        number: u64,
    ) -> impl Iterator<Item = (u64, &Assignment)> {
        self.assigned.since(number)
    }

    /// A role's rules.
    pub fn rules(&self, role: Role) -> &[RoleRule] {
        self.memory.rules(role)
    }

    /// Whether a maintenance step was done or given up; the subject as in [`HandledMark::subject`].
    pub fn is_handled(&self, subject: &str) -> bool {
        let mut marks = self.handled().filter(|mark| mark.miss.is_none());
        marks.any(|mark| mark.subject == subject)
    }

    /// The latest marks of [`LibraryChange::Handled`], oldest first.
    pub fn handled(&self) -> impl Iterator<Item = &HandledMark> {
        self.memory.all_handled()
    }

    /// The latest assessed subgoals, oldest first.
    pub fn subgoals(&self) -> impl Iterator<Item = &KnownSubgoal> {
        self.rubrics.subgoals()
    }

    /// The prototypes (SCRIBE 3.1), in the order in which they were set.
    pub fn prototypes(&self) -> &[Prototype] {
        self.rubrics.prototypes()
    }

    /// The anchors (SCRIBE A.3).
    pub fn anchors(&self) -> &[Anchor] {
        self.rubrics.anchors()
    }

    /// The scores of the anchors at each checkpoint, oldest first.
    pub fn anchor_checks(&self) -> impl Iterator<Item = &[AnchorScores]> {
        self.rubrics.anchor_checks()
    }

    /// The data besides skills, apart from the copies of this library.
    pub(super) fn memory_mut(&mut self) -> &mut Memory {
        Arc::make_mut(&mut self.memory)
    }

    pub(super) fn remember(&mut self, run: Option<&RunId>, change: &LibraryChange) -> Outcome {
        let new = match change {
            LibraryChange::Expose {
                skill,
                attempt,
                injected,
                used,
                outcome,
            } => self.known(&skill.id)?.life.expose(Exposed {
                attempt: attempt.clone(),
                version: skill.version,
                injected: *injected,
                used: *used,
                outcome: outcome.clone(),
                run: run.cloned(),
            }),
            LibraryChange::Attribute(attribution) => {
                let skill = &attribution.skill;
                self.known(&skill.id)?.life.judge(Judged {
                    attribution: attribution.clone(),
                    run: run.cloned(),
                })
            }
            LibraryChange::PatchBundle {
                skill,
                cases,
                dropped,
            } => {
                self.known(skill)?.life.patch(cases, dropped, run);
                true
            }
            LibraryChange::Test { skill, outcomes } => {
                self.known_at(skill)?.life.tested = Some(Tested {
                    version: skill.version,
                    outcomes: outcomes.clone(),
                    run: run.cloned(),
                });
                true
            }
            LibraryChange::Compare { skill, pairs } => {
                let life = &mut self.known_at(skill)?.life;
                life.compare(skill.version, pairs, run)
            }
            LibraryChange::Prove {
                skill,
                model,
                helps,
            } => self.known_at(skill)?.life.prove(Proof {
                version: skill.version,
                model: model.clone(),
                helps: *helps,
                run: run.cloned(),
            }),
            LibraryChange::Gain { skill, gain } => {
                self.known_at(skill)?.life.gained = Some(Gained {
                    version: skill.version,
                    gain: gain.clone(),
                    run: run.cloned(),
                });
                true
            }
            other => self.keep_in_memory(run, other),
        };
        new.then(Vec::new).ok_or(PassReason::SeenBefore)
    }

    /// The skill, where it has this version.
    fn known_at(&mut self, skill: &SkillRef) -> Result<&mut Entry, PassReason> {
        let entry = self.known(&skill.id)?;
        match entry.skill.version == skill.version {
            true => Ok(entry),
            false => Err(PassReason::OtherVersion),
        }
    }

    /// The changes that are about no skill; whether they are new.
    fn keep_in_memory(&mut self, run: Option<&RunId>, change: &LibraryChange) -> bool {
        let most = self.policy.traces;
        match change {
            LibraryChange::Observe(trace) => self.memory_mut().observe(trace, run, most),
            LibraryChange::Note(note) => self.memory_mut().note(note, run),
            LibraryChange::Assign(assignment) => self.assigned.add(assignment, run),
            LibraryChange::Handled { fingerprint } => self.memory_mut().handled(fingerprint, run),
            LibraryChange::SetRules { role, rules } => {
                self.memory_mut().set_rules(*role, rules, run);
                true
            }
            change => self.rubrics.remember(run, change),
        }
    }
}
