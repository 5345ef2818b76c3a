//! Maintenance of the library between tasks (HiSME algorithms 1, 3, 4, 5; SkillRL algorithm 1; ARISE D.3).
//!
//! Each part is a [program](crate::program): micro maintenance, macro maintenance, the bank, the measurement of information
//! gains, and the host's own programs. The decisions of a part are one commit; the next part starts from the library after it.

use std::task::Poll;

use serde::{Deserialize, Serialize};

use super::{
    need::{Need, NeedId, Station},
    own,
    part::Part,
    scene::Scene,
    settled::settled,
    work::{Of, need},
};
use crate::{
    domain::{Cause, Commit, Committed, LibraryChange, MaintenanceBudget},
    error::{Error, Result},
    id::CommitKey,
    library::Applied,
    policy::{Answer, Questions, fits},
    program::{Place, Program},
    recipe::programs::Decided,
    report::{EventKind, MaintenanceUsage, RoleTally},
};

fn usage_of(answer: &Answer) -> MaintenanceUsage {
    let mut usage = MaintenanceUsage::default();
    match answer {
        Answer::Played(_) => usage.roles = answer.usage().total(),
        Answer::Tried(_) => {
            usage.cases = answer.usage().total();
            usage.attempts = 1;
        }
        _ => {}
    }
    usage
}

/// The parts of maintenance that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) micro: bool,
    pub(crate) r#macro: bool,
    /// Whether the bank is distilled or grown.
    pub(crate) bank: bool,
    /// Whether information gain is measured.
    pub(crate) gain: bool,
    /// Whether the prototypes are refreshed.
    pub(crate) prototypes: bool,
    /// Programs of the host's own, by their indices in the recipe.
    pub(crate) own: Vec<u32>,
}

impl Due {
    pub(crate) fn is_none(&self) -> bool {
        let any = self.micro || self.r#macro || self.bank || self.gain || self.prototypes;
        !any && self.own.is_empty()
    }

    fn parts(self) -> Vec<Part> {
        let parts = [
            (self.micro, Part::Micro),
            (self.r#macro, Part::Macro),
            (self.bank, Part::Bank),
            (self.gain, Part::Gains),
            (self.prototypes, Part::Prototypes),
        ];
        let due = parts.into_iter().filter(|(is_due, _)| *is_due);
        let own = self.own.into_iter().map(Part::Own);
        due.map(|(_, part)| part).chain(own).collect()
    }
}

/// The state of the current part: its program runs, or its commit is pending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Asking(Program<Questions, Result<Decided>>),
    Keeping {
        decided: Decided,
        /// The number of the next part's first question.
        next: u32,
    },
}

/// The maintenance after one batch of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Maintaining {
    /// The index of the last task before it.
    step: u64,
    /// The unfinished parts, the current one first.
    parts: Vec<Part>,
    /// What was left of the round's budget when the current part began.
    left: MaintenanceBudget,
    /// The cost of the current part so far.
    spent: MaintenanceUsage,
    stage: Stage,
}

impl Maintaining {
    /// Starts maintenance after task `step`, and runs its programs as far as possible without answers.
    pub(crate) fn new(
        context: &Scene<'_>,
        step: u64,
        due: Due,
        events: &mut Vec<EventKind>,
    ) -> Self {
        let mut machine = Self {
            step,
            parts: due.parts(),
            left: context.recipe.maintenance.budget,
            spent: MaintenanceUsage::default(),
            stage: Stage::Asking(Program::new(0)),
        };
        machine.go_on(context, events);
        machine
    }

    /// The index of the last task before it.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Whether all parts are finished.
    pub(crate) fn is_done(&self) -> bool {
        self.parts.is_empty()
    }

    /// The open needs whose ids are `wanted`.
    pub(crate) fn needs(
        &self,
        context: &Scene<'_>,
        wanted: &dyn Fn(&NeedId) -> bool,
    ) -> Vec<(NeedId, Need)> {
        let Some(part) = self.parts.first().copied() else {
            return Vec::new();
        };
        match &self.stage {
            Stage::Keeping { decided, .. } => {
                let id = self.id(Station::Keep, Place::at(part.number()));
                let need = wanted(&id).then(|| self.commit(context, part, decided));
                need.map(|need| (id, need)).into_iter().collect()
            }
            Stage::Asking(program) => program.questions(
                |ask| part.start(ask, context, (self.step, self.left)),
                |place, question| {
                    let id = self.id(Station::Maintain, place.clone());
                    let need = wanted(&id)
                        .then(|| need(context, self.step, Of::Maintenance, place, question));
                    need.map(|need| (id, need))
                },
            ),
        }
    }

    /// The digest of the open question of a need.
    pub(crate) fn question(&self, id: &NeedId) -> Option<String> {
        match &self.stage {
            Stage::Asking(program) if id.step == self.step => program.digest(&id.place),
            _ => None,
        }
    }

    /// Applies an answer, and returns the tokens that were used for it and how a role's call went.
    ///
    /// # Errors
    /// `Invalid` for an answer without an open question.
    pub(crate) fn answer(
        &mut self,
        context: &Scene<'_>,
        id: &NeedId,
        answer: Answer,
        events: &mut Vec<EventKind>,
    ) -> Result<(MaintenanceUsage, RoleTally)> {
        let nothing = <(MaintenanceUsage, RoleTally)>::default();
        let Some(part) = self.parts.first().copied() else {
            return Ok(nothing);
        };
        let (step, left) = (self.step, self.left);
        let refused = || {
            Error::invalid("RunMachine::answer", "no open question has this id").with("need", id)
        };
        // A repeated answer is ignored, also one for a finished part.
        let program = match &mut self.stage {
            _ if id.step < step => return Ok(nothing),
            Stage::Keeping { next, .. } if id.place.number() < *next => return Ok(nothing),
            Stage::Keeping { .. } => return Err(refused()),
            Stage::Asking(program) => program,
        };
        if program.is_past(&id.place) {
            return Ok(nothing);
        }
        let (usage, counts) = (usage_of(&answer), answer.role_counts());
        let asked = program.questions(
            |ask| part.start(ask, context, (step, left)),
            |place, question| {
                (*place == id.place).then(|| (fits(question, &answer), question.role()))
            },
        );
        let (fits, role) = asked.first().copied().unwrap_or_default();
        if !fits || !program.answer(&id.place, answer) {
            return Err(refused());
        }
        self.spent.add(usage);
        self.go_on(context, events);
        let mut roles = RoleTally::default();
        if let (Some(role), Some(counts)) = (role, counts) {
            roles.count(role, counts);
        }
        Ok((usage, roles))
    }

    /// Whether the current part waits for this commit.
    pub(crate) fn awaits_commit(&self, id: &NeedId) -> bool {
        let part = self.parts.first();
        matches!(self.stage, Stage::Keeping { .. })
            && id.step == self.step
            && part.is_some_and(|part| id.place == Place::at(part.number()))
    }

    /// Continues after the commit of the current part, which is already applied to the run's library. `own` is its effect.
    pub(crate) fn committed(
        &mut self,
        context: &Scene<'_>,
        own: &Applied,
        events: &mut Vec<EventKind>,
    ) {
        let Stage::Keeping { decided, next } = &mut self.stage else {
            return;
        };
        let (decided, next) = (std::mem::take(decided), *next);
        let Decided { changes, admitted } = decided;
        events.extend(settled(context, &changes, &own.passed_over, admitted));
        if let Some(Part::Own(_)) = self.parts.first() {
            events.extend(own.passed_over.iter().map(|passed| EventKind::Refused {
                reason: format!(
                    "change {} of the host's program has no effect: {:?}",
                    passed.change, passed.reason
                ),
            }));
        }
        self.next(next);
        self.go_on(context, events);
    }

    /// Leaves alone the skills about which the host or a person has decided since the part was, and commits the rest. The run's library
    /// has their commits now.
    pub(crate) fn overtaken(
        &mut self,
        context: &Scene<'_>,
        committed: &[Committed],
        events: &mut Vec<EventKind>,
    ) {
        let Stage::Keeping { decided, next } = &mut self.stage else {
            return;
        };
        let next = *next;
        own::remove_decided_by_host(context, committed, decided, events);
        if decided.changes.is_empty() {
            self.next(next);
            self.go_on(context, events);
        }
    }

    fn id(&self, station: Station, place: Place) -> NeedId {
        NeedId {
            step: self.step,
            station,
            place,
        }
    }

    fn commit(&self, context: &Scene<'_>, part: Part, decided: &Decided) -> Need {
        let mut changes = decided.changes.clone();
        // Gains and prototypes move no skill between tiers.
        if !matches!(part, Part::Gains | Part::Prototypes) {
            changes.push(LibraryChange::Maintain);
        }
        let number = part.number();
        Need::Commit(Commit {
            base: context.library.revision(),
            key: CommitKey::new(format!("{}/{}/m{number}", context.run, self.step)),
            cause: Cause {
                run: Some(context.run.clone()),
                task: None,
                reason: part.reason().to_owned(),
                at: None,
            },
            changes,
        })
    }

    /// Runs the parts as far as possible without further answers.
    pub(crate) fn go_on(&mut self, context: &Scene<'_>, events: &mut Vec<EventKind>) {
        while let (Some(part), Stage::Asking(program)) = (self.parts.first(), &mut self.stage) {
            let of = (self.step, self.left);
            let polled = program.poll(|ask| part.start(ask, context, of));
            events.extend(program.take_events());
            let Poll::Ready(decided) = polled else {
                return;
            };
            let next = program.next_number();
            let decided = decided.map(|decided| {
                decided.map(|mut decided| {
                    own::remove_refused(context, &mut decided, events);
                    decided
                })
            });
            match decided {
                // Without changes there is nothing to commit.
                Ok(Ok(decided)) if decided.changes.is_empty() => self.next(next),
                Ok(Ok(decided)) => self.stage = Stage::Keeping { decided, next },
                Ok(Err(error)) | Err(error) => {
                    let (part, reason) = (part.name(context.recipe), error.to_string());
                    events.push(EventKind::MaintenanceFailed { part, reason });
                    self.next(next);
                }
            }
        }
    }

    /// Begins the next part. Its questions continue the numbers of the step, so that every place is used once.
    fn next(&mut self, number: u32) {
        self.parts.remove(0);
        let spent = std::mem::take(&mut self.spent);
        self.left.pay(spent.roles, 0);
        self.left.pay(spent.cases, spent.attempts);
        self.stage = Stage::Asking(Program::new(number));
    }
}
