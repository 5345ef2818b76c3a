//! One task's way through the stations. Pure: it is told everything and decides.

use serde::{Deserialize, Serialize};

use super::{
    Answer, EventKind, Need, NeedId, Station, TaskReport,
    admission::{self, Admission, Drafted},
    asking::{self, Asked},
    attempting::Attempting,
    context::Context,
    fold::{self, Rollout},
    live, maintaining,
    selecting::Selecting,
    settled::settled,
    writing,
};
use crate::{
    contract::RoleTask,
    domain::{LibraryChange, Role, Task},
    error::{Error, ErrorKind, Result},
    library::Applied,
    program::Place,
    retrieve::TurnQuery,
    select::Mode,
};

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Select,
    Attempt,
    Role,
    /// All is known; the task's turn to change the library has not come.
    Ready,
    Commit,
    Done,
}

/// One task's way through the stations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskMachine {
    step: u64,
    task: Task,
    stage: Stage,
    selecting: Selecting,
    attempting: Attempting,
    /// The places of the attempts that roles write skills from, decided once: the library moves on.
    sources: Vec<usize>,
    asked: Asked,
    admissions: Vec<Admission>,
    report: Option<Box<TaskReport>>,
}

impl TaskMachine {
    /// Begins a task; what can be decided without asking is decided at once.
    pub(super) fn new(
        step: u64,
        task: Task,
        context: &Context<'_>,
        events: &mut Vec<EventKind>,
    ) -> Self {
        let mut machine = Self {
            step,
            task,
            stage: Stage::Select,
            selecting: Selecting::new(step, context),
            attempting: Attempting::new(step, context),
            sources: Vec::new(),
            asked: Asked::default(),
            admissions: Vec::new(),
            report: None,
        };
        machine.selected(events);
        machine
    }

    /// Whether the task is through.
    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Whether the task waits for its turn to change the library.
    pub(super) fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    pub(super) fn into_report(self) -> Option<TaskReport> {
        self.report.map(|report| *report)
    }

    /// Everything that can run now.
    pub(super) fn needs(
        &self,
        context: &Context<'_>,
        wanted: &dyn Fn(&NeedId) -> bool,
    ) -> Vec<(NeedId, Need)> {
        let wants = |station, index| wanted(&self.id(station, index));
        match self.stage {
            Stage::Select => {
                let station = self.selecting.station();
                let station = station.filter(|station| wants(*station, 0));
                let need = station.and_then(|_| self.selecting.need(&self.query(), context));
                need.into_iter()
                    .map(|(station, need)| (self.id(station, 0), need))
                    .collect()
            }
            Stage::Attempt => {
                let attempting = &self.attempting;
                let needs = attempting.needs(&self.task, &self.selecting, context, &wants);
                needs
                    .into_iter()
                    .map(|(station, index, need)| (self.id(station, index), need))
                    .collect()
            }
            Stage::Role => {
                let seed = context.step_seed(self.step);
                let wants = |index| wants(Station::Role, index);
                let open = self.asked.open(seed, &wants).into_iter();
                open.map(|(index, need)| (self.id(Station::Role, index), need))
                    .collect()
            }
            Stage::Commit if wants(Station::Commit, 0) => {
                vec![(self.id(Station::Commit, 0), self.commit(context))]
            }
            Stage::Commit | Stage::Ready | Stage::Done => Vec::new(),
        }
    }

    /// Folds an answer in.
    pub(super) fn answer(
        &mut self,
        context: &Context<'_>,
        id: &NeedId,
        answer: Answer,
        events: &mut Vec<EventKind>,
    ) -> Result<()> {
        let selecting = self.selecting.station() == Some(id.station);
        match (answer, self.stage) {
            (Answer::Retrieved(found), Stage::Select) if selecting => {
                let query = self.query();
                self.selecting.retrieved(context, &query, found, events);
                self.selected(events);
            }
            (Answer::Embedded(made), Stage::Select) if selecting => {
                let query = self.query();
                self.selecting.embedded(context, &query, made, events);
                self.selected(events);
            }
            (Answer::Scored(scores), Stage::Select) if selecting => {
                self.selecting.scored(context, scores);
                self.selected(events);
            }
            (Answer::Attempted(attempt), Stage::Attempt) => {
                self.attempting.attempted(id.place.number(), attempt);
                self.attempted(context, events);
            }
            (Answer::Judged(verdict), Stage::Attempt) => {
                self.attempting.judged(id.place.number(), verdict);
                self.attempted(context, events);
            }
            (Answer::Played(played), Stage::Role) => {
                self.asked.answered(id, played)?;
                self.asked(events);
            }
            (Answer::Committed(_), _) => {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "TaskMachine::answer",
                    "a commit is folded by the run",
                ));
            }
            (_, _) if self.is_past(id.station) => {}
            _ => {
                let waits = format!("nothing waits for an answer at {:?}", id.station);
                return Err(Error::invalid("TaskMachine::answer", waits).with("need", id));
            }
        }
        Ok(())
    }

    /// The task's turn has come: what was written is decided on, on the library as it is now.
    pub(super) fn admit(&mut self, context: &Context<'_>) {
        let rollouts = self.rollouts(context);
        let taint = asking::taint(&self.sources, &rollouts);
        let mut admissions = Vec::new();
        for (number, (task, said)) in self.asked.drafts().enumerate() {
            let key = match number {
                0 => self.step.to_string(),
                number => format!("{}.{number}", self.step),
            };
            let drafted = Drafted {
                key,
                role: task.role(),
                tasks: vec![self.task.id.clone()],
                taint,
                parents: Vec::new(),
                said,
            };
            let mut admission = admission::decide(context, &drafted, &admissions);
            if let (RoleTask::Extract { attempt, .. }, Some(same)) = (task, &admission.same) {
                let change = maintaining::borne_out(context, same, attempt);
                let mut before = admissions.iter();
                let told = before.any(|before: &Admission| before.change == change);
                admission.change = change.filter(|_| !told);
            }
            admissions.push(admission);
        }
        self.admissions = admissions;
        self.stage = Stage::Commit;
    }

    /// Whether the task waits for its commit.
    pub(super) fn awaits_commit(&self) -> bool {
        self.stage == Stage::Commit
    }

    /// The commit that this task waits for was made, and the run's library has it.
    /// `own` is what that commit did there.
    pub(super) fn committed(
        &mut self,
        context: &Context<'_>,
        own: &Applied,
        changes: &[LibraryChange],
        events: &mut Vec<EventKind>,
    ) {
        let mut report = self.task_report(context);
        let mut decided = Vec::new();
        for admission in &mut self.admissions {
            admission.applied(own, changes);
            decided.push(admission.event());
            report.written.push(admission.report.clone());
        }
        events.extend(settled(context, changes, decided));
        self.finish(report);
    }

    /// Whether a station lies behind: an answer that comes twice changes nothing.
    fn is_past(&self, station: Station) -> bool {
        match self.stage {
            Stage::Select => self.selecting.station().is_some_and(|now| station < now),
            Stage::Attempt => station < Station::Attempt,
            Stage::Role => station < Station::Role,
            Stage::Ready | Stage::Commit => station < Station::Commit,
            Stage::Done => true,
        }
    }

    /// What the task asks for. Its world has not begun, so no tools are in force yet.
    fn query(&self) -> TurnQuery {
        TurnQuery {
            text: self.task.instruction.clone(),
            tools: Vec::new(),
        }
    }

    fn id(&self, station: Station, index: u32) -> NeedId {
        NeedId {
            step: self.step,
            station,
            place: Place::at(index),
        }
    }

    fn selected(&mut self, events: &mut Vec<EventKind>) {
        if self.selecting.selections().is_some() {
            self.selecting.events(events);
            self.stage = Stage::Attempt;
        }
    }

    fn attempted(&mut self, context: &Context<'_>, events: &mut Vec<EventKind>) {
        if !self.attempting.is_complete(context) {
            return;
        }
        let rollouts = self.rollouts(context);
        for (rollout, each) in (0..).zip(&rollouts) {
            events.push(EventKind::Attempted {
                rollout,
                report: Box::new(each.report.clone()),
            });
        }
        // An attempt that was never made teaches nothing, so there is nothing to commit either.
        let nothing_made = rollouts.iter().all(|one| one.trajectory.is_none());
        if context.mode == Mode::Evaluate || nothing_made {
            self.finish(self.task_report(context));
            return;
        }
        let seed = context.step_seed(self.step);
        let sources = writing::sources(context, &self.task, &rollouts);
        let asks = asking::asks(context, seed, &self.task, &rollouts, &sources);
        self.sources = sources;
        self.asked = Asked::new(asks);
        self.stage = Stage::Role;
        self.asked(events);
    }

    fn asked(&mut self, events: &mut Vec<EventKind>) {
        if self.asked.is_complete() {
            events.extend(self.asked.unreadable());
            self.stage = Stage::Ready;
        }
    }

    fn rollouts(&self, context: &Context<'_>) -> Vec<Rollout<'_>> {
        self.attempting.rollouts(&self.selecting, context)
    }

    fn commit(&self, context: &Context<'_>) -> Need {
        let rollouts = self.rollouts(context);
        let candidates = self.selecting.candidates();
        let mut said = asking::exposures(context, &self.task, candidates, &rollouts);
        said.extend(self.asked.attributions());
        said.extend(asking::passed_over(context, &self.task, &rollouts));
        said.extend(asking::observations(
            context, self.step, &self.task, &rollouts,
        ));
        said.extend(writing::notes(context, &self.task, &rollouts));
        said.extend(live::released(context));
        Need::Commit(fold::commit(
            context,
            self.step,
            &self.task,
            &rollouts,
            said,
            &self.admissions,
        ))
    }

    fn task_report(&self, context: &Context<'_>) -> TaskReport {
        let mut report = fold::task_report(
            context,
            self.step,
            &self.task,
            self.selecting.selections().unwrap_or_default(),
            self.rollouts(context),
        );
        report.role_usage = self.asked.usage();
        report
    }

    fn finish(&mut self, report: TaskReport) {
        self.report = Some(Box::new(report));
        self.stage = Stage::Done;
    }
}

/// Whether a role's answers are drafts of skills.
pub(super) fn drafts(role: Role) -> bool {
    matches!(
        role,
        Role::Summarize | Role::Extract | Role::Refactor | Role::Refine
    )
}
