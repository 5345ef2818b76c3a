//! What is done for the library between tasks (HiSME algorithms 1, 3, 4, 5): a machine of rounds, each of which asks all
//! that it can at once and decides when all is answered.
//!
//! Micro: bundles are cut and run, skills that pass are released, harmful ones are mended or disabled. Macro: attempts at
//! several tasks are refactored, roles learn rules. Now and then the skills' information gain is measured. What a round decides becomes changes; each of these ends in a
//! commit of its own, so that the next stands on what it did.

mod bundling;
mod evolving;
mod filtering;
mod gaining;
mod mending;
mod overlaps;
mod patience;
mod refactoring;
mod slots;
mod support;

use serde::{Deserialize, Serialize};

use self::{bundling::Patches, mending::Mended, refactoring::Proposed, slots::Slots};
pub(super) use self::{bundling::borne_out, overlaps::Overlaps};
use super::{Answer, EventKind, Need, NeedId, Station, context::Context, settled::settled};
use crate::{
    domain::{Cause, Commit, LibraryChange},
    error::{Error, Result},
    id::CommitKey,
};

/// Where maintenance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Round {
    Cut,
    Test,
    Mend,
    Retest,
    KeepMicro,
    Embed,
    Refactor,
    Try,
    Evolve,
    KeepMacro,
    Measure,
    KeepGains,
    Done,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Due {
    pub(super) micro: bool,
    pub(super) r#macro: bool,
    /// Whether information gain is measured.
    pub(super) gain: bool,
}

impl Due {
    pub(super) fn is_none(self) -> bool {
        !(self.micro || self.r#macro || self.gain)
    }
}

/// What is done for the library between tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Maintaining {
    /// Behind which task.
    step: u64,
    due: Due,
    round: Round,
    /// How many asks came before those of this round.
    asked: u32,
    slots: Slots,
    /// The cases that were cut and not committed yet.
    patches: Patches,
    mended: Vec<Mended>,
    proposed: Vec<Proposed>,
    changes: Vec<LibraryChange>,
    /// What entered by those changes, told once they are committed.
    admitted: Vec<EventKind>,
}

impl Maintaining {
    /// Begins behind a task; what can be decided without asking is decided at once.
    pub(super) fn new(
        context: &Context<'_>,
        step: u64,
        due: Due,
        events: &mut Vec<EventKind>,
    ) -> Self {
        let mut machine = Self {
            step,
            due,
            round: match due {
                Due { micro: true, .. } => Round::Cut,
                Due { r#macro: true, .. } => Round::Embed,
                Due { .. } => Round::Measure,
            },
            asked: 0,
            slots: Slots::default(),
            patches: Patches::default(),
            mended: Vec::new(),
            proposed: Vec::new(),
            changes: Vec::new(),
            admitted: Vec::new(),
        };
        machine.begin(context);
        machine.go_on(context, events);
        machine
    }

    /// Whether it is through.
    pub(super) fn is_done(&self) -> bool {
        self.round == Round::Done
    }

    /// Everything that can run now.
    pub(super) fn needs(
        &self,
        context: &Context<'_>,
        wanted: &dyn Fn(NeedId) -> bool,
    ) -> Vec<(NeedId, Need)> {
        if let Some(part) = self.part() {
            let id = self.id(Station::Keep, part);
            let need = wanted(id).then(|| (id, self.commit(context, part)));
            return need.into_iter().collect();
        }
        let wants = |index| wanted(self.id(Station::Maintain, index));
        let open = self.slots.open(context, self.step, self.asked, &wants);
        open.into_iter()
            .map(|(index, need)| (self.id(Station::Maintain, index), need))
            .collect()
    }

    /// Folds an answer in.
    ///
    /// # Errors
    /// `Invalid` for one that nothing waits for.
    pub(super) fn answer(
        &mut self,
        context: &Context<'_>,
        id: NeedId,
        answer: Answer,
        events: &mut Vec<EventKind>,
    ) -> Result<()> {
        let Some(place) = id.index.checked_sub(self.asked) else {
            // Of a round that is through: an answer that comes twice changes nothing.
            return Ok(());
        };
        if !self.slots.answer(place, answer) {
            return Err(
                Error::invalid("RunMachine::answer", "nothing waits for this answer")
                    .with("need", id),
            );
        }
        self.go_on(context, events);
        Ok(())
    }

    /// Whether it waits for this commit.
    pub(super) fn awaits_commit(&self, id: NeedId) -> bool {
        self.part() == Some(id.index)
    }

    /// The commit was made, and the run's library has it.
    pub(super) fn committed(&mut self, context: &Context<'_>, events: &mut Vec<EventKind>) {
        let (changes, admitted) = (
            std::mem::take(&mut self.changes),
            std::mem::take(&mut self.admitted),
        );
        events.extend(settled(context, &changes, admitted));
        self.next(context);
        self.go_on(context, events);
    }

    fn id(&self, station: Station, index: u32) -> NeedId {
        NeedId {
            step: self.step,
            station,
            index,
        }
    }

    /// Which of its commits it waits for.
    fn part(&self) -> Option<u32> {
        match self.round {
            Round::KeepMicro => Some(0),
            Round::KeepMacro => Some(1),
            Round::KeepGains => Some(2),
            _ => None,
        }
    }

    fn commit(&self, context: &Context<'_>, part: u32) -> Need {
        let mut changes = self.changes.clone();
        // What is measured decides nothing, and moves no skill.
        if self.round != Round::KeepGains {
            changes.push(LibraryChange::Maintain);
        }
        Need::Commit(Commit {
            base: context.library.revision(),
            key: CommitKey::new(format!("{}/{}/m{part}", context.run, self.step)),
            cause: Cause {
                run: Some(context.run.clone()),
                task: None,
                reason: match part {
                    0 => "skills were tested, mended and filtered",
                    2 => "the gain of skills was measured",
                    _ => "attempts were refactored and rules learnt",
                }
                .to_owned(),
            },
            changes,
        })
    }

    /// Goes on as far as is possible without further answers.
    fn go_on(&mut self, context: &Context<'_>, events: &mut Vec<EventKind>) {
        while self.round != Round::Done && self.part().is_none() && self.slots.are_full() {
            let slots = std::mem::take(&mut self.slots);
            self.asked += slots.len();
            self.decide(context, &slots, events);
            self.next(context);
        }
        // Nothing to keep is no commit.
        while self.part().is_some() && self.changes.is_empty() {
            self.next(context);
            self.go_on(context, events);
        }
    }

    /// Enters the next round and asks what it asks.
    fn next(&mut self, context: &Context<'_>) {
        self.round = match self.round {
            Round::Cut => Round::Test,
            Round::Test => Round::Mend,
            Round::Mend => Round::Retest,
            Round::Retest => Round::KeepMicro,
            Round::KeepMicro if self.due.r#macro => Round::Embed,
            Round::KeepMicro | Round::KeepMacro if self.due.gain => Round::Measure,
            Round::Measure => Round::KeepGains,
            Round::Embed => Round::Refactor,
            Round::Refactor => Round::Try,
            Round::Try => Round::Evolve,
            Round::Evolve => Round::KeepMacro,
            Round::KeepMicro | Round::KeepMacro | Round::KeepGains | Round::Done => Round::Done,
        };
        self.begin(context);
    }

    fn begin(&mut self, context: &Context<'_>) {
        self.slots = match self.round {
            Round::Cut => bundling::cut(context),
            Round::Test => bundling::test(context, &self.patches),
            Round::Mend => mending::mend(context),
            Round::Retest => mending::retest(context, &self.patches, &self.mended),
            Round::Embed => refactoring::embed(context),
            Round::Try => refactoring::attempt(&self.proposed),
            Round::Evolve => evolving::evolve(context),
            Round::Refactor => std::mem::take(&mut self.slots),
            Round::Measure => gaining::measure(context),
            Round::KeepMicro | Round::KeepMacro | Round::KeepGains | Round::Done => {
                Slots::default()
            }
        };
    }

    fn decide(&mut self, context: &Context<'_>, slots: &Slots, events: &mut Vec<EventKind>) {
        let step = self.step;
        let decided_from = events.len();
        events.extend(slots.failures());
        match self.round {
            Round::Cut => self.patches = bundling::patches(context, slots),
            Round::Test => {
                let tested = bundling::tested(context, &self.patches, slots, events);
                self.changes.extend(tested);
            }
            Round::Mend => {
                let (mended, handled) = mending::mended(context, step, slots, events);
                self.mended = mended;
                self.changes.extend(handled);
            }
            Round::Retest => {
                let mended = std::mem::take(&mut self.mended);
                let released = mending::released(context, mended, slots, &self.changes, events);
                self.changes.extend(released);
                self.changes
                    .extend(filtering::filtered(context, &self.changes));
            }
            Round::Embed => {
                // What comes of it is what the next round asks.
                self.slots = refactoring::groups(context, slots);
            }
            Round::Refactor => {
                let (proposed, handled) = refactoring::proposed(context, step, slots, events);
                self.proposed = proposed;
                self.changes.extend(handled);
            }
            Round::Try => {
                let proposed = std::mem::take(&mut self.proposed);
                let added = refactoring::added(context, proposed, slots, events);
                self.changes.extend(added);
            }
            Round::Evolve => self.changes.extend(evolving::learnt(context, slots)),
            Round::Measure => self.changes.extend(gaining::measured(slots)),
            Round::KeepMicro | Round::KeepMacro | Round::KeepGains | Round::Done => {}
        }
        let enters = |kind: &mut EventKind| matches!(kind, EventKind::Admitted { .. });
        self.admitted
            .extend(events.extract_if(decided_from.., enters));
    }
}
